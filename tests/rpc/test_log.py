import asyncio
from contextlib import suppress
from uuid import UUID

import pytest
from grpc import aio
from structlog.contextvars import bind_contextvars, merge_contextvars
from structlog.testing import capture_logs
from structlog.typing import EventDict

from parley.v1 import turns_pb2
from parleyd.contract.errors import NotOwner
from tests.rpc.wire import HOUR, Wire

REQUEST = turns_pb2.TurnRequest(prompt=turns_pb2.PromptInput(text="my deepest secret"))


async def logged(wire: Wire, *, request_id: str | None = None) -> EventDict:
    """Returns the line of one call."""
    metadata = [("x-request-id", request_id)] if request_id is not None else []
    with capture_logs([merge_contextvars]) as lines:
        async with wire.client() as client:
            with suppress(aio.AioRpcError):
                await client.turns.Turn(REQUEST, metadata=metadata)
            async with asyncio.timeout(10):  # the status of a failed call leaves before its line
                while not any(line["event"] == "call" for line in lines):
                    await asyncio.sleep(0)
    ended = [line for line in lines if line["event"] == "call"]
    assert len(ended) == 1
    return ended[0]


async def test_a_call_is_one_line_with_its_method_status_and_duration(wire: Wire) -> None:
    line = await logged(wire, request_id="r-1")
    milliseconds = line.pop("milliseconds")
    assert line == {
        "event": "call",
        "log_level": "info",
        "method": "/parley.v1.TurnService/Turn",
        "status": "OK",
        "request_id": "r-1",
    }
    assert 0 <= milliseconds < 60_000


async def test_a_failed_call_says_why(wire: Wire) -> None:
    wire.servicer.raises(NotOwner())
    line = await logged(wire)
    assert (line["status"], line["reason"]) == ("PERMISSION_DENIED", "NOT_OWNER")


async def test_a_call_that_broke_says_so(wire: Wire) -> None:
    wire.servicer.raises(RuntimeError("what a secret"))
    line = await logged(wire)
    assert (line["status"], line["reason"]) == ("INTERNAL", "INTERNAL")


async def test_ids_that_the_call_learns_are_on_its_line_and_on_no_other(wire: Wire) -> None:
    async def act() -> None:
        bind_contextvars(conversation_id="c-1", turn_id="t-1")

    wire.servicer.act = act
    line = await logged(wire)
    assert (line["conversation_id"], line["turn_id"]) == ("c-1", "t-1")
    wire.servicer.raises(NotOwner())
    assert "turn_id" not in await logged(wire)


async def test_what_a_call_starts_keeps_its_request_id(wire: Wire) -> None:
    seen: list[str] = []

    async def started() -> None:
        seen.append(merge_contextvars(None, "", {})["request_id"])

    async def act() -> None:
        await asyncio.create_task(started())

    wire.servicer.act = act
    await logged(wire, request_id="r-7")
    assert seen == ["r-7"]


@pytest.mark.parametrize(
    "request_id", [None, "", "two words", "x" * 129], ids=["none", "empty", "spaced", "long"]
)
async def test_a_request_without_a_usable_id_gets_one(wire: Wire, request_id: str | None) -> None:
    line = await logged(wire, request_id=request_id)
    assert line["request_id"] == str(UUID(int=1))


async def test_a_deadline_that_passed_is_logged_as_such(wire: Wire) -> None:
    wire.servicer.act = wire.servicer.hang
    with capture_logs() as lines:
        async with wire.client() as client:
            with pytest.raises(aio.AioRpcError):
                await client.turns.Turn(REQUEST, timeout=0.2)
            await asyncio.wait_for(wire.servicer.left.wait(), 10)
            await client.turns.ListPendingAsks(turns_pb2.ListPendingAsksRequest())
    assert [line["status"] for line in lines] == ["DEADLINE_EXCEEDED", "OK"]


async def test_no_line_holds_what_people_write_or_their_tokens(wire: Wire) -> None:
    token = wire.key.issue("ada", HOUR)
    wire.servicer.raises(RuntimeError("my deepest secret"))
    with capture_logs([merge_contextvars]) as lines:
        async with wire.client(token) as client:
            with pytest.raises(aio.AioRpcError):
                await client.turns.Turn(REQUEST)
    text = str(lines)
    assert "call_broke" in text
    assert "deepest" not in text
    assert token not in text
    assert token.rpartition(".")[2] not in text

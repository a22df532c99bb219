import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from grpc import StatusCode, aio

import parley
from parley.v1 import turns_pb2
from parleyd.app.development_key import DevelopmentKey
from parleyd.contract.errors import InvalidAnswer, OptionForbidden
from parleyd.contract.field_errors import Code, FieldError
from tests.rpc.wire import HOUR, Wire, serving

FAULT = FieldError(
    path="content.selected[0]",
    code=Code.OPTION_NOT_OFFERED,
    message="That is no option.",
    fix="Pick one of a, b.",
)


@pytest.fixture
async def wire(tmp_path: Path) -> AsyncIterator[Wire]:
    """A server whose servicer does what the test says."""
    async with serving(DevelopmentKey.in_folder(tmp_path)) as running:
        yield running


async def who(client: parley.Client) -> str:
    """Returns the name that the server sees."""
    response = await client.turns.Turn(turns_pb2.TurnRequest())
    return response.result.text


async def failure(client: parley.Client) -> parley.ParleyError:
    """Returns how a call ends."""
    with pytest.raises(aio.AioRpcError) as raised:
        await who(client)
    return parley.error_of(raised.value)


async def test_every_call_carries_the_token(wire: Wire) -> None:
    async with parley.connect(wire.target, wire.key.issue("ada", HOUR)) as client:
        stream = client.turns.StreamTurn(turns_pb2.StreamTurnRequest())
        said = [response.event.turn_id async for response in stream]
        assert await who(client) == "ada"
    assert said == ["", "ada"]


async def test_a_token_can_be_fetched_before_every_call(wire: Wire) -> None:
    names = iter(["ada", "eve"])

    def fetch() -> str:
        return wire.key.issue(next(names), HOUR)

    async with parley.connect(wire.target, fetch) as client:
        assert [await who(client), await who(client)] == ["ada", "eve"]


async def test_fetching_a_token_may_take_its_time(wire: Wire) -> None:
    async def fetch() -> str:
        return await asyncio.to_thread(wire.key.issue, "ada", HOUR)

    async with parley.connect(wire.target, fetch) as client:
        stream = client.turns.StreamTurn(turns_pb2.StreamTurnRequest())
        assert [response.event.turn_id async for response in stream] == ["", "ada"]
        assert await who(client) == "ada"


async def test_metadata_of_the_caller_go_along(wire: Wire) -> None:
    async with parley.connect(wire.target, "not-this-one") as client:
        metadata = [("x-request-id", "r-1"), ("authorization", "Bearer nor this")]
        with pytest.raises(aio.AioRpcError) as raised:
            await client.turns.Turn(turns_pb2.TurnRequest(), metadata=metadata)
    assert "Send one bearer token" not in parley.error_of(raised.value).message, "one went out"


async def test_leaving_ends_the_calls(wire: Wire) -> None:
    wire.servicer.act = wire.servicer.hang
    async with parley.connect(wire.target, wire.key.issue("ada", HOUR)) as client:
        await client.turns.StreamTurn(turns_pb2.StreamTurnRequest()).read()
    await asyncio.wait_for(wire.servicer.left.wait(), 10)


async def test_an_error_has_its_reason_and_facts(wire: Wire) -> None:
    wire.servicer.raises(OptionForbidden("model", "Leave the model empty."))
    async with wire.client() as client:
        error = await failure(client)
    assert error.code is StatusCode.PERMISSION_DENIED
    assert (error.reason, error.metadata) == ("OPTION_FORBIDDEN", {"option": "model"})
    assert error.fields == ()
    assert str(error) == "OPTION_FORBIDDEN: Leave the model empty."


async def test_the_faults_of_fields_come_with_their_fixes(wire: Wire) -> None:
    wire.servicer.raises(InvalidAnswer("It does not fit.", [FAULT]))
    async with wire.client() as client:
        error = await failure(client)
    assert error.fields == (
        parley.FieldFault(
            "content.selected[0]", "OPTION_NOT_OFFERED", "That is no option.", "Pick one of a, b."
        ),
    )


async def test_faults_that_lost_their_fixes_on_the_way_are_read_without(wire: Wire) -> None:
    wire.servicer.raises(InvalidAnswer("It does not fit.", [FAULT] * 60))
    async with wire.client() as client:
        error = await failure(client)
    assert error.metadata == {"truncated": "true"}
    assert len(error.fields) > 10
    assert error.fields[0] == (FAULT.path, FAULT.code, FAULT.message, "")


async def test_a_server_that_is_not_there_has_no_reason() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        async with parley.connect(f"127.0.0.1:{unused.getsockname()[1]}", "token") as client:
            error = await failure(client)
    assert (error.code, error.reason, error.fields) == (StatusCode.UNAVAILABLE, "", ())


@pytest.mark.parametrize("details", [None, b"\xff\xff"], ids=["none", "nonsense"])
def test_a_status_without_readable_details_is_still_an_error(details: bytes | None) -> None:
    trailers = aio.Metadata(*([("grpc-status-details-bin", details)] if details else []))
    error = parley.error_of(
        aio.AioRpcError(StatusCode.UNKNOWN, aio.Metadata(), trailers, "broken", None)
    )
    assert (error.code, error.message, error.reason) == (StatusCode.UNKNOWN, "broken", "")

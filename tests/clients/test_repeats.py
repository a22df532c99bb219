"""A call is sent again where that can do no harm (spec turns 8.3), by both Python clients."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from time import monotonic
from typing import Any, Protocol
from uuid import UUID, uuid4

import grpc
import pytest
from google.protobuf.descriptor_pool import Default

import parley.sync
from parley.repeats import TRIES, Tries
from parley.v1 import turns_pb2 as pb
from parleyd.app.development_key import DevelopmentKey
from parleyd.contract import errors
from parleyd.rpc.server import SERVICES
from tests.rpc.wire import HOUR, Wire, serving

STOPPED = errors.Unavailable("This server is stopping.")


class Send(Protocol):
    """Calls a method of the turns' service."""

    async def __call__(self, method: str, request: object, **options: Any) -> Any: ...


@pytest.fixture
async def wire(tmp_path: Path) -> AsyncIterator[Wire]:
    async with serving(DevelopmentKey.in_folder(tmp_path)) as running:
        yield running


@pytest.fixture
def tokens() -> list[str]:
    """The tokens that were asked for."""
    return []


@pytest.fixture(params=["asyncio", "sync"])
async def send(
    request: pytest.FixtureRequest, wire: Wire, tokens: list[str]
) -> AsyncIterator[Send]:
    def token() -> str:
        tokens.append(wire.key.issue("ada", HOUR))
        return tokens[-1]

    kind = request.param
    async with parley.connect(wire.target, token) as client:
        with parley.sync.connect(wire.target, token) as waiting:

            async def send(method: str, request: object, **options: Any) -> Any:
                if kind == "asyncio":
                    return await getattr(client.turns, method)(request, **options)
                return await asyncio.to_thread(getattr(waiting.turns, method), request, **options)

            yield send


def turn() -> pb.TurnRequest:
    """Returns a request that may be sent again."""
    return pb.TurnRequest(request_id=str(uuid4()))


def fails(wire: Wire, *faults: errors.ParleyError) -> None:
    """Makes the next calls fail, one after the other."""
    left = iter(faults)

    async def act() -> None:
        if fault := next(left, None):
            raise fault

    wire.servicer.act = act


async def failure(send: Send, method: str, request: object, **options: Any) -> parley.ParleyError:
    with pytest.raises(grpc.RpcError) as raised:
        await send(method, request, **options)
    return parley.error_of(raised.value)


async def test_a_request_with_an_id_is_sent_until_a_server_answers(
    wire: Wire, send: Send, tokens: list[str]
) -> None:
    fails(wire, STOPPED, STOPPED)
    assert (await send("Turn", turn())).result.text == "ada"
    assert wire.servicer.calls == len(tokens) == 3, "a token may have run out between the tries"


async def test_a_read_is_sent_until_a_server_answers(wire: Wire, send: Send) -> None:
    fails(wire, STOPPED)
    assert (await send("GetTurn", pb.GetTurnRequest())).turn.turn_id == "ada"
    assert wire.servicer.calls == 2


async def test_a_request_without_an_id_is_sent_once(wire: Wire, send: Send) -> None:
    fails(wire, STOPPED)
    assert (await failure(send, "Turn", pb.TurnRequest())).reason == "UNAVAILABLE"
    assert wire.servicer.calls == 1


REFUSALS: dict[str, errors.ParleyError] = {
    "the_question_changed": errors.AskNotPending("call-1"),
    "no_model": errors.ModelNotConfigured(),
    "too_many": errors.RateLimited("streams of one person may be open", 16),
    "not_there": errors.TurnNotFound(UUID(int=1)),
}


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS.keys())
async def test_what_a_server_refuses_is_not_sent_again(
    wire: Wire, send: Send, refusal: errors.ParleyError
) -> None:
    fails(wire, refusal)
    assert (await failure(send, "Turn", turn())).reason == refusal.reason
    assert wire.servicer.calls == 1


async def test_tries_have_an_end(wire: Wire, send: Send) -> None:
    wire.servicer.raises(STOPPED)
    assert (await failure(send, "Turn", turn())).reason == "UNAVAILABLE"
    assert wire.servicer.calls == TRIES


async def test_a_deadline_is_for_all_tries_together(wire: Wire, send: Send) -> None:
    wire.servicer.raises(STOPPED)
    begun = monotonic()
    error = await failure(send, "Turn", turn(), timeout=0.3)
    assert error.code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
    assert monotonic() - begun < 1
    assert wire.servicer.calls < TRIES


def test_what_changes_something_is_not_repeatable_without_an_id() -> None:
    methods = {
        method.full_name.removeprefix("parley.v1."): Tries(
            f"/{service}/{method.name}", None, None
        ).repeatable
        for service in SERVICES
        for method in Default().FindServiceByName(service).methods
    }
    changing = {name for name, repeatable in methods.items() if not repeatable}
    assert changing == {
        "AskService.CancelAsk",
        "AskService.CreateAsk",
        "BlockGenerationService.GenerateBlocks",
        "ConversationService.CreateConversation",
        "ConversationService.DeleteConversation",
        "ConversationService.RateMessage",
        "ConversationService.UpdateConversation",
        "FileService.CreateFileUrl",
        "FileService.DeleteFile",
        "FileService.UploadFile",
        "TurnService.CreateActionToken",
        "TurnService.RedeemActionToken",
        "TurnService.RunBlockAction",
        "TurnService.StreamTurn",
        "TurnService.Turn",
    }


def test_calls_of_other_services_are_not_repeatable() -> None:
    assert not Tries("/grpc.health.v1.Health/Check", None, None).repeatable

import asyncio
import socket
from collections.abc import Sequence
from contextlib import aclosing
from typing import Protocol
from uuid import UUID

import pytest
from grpc import StatusCode

import parley.sync
from parley.following import SILENCE_SECONDS, TurnCall
from parley.v1 import turns_pb2 as pb
from parleyd.contract import errors, limits
from tests.clients.played_turns import (
    DISCARDED,
    DONE,
    HEL,
    RESUMED,
    STARTED,
    TEXT,
    PlayedTurns,
    Said,
    playing,
)

STOPPED = errors.Unavailable("This server is stopping.")
REQUEST = pb.StreamTurnRequest(prompt=pb.PromptInput(text="Hello"), request_id=str(UUID(int=1)))
WATCH = pb.WatchTurnRequest(conversation_id="c-1", turn_id="t-1", after_sequence=1)
SOON = 10


class Hear(Protocol):
    """Returns the events of a turn as a client gets them."""

    async def __call__(
        self, turns: PlayedTurns, request: TurnCall = REQUEST, patience: float = 60
    ) -> list[pb.TurnEvent]: ...


async def heard(
    turns: PlayedTurns, request: TurnCall = REQUEST, patience: float = 60
) -> list[pb.TurnEvent]:
    async with (
        asyncio.timeout(SOON),
        playing(turns) as target,
        parley.connect(target, "token") as client,
    ):
        return [event async for event in parley.turn_events(client, request, patience=patience)]


async def heard_in_a_thread(
    turns: PlayedTurns, request: TurnCall = REQUEST, patience: float = 60
) -> list[pb.TurnEvent]:
    def hear(target: str) -> list[pb.TurnEvent]:
        with parley.sync.connect(target, "token") as client:
            return list(parley.sync.turn_events(client, request, patience=patience))

    async with asyncio.timeout(SOON), playing(turns) as target:
        return await asyncio.to_thread(hear, target)


@pytest.fixture(params=[heard, heard_in_a_thread], ids=["asyncio", "sync"])
def hear(request: pytest.FixtureRequest) -> Hear:
    """Both clients of Python."""
    return request.param


def watched_after(sequence: int) -> pb.WatchTurnRequest:
    return pb.WatchTurnRequest(conversation_id="c-1", turn_id="t-1", after_sequence=sequence)


async def test_a_stream_that_holds_is_passed_on_without_its_empty_responses(hear: Hear) -> None:
    turns = PlayedTurns(["nothing", STARTED, RESUMED, "nothing", HEL, TEXT, DONE])
    assert await hear(turns) == [STARTED, RESUMED, HEL, TEXT, DONE]
    assert turns.received == [REQUEST]


BREAKS: dict[str, Sequence[Said]] = {
    "the_server_stops": [STOPPED],
    "the_network_breaks": [StatusCode.UNAVAILABLE],
    "the_call_meets_the_stop": [StatusCode.CANCELLED],
    "a_proxy_resets_the_stream": [StatusCode.INTERNAL],
    "a_proxy_breaks_the_stream": [StatusCode.UNKNOWN],
    "the_stream_just_ends": [],
}


@pytest.mark.parametrize("broken", BREAKS.values(), ids=BREAKS.keys())
async def test_a_stream_that_breaks_goes_on_after_the_last_event(
    hear: Hear, broken: Sequence[Said]
) -> None:
    turns = PlayedTurns([STARTED, RESUMED, *broken], [*broken], ["nothing", TEXT, *broken], [DONE])
    assert await hear(turns) == [STARTED, RESUMED, TEXT, DONE]
    assert turns.received == [REQUEST, watched_after(2), watched_after(2), watched_after(3)]


@pytest.mark.parametrize("broken", BREAKS.values(), ids=BREAKS.keys())
async def test_a_request_that_nobody_heard_is_repeated(hear: Hear, broken: Sequence[Said]) -> None:
    turns = PlayedTurns([*broken], ["nothing", *broken], [STARTED, DONE])
    assert await hear(turns) == [STARTED, DONE]
    assert turns.received == [REQUEST] * 3


async def test_every_repeat_of_a_request_has_its_id_and_the_callers_is_left_alone() -> None:
    turns = PlayedTurns([STOPPED], [STARTED, DONE], [STARTED, DONE])
    own = pb.StreamTurnRequest(prompt=pb.PromptInput(text="Hello"))
    async with playing(turns) as target, parley.connect(target, "token") as client:
        for _ in range(2):
            async for _ in parley.turn_events(client, own):
                pass
    first, repeat, other = (
        UUID(each.request_id) for each in turns.received if isinstance(each, pb.StreamTurnRequest)
    )
    assert first == repeat != other
    assert own.request_id == ""


async def test_a_turn_can_be_watched_from_where_a_client_is(hear: Hear) -> None:
    turns = PlayedTurns([RESUMED, STOPPED], [TEXT, DONE])
    assert await hear(turns, WATCH) == [RESUMED, TEXT, DONE]
    assert turns.received == [WATCH, watched_after(2)]


async def test_what_came_before_does_not_come_again(hear: Hear) -> None:
    turns = PlayedTurns([STARTED, RESUMED, STOPPED], [STARTED, RESUMED, TEXT, DONE])
    assert await hear(turns) == [STARTED, RESUMED, TEXT, DONE]


async def test_a_preview_is_withdrawn_before_it_comes_anew(hear: Hear) -> None:
    turns = PlayedTurns(
        [STARTED, HEL, STOPPED], [STOPPED], [HEL, DISCARDED, STOPPED], [HEL, TEXT, STOPPED], [DONE]
    )
    assert await hear(turns) == [STARTED, HEL, DISCARDED, HEL, DISCARDED, HEL, TEXT, DONE]


REFUSALS: dict[str, errors.ParleyError] = {
    "not_there": errors.TurnNotFound(UUID(int=1)),
    "gone": errors.EventsExpired(UUID(int=1)),
    "too_many": errors.RateLimited("streams of one person may be open", 16),
    "no_model": errors.ModelNotConfigured(),
    "a_fault_of_ours": errors.Unauthenticated("The bearer token has expired; get a new one."),
}


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS.keys())
async def test_what_a_server_refuses_is_not_tried_again(
    hear: Hear, refusal: errors.ParleyError
) -> None:
    for play in ([refusal], [STARTED, refusal]):
        turns = PlayedTurns(play)
        with pytest.raises(parley.ParleyError) as raised:
            await hear(turns)
        assert raised.value.reason == refusal.reason
        assert len(turns.received) == 1


async def test_a_server_that_is_gone_for_too_long_ends_it(hear: Hear) -> None:
    turns = PlayedTurns([STARTED, STOPPED], *[[STOPPED]] * 50)
    with pytest.raises(parley.ParleyError) as raised:
        await hear(turns, patience=0.5)
    assert (raised.value.code, raised.value.reason) == (StatusCode.UNAVAILABLE, "UNAVAILABLE")
    assert 2 < len(turns.received) < 10, "it tries again, after growing pauses"


async def test_a_server_that_was_never_there_ends_it() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        async with parley.connect(f"127.0.0.1:{unused.getsockname()[1]}", "token") as client:
            with pytest.raises(parley.ParleyError) as raised:
                await anext(parley.turn_events(client, REQUEST, patience=0))
    assert (raised.value.code, raised.value.reason) == (StatusCode.UNAVAILABLE, "")


async def test_leaving_early_ends_the_call() -> None:
    turns = PlayedTurns([STARTED, "silence"])
    async with playing(turns) as target, parley.connect(target, "token") as client:
        async with aclosing(parley.turn_events(client, REQUEST)) as events:
            assert await anext(events) == STARTED
        await asyncio.wait_for(turns.left.wait(), SOON)


async def test_silence_is_a_broken_stream(hear: Hear, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 2 * limits.QUIET_SECONDS < SILENCE_SECONDS
    monkeypatch.setattr("parley.turns.SILENCE_SECONDS", 0.2)
    monkeypatch.setattr("parley.sync.turns.SILENCE_SECONDS", 0.2)
    turns = PlayedTurns([STARTED, "silence"], [DONE])
    assert await hear(turns) == [STARTED, DONE]
    await asyncio.wait_for(turns.left.wait(), SOON)


async def test_who_has_no_patience_hears_of_the_silence(
    hear: Hear, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("parley.turns.SILENCE_SECONDS", 0.2)
    monkeypatch.setattr("parley.sync.turns.SILENCE_SECONDS", 0.2)
    with pytest.raises(parley.ParleyError) as raised:
        await hear(PlayedTurns([STARTED, "silence"]), patience=0)
    assert raised.value.code is StatusCode.UNAVAILABLE
    assert raised.value.message == "The server said nothing for too long."

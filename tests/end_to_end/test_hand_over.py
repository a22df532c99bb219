"""A process is told to stop, and others go on with its turns at once (3.9, 15.6)."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import grpc

from parley.v1 import turns_pb2
from parleyd.contract.answers import accepted
from parleyd.contract.json import compact
from parleyd.models.script import Hold
from parleyd.models.scripted import by_progress, by_prompt
from tests.end_to_end.person import Person, Played, accept, refused
from tests.end_to_end.rows import types
from tests.failpoints import block
from tests.scripts import COUNTED, HELLO, SET_UP, Script
from tests.server import Processes
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import look_up

HERE: Final = "tests.end_to_end.test_hand_over"
SETTINGS: Final = {"owner_turns": 50, "owner_streams": 50}
SOON: Final = 2.0
"""Within this time others go on with turns that were given up."""
DEADLINE: Final = 30
HAND_OVERS: Final = 5

THINKING: Final = [f"Think {number}" for number in range(10)]
LOOKING: Final = [f"Look up {number}" for number in range(2)]
STREAMING: Final = [f"Stream {number}" for number in range(20)]
ASKING: Final = [f"Ask {number}" for number in range(5)]
LATE: Final = "enterprise"
"""Answers with this pick are not stored yet when their process is told to stop."""


def _script(*before: Hold) -> Script:
    """Returns a script whose last model calls wait."""
    reply, lookup = by_progress([*before, HELLO]), by_progress([look_up(hold="inside")], [COUNTED])
    answer = by_progress([ask_plan()], [*before, SET_UP])
    return Script(
        by_prompt(
            dict.fromkeys(THINKING, reply)
            | dict.fromkeys(STREAMING, reply)
            | dict.fromkeys(LOOKING, lookup)
            | dict.fromkeys(ASKING, answer)
        )
    )


HOLDS: Final = _script(Hold("thinking"))
GOES: Final = _script()


@dataclass
class Followed:
    """A turn: what its own stream saw, how that ended, and what others saw when."""

    own: Played = field(default_factory=Played)
    own_error: grpc.StatusCode | None = None
    watched: Played = field(default_factory=Played)
    resumed_at: float = 0.0

    async def play(self, person: Person, request: turns_pb2.StreamTurnRequest) -> None:
        """Runs the turn for as long as its process goes on with it."""
        try:
            async for event in person.stream(request):
                self.own.events.append(event)
        except grpc.aio.AioRpcError as error:
            self.own_error = error.code()

    async def watch(self, person: Person) -> None:
        """Watches the turn from its beginning to its end."""
        played = self.own
        async for event in person.watch_all(played.conversation_id, played.turn_id):
            if event.HasField("resumed"):
                self.resumed_at = _now()
            if event.sequence:
                self.watched.events.append(event)

    async def missed(self, person: Person) -> Played:
        """Returns what came after the last event that the turn's own stream saw."""
        played = self.own
        last = played.events[-1].sequence
        return await person.watch(played.conversation_id, played.turn_id, last)


async def test_c12_turns_of_a_process_that_stops_go_on_elsewhere_at_once(
    processes: Processes,
) -> None:
    stopping, other = await asyncio.gather(
        processes.start(f"{HERE}:HOLDS", **SETTINGS), processes.start(f"{HERE}:GOES", **SETTINGS)
    )
    noor, elsewhere = await stopping.person(), await other.person()
    thinking, looking = [Followed() for _ in THINKING], [Followed() for _ in LOOKING]
    every = [*thinking, *looking]
    playing = [
        asyncio.create_task(each.play(noor, _prompt(text)))
        for each, text in zip(every, THINKING + LOOKING, strict=True)
    ]
    await stopping.holds.reached("thinking", len(thinking))
    await stopping.holds.reached("inside", len(looking))
    await _until(lambda: all(len(each.own.events) == 2 for each in looking))
    await _until(lambda: all(len(each.own.events) == 1 for each in thinking))
    watching = [asyncio.create_task(each.watch(elsewhere)) for each in every]
    await _until(lambda: all(each.watched.events for each in every))

    stopping.terminate()
    told_at = _now()
    async with asyncio.timeout(DEADLINE):
        await asyncio.gather(*playing[: len(thinking)], *watching[: len(thinking)])
    for each in thinking:
        assert 0 < each.resumed_at - told_at <= SOON
        assert each.watched.names == ["started", "resumed", "text", "done"]
    # The tools still run, and their process waits for them.
    assert all(each.watched.names == ["started", "tool_call"] for each in looking)
    assert all(not each.done() for each in playing[len(thinking) :])
    stopping.holds.release("inside")
    async with asyncio.timeout(DEADLINE):
        await asyncio.gather(*playing, *watching)
    assert await stopping.wait() == 0
    for each in looking:
        names = ["started", "tool_call", "tool_result", "resumed", "text", "done"]
        assert each.watched.names == names
        assert not each.watched.events[2].tool_result.is_error
        assert each.own.names == names[:3]
    assert [run.pid for run in processes.folder.tool_runs()] == [stopping.pid] * 2
    for each in every:
        assert each.own_error == grpc.StatusCode.UNAVAILABLE
        assert [event.sequence for event in each.watched.events] == [
            *range(1, len(each.watched.events) + 1)
        ]
        missed = await each.missed(elsewhere)
        assert each.own.events + missed.events == each.watched.events
        assert each.watched.done.state == turns_pb2.Turn.STATE_COMPLETED


async def test_c12_a_turn_that_was_handed_over_five_times_still_completes(
    processes: Processes,
) -> None:
    servers = await asyncio.gather(*[processes.start("HELD_REPLY") for _ in range(HAND_OVERS + 1)])
    by_pid = {server.pid: server for server in servers}
    first = servers[0]
    turn = Followed()
    playing = asyncio.create_task(turn.play(await first.person(), _prompt("Hello?")))
    for number in range(1, HAND_OVERS + 1):
        await _until(lambda so_far=number: len(processes.folder.model_calls()) == so_far)
        holder = by_pid.pop(processes.folder.model_calls()[-1].pid)
        await holder.holds.reached("thinking")
        holder.terminate()
        assert await holder.wait() == 0
    await playing
    assert turn.own_error == grpc.StatusCode.UNAVAILABLE
    (last,) = by_pid.values()
    await last.holds.reached("thinking")
    last.holds.release("thinking")
    await turn.watch(await last.person())
    assert turn.watched.names == ["started", *["resumed"] * HAND_OVERS, "text", "done"]
    attempts = [event.resumed.attempt for event in turn.watched.events if event.HasField("resumed")]
    assert attempts == [2, 3, 4, 5, 6]
    assert turn.watched.done.state == turns_pb2.Turn.STATE_COMPLETED
    assert len(processes.folder.model_calls()) == HAND_OVERS + 1


async def test_bc_099_a_stop_with_twenty_streams_and_five_answers_loses_none(
    processes: Processes,
) -> None:
    said = compact(accepted({"selected": [LATE]}))
    stopping, other = await asyncio.gather(
        processes.start(f"{HERE}:HOLDS", block("before_tx1", said=said), **SETTINGS),
        processes.start(f"{HERE}:GOES", **SETTINGS),
    )
    noor, elsewhere = await stopping.person(), await other.person()
    asked = await asyncio.gather(*[noor.prompt(text) for text in ASKING])
    picks = ["team", "team", "starter", LATE, LATE]
    requests = [
        *map(_prompt, STREAMING),
        *[_answer(each, pick) for each, pick in zip(asked, picks, strict=True)],
    ]
    turns = [Followed() for _ in requests]
    playing = [
        asyncio.create_task(turn.play(noor, request))
        for turn, request in zip(turns, requests, strict=True)
    ]
    await stopping.holds.reached("thinking", len(STREAMING) + 3)
    await stopping.holds.reached("before_tx1", 2)

    stopping.terminate()
    async with asyncio.timeout(DEADLINE):
        await asyncio.gather(*playing[:-2])
    assert not any(each.done() for each in playing[-2:])
    for call in (noor.prompt(THINKING[0]), noor.pending()):
        assert (await refused(call)).code() == grpc.StatusCode.UNAVAILABLE
    stopping.holds.release("before_tx1")
    async with asyncio.timeout(DEADLINE):
        await asyncio.gather(*playing)
    assert await stopping.wait() == 0

    async with asyncio.timeout(DEADLINE):
        await asyncio.gather(*[turn.watch(elsewhere) for turn in turns])
    for turn in turns:
        assert turn.own_error == grpc.StatusCode.UNAVAILABLE
        assert turn.own.events == turn.watched.events[: len(turn.own.events)]
        assert turn.watched.names[-3:] == ["resumed", "text", "done"]
        assert turn.watched.done.state == turns_pb2.Turn.STATE_COMPLETED
    for each, pick in zip(asked, picks, strict=True):
        lines = await elsewhere.messages(each.conversation_id)
        assert types(lines) == ["user", "tool_call", "tool_result", "assistant"]
        assert lines[2].ask.answer == accept(pick)
    prompts = [call.prompt for call in processes.folder.model_calls()]
    assert THINKING[0] not in prompts


def _prompt(text: str) -> turns_pb2.StreamTurnRequest:
    return turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text=text))


def _answer(asked: Played, pick: str) -> turns_pb2.StreamTurnRequest:
    answer = turns_pb2.AnswerInput(tool_call_id=PLAN_ID, answer=accept(pick))
    return turns_pb2.StreamTurnRequest(conversation_id=asked.conversation_id, answer=answer)


async def _until(condition: Callable[[], bool]) -> None:
    """Waits until a condition holds."""
    async with asyncio.timeout(DEADLINE):
        while not condition():
            await asyncio.sleep(0.01)


def _now() -> float:
    return asyncio.get_running_loop().time()

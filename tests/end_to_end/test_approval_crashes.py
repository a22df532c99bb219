"""Processes end with approved calls at every place; no call runs twice (spec turns 9.8, 15.6).

All of it happens once, side by side; each test looks at one conversation.
"""

import asyncio
import json
from collections.abc import Generator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import grpc
import pytest

from parley import ParleyError, error_of
from parley.v1 import conversations_pb2, turns_pb2
from parleyd.contract.executions import UNKNOWN_OUTCOME, UNKNOWN_RESULT
from parleyd.models.call_records import CallRecord
from parleyd.models.scripted import by_progress, by_prompt
from parleyd.turns.model import ToolOutcome
from tests.database import Server as DatabaseServer
from tests.end_to_end.guarded import approval, rows
from tests.end_to_end.person import Person, Played, refused
from tests.failpoints import Failpoint, Place, block
from tests.scripts import CLEANED_UP, Script
from tests.server import Processes
from tests.standard_tools import (
    DELETE,
    DELETE_ID,
    PLANS,
    PUBLISH,
    PUBLISH_ID,
    ToolRun,
    delete,
    publish,
)

HERE: Final = "tests.end_to_end.test_approval_crashes"
SECONDS: Final = 30
INSIDE: Final = "inside"
REPLAYED: Final = "replay-safe inside"

PLACES: Final[tuple[Place, ...]] = (
    *("before_tx1", "after_tx1", "before_tool", "after_tool_run", "after_txr", "before_tx2"),
)
"""Each holds the first answer that comes to it, in this order."""

SCRIPT: Final = Script(
    by_prompt(
        {place: by_progress([delete()], [CLEANED_UP]) for place in PLACES}
        | {
            INSIDE: by_progress([delete(hold=INSIDE)], [CLEANED_UP]),
            REPLAYED: by_progress([publish(hold=INSIDE)], [CLEANED_UP]),
        }
    )
)

GOES_ON: Final = {
    "after_tx1": "started ask_resolved resumed tool_result text done",
    "before_tool": "started ask_resolved resumed tool_result text done",
    INSIDE: "started ask_resolved resumed tool_result text done",
    REPLAYED: "started ask_resolved resumed tool_result text done",
    "after_tool_run": "started ask_resolved resumed tool_result text done",
    "after_txr": "started ask_resolved tool_result resumed text done",
    "before_tx2": "started ask_resolved tool_result resumed text done",
}
NOT_STORED: Final = "before_tx1"
RUNS: Final = {
    "after_tx1": (0, 1),
    "before_tool": (0, 1),
    INSIDE: (1, 0),
    REPLAYED: (1, 1),
    "after_tool_run": (1, 0),
    "after_txr": (1, 0),
    "before_tx2": (1, 0),
}
"""How often the tool ran in the process that was killed, and in the other."""
UNKNOWN: Final = (INSIDE, "after_tool_run")


@dataclass
class Stood:
    """A conversation whose approval was on its way when its process was killed."""

    asked: Played
    turn_id: str = ""
    watched: Played = field(default_factory=Played)
    turn: turns_pb2.Turn = field(default_factory=turns_pb2.Turn)
    messages: list[conversations_pb2.Message] = field(
        default_factory=list[conversations_pb2.Message]
    )
    pending: str = ""
    calls: list[CallRecord] = field(default_factory=list[CallRecord])
    runs: list[ToolRun] = field(default_factory=list[ToolRun])
    again: ParleyError | None = None
    """How the same answer was refused afterwards."""

    @property
    def own(self) -> str:
        return self.asked.conversation_id

    @property
    def approval_id(self) -> str:
        return self.asked.ask.tool_call_id


@dataclass
class Crash:
    """What became of each conversation, by its place."""

    stood: dict[str, Stood]
    pid: int
    unstored: tuple[Played, str]
    """The approval that was not stored, given again; and what was pending before."""
    idle: tuple[int, int]
    """The model calls of that conversation until then, and its asks."""


@pytest.fixture(scope="module")
def crash(postgres: DatabaseServer, tmp_path_factory: pytest.TempPathFactory) -> Generator[Crash]:
    url = asyncio.run(postgres.make())
    yield asyncio.run(_crash(url, tmp_path_factory.mktemp("crash")))
    asyncio.run(postgres.drop(url))


def _points() -> list[Failpoint]:
    return [block(place, times=1, kind="answer") for place in PLACES]


async def _crash(url: str, path: Path) -> Crash:
    async with AsyncExitStack() as stack, asyncio.timeout(3 * SECONDS):
        processes = Processes(url, path, stack)
        first, survivor = await asyncio.gather(
            processes.start(f"{HERE}:SCRIPT", *_points(), owner_turns=50, owner_streams=50),
            processes.start(f"{HERE}:SCRIPT", owner_turns=50, owner_streams=50),
        )
        noor, elsewhere = await first.person(), await survivor.person()
        stood: dict[str, Stood] = {}
        answering: list[asyncio.Task[None]] = []
        for place in (*PLACES, INSIDE, REPLAYED):
            one = stood[place] = Stood(await noor.prompt(place))
            answering.append(asyncio.create_task(_approve(noor, one)))
            times = 2 if place == REPLAYED else 1
            await first.holds.reached(place if place in PLACES else INSIDE, times)
            conversation = await elsewhere.conversation(one.own)
            one.turn_id = conversation.running_turn_id
        first.kill()
        await asyncio.gather(*answering)
        survivor.holds.release(INSIDE)
        for one in stood.values():
            one.pending = (await elsewhere.conversation(one.own)).pending_ask.tool_call_id
        unstored = stood.pop(NOT_STORED)
        await asyncio.gather(*(_look(elsewhere, one) for one in stood.values()))
        idle = sum(call.prompt == NOT_STORED for call in processes.folder.model_calls())
        asks = len(await elsewhere.messages(unstored.own)) - 2
        given = await elsewhere.answer(unstored.own, unstored.approval_id, approval())
        calls, runs = processes.folder.model_calls(), processes.folder.tool_runs()
        for place, one in stood.items():
            one.calls = [call for call in calls if call.prompt == place]
            one.runs = [run for run in runs if str(run.turn_id) == one.turn_id]
        assert len(runs) == 1 + sum(map(sum, RUNS.values()))
        assert [run.approval_id for run in runs].count(unstored.approval_id) == 1
        assert processes.folder.refusals() == []
        return Crash(stood, first.pid, (given, unstored.pending), (idle, asks))


async def _approve(noor: Person, one: Stood) -> None:
    with suppress(grpc.aio.AioRpcError):
        await noor.answer(one.own, one.approval_id, approval())


async def _look(elsewhere: Person, one: Stood) -> None:
    one.watched = await elsewhere.watch(one.own, one.turn_id)
    one.turn = await elsewhere.turn(one.own, one.turn_id)
    one.messages = await elsewhere.messages(one.own)
    one.again = error_of(await refused(elsewhere.answer(one.own, one.approval_id, approval())))


def results(one: Stood) -> list[tuple[str, object, bool]]:
    return [
        (result.tool_call_id, json.loads(result.result_json), result.is_error)
        for result in one.watched.results
    ]


def last_outcomes(one: Stood) -> list[object]:
    """Returns what the model was last told of its calls."""
    return list(one.calls[-1].messages[-1].parts)


@pytest.mark.parametrize("place", GOES_ON)
def test_an_approved_turn_goes_on_from_every_place_where_its_process_is_killed(
    crash: Crash, place: str
) -> None:
    one = crash.stood[place]
    assert one.watched.names == GOES_ON[place].split()
    assert one.turn.state == turns_pb2.Turn.STATE_COMPLETED
    died = [run.pid == crash.pid for run in one.runs]
    assert (died.count(True), died.count(False)) == RUNS[place]
    tool = PUBLISH if place == REPLAYED else DELETE
    assert rows(one.messages) == [
        ("user", "", ""),
        ("tool_call", tool, ""),
        ("tool_call", tool, "answered"),
        ("tool_result", tool, "answered"),
        ("tool_result", tool, ""),
        ("assistant", "", ""),
    ]
    assert {run.approval_id for run in one.runs} == {one.approval_id}
    assert {run.key for run in one.runs} == {f"{one.asked.turn_id}/1/0"}
    # The approval is used, whatever became of its call.
    assert one.pending == ""
    assert one.again
    assert (one.again.code, one.again.reason) == (grpc.StatusCode.ABORTED, "ASK_NOT_PENDING")
    assert one.again.metadata["resolved_by_turn_id"] == one.turn_id
    assert one.again.metadata["action"] == "accept"


@pytest.mark.parametrize("place", [place for place in GOES_ON if place not in UNKNOWN])
def test_what_ran_is_told_with_its_real_result(crash: Crash, place: str) -> None:
    one = crash.stood[place]
    call_id, tool = (PUBLISH_ID, PUBLISH) if place == REPLAYED else (DELETE_ID, DELETE)
    assert results(one) == [(call_id, PLANS, False)]
    assert last_outcomes(one) == [ToolOutcome(call_id, tool, value=PLANS)]


def test_an_approval_that_was_not_stored_never_was(crash: Crash) -> None:
    given, pending = crash.unstored
    assert pending == given.resolved.tool_call_id
    assert given.names == ["started", "ask_resolved", "tool_result", "text", "done"]


def test_bc_049_an_approval_that_waits_brings_no_model_call_and_no_other_ask(crash: Crash) -> None:
    """It waited while other turns lost their leases and were taken over, ten seconds or more."""
    assert crash.idle == (1, 1)


@pytest.mark.parametrize("place", ["before_tool", "after_tx1"])
def test_c5_killed_before_its_tool_an_approved_call_runs_elsewhere_once(
    crash: Crash, place: str
) -> None:
    one = crash.stood[place]
    (run,) = one.runs
    assert run.pid != crash.pid
    assert "ask" not in one.watched.names
    assert rows(one.messages).count(("tool_call", DELETE, "answered")) == 1
    assert len(one.calls) == 2


@pytest.mark.parametrize("place", UNKNOWN)
def test_c6_killed_after_its_tool_an_approved_call_is_unknown_and_not_run_again(
    crash: Crash, place: str
) -> None:
    one = crash.stood[place]
    (run,) = one.runs
    assert run.pid == crash.pid
    assert results(one) == [(DELETE_ID, UNKNOWN_RESULT, True)]
    assert last_outcomes(one) == [ToolOutcome(DELETE_ID, DELETE, error=UNKNOWN_OUTCOME)]
    assert json.loads(one.messages[4].result_json) == UNKNOWN_RESULT
    assert one.turn.state == turns_pb2.Turn.STATE_COMPLETED


def test_a_replay_safe_tool_runs_again_on_its_one_approval_with_its_one_key(crash: Crash) -> None:
    one = crash.stood[REPLAYED]
    assert [run.pid == crash.pid for run in one.runs] == [True, False]
    assert one.watched.names.count("tool_result") == 1


# ---------------------------------------------------------------- told to stop


async def test_an_approved_tool_that_runs_while_its_process_is_told_to_stop_ends_first(
    processes: Processes,
) -> None:
    stopping, other = await asyncio.gather(
        processes.start("HELD_DELETE"), processes.start("HELD_DELETE")
    )
    noor, elsewhere = await stopping.person(), await other.person()
    asked = await noor.prompt("Clean up")
    one = Stood(asked)
    answering = asyncio.create_task(_approve(noor, one))
    async with asyncio.timeout(SECONDS):
        await stopping.holds.reached(INSIDE)
        turn_id = (await elsewhere.conversation(one.own)).running_turn_id
        stopping.terminate()
        stopping.holds.release(INSIDE)
        watched = await elsewhere.watch(one.own, turn_id)
        await answering
    assert await stopping.wait() == 0

    assert [name for name in watched.names if name != "resumed"] == [
        *("started", "ask_resolved", "tool_result", "text", "done")
    ]
    assert [json.loads(result.result_json) for result in watched.results] == [PLANS]
    assert [(run.pid, run.approval_id) for run in processes.folder.tool_runs()] == [
        (stopping.pid, one.approval_id)
    ]

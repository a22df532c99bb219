"""Processes are killed with turns at every place; another one goes on with them (15.6).

All of it happens once, side by side; each test looks at one turn.
"""

import asyncio
import json
import signal
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grpc
import pytest

from parley.v1 import conversations_pb2, turns_pb2
from parleyd.contract import limits
from parleyd.contract.executions import UNKNOWN_OUTCOME, UNKNOWN_RESULT
from parleyd.models.script import ScriptedMessage
from parleyd.turns.model import ToolOutcome
from tests.database import Server as DatabaseServer
from tests.end_to_end.crash_scene import Scene, Stood, scene
from tests.end_to_end.crash_table import (
    DELETED,
    FAILS_LATER,
    GOES_ON,
    IN_MODEL,
    IN_SECOND_CALL,
    IN_TITLE,
    INSIDE,
    MEANWHILE,
    OWN_KEY,
    ROWS,
    UNSTORED,
    Row,
)
from tests.end_to_end.person import Person, Played, accept, refused
from tests.end_to_end.rows import types
from tests.standard_asks import PLAN_ID
from tests.standard_tools import LOOKUP_ID, PLANS, UPSERT_ID

SECONDS: Final = 15.0
"""A lease, a round of those who look for turns, and the turn itself."""
AT_ONCE: Final = limits.LEASE_SECONDS - limits.HEARTBEAT_SECONDS
"""No lease of a process that was just killed can be over so soon."""

UNAVAILABLE: Final = grpc.StatusCode.UNAVAILABLE
AFTER_TXR_OF_AN_ASK: Final = "after_txr of an ask"

Turn = turns_pb2.Turn


@dataclass
class Meanwhile:
    """A prompt beside a dead turn, when it had ended, and the dead turn at that time."""

    played: Played
    seconds: float
    dead: turns_pb2.Turn


@dataclass
class Crash:
    """What became of every turn of processes that were killed.

    `unstored` is how the caller of a turn that was not stored heard of it, what it left, and its
    model calls.
    """

    stood: dict[str, Stood]
    pids: set[int]
    unstored: tuple[grpc.StatusCode, list[conversations_pb2.Conversation], int]
    meanwhile: dict[str, Meanwhile]
    answered: Played
    retried: Played

    def of(self, row: Row) -> Stood:
        return self.stood[row.name]


@pytest.fixture(scope="module")
def crash(postgres: DatabaseServer, tmp_path_factory: pytest.TempPathFactory) -> Generator[Crash]:
    url = asyncio.run(postgres.make())
    yield asyncio.run(_crash(url, tmp_path_factory.mktemp("crash")))
    asyncio.run(postgres.drop(url))


async def _crash(url: str, path: Path) -> Crash:
    rows = (*ROWS, GOES_ON, FAILS_LATER, OWN_KEY, DELETED)
    async with scene(url, path, rows) as crashing:
        noor, nobody = await crashing.survivor.person(), await crashing.survivor.person("nobody")
        refusal = asyncio.create_task(_not_stored(crashing))
        await crashing.ending[0].holds.reached(UNSTORED)
        await noor.client.conversations.DeleteConversation(
            conversations_pb2.DeleteConversationRequest(
                conversation_id=crashing.stood[DELETED.name].conversation_id
            )
        )
        crashing.send(signal.SIGKILL)
        crashing.survivor.holds.release(INSIDE)
        meanwhile = {
            row.name: await _meanwhile(noor, crashing, row) for row in (GOES_ON, FAILS_LATER)
        }
        await crashing.watched()
        await crashing.told()
        await crashing.look()
        own_key = crashing.stood[OWN_KEY.name]
        request = turns_pb2.StreamTurnRequest(conversation_id=own_key.conversation_id)
        request.retry.turn_id = own_key.turn_id
        asked = crashing.stood[AFTER_TXR_OF_AN_ASK].conversation_id
        return Crash(
            stood=crashing.stood,
            pids=crashing.pids,
            unstored=(
                (await refusal).code(),
                await _conversations(nobody),
                sum(call.prompt == UNSTORED for call in crashing.folder.model_calls()),
            ),
            meanwhile=meanwhile,
            answered=await noor.answer(asked, PLAN_ID, accept("team")),
            retried=await _with_key(noor, request),
        )


async def _not_stored(crashing: Scene) -> grpc.aio.AioRpcError:
    nobody = await crashing.ending[0].person("nobody")
    return await refused(nobody.prompt(UNSTORED))


async def _conversations(person: Person) -> list[conversations_pb2.Conversation]:
    request = conversations_pb2.ListConversationsRequest()
    return list((await person.client.conversations.ListConversations(request)).conversations)


async def _meanwhile(noor: Person, crashing: Scene, row: Row) -> Meanwhile:
    stood = crashing.stood[row.name]
    played = await noor.prompt(MEANWHILE, stood.conversation_id)
    seconds = asyncio.get_running_loop().time() - crashing.ended_at
    dead = await noor.turn(stood.conversation_id, stood.turn_id)
    return Meanwhile(played, seconds, dead)


async def _with_key(noor: Person, request: turns_pb2.StreamTurnRequest) -> Played:
    metadata = (("x-ai-api-key", "another key"),)
    stream = noor.client.turns.StreamTurn(request, metadata=metadata)
    return Played([each.event async for each in stream if each.event.sequence])


# ---------------------------------------------------------------- the table


@pytest.mark.parametrize("row", [*ROWS, IN_TITLE], ids=lambda row: row.name.replace(" ", "_"))
def test_a_turn_goes_on_from_every_place_where_its_process_is_killed(
    crash: Crash, row: Row
) -> None:
    stood = crash.of(row)
    names = row.events.split()
    assert stood.watched.names == names
    assert [event.sequence for event in stood.watched.events] == list(range(1, len(names) + 1))
    assert stood.seconds <= SECONDS
    assert types(stood.lines) == row.lines.split()
    assert len({line.message_id for line in stood.lines}) == len(stood.lines)
    died = [call for call in stood.calls if call.pid in crash.pids]
    assert (len(died), len(stood.calls) - len(died)) == row.calls
    assert (len(stood.ran("lookup")), len(stood.ran("upsert"))) == row.runs
    assert (stood.titles, bool(stood.watched.done.title)) == (row.titles, row.titled)
    assert stood.conversation.title == stood.watched.done.title
    assert not stood.conversation.running_turn_id
    assert stood.turn.state == stood.watched.done.state
    # What the first client had seen was stored, and it was told to look elsewhere.
    assert stood.own.events == stood.watched.events[: len(stood.own.events)]
    assert stood.own_error == (None if stood.own.names[-1:] == ["done"] else UNAVAILABLE)


def test_a_turn_that_was_not_stored_when_its_process_was_killed_never_was(crash: Crash) -> None:
    assert crash.unstored == (UNAVAILABLE, [], 0)


# ---------------------------------------------------------------- model calls


def test_c1_a_turn_killed_in_its_model_call_goes_on_elsewhere(crash: Crash) -> None:
    stood = crash.of(IN_MODEL)
    assert stood.watched.names == ["started", "resumed", "text", "done"]
    assert stood.watched.events[1].resumed.attempt == 2
    assert types(stood.lines) == ["user", "assistant"]
    assert stood.turn.state == Turn.STATE_COMPLETED
    assert stood.calls[0].messages == stood.calls[1].messages


def test_c2_a_turn_killed_in_its_second_model_call_repeats_that_call_alone(crash: Crash) -> None:
    stood = crash.of(IN_SECOND_CALL)
    names = ["started", "tool_call", "tool_result", "resumed", "text", "done"]
    assert stood.watched.names == names
    assert len(stood.ran("lookup")) == 1
    first, second, repeated = stood.calls
    assert len(first.messages) == 1
    assert second.messages == repeated.messages
    assert [message.role for message in second.messages] == ["user", "model", "tool"]
    assert repeated.pid not in crash.pids


# ---------------------------------------------------------------- tools


def test_c3_a_tool_killed_inside_is_not_run_again_and_its_outcome_is_unknown(crash: Crash) -> None:
    stood = crash.stood["in_tool"]
    names = [event.WhichOneof("event") for event in stood.watched.events]
    result = _results(stood)[LOOKUP_ID]
    assert names[names.index("resumed") + 1] == "tool_result"
    assert result.is_error
    assert json.loads(result.result_json) == UNKNOWN_RESULT
    assert len(stood.ran("lookup")) == 1
    assert ToolOutcome(LOOKUP_ID, "lookup", error=UNKNOWN_OUTCOME) in _outcomes(stood)


def test_c4_a_replay_safe_tool_killed_inside_runs_again_with_its_key(crash: Crash) -> None:
    stood = crash.stood["in_tool"]
    assert len({run.key for run in stood.ran("upsert")}) == 1
    assert [run.pid in crash.pids for run in stood.ran("upsert")] == [True, False]
    results = [event.tool_result for event in stood.watched.events if event.HasField("tool_result")]
    assert [one.is_error for one in results if one.tool_call_id == UPSERT_ID] == [False]
    assert ToolOutcome(UPSERT_ID, "upsert", value=PLANS) in _outcomes(stood)


def test_bc_003_an_effect_without_a_stored_result_is_told_as_uncertain(crash: Crash) -> None:
    stood = crash.stood["after_tool_run"]
    assert [run.pid in crash.pids for run in stood.ran("lookup")] == [True]
    assert json.loads(_results(stood)[LOOKUP_ID].result_json)["outcome"] == "unknown"
    assert ToolOutcome(LOOKUP_ID, "lookup", error=UNKNOWN_OUTCOME) in _outcomes(stood)
    shown = next(
        line for line in stood.lines if line.tool_call_id == LOOKUP_ID and line.result_json
    )
    assert json.loads(shown.result_json) == UNKNOWN_RESULT
    # A tool that says so is run again, with the key that it had.
    assert [run.pid in crash.pids for run in stood.ran("upsert")] == [True, False]
    assert len({run.key for run in stood.ran("upsert")}) == 1


def test_bc_005_of_two_tools_the_one_that_may_be_is_run_again(crash: Crash) -> None:
    for place in ("in_tool", "after_txj", "after_tool_run"):
        stood = crash.stood[place]
        assert [run.pid in crash.pids for run in stood.ran("lookup")].count(False) == 0
        assert [run.pid in crash.pids for run in stood.ran("upsert")].count(False) == 1
        results = _results(stood)
        assert (results[LOOKUP_ID].is_error, results[UPSERT_ID].is_error) == (True, False)


# ---------------------------------------------------------------- pauses and ends


def test_c7_an_ask_of_a_journaled_step_is_raised_elsewhere_without_a_model_call(
    crash: Crash,
) -> None:
    stood = crash.stood[AFTER_TXR_OF_AN_ASK]
    assert stood.watched.names.count("ask") == 1
    assert stood.turn.state == Turn.STATE_PAUSED
    assert stood.watched.done.pending_tool_call_id == PLAN_ID
    assert stood.conversation.pending_ask.tool_call_id == PLAN_ID
    assert [call.pid in crash.pids for call in stood.calls] == [True]
    assert crash.answered.names == ["started", "ask_resolved", "text", "done"]


def test_c8_a_turn_killed_in_its_title_call_is_closed_without_a_title(crash: Crash) -> None:
    stood = crash.of(IN_TITLE)
    assert stood.watched.names == ["started", "text", "done"]
    assert stood.watched.done.title == stood.conversation.title == ""
    assert stood.watched.done.state == stood.turn.state == Turn.STATE_COMPLETED
    assert [call.pid in crash.pids for call in stood.calls] == [True]
    assert stood.titles == 1
    assert stood.lines == stood.lines_before


def test_c14_a_prompt_beside_a_dead_turn_runs_at_once(crash: Crash) -> None:
    for row in (GOES_ON, FAILS_LATER):
        meanwhile = crash.meanwhile[row.name]
        assert meanwhile.played.names == ["started", "text", "done"]
        assert meanwhile.seconds < AT_ONCE
        assert meanwhile.dead.state == Turn.STATE_RUNNING
        assert meanwhile.dead.last_event_sequence == 1


def test_c14_the_dead_turn_then_goes_on(crash: Crash) -> None:
    stood = crash.of(GOES_ON)
    assert stood.watched.names == ["started", "resumed", "text", "done"]
    assert stood.turn.state == Turn.STATE_COMPLETED
    assert types(stood.lines) == ["user", "assistant", "user", "assistant"]


def test_c14_a_dead_turn_that_then_fails_can_not_be_retried(crash: Crash) -> None:
    stood = crash.of(FAILS_LATER)
    assert stood.watched.names == ["started", "resumed", "error", "done"]
    assert stood.turn.state == Turn.STATE_FAILED
    assert not stood.watched.done.retryable
    assert not stood.conversation.retryable_turn_id


def test_c15_a_turn_with_its_callers_key_fails_and_is_retried_with_a_key(crash: Crash) -> None:
    stood = crash.of(OWN_KEY)
    assert stood.watched.names == ["started", "error", "done"]
    assert stood.watched.events[1].error.reason == "INTERRUPTED"
    assert stood.turn.state == Turn.STATE_FAILED
    assert stood.watched.done.retryable
    assert stood.conversation.retryable_turn_id == stood.turn_id
    assert [call.pid in crash.pids for call in stood.calls] == [True]
    assert crash.retried.names == ["started", "text", "done"]
    assert crash.retried.done.state == Turn.STATE_COMPLETED


def test_c17_a_turn_of_a_deleted_conversation_fails_without_a_model_call(crash: Crash) -> None:
    stood = crash.of(DELETED)
    assert stood.watched.names == ["started", "error", "done"]
    assert stood.watched.done.state == Turn.STATE_FAILED
    assert not stood.watched.done.retryable
    assert [call.pid in crash.pids for call in stood.calls] == [True]


def _results(stood: Stood) -> dict[str, turns_pb2.ToolResult]:
    events = stood.watched.events
    results = [event.tool_result for event in events if event.HasField("tool_result")]
    assert len(results) == len({result.tool_call_id for result in results})
    return {result.tool_call_id: result for result in results}


def _outcomes(stood: Stood) -> tuple[object, ...]:
    """Returns what the model was last told of its calls."""
    message = stood.calls[-1].messages[-1]
    assert isinstance(message, ScriptedMessage)
    return message.parts

"""A turn that failed in the middle of a step: what its retry finishes (spec turns 3.6.2, 15.5)."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import JsonValue

from parley.v1 import turns_pb2
from parleyd.contract.executions import UNKNOWN_OUTCOME, UNKNOWN_RESULT
from parleyd.models.script import Call, ScriptedMessage, ScriptedStep, Text
from parleyd.models.scripted import in_turn
from parleyd.models.signatures import signed
from parleyd.turns.model import ToolOutcome
from tests.end_to_end.answers import form
from tests.end_to_end.failing import TEAM
from tests.end_to_end.person import COMPACT, FULL, Person, Played, accept
from tests.end_to_end.rows import MessageAsk, types
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, ask_plan, ask_region
from tests.standard_tools import LOOKUP_ID, PLANS, UPSERT_ID, StandardTools, look_up, upsert

DEADLINE = 30
TURN_SECONDS = 2
PROMPT = "How many plans are there?"
HELD_LOOK_UP = look_up(hold="inside")
HELD_UPSERT = upsert(hold="inside")
LOOK_UP_UNKNOWN = ToolOutcome(LOOKUP_ID, "lookup", error=UNKNOWN_OUTCOME)


@dataclass
class OutOfTime:
    """A turn whose time ended in its tools, and another server, which has time to retry it."""

    tools: StandardTools
    failed: Played
    server: Server
    noor: Person

    async def retry(
        self, surface: turns_pb2.Surface.ValueType = turns_pb2.SURFACE_UNSPECIFIED
    ) -> Played:
        return await self.noor.retry(self.failed.conversation_id, self.failed.turn_id, surface)


async def _out_of_time(
    start_server: StartServer,
    tmp_path: Path,
    step: ScriptedStep,
    *after: ScriptedStep,
    surface: turns_pb2.Surface.ValueType = FULL,
) -> OutOfTime:
    """Lets a turn's time end in the held tools of its first step; `after` is for what follows."""
    tools = StandardTools(tmp_path / "runs")
    hurried = await start_server(in_turn(step), tools=tools.hosted, turn_seconds=TURN_SECONDS)
    server = await start_server(in_turn(*after), tools=tools.hosted)
    async with asyncio.timeout(DEADLINE):
        failed = await (await hurried.person()).prompt(PROMPT, surface=surface)
    tools.holds.release("inside")
    assert (failed.error.reason, failed.done.retryable) == ("TURN_TIMEOUT", True)
    return OutOfTime(tools, failed, server, await server.person())


async def test_f12_a_retry_runs_what_may_run_twice_and_says_of_the_rest_that_nobody_knows(
    start_server: StartServer, tmp_path: Path
) -> None:
    late = await _out_of_time(
        start_server, tmp_path, [HELD_LOOK_UP, HELD_UPSERT], [Text("There are 3, I think.")]
    )
    rows = await late.noor.messages(late.failed.conversation_id)

    retried = await late.retry()

    names = ["started", *["tool_call"] * 2, *["tool_result"] * 2, "error", "done"]
    assert late.failed.names == names
    assert all(result.is_error for result in late.failed.results)
    told = {result.tool_call_id: result.result_json for result in late.failed.results}
    assert set(told) == {LOOKUP_ID, UPSERT_ID}
    assert all(json.loads(result) == UNKNOWN_RESULT for result in told.values())
    assert types(rows) == ["user", *["tool_call"] * 2, *["tool_result"] * 2]
    assert retried.names == ["started", "tool_result", "text", "done"]
    (result,) = retried.results
    assert (result.tool_call_id, result.is_error) == (UPSERT_ID, False)
    assert json.loads(result.result_json) == PLANS
    first, second = late.tools.runs("upsert")
    assert first.key == second.key
    assert [str(run.turn_id) for run in (first, second)] == [late.failed.turn_id, retried.turn_id]
    assert len(late.tools.runs("lookup")) == 1
    (call,) = late.server.model.calls
    assert call.messages == (
        ScriptedMessage("user", (Text(PROMPT),)),
        ScriptedMessage("model", (signed(HELD_LOOK_UP), HELD_UPSERT)),
        ScriptedMessage("tool", (LOOK_UP_UNKNOWN, ToolOutcome(UPSERT_ID, "upsert", value=PLANS))),
    )
    after = await late.noor.messages(late.failed.conversation_id)
    assert after[: len(rows)] == rows
    assert types(after[len(rows) :]) == ["tool_result", "assistant"]


async def test_f13_an_ask_that_was_never_raised_is_raised_by_the_retry(
    start_server: StartServer, tmp_path: Path
) -> None:
    late = await _out_of_time(
        start_server, tmp_path, [HELD_LOOK_UP, ask_plan()], [Text("Team it is.")]
    )
    conversation_id = late.failed.conversation_id
    before = await late.noor.conversation(conversation_id)

    retried = await late.retry()
    calls_till_then = len(late.server.model.calls)
    answered = await late.noor.answer(conversation_id, PLAN_ID, accept("team"))

    assert late.failed.names == ["started", "tool_call", "tool_result", "error", "done"]
    assert not before.HasField("pending_ask")
    assert retried.names == ["started", "ask", "done"]
    assert (retried.ask.tool_call_id, retried.done.pending_tool_call_id) == (PLAN_ID, PLAN_ID)
    assert calls_till_then == 0
    assert answered.names == ["started", "ask_resolved", "text", "done"]
    assert late.server.model.calls[0].messages == (
        ScriptedMessage("user", (Text(PROMPT),)),
        ScriptedMessage("model", (signed(HELD_LOOK_UP), ask_plan())),
        ScriptedMessage("tool", (LOOK_UP_UNKNOWN, ToolOutcome(PLAN_ID, "ask_choice", value=TEAM))),
    )
    assert len(late.tools.runs()) == 1


async def test_f13_of_two_asks_that_were_never_raised_the_first_gets_the_slot(
    start_server: StartServer, tmp_path: Path
) -> None:
    late = await _out_of_time(
        start_server, tmp_path, [HELD_LOOK_UP, ask_plan(), ask_region()], [Text("Team it is.")]
    )
    retried = await late.retry()
    rows = await late.noor.messages(late.failed.conversation_id)
    answered = await late.noor.answer(late.failed.conversation_id, PLAN_ID, accept("team"))

    assert retried.ask.tool_call_id == PLAN_ID
    assert types(rows)[3:] == ["tool_call", "tool_call", "tool_result"]
    assert [row.ask.status for row in rows[3:5]] == [
        MessageAsk.STATUS_PENDING,
        MessageAsk.STATUS_CANCELLED,
    ]
    assert answered.text == "Team it is."
    last = late.server.model.calls[0].messages[-1]
    assert isinstance(last, ScriptedMessage)
    assert len(last.parts) == 3


FORM: dict[str, JsonValue] = {
    "prompt": "Who comes?",
    "fields": [
        {"id": "name", "type": "text", "label": "Name", "required": True},
        {"id": "note", "type": "textarea", "label": "Note"},
    ],
}


@pytest.mark.parametrize("retried_on", [COMPACT, FULL])
async def test_f19_a_form_that_was_never_raised_is_raised_whatever_the_retrys_surface(
    start_server: StartServer, tmp_path: Path, retried_on: turns_pb2.Surface.ValueType
) -> None:
    late = await _out_of_time(
        start_server,
        tmp_path,
        [HELD_LOOK_UP, Call("ask_form", FORM, "call_form")],
        [Text("See you.")],
    )

    retried = await late.retry(retried_on)
    answered = await late.noor.answer(
        late.failed.conversation_id, "call_form", form({"name": "Noor"})
    )

    assert retried.names == ["started", "ask", "done"]
    assert retried.ask.input.prompt == "Who comes?"
    assert [field.id for field in retried.ask.input.form.fields] == ["name", "note"]
    assert answered.names == ["started", "ask_resolved", "text", "done"]
    assert len(late.server.model.calls) == 1

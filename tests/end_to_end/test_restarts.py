"""What other systems got wrong on the way from a pause to its answer, tried on ours."""

import json
from pathlib import Path

import grpc
import pytest
from pydantic import JsonValue

from parley import error_of
from parley.v1 import asks_pb2, turns_pb2
from parleyd.models.script import Call, Fail, ScriptedMessage, ScriptedStep, Text
from parleyd.models.scripted import in_turn
from parleyd.models.signatures import signed
from parleyd.turns.model import ToolOutcome
from tests.end_to_end.answers import form
from tests.end_to_end.failing import SET_UP, TEAM
from tests.end_to_end.person import accept, refused
from tests.end_to_end.rows import MessageAsk, types
from tests.end_to_end.trials import Trial, every_way
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, REGION_ID, ask_plan, ask_region
from tests.standard_tools import PLANS, StandardTools, look_up, upsert

PAUSED = turns_pb2.Turn.STATE_PAUSED
COMPLETED = turns_pb2.Turn.STATE_COMPLETED
FAILED = turns_pb2.Turn.STATE_FAILED
SURE_ID = "call_sure"
SURE: dict[str, JsonValue] = {"prompt": "Are you sure?"}
AGE: dict[str, JsonValue] = {
    "prompt": "How old are you?",
    "fields": [{"id": "age", "type": "number", "label": "Age", "min": 18, "max": 120}],
}


@every_way
async def test_bc_006_bad_values_cost_no_resume(
    start_server: StartServer, *, streaming: bool, restarting: bool
) -> None:
    pick = in_turn([Call("ask_form", AGE, "call_age")], [Text("Welcome.")])
    trial = Trial(start_server, pick, {}, streaming, restarting)
    conversation_id = await trial.begin("Let me in")

    for value, code in (("seventeen", "FIELD_TYPE_MISMATCH"), (17, "OUT_OF_RANGE")):
        error = await refused(trial.answer(conversation_id, "call_age", form({"age": value})))
        assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
        faults = [(fault.path, fault.code) for fault in error_of(error).fields]
        assert faults == [("content.values.age", code)]
        conversation = await (await trial.person()).conversation(conversation_id)
        assert conversation.pending_ask.tool_call_id == "call_age"
        assert len(trial.calls) == 1
        await trial.rest()
    result = await trial.answer(conversation_id, "call_age", form({"age": 34}))

    assert (result.state, result.text) == (COMPLETED, "Welcome.")
    assert len(trial.calls) == 2
    last = trial.calls[1].messages[-1]
    envelope: JsonValue = {"action": "accept", "content": {"values": {"age": 34}}}
    assert last == ScriptedMessage("tool", (ToolOutcome("call_age", "ask_form", value=envelope),))


@every_way
async def test_bc_008_each_of_three_asks_in_a_row_is_seen(
    start_server: StartServer, *, streaming: bool, restarting: bool
) -> None:
    pick = in_turn(
        [ask_plan()], [ask_region()], [Call("ask_confirm", SURE, SURE_ID)], [Text("All set.")]
    )
    trial = Trial(start_server, pick, {}, streaming, restarting)
    conversation_id = await trial.begin(SET_UP)

    first = await trial.answer(conversation_id, PLAN_ID, accept("team"))
    await trial.rest()
    second = await trial.answer(conversation_id, REGION_ID, accept("eu"))
    await trial.rest()
    third = await trial.answer(conversation_id, SURE_ID, accept(confirmed=True))

    assert (first.state, first.pending_ask.tool_call_id) == (PAUSED, REGION_ID)
    assert (second.state, second.pending_ask.tool_call_id) == (PAUSED, SURE_ID)
    assert (third.state, third.text) == (COMPLETED, "All set.")
    assert not third.HasField("pending_ask")
    assert len(trial.calls) == 4
    assert await (await trial.person()).pending() == []


@every_way
async def test_bc_010_a_second_answer_changes_nothing_and_learns_of_the_first(
    start_server: StartServer, *, streaming: bool, restarting: bool
) -> None:
    pick = in_turn([Call("ask_confirm", SURE, SURE_ID)], [Text("Done.")])
    trial = Trial(start_server, pick, {}, streaming, restarting)
    conversation_id = await trial.begin("Delete it all")
    first = await trial.answer(conversation_id, SURE_ID, accept(confirmed=True))
    await trial.rest()
    noor = await trial.person()
    before = await noor.messages(conversation_id)

    for other in (
        accept(confirmed=False),
        accept(confirmed=True),
        asks_pb2.AskAnswer(decline=asks_pb2.DeclineAnswer()),
        asks_pb2.AskAnswer(cancel=asks_pb2.CancelAnswer(reason="changed my mind")),
    ):
        error = await refused(trial.answer(conversation_id, SURE_ID, other))
        told = error_of(error)
        assert (error.code(), told.reason) == (grpc.StatusCode.ABORTED, "ASK_NOT_PENDING")
        assert told.metadata["resolved_by_turn_id"] == first.turn_id
        assert told.metadata["action"] == "accept"
        assert told.metadata["resolve_time"]

    assert first.state == COMPLETED
    assert await noor.messages(conversation_id) == before
    # The turn that the refusal names has the first answer.
    (answer,) = [row.ask.answer for row in before if row.HasField("ask") and row.result_json]
    assert answer == accept(confirmed=True)
    assert len(trial.calls) == 2


@pytest.mark.parametrize(
    "failures",
    [[[Fail("server", "500 INTERNAL")]] * 3, [[Fail("other", "400 BAD")]]],
    ids=["500 thrice", "a failure that won't pass"],
)
@every_way
async def test_bc_012_after_a_provider_fails_neither_answer_nor_tool_result_is_lost(
    start_server: StartServer,
    tmp_path: Path,
    *,
    streaming: bool,
    restarting: bool,
    failures: list[ScriptedStep],
) -> None:
    tools = StandardTools(tmp_path / "runs")
    pick = in_turn([ask_plan()], [look_up()], *failures, [Text("Team it is.")])
    trial = Trial(start_server, pick, tools.hosted, streaming, restarting)
    conversation_id = await trial.begin(SET_UP)

    failed = await trial.answer(conversation_id, PLAN_ID, accept("team"))
    await trial.rest()
    noor = await trial.person()
    conversation = await noor.conversation(conversation_id)
    rows = await noor.messages(conversation_id)
    calls_before = len(trial.calls)
    retried = await trial.retry(conversation_id, failed.turn_id)

    assert (failed.state, failed.error.reason, failed.retryable) == (FAILED, "MODEL_ERROR", True)
    assert failed.text == ""
    assert conversation.retryable_turn_id == failed.turn_id
    assert not conversation.HasField("pending_ask")
    assert types(rows) == ["user", "tool_call", "tool_result", "tool_call", "tool_result"]
    assert rows[1].ask.status == MessageAsk.STATUS_ANSWERED
    assert json.loads(rows[2].result_json) == TEAM
    assert json.loads(rows[4].result_json) == PLANS
    assert (retried.state, retried.text) == (COMPLETED, "Team it is.")
    assert len(trial.calls) == calls_before + 1
    assert trial.calls[-1] == trial.calls[-2]
    assert len(tools.runs("lookup")) == 1


@every_way
async def test_bc_016_a_pause_in_a_later_step_is_replayed_with_all_steps_before(
    start_server: StartServer, tmp_path: Path, *, streaming: bool, restarting: bool
) -> None:
    tools = StandardTools(tmp_path / "runs")
    first, second = look_up(), upsert()
    pick = in_turn([first], [Text("Hm."), second], [ask_plan()], [Text("Team it is.")])
    trial = Trial(start_server, pick, tools.hosted, streaming, restarting)
    conversation_id = await trial.begin(SET_UP)

    result = await trial.answer(conversation_id, PLAN_ID, accept("team"))

    assert (result.state, result.text) == (COMPLETED, "Team it is.")
    assert trial.calls[3].messages == (
        ScriptedMessage("user", (Text(SET_UP),)),
        ScriptedMessage("model", (signed(first),)),
        ScriptedMessage("tool", (ToolOutcome(first.call_id, "lookup", value=PLANS),)),
        ScriptedMessage("model", (Text("Hm."), signed(second))),
        ScriptedMessage("tool", (ToolOutcome(second.call_id, "upsert", value=PLANS),)),
        ScriptedMessage("model", (signed(ask_plan()),)),
        ScriptedMessage("tool", (ToolOutcome(PLAN_ID, "ask_choice", value=TEAM),)),
    )
    assert [run.tool for run in tools.runs()] == ["lookup", "upsert"]

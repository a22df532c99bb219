"""What the model is told of calls that need an approval (spec turns 5.2, 5.4, 9.9)."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from pydantic import JsonValue

from parleyd.contract.answers import accepted, cancelled, declined
from parleyd.contract.asks.ask import Ask
from parleyd.contract.executions import UNKNOWN_OUTCOME, UNKNOWN_RESULT, Execution, ExecutionState
from parleyd.contract.messages import Message, MessageType
from parleyd.contract.steps import Step, StepCall
from parleyd.models.script import CODEC, ScriptedMessage, Text
from parleyd.models.scripted import ScriptedModel, in_turn
from parleyd.turns.history import DID_NOT_RUN, history_messages, step_messages
from parleyd.turns.model import TextShown, ToolOutcome
from parleyd.turns.ports import ChainContext
from tests.turns.turn_values import (
    APPROVED,
    CONVERSATION,
    DELETE_ARGS,
    DENIED,
    PLAN,
    TEAM,
    TURN,
    guarded_call,
    stored_approval,
    stored_ask,
)

MODEL = ScriptedModel(in_turn())
ASKED = UUID(int=31)
NOW = datetime(2027, 3, 1, tzinfo=UTC)


def step(*calls: StepCall) -> Step:
    return Step(
        step_no=1,
        provider="scripted",
        model="scripted-1",
        codec=CODEC,
        messages=MODEL.encode([ScriptedMessage("model", (Text("raw"),))]),
        calls=calls,
    )


def ran(state: ExecutionState, result: JsonValue = None, index: int = 0) -> dict[int, Execution]:
    execution = Execution(
        step_no=1,
        call_index=index,
        tool_call_id="call_delete",
        tool_name="delete",
        args=DELETE_ARGS,
        approval_ask_id=ASKED,
        turn_id=TURN,
        state=state,
        result=result,
    )
    return {index: execution}


def outcomes(
    calls: tuple[StepCall, ...],
    answers: dict[UUID, JsonValue],
    executions: dict[int, Execution],
) -> tuple[ToolOutcome, ...]:
    own, results = step_messages(step(*calls), answers, executions, MODEL, {})
    assert own == ScriptedMessage("model", (Text("raw"),))
    assert isinstance(results, ScriptedMessage)
    assert results.role == "tool"
    found = tuple(part for part in results.parts if isinstance(part, ToolOutcome))
    assert len(found) == len(results.parts)
    return found


def denied(reason: str) -> ToolOutcome:
    return ToolOutcome(
        "of_call_delete",
        "delete",
        value={"approved": False, "reason": reason},
        denied=reason,
    )


NOTHING: dict[int, Execution] = {}
TOLD: dict[str, tuple[dict[UUID, JsonValue], dict[int, Execution], ToolOutcome]] = {
    "approved, finished": (
        {ASKED: APPROVED},
        ran("finished", {"deleted": 3}),
        ToolOutcome("of_call_delete", "delete", value={"deleted": 3}),
    ),
    "approved, failed": (
        {ASKED: APPROVED},
        ran("failed", {"error": "No such list."}),
        ToolOutcome("of_call_delete", "delete", error="No such list."),
    ),
    "approved, unknown": (
        {ASKED: APPROVED},
        ran("unknown", UNKNOWN_RESULT),
        ToolOutcome("of_call_delete", "delete", error=UNKNOWN_OUTCOME),
    ),
    "approved, never started": (
        {ASKED: APPROVED},
        NOTHING,
        ToolOutcome("of_call_delete", "delete", error=DID_NOT_RUN),
    ),
    "not confirmed": ({ASKED: DENIED}, NOTHING, denied("user_denied")),
    "confirmed is no boolean": (
        {ASKED: accepted({"confirmed": "true"})},
        NOTHING,
        denied("user_denied"),
    ),
    "declined": ({ASKED: declined()}, NOTHING, denied("user_declined")),
    "cancelled": ({ASKED: {"action": "cancel"}}, NOTHING, denied("user_cancelled")),
    "cancelled with a reason": ({ASKED: cancelled("Not now.")}, NOTHING, denied("Not now.")),
    "the slot was taken": (
        {ASKED: cancelled("one_ask_at_a_time")},
        NOTHING,
        denied("one_ask_at_a_time"),
    ),
    "not asked for yet": ({}, NOTHING, ToolOutcome("of_call_delete", "delete", error=DID_NOT_RUN)),
}


@pytest.mark.parametrize(("answers", "executions", "told"), TOLD.values(), ids=TOLD)
def test_a_guarded_call_has_the_outcome_of_its_approval(
    answers: dict[UUID, JsonValue], executions: dict[int, Execution], told: ToolOutcome
) -> None:
    assert outcomes((guarded_call("call_delete", ASKED),), answers, executions) == (told,)


def test_v6_a_further_approval_of_the_step_is_denied_though_the_first_was_granted() -> None:
    calls = (guarded_call("call_delete", ASKED), guarded_call("call_archive", None, "archive"))
    first, further = outcomes(calls, {ASKED: APPROVED}, ran("finished", 3))
    assert first.value == 3
    assert (further.call_id, further.denied) == ("of_call_archive", "one_ask_at_a_time")


def test_v8_the_model_reads_the_approved_result_and_that_its_ask_was_not_asked() -> None:
    plan = stored_ask("call_plan")
    asked = StepCall(
        tool_call_id="call_plan",
        provider_call_id="of_plan",
        tool_name="ask_choice",
        args=PLAN,
        role="ask",
        ask_id=plan.id,
    )
    lost = cancelled("one_ask_at_a_time")
    answers: dict[UUID, JsonValue] = {ASKED: APPROVED, plan.id: lost}
    assert outcomes((guarded_call("call_delete", ASKED), asked), answers, ran("finished", 3)) == (
        ToolOutcome("of_call_delete", "delete", value=3),
        ToolOutcome("of_plan", "ask_choice", value=lost),
    )


def test_the_files_of_a_call_belong_to_its_own_result() -> None:
    calls = (guarded_call("call_archive", None), guarded_call("call_delete", ASKED))
    line = TextShown("File 1 of 1: a.txt (text/plain, 1 bytes)")
    _, results = step_messages(
        step(*calls), {ASKED: APPROVED}, ran("finished", 3, index=1), MODEL, {1: [line]}
    )
    assert isinstance(results, ScriptedMessage)
    shown = [part.shown for part in results.parts if isinstance(part, ToolOutcome)]
    assert shown == [(), (line,)]


# ---------------------------------------------------------------- later turns


def row(type_: MessageType, text: str = "", of: Ask | None = None, **more: JsonValue) -> Message:
    """Returns a row of an approval, of its call, or of what was said."""
    name = of.tool_name if of else None
    return Message.model_validate(
        {
            "type": type_,
            "text": text,
            "tool_call_id": of.tool_call_id if of else None,
            "tool_name": name,
            "args": of.input if of and type_ == "tool_call" else None,
            "result": of.answer if of and type_ == "tool_result" else None,
            "ask_id": of.id if of else None,
            "ask": of,
            "conversation_id": CONVERSATION,
            "seq": 1,
            "turn_id": TURN,
            "turn_no": 1,
            "position": 0,
            "create_time": NOW,
            **more,
        }
    )


def answered(ask: Ask, envelope: dict[str, JsonValue]) -> Ask:
    status = "cancelled" if envelope["action"] == "cancel" else "answered"
    return ask.model_copy(update={"status": status, "answer": envelope, "resolve_time": NOW})


HOST_CALL = row("tool_call", tool_call_id="call_delete", tool_name="delete", args=DELETE_ARGS)
HOST_RESULT = row("tool_result", tool_call_id="call_delete", tool_name="delete", result={"a": 1})


@pytest.mark.parametrize("envelope", [APPROVED, DENIED, cancelled("user_sent_message")], ids=str)
def test_v9_later_turns_are_sent_nothing_of_an_approval(envelope: dict[str, JsonValue]) -> None:
    approval = answered(stored_approval(), envelope)
    rows = (
        row("user", "Clean up"),
        HOST_CALL,
        row("tool_call", of=approval),
        row("tool_result", of=approval),
        HOST_RESULT,
        row("user", "Never mind"),
    )
    assert history_messages(ChainContext(rows, (), ()), MODEL, {}) == [
        ScriptedMessage("user", (Text("Clean up"),)),
        ScriptedMessage("user", (Text("Never mind"),)),
    ]


def test_an_ask_behind_an_approval_is_sent_alone() -> None:
    approval = answered(stored_approval(), APPROVED)
    plan = answered(stored_ask("call_plan"), TEAM)
    rows = (
        row("user", "Clean up"),
        row("tool_call", of=approval),
        row("tool_call", of=plan),
        row("tool_result", of=plan),
        row("tool_result", of=approval),
        HOST_RESULT,
    )
    said, calls, results = history_messages(ChainContext(rows, (), ()), MODEL, {})
    assert said == ScriptedMessage("user", (Text("Clean up"),))
    assert isinstance(calls, ScriptedMessage)
    assert len(calls.parts) == 1
    assert results == ScriptedMessage("tool", (ToolOutcome("call_plan", "ask_choice", value=TEAM),))

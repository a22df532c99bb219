"""What the model is sent of a conversation's rows and a chain's steps (spec turns 5.2 to 5.4)."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from pydantic import JsonValue

from parleyd.contract.asks.ask import Ask
from parleyd.contract.cards import to_simple_card
from parleyd.contract.executions import (
    UNKNOWN_OUTCOME,
    UNKNOWN_RESULT,
    Execution,
    ExecutionState,
)
from parleyd.contract.messages import Message, MessageType, ReplyStatus
from parleyd.contract.steps import Step, StepCall
from parleyd.models.script import CODEC, Call, ScriptedMessage, Text
from parleyd.models.scripted import ScriptedModel, in_turn
from parleyd.turns.history import (
    DID_NOT_RUN,
    history_messages,
    history_size,
    last_user_text,
    step_messages,
)
from parleyd.turns.model import ToolOutcome
from parleyd.turns.ports import ChainContext
from tests.standard_asks import PLAN, REGION

NOW = datetime(2026, 11, 30, tzinfo=UTC)
CONVERSATION, TURN = UUID(int=1), UUID(int=2)
ANSWER: dict[str, JsonValue] = {"action": "accept", "content": {"selected": ["team"]}}
MODEL = ScriptedModel(in_turn())


def ask(number: int, provider_id: str | None = "provider", **more: object) -> Ask:
    args = PLAN if number % 2 else REGION
    return Ask.model_validate(
        {
            "id": UUID(int=100 + number),
            "conversation_id": CONVERSATION,
            "chain_id": TURN,
            "owner": "noor",
            "tool_call_id": f"call_{number}",
            "provider_call_id": provider_id and f"{provider_id}_{number}",
            "kind": "choice",
            "tool_name": "ask_choice",
            "input": args,
            "simple": to_simple_card("choice", args, f"call_{number}"),
            "status": "answered",
            "answer": ANSWER,
            "create_time": NOW,
            "resolve_time": NOW,
            **more,
        }
    )


def answers(*asks: Ask) -> dict[UUID, JsonValue]:
    """Returns the envelopes of asks that have one."""
    return {each.id: each.answer for each in asks if each.answer is not None}


def by_place(*executions: Execution) -> dict[int, Execution]:
    return {each.call_index: each for each in executions}


def row(
    type_: MessageType, text: str = "", of: Ask | None = None, status: ReplyStatus | None = None
) -> Message:
    return Message(
        type=type_,
        text=text,
        status=status,
        tool_call_id=of.tool_call_id if of else None,
        tool_name=of.tool_name if of else None,
        args=of.input if of and type_ == "tool_call" else None,
        result=of.answer if of and type_ == "tool_result" else None,
        ask_id=of.id if of else None,
        ask=of,
        conversation_id=CONVERSATION,
        seq=1,
        turn_id=TURN,
        turn_no=1,
        position=0,
        create_time=NOW,
    )


def sent(*history: Message) -> list[object]:
    return history_messages(ChainContext(history, (), ()), MODEL, {})


def user(text: str) -> ScriptedMessage:
    return ScriptedMessage("user", (Text(text),))


def asked(*asks: Ask) -> list[ScriptedMessage]:
    """Returns the calls and the results of asks that came from one step."""
    calls = [Call("ask_choice", each.input, f"provider_{each.tool_call_id[5:]}") for each in asks]
    return [
        ScriptedMessage("model", tuple(calls)),
        ScriptedMessage(
            "tool",
            tuple(ToolOutcome(call.call_id, "ask_choice", value=ANSWER) for call in calls),
        ),
    ]


def test_texts_are_sent_in_order() -> None:
    assert sent(row("user", "Hello"), row("assistant", "Hi.", status="complete")) == [
        user("Hello"),
        ScriptedMessage("model", (Text("Hi."),)),
    ]


def test_an_ask_is_sent_with_its_answer_wherever_that_stands() -> None:
    plan = ask(1)
    assert sent(
        row("user", "Hello"),
        row("tool_call", of=plan),
        row("user", "Meanwhile"),
        row("tool_result", of=plan),
    ) == [user("Hello"), *asked(plan), user("Meanwhile")]


def test_asks_in_adjacent_rows_are_one_step() -> None:
    plan, region = ask(1), ask(2)
    assert sent(
        row("tool_call", of=plan),
        row("tool_call", of=region),
        row("tool_result", of=region),
        row("tool_result", of=plan),
    ) == asked(plan, region)


def test_a_result_between_two_asks_keeps_their_steps_apart() -> None:
    plan, region = ask(1), ask(2)
    assert sent(
        row("tool_call", of=plan),
        row("tool_result", of=plan),
        row("tool_call", of=region),
        row("tool_result", of=region),
    ) == [*asked(plan), *asked(region)]


def test_an_ask_without_a_result_is_left_out() -> None:
    assert sent(row("user", "Hello"), row("tool_call", of=ask(1))) == [user("Hello")]


def test_rows_of_tools_and_of_asks_that_the_model_did_not_make_are_left_out() -> None:
    approval = ask(1, origin="service")
    assert (
        sent(
            row("tool_call"),
            row("tool_result"),
            row("tool_call", of=approval),
            row("tool_result", of=approval),
        )
        == []
    )


def test_a_reply_without_text_is_left_out_and_part_of_a_failed_one_is_not() -> None:
    assert sent(
        row("assistant", "", status="error"), row("assistant", "Let me", status="error")
    ) == [ScriptedMessage("model", (Text("Let me"),))]


def test_an_ask_whose_provider_gave_no_id_is_sent_with_its_public_one() -> None:
    plan = ask(1, provider_id=None)
    call, result = sent(row("tool_call", of=plan), row("tool_result", of=plan))
    assert call == ScriptedMessage("model", (Call("ask_choice", PLAN, "call_1"),))
    assert result == ScriptedMessage("tool", (ToolOutcome("call_1", "ask_choice", value=ANSWER),))


# ---------------------------------------------------------------- turns that ran at once
#
# A vendor refuses calls that follow a reply: they have to follow a person's message or results.

OTHER = UUID(int=3)


def of_turn(turn_id: UUID, message: Message) -> Message:
    return message.model_copy(update={"turn_id": turn_id})


def reply(text: str) -> ScriptedMessage:
    return ScriptedMessage("model", (Text(text),))


def test_an_ask_that_would_follow_a_reply_follows_what_its_own_chain_said_last() -> None:
    plan, region = ask(1), ask(2)
    assert sent(
        row("user", "Set me up"),
        row("tool_call", of=plan),
        of_turn(OTHER, row("user", "What time is it?")),
        of_turn(OTHER, row("assistant", "Noon.")),
        row("tool_result", of=plan),
        row("tool_call", of=region),
        row("tool_result", of=region),
        row("assistant", "All set."),
    ) == [
        user("Set me up"),
        *asked(plan),
        *asked(region),
        user("What time is it?"),
        reply("Noon."),
        reply("All set."),
    ]


def test_the_first_ask_of_a_chain_that_would_follow_a_reply_follows_its_message() -> None:
    plan, region = ask(1), ask(2)
    assert sent(
        row("user", "Set me up"),
        of_turn(OTHER, row("user", "What time is it?")),
        of_turn(OTHER, row("assistant", "Noon.")),
        row("tool_call", of=plan),
        row("tool_result", of=plan),
        row("tool_call", of=region),
        row("tool_result", of=region),
        of_turn(OTHER, row("user", "Thanks")),
    ) == [
        user("Set me up"),
        *asked(plan),
        *asked(region),
        user("What time is it?"),
        reply("Noon."),
        user("Thanks"),
    ]


def test_an_ask_whose_chain_has_said_nothing_yet_comes_before_the_replies() -> None:
    plan = ask(1, chain_id=OTHER)
    assert sent(
        row("user", "Set me up"),
        row("assistant", "Which plan?"),
        row("assistant", "Well?"),
        row("tool_call", of=plan),
        row("tool_result", of=plan),
    ) == [user("Set me up"), *asked(plan), reply("Which plan?"), reply("Well?")]


def test_asks_that_follow_a_message_stay_where_they_are() -> None:
    plan, region = ask(1), ask(2)
    assert sent(
        row("user", "Set me up"),
        row("tool_call", of=plan),
        of_turn(OTHER, row("user", "What time is it?")),
        row("tool_result", of=plan),
        row("tool_call", of=region),
        row("tool_result", of=region),
    ) == [user("Set me up"), *asked(plan), user("What time is it?"), *asked(region)]


def step(*calls: StepCall, provider: str = "scripted", codec: str = CODEC) -> Step:
    message = ScriptedMessage(
        "model", tuple(Call(call.tool_name, call.args, opaque=b"signature") for call in calls)
    )
    return Step(
        step_no=1,
        provider=provider,
        model="scripted-1",
        codec=codec,
        messages=MODEL.encode([message]),
        calls=calls,
    )


def step_call(of: Ask | None = None, error: str | None = None) -> StepCall:
    return StepCall(
        tool_call_id="call_1",
        provider_call_id=of.provider_call_id if of else "provider_bad",
        tool_name="ask_choice",
        args=PLAN,
        role="ask" if of else "invalid",
        ask_id=of.id if of else None,
        error=error,
    )


def test_a_step_goes_back_as_it_came_with_one_result_for_each_call() -> None:
    plan = ask(1)
    calls = (step_call(error="TOO_LONG"), step_call(plan), step_call(ask(3)))
    message, results = step_messages(step(*calls), answers(plan), {}, MODEL, {})
    assert message == ScriptedMessage("model", (Call("ask_choice", PLAN, opaque=b"signature"),) * 3)
    assert results == ScriptedMessage(
        "tool",
        (
            ToolOutcome("provider_bad", "ask_choice", error="TOO_LONG"),
            ToolOutcome("provider_1", "ask_choice", value=ANSWER),
            ToolOutcome("provider_3", "ask_choice", error=DID_NOT_RUN),
        ),
    )


def test_a_step_of_another_provider_is_rebuilt_from_its_calls() -> None:
    plan = ask(1)
    for stored in (step(step_call(plan), provider="other"), step(step_call(plan), codec="other/9")):
        message, _ = step_messages(stored, answers(plan), {}, MODEL, {})
        assert message == ScriptedMessage("model", (Call("ask_choice", PLAN, "provider_1"),))


def test_f14_the_text_of_a_failed_turn_that_was_retried_is_left_out() -> None:
    failed = row("assistant", "Let me", status="error")
    assert sent(failed.model_copy(update={"superseded": True}), row("user", "Again")) == [
        user("Again")
    ]


def host_call(number: int, error: str | None = None) -> StepCall:
    return StepCall(
        tool_call_id=f"call_{number}",
        provider_call_id=f"provider_{number}",
        tool_name="lookup",
        args={"number": number},
        role="invalid" if error else "host",
        error=error,
    )


def execution(
    index: int, state: ExecutionState, result: JsonValue = None, step_no: int = 1
) -> Execution:
    return Execution(
        step_no=step_no,
        call_index=index,
        tool_call_id=f"call_{index}",
        tool_name="lookup",
        args={},
        turn_id=TURN,
        state=state,
        result=result,
    )


OUTCOMES: dict[str, tuple[list[Execution], ToolOutcome]] = {
    "finished": (
        [execution(0, "finished", {"plans": 3})],
        ToolOutcome("provider_0", "lookup", value={"plans": 3}),
    ),
    "finished with nothing": (
        [execution(0, "finished")],
        ToolOutcome("provider_0", "lookup", value=None),
    ),
    "failed": (
        [execution(0, "failed", {"error": "No such plan."})],
        ToolOutcome("provider_0", "lookup", error="No such plan."),
    ),
    "failed in a form of its own": (
        [execution(0, "failed", {"error": {"code": 7}})],
        ToolOutcome("provider_0", "lookup", error='{"error":{"code":7}}'),
    ),
    "unknown": (
        [execution(0, "unknown", UNKNOWN_RESULT)],
        ToolOutcome("provider_0", "lookup", error=UNKNOWN_OUTCOME),
    ),
    "started and no more": (
        [execution(0, "started")],
        ToolOutcome("provider_0", "lookup", error=UNKNOWN_OUTCOME),
    ),
    "never started": ([], ToolOutcome("provider_0", "lookup", error=DID_NOT_RUN)),
}


@pytest.mark.parametrize(("executions", "outcome"), OUTCOMES.values(), ids=OUTCOMES)
def test_a_host_call_has_the_outcome_of_its_execution(
    executions: list[Execution], outcome: ToolOutcome
) -> None:
    _, results = step_messages(step(host_call(0)), {}, by_place(*executions), MODEL, {})
    assert results == ScriptedMessage("tool", (outcome,))


def test_a5_the_results_of_a_step_are_in_call_order_whenever_they_came() -> None:
    plan = ask(1)
    calls = (host_call(0), step_call(plan), host_call(2, "No object."), host_call(3))
    executions = by_place(execution(3, "finished", "late"), execution(0, "finished", "early"))
    _, results = step_messages(step(*calls), answers(plan), executions, MODEL, {})
    assert results == ScriptedMessage(
        "tool",
        (
            ToolOutcome("provider_0", "lookup", value="early"),
            ToolOutcome("provider_1", "ask_choice", value=ANSWER),
            ToolOutcome("provider_2", "lookup", error="No object."),
            ToolOutcome("provider_3", "lookup", value="late"),
        ),
    )


def test_an_ask_that_was_never_answered_did_not_run() -> None:
    plan = ask(1, answer=None, status="pending")
    _, results = step_messages(step(step_call(plan)), answers(plan), {}, MODEL, {})
    assert results == ScriptedMessage(
        "tool", (ToolOutcome("provider_1", "ask_choice", error=DID_NOT_RUN),)
    )


def test_a_history_is_as_large_as_what_was_said_and_asked() -> None:
    plan = ask(1)
    said = (row("user", "Hello"), row("tool_call"), row("tool_call", of=plan))
    assert history_size(ChainContext((), (), ())) == 0
    assert history_size(ChainContext(said[:2], (), ())) == len("Hello")
    assert history_size(ChainContext(said, (), ())) > len("Hello") + len("Which plan?")


def test_the_last_message_of_the_person_is_found() -> None:
    history = (row("user", "First"), row("assistant", "Hi."), row("user", "Last"))
    assert last_user_text(ChainContext(history, (), ())) == "Last"
    assert last_user_text(ChainContext((), (), ())) == ""

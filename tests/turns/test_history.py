"""What the model is sent of a conversation's rows and a chain's steps (spec turns 5.2 to 5.4)."""

from datetime import UTC, datetime
from uuid import UUID

from pydantic import JsonValue

from parleyd.contract.asks.ask import Ask
from parleyd.contract.cards import to_simple_card
from parleyd.contract.messages import Message, MessageType, ReplyStatus
from parleyd.contract.steps import Step, StepCall
from parleyd.models.script import CODEC, Call, ScriptedMessage, Text
from parleyd.models.scripted import ScriptedModel, in_turn
from parleyd.turns.history import DID_NOT_RUN, last_user_text, messages_of
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
    return messages_of(ChainContext(history, (), ()), MODEL)


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
    message, results = messages_of(ChainContext((), (step(*calls),), (plan,)), MODEL)
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
        message, _ = messages_of(ChainContext((), (stored,), (plan,)), MODEL)
        assert message == ScriptedMessage("model", (Call("ask_choice", PLAN, "provider_1"),))


def test_the_last_message_of_the_person_is_found() -> None:
    history = (row("user", "First"), row("assistant", "Hi."), row("user", "Last"))
    assert last_user_text(ChainContext(history, (), ())) == "Last"
    assert last_user_text(ChainContext((), (), ())) == ""

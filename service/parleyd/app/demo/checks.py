"""What a demonstration holds true of every part it plays."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from parley.v1.asks_pb2 import AskAnswer
from parley.v1.cards_pb2 import SimpleCardButton
from parley.v1.conversations_pb2 import Message, MessageAsk
from parley.v1.turns_pb2 import AskAsked, PendingAsk, Turn, TurnEvent, TurnResult
from parleyd.app.faults import CommandFailed
from parleyd.contract.approvals import USER_DENIED, denied_result


class DemoFault(CommandFailed):
    """Something happened that should not, or did not happen that should."""


def check(condition: bool, fault: str) -> None:  # noqa: FBT001 - reads as an assertion
    """Checks that something is as it should be.

    Raises:
        DemoFault: It is not.
    """
    if not condition:
        raise DemoFault(f"The demo went wrong: {fault}.")


@dataclass(frozen=True)
class Asked:
    """A prompt that led to a question. `tool` names the tool whose call has to be approved."""

    prompt: str
    turn_id: str
    ask: AskAsked
    tool: str = ""


def check_paused(
    events: Sequence[TurnEvent], conversation_id: str, tool: str
) -> tuple[str, AskAsked]:
    """Returns the turn and its question, once they are known to be in order.

    Raises:
        DemoFault: They are not.
    """
    names = [event.WhichOneof("event") for event in events]
    expected = ["started", *(["tool_call"] if tool else []), "ask", "done"]
    check(names == expected, f"the phone was sent {names}")
    check(
        [event.sequence for event in events] == [*range(1, len(events) + 1)],
        "the events are not numbered from 1 on",
    )
    started, ask, done = events[0].started, events[-2].ask, events[-1].done
    check(started.conversation_created == (not conversation_id), "a wrong `started`")
    check(conversation_id in {"", started.conversation_id}, "another conversation was taken")
    check(ask.tool_name == tool or not tool, f"approval is asked for {ask.tool_name}")
    check(done.state == Turn.STATE_PAUSED, f"the turn is {Turn.State.Name(done.state)}")
    check(done.pending_tool_call_id == ask.tool_call_id, "`done` names another question")
    return events[0].turn_id, ask


def check_seen(questions: Sequence[PendingAsk], ask: AskAsked) -> PendingAsk:
    """Returns the one question that the watch sees, once it is known to be `ask`.

    Raises:
        DemoFault: It is another, or not alone.
    """
    check(len(questions) == 1, f"the watch sees {len(questions)} questions")
    question = questions[0]
    check(
        (question.conversation_id, question.tool_call_id)
        == (ask.conversation_id, ask.tool_call_id),
        "the watch sees another question",
    )
    check(question.simple == ask.simple, "the watch sees another card than the phone")
    return question


def button_named(question: PendingAsk, label: str) -> SimpleCardButton:
    """Returns the button that reads `label`.

    Raises:
        DemoFault: There is none.
    """
    for button in question.simple.buttons:
        if button.label == label:
            return button
    raise DemoFault(f"The card has no button “{label}”.")


def check_completed(result: TurnResult, asked: Asked) -> None:
    """Checks how the answered turn ended.

    Raises:
        DemoFault: Not as it should.
    """
    check(
        result.state == Turn.STATE_COMPLETED,
        f"the answered turn is {Turn.State.Name(result.state)}: {result.error.message}",
    )
    check(result.conversation_id == asked.ask.conversation_id, "another conversation went on")
    check(bool(result.text), "the agent did not reply")
    check(bool(result.title), "the conversation has no title")
    check(not result.HasField("pending_ask"), "the agent asks again")


def check_stored(
    lines: Sequence[Message], asked: Asked, answer: AskAnswer, result: TurnResult
) -> None:
    """Checks the lines that a part has left in the conversation.

    Raises:
        DemoFault: One is missing, doubled, or another than what was said.
    """
    types = [Message.Type.Name(line.type).removeprefix("TYPE_") for line in lines]
    call, outcome = (["TOOL_CALL"], ["TOOL_RESULT"]) if asked.tool else ([], [])
    expected = ["USER", *call, "TOOL_CALL", "TOOL_RESULT", *outcome, "ASSISTANT"]
    check(types == expected, f"the stored lines are {types}")
    before = len(call) + 2
    check(
        [line.turn_id for line in lines]
        == [asked.turn_id] * before + [result.turn_id] * (len(lines) - before),
        "the lines belong to other turns",
    )
    said, question, answered, replied = lines[0], lines[before - 1], lines[before], lines[-1]
    check(said.text == asked.prompt, "the prompt is stored differently")
    check(question.ask.input == asked.ask.input, "the question is stored differently")
    check(question.ask.status == MessageAsk.STATUS_ANSWERED, "the question is not answered")
    check(answered.ask.answer == answer, "another answer is stored")
    check(replied.text == result.text, "the reply is stored differently")
    check(replied.status == Message.STATUS_COMPLETE, "the reply is not complete")
    if asked.tool:
        denied = json.loads(lines[-2].result_json) == denied_result(USER_DENIED)
        approved = answer.accept.confirm.confirmed
        check(denied != approved, "the tool did not do what the answer says")


def lines_of(asked: Asked) -> int:
    """Returns how many lines a part leaves: a prompt, a question, an answer, a reply.

    A call that has to be approved is two more, with what became of it.
    """
    return 6 if asked.tool else 4

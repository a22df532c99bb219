"""Every kind of ask, from the model to the person and back (spec turns 3, spec asks W2)."""

import json
from typing import get_args

import pytest
from pydantic import JsonValue

from parley.v1 import asks_pb2, conversations_pb2, turns_pb2
from parleyd.contract.asks.kind import AskKind
from parleyd.models.script import Call, ScriptedMessage, Text
from parleyd.models.scripted import in_turn
from parleyd.models.signatures import signed
from parleyd.turns.model import ToolOutcome
from tests.end_to_end.files_kept import WITHOUT_A_STORE
from tests.end_to_end.kinds_asked import ASK_ID, ASKED, Asked
from tests.end_to_end.person import Person, Played, cancel, decline, refused
from tests.server import Server, StartServer

Message = conversations_pb2.Message
MessageAsk = conversations_pb2.MessageAsk

KINDS: dict[AskKind, asks_pb2.AskKind.ValueType] = {
    "choice": asks_pb2.ASK_KIND_CHOICE,
    "confirm": asks_pb2.ASK_KIND_CONFIRM,
    "markdown": asks_pb2.ASK_KIND_MARKDOWN,
    "form": asks_pb2.ASK_KIND_FORM,
    "files": asks_pb2.ASK_KIND_FILES,
}


def exactly(value: JsonValue) -> str:
    """Returns JSON as text that tells 3 from 3.0 and true from 1, the order of keys aside."""
    return json.dumps(value, sort_keys=True)


def every(asked: Asked) -> str:
    return asked.name


async def ask(start_server: StartServer, asked: Asked) -> tuple[Server, Person, Played]:
    """Returns a conversation that waits on `asked`. Files are kept nowhere: none has an id."""
    steps = [[asked.call()], [Text("Done.")], [Text("Welcome.")]]
    server = await start_server(in_turn(*steps), **WITHOUT_A_STORE)
    noor = await server.person()
    return server, noor, await noor.prompt("Please")


def test_every_kind_is_asked_here() -> None:
    assert {asked.kind for asked in ASKED} == {*get_args(AskKind)} == {*KINDS}


@pytest.mark.parametrize("asked", ASKED, ids=every)
async def test_an_ask_reaches_every_client_as_the_model_made_it(
    start_server: StartServer, asked: Asked
) -> None:
    _, noor, played = await ask(start_server, asked)

    assert played.names == ["started", "ask", "done"]
    assert played.ask.tool_call_id == ASK_ID == played.done.pending_tool_call_id
    assert played.ask.kind == KINDS[asked.kind]
    assert played.ask.input == asked.on_the_wire
    view = (await noor.conversation(played.conversation_id)).pending_ask
    assert (view.tool_call_id, view.kind, view.input, view.simple) == (
        ASK_ID,
        KINDS[asked.kind],
        asked.on_the_wire,
        played.ask.simple,
    )
    (listed,) = await noor.pending()
    assert (listed.tool_call_id, listed.kind, listed.simple) == (
        ASK_ID,
        KINDS[asked.kind],
        played.ask.simple,
    )
    said, row = await noor.messages(played.conversation_id)
    assert said.type == Message.TYPE_USER
    assert (row.type, row.tool_name, row.tool_call_id) == (
        Message.TYPE_TOOL_CALL,
        asked.tool,
        ASK_ID,
    )
    assert (row.ask.kind, row.ask.status, row.ask.input) == (
        KINDS[asked.kind],
        MessageAsk.STATUS_PENDING,
        asked.on_the_wire,
    )


@pytest.mark.parametrize("asked", ASKED, ids=every)
async def test_the_model_reads_exactly_what_the_person_answered(
    start_server: StartServer, asked: Asked
) -> None:
    server, noor, played = await ask(start_server, asked)

    answered = await noor.answer(played.conversation_id, ASK_ID, asked.answer)

    assert answered.names == ["started", "ask_resolved", "text", "done"]
    assert answered.resolved.action == asks_pb2.ASK_ACTION_ACCEPT
    prompt, call, result = server.model.calls[1].messages
    assert prompt == ScriptedMessage("user", (Text("Please"),))
    assert call == ScriptedMessage("model", (signed(asked.call()),))
    assert isinstance(result, ScriptedMessage)
    (outcome,) = result.parts
    assert isinstance(outcome, ToolOutcome)
    assert (outcome.call_id, outcome.name, outcome.error) == (ASK_ID, asked.tool, None)
    assert exactly(outcome.value) == exactly(asked.envelope)
    _, question, answer, reply = await noor.messages(played.conversation_id)
    assert question.ask.status == MessageAsk.STATUS_ANSWERED
    assert question.ask.input == asked.on_the_wire
    assert (answer.type, answer.tool_name, answer.tool_call_id) == (
        Message.TYPE_TOOL_RESULT,
        asked.tool,
        ASK_ID,
    )
    assert answer.ask.answer == asked.stored
    assert reply.text == "Done."
    assert not (await noor.conversation(played.conversation_id)).HasField("pending_ask")
    assert await noor.pending() == []


@pytest.mark.parametrize("asked", ASKED, ids=every)
async def test_a_later_turn_shows_the_model_the_same_question_and_answer(
    start_server: StartServer, asked: Asked
) -> None:
    server, noor, played = await ask(start_server, asked)
    await noor.answer(played.conversation_id, ASK_ID, asked.answer)
    await server.stop()
    again = await start_server(in_turn([Text("Welcome.")]))
    later = await again.person()

    await later.prompt("Thanks", played.conversation_id)

    _, call, result, *_ = again.model.calls[0].messages
    assert isinstance(call, ScriptedMessage)
    assert isinstance(result, ScriptedMessage)
    (part,) = call.parts
    assert isinstance(part, Call)
    assert exactly(part.args) == exactly(asked.input)
    (outcome,) = result.parts
    assert isinstance(outcome, ToolOutcome)
    assert exactly(outcome.value) == exactly(asked.envelope)


@pytest.mark.parametrize("asked", ASKED, ids=every)
@pytest.mark.parametrize(
    ("answer", "action", "status", "envelope"),
    [
        (
            decline(),
            asks_pb2.ASK_ACTION_DECLINE,
            MessageAsk.STATUS_ANSWERED,
            {"action": "decline"},
        ),
        (
            cancel("closed the card"),
            asks_pb2.ASK_ACTION_CANCEL,
            MessageAsk.STATUS_CANCELLED,
            {"action": "cancel", "reason": "closed the card"},
        ),
        (cancel(), asks_pb2.ASK_ACTION_CANCEL, MessageAsk.STATUS_CANCELLED, {"action": "cancel"}),
    ],
    ids=["decline", "cancel with a reason", "cancel"],
)
async def test_every_kind_can_be_skipped_and_dropped(
    start_server: StartServer,
    asked: Asked,
    answer: asks_pb2.AskAnswer,
    action: asks_pb2.AskAction.ValueType,
    status: MessageAsk.Status.ValueType,
    envelope: dict[str, str],
) -> None:
    server, noor, played = await ask(start_server, asked)

    answered = await noor.answer(played.conversation_id, ASK_ID, answer)

    assert answered.names == ["started", "ask_resolved", "text", "done"]
    assert answered.resolved.action == action
    assert server.model.calls[1].messages[-1] == ScriptedMessage(
        "tool", (ToolOutcome(ASK_ID, asked.tool, value={**envelope}),)
    )
    _, question, result, _ = await noor.messages(played.conversation_id)
    assert question.ask.status == status
    assert result.ask.answer == answer


@pytest.mark.parametrize("asked", ASKED, ids=every)
async def test_what_must_be_answered_can_not_be_skipped_but_dropped(
    start_server: StartServer, asked: Asked
) -> None:
    server = await start_server(in_turn([asked.call(allowDecline=False)], [Text("Then not.")]))
    noor = await server.person()
    played = await noor.prompt("Please")

    error = await refused(noor.answer(played.conversation_id, ASK_ID, decline()))

    assert "DECLINE_NOT_ALLOWED" in str(error.trailing_metadata())
    assert len(server.model.calls) == 1
    assert not [button for button in played.ask.simple.buttons if button.id in {"skip", "cancel"}]
    await noor.answer(played.conversation_id, ASK_ID, cancel())
    assert len(server.model.calls) == 2


@pytest.mark.parametrize("asked", ASKED, ids=every)
async def test_a_message_instead_drops_every_kind(start_server: StartServer, asked: Asked) -> None:
    server, noor, played = await ask(start_server, asked)

    later = await noor.prompt("Never mind", played.conversation_id)

    assert later.names == ["started", "ask_resolved", "text", "done"]
    assert later.resolved.action == asks_pb2.ASK_ACTION_CANCEL
    outcome = server.model.calls[1].messages[-2]
    assert outcome == ScriptedMessage(
        "tool",
        (
            ToolOutcome(
                ASK_ID, asked.tool, value={"action": "cancel", "reason": "user_sent_message"}
            ),
        ),
    )


@pytest.mark.parametrize("asked", ASKED, ids=every)
async def test_every_kind_may_be_answered_by_a_small_device_in_one_call(
    start_server: StartServer, asked: Asked
) -> None:
    server, noor, played = await ask(start_server, asked)

    response = await noor.client.turns.Turn(
        turns_pb2.TurnRequest(
            conversation_id=played.conversation_id,
            answer=turns_pb2.AnswerInput(tool_call_id=ASK_ID, answer=asked.answer),
            surface=turns_pb2.SURFACE_COMPACT,
        )
    )

    assert response.result.text == "Done."
    assert [tool.name for tool in server.model.calls[1].tools] == ["ask_choice", "ask_confirm"]

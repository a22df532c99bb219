"""Faults of other systems in a conversation that waits on a question, tried on ours."""

import asyncio
import json

import grpc
import pytest
from pydantic import JsonValue

from parley import error_of
from parley.v1 import asks_pb2, turns_pb2
from parleyd.models.script import Call, ScriptedMessage, ScriptedStep, Text, last_prompt
from parleyd.models.scripted import by_progress, in_turn
from parleyd.models.signatures import rebuilt
from parleyd.turns.model import ModelCall, ToolOutcome
from tests.end_to_end.paused import Paused
from tests.end_to_end.person import Person, accept, decline, refused
from tests.end_to_end.rows import MessageAsk, types
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, REGION_ID, ask_plan, ask_region

CONFIRM_ID = "call_confirm"
CONFIRM = Call("ask_confirm", {"prompt": "Send it?", "allowDecline": True}, CONFIRM_ID)
SENT_MESSAGE: dict[str, JsonValue] = {"action": "cancel", "reason": "user_sent_message"}
TEAM: dict[str, JsonValue] = {"action": "accept", "content": {"selected": ["team"]}}
RACES = 20


def plan_told(value: dict[str, JsonValue]) -> tuple[ScriptedMessage, ScriptedMessage]:
    """Returns PLAN and what became of it, as a later turn tells the model."""
    return (
        ScriptedMessage("model", (rebuilt(ask_plan()),)),
        ScriptedMessage("tool", (ToolOutcome(PLAN_ID, "ask_choice", value=value),)),
    )


def said(text: str) -> ScriptedMessage:
    return ScriptedMessage("user", (Text(text),))


@pytest.mark.parametrize("restart", [False, True], ids=["one server", "a restart"])
@pytest.mark.parametrize("unary", [False, True], ids=["stream", "unary"])
async def test_bc_117_a_message_while_an_ask_waits_comes_after_its_refusal(
    start_server: StartServer, *, restart: bool, unary: bool
) -> None:
    total = "wait, first tell me the total"
    server = await start_server(in_turn([ask_plan()], [Text("It is 12.")]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    if restart:
        await server.stop()
        server = await start_server(in_turn([Text("It is 12.")]))
        noor = await server.person()

    prompt = turns_pb2.PromptInput(text=total)
    named = asked.conversation_id
    if unary:
        request = turns_pb2.TurnRequest(conversation_id=named, prompt=prompt)
        text = (await noor.run(request)).text
    else:
        played = await noor.prompt(total, named)
        assert played.names == ["started", "ask_resolved", "text", "done"]
        assert played.resolved.action == asks_pb2.ASK_ACTION_CANCEL
        text = played.text

    assert text == "It is 12."
    assert server.model.calls[-1].messages == (
        said("Set up my workspace"),
        *plan_told(SENT_MESSAGE),
        said(total),
    )
    assert types(await noor.messages(named)) == [
        "user",
        "tool_call",
        "tool_result",
        "user",
        "assistant",
    ]


async def test_bc_119_a_superseded_ask_names_the_pending_one(start_server: StartServer) -> None:
    server = await start_server(in_turn([ask_plan()], [ask_region()]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    later = await noor.prompt("Where is my data?", asked.conversation_id)
    assert later.ask.tool_call_id == REGION_ID
    before = await noor.messages(asked.conversation_id)

    late = noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    pressed = noor.press(asked.conversation_id, PLAN_ID, "use-default")
    for call in (late, pressed):
        error = await refused(call)
        assert error.code() == grpc.StatusCode.ABORTED
        told = error_of(error)
        assert told.reason == "ASK_NOT_PENDING"
        assert told.metadata["action"] == "cancel"
        assert told.metadata["resolved_by_turn_id"] == later.turn_id
        assert told.metadata["current_tool_call_id"] == REGION_ID

    assert await noor.messages(asked.conversation_id) == before
    conversation = await noor.conversation(asked.conversation_id)
    assert conversation.pending_ask.tool_call_id == REGION_ID
    assert len(server.model.calls) == 2


@pytest.mark.parametrize("denial", [decline(), accept(confirmed=False)], ids=["a decline", "a no"])
async def test_bc_121_messages_after_a_denial_all_reach_the_model(
    start_server: StartServer, denial: asks_pb2.AskAnswer
) -> None:
    server = await start_server(
        in_turn([CONFIRM], [Text("Not sent.")], *([Text(f"Reply {n}.")] for n in range(3)))
    )
    noor = await server.person()
    asked = await noor.prompt("Send the letter")
    denied = await noor.answer(asked.conversation_id, CONFIRM_ID, denial)
    assert denied.text == "Not sent."

    for number in range(3):
        played = await noor.prompt(f"Message {number}", asked.conversation_id)
        assert played.text == f"Reply {number}."
        assert server.model.calls[-1].messages[-1] == said(f"Message {number}")

    assert [
        message.text
        for message in await noor.messages(asked.conversation_id)
        if not message.tool_call_id
    ] == ["Send the letter", "Not sent."] + [
        text for number in range(3) for text in (f"Message {number}", f"Reply {number}.")
    ]
    heard = server.model.calls[-1].messages
    assert [message for message in heard if message == said("Message 0")]
    assert [message for message in heard if message == said("Message 1")]


@pytest.mark.parametrize("restart", [False, True], ids=["one server", "a restart"])
async def test_bc_123_a_fresh_client_finds_the_pending_ask_whole(
    start_server: StartServer, paused: Paused, *, restart: bool
) -> None:
    server = paused.server
    if restart:
        await server.stop()
        server = await start_server(in_turn([Text("Setting up the Team plan.")]))
    fresh = await server.person()

    view = (await fresh.conversation(paused.conversation_id)).pending_ask
    (listed,) = await fresh.pending()
    messages = await fresh.messages(paused.conversation_id)
    again = await fresh.watch(paused.conversation_id, messages[-1].turn_id)

    asked = paused.asked.ask
    assert (view.tool_call_id, view.kind, view.origin) == (
        asked.tool_call_id,
        asked.kind,
        asked.origin,
    )
    assert view.input == asked.input
    assert view.simple == asked.simple == listed.simple
    assert listed.conversation_id == paused.conversation_id
    assert again.events == paused.asked.events
    assert view.create_time.seconds > 0
    answered = await fresh.answer(paused.conversation_id, view.tool_call_id, accept("team"))
    assert answered.text == "Setting up the Team plan."


async def test_bc_126_an_answer_and_a_message_at_once_are_read_in_that_order_or_the_answer_is_late(
    start_server: StartServer,
) -> None:
    also = "and make it blue"

    def script(call: ModelCall) -> ScriptedStep:
        if last_prompt(call.messages) == also:
            return [Text("Blue it is.")]
        return by_progress([ask_plan()], [Text("The Team plan it is.")])(call)

    server = await start_server(script)
    phone, laptop = await server.person(), await server.person()
    answers_first = 0
    for _ in range(RACES):
        asked = await phone.prompt("Set up my workspace")
        named = asked.conversation_id
        answered, messaged = await asyncio.gather(
            answer_or_refusal(phone, named), laptop.prompt(also, named)
        )
        assert messaged.text == "Blue it is."
        calls = [call.messages for call in server.model.calls]
        heard = [messages for messages in calls if last_prompt(messages) == also][-1]
        messages = await phone.messages(named)
        result = messages[2]
        if answered:
            answers_first += 1
            assert messaged.names == ["started", "text", "done"]
            value = TEAM
        else:
            assert messaged.names == ["started", "ask_resolved", "text", "done"]
            value = SENT_MESSAGE
        # Result first, then text. The reply to the answer may be there already, in between.
        assert heard[:3] == (said("Set up my workspace"), *plan_told(value))
        assert heard[-1] == said(also)
        assert json.loads(result.result_json) == value
        expected = ["user", "tool_call", "tool_result"] + ["assistant"] * bool(answered)
        assert types(messages) == [*expected, "user", "assistant"]
        status = MessageAsk.STATUS_ANSWERED if answered else MessageAsk.STATUS_CANCELLED
        assert messages[1].ask.status == status
        conversation = await phone.conversation(named)
        assert not conversation.pending_ask.tool_call_id
    assert len(server.model.calls) == 2 * RACES + answers_first


async def answer_or_refusal(noor: Person, conversation_id: str) -> str | None:
    """Returns the reply to an answer; None where a message was first, which the refusal says."""
    try:
        return (await noor.answer(conversation_id, PLAN_ID, accept("team"))).text
    except grpc.aio.AioRpcError as error:
        told = error_of(error)
        if (told.code, told.reason) != (grpc.StatusCode.ABORTED, "ASK_NOT_PENDING"):
            raise
        return None

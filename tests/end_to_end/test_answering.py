"""An answer resumes the turn (spec turns 15.2)."""

import asyncio
from dataclasses import replace

import pytest
from pydantic import JsonValue
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1 import asks_pb2, conversations_pb2, turns_pb2
from parleyd.models.script import ScriptedMessage, Text
from parleyd.models.scripted import in_turn
from parleyd.models.signatures import rebuilt, signed
from parleyd.turns.model import ToolOutcome
from tests.end_to_end.paused import Paused
from tests.end_to_end.person import accept, cancel, decline
from tests.server import StartServer
from tests.standard_asks import PLAN, PLAN_ID, REGION_ID, ask_plan, ask_region

Message = conversations_pb2.Message
MessageAsk = conversations_pb2.MessageAsk
TEAM: dict[str, JsonValue] = {"action": "accept", "content": {"selected": ["team"]}}


async def test_a1_an_answer_resumes_the_turn(paused: Paused, engine: AsyncEngine) -> None:
    played = await paused.noor.answer(paused.conversation_id, PLAN_ID, accept("team"))

    assert played.names == ["started", "ask_resolved", "text", "done"]
    assert not played.events[0].started.conversation_created
    assert played.resolved.action == asks_pb2.ASK_ACTION_ACCEPT
    assert played.resolved.tool_call_id == PLAN_ID
    assert played.text == "Setting up the Team plan."
    assert played.done.title == "Workspace setup"
    assert played.done.state == turns_pb2.Turn.STATE_COMPLETED
    assert paused.server.model.calls[1].messages == (
        ScriptedMessage("user", (Text("Set up my workspace"),)),
        ScriptedMessage("model", (ask_plan(b"\x00\x01signature"),)),
        ScriptedMessage("tool", (ToolOutcome(PLAN_ID, "ask_choice", value=TEAM),)),
    )
    messages = await paused.noor.messages(paused.conversation_id)
    assert [message.type for message in messages] == [
        Message.TYPE_USER,
        Message.TYPE_TOOL_CALL,
        Message.TYPE_TOOL_RESULT,
        Message.TYPE_ASSISTANT,
    ]
    assert messages[1].ask.status == MessageAsk.STATUS_ANSWERED
    assert messages[2].ask.answer == accept("team")
    assert messages[3].status == Message.STATUS_COMPLETE
    assert messages[3].text == "Setting up the Team plan."
    async with engine.connect() as connection:
        assert await connection.scalar(text("SELECT count(*) FROM turn_steps")) == 0


async def test_a2_the_provider_gets_its_own_bytes_back(start_server: StartServer) -> None:
    step = [
        Text("", b"\x00\xff\x80empty"),
        ask_plan(bytes(range(256))),
        replace(ask_plan(), call_id="call_odd", args=PLAN | {"nothing": {}, "odd": "a\x00b"}),
    ]
    server = await start_server(in_turn(step, [Text("Done.")]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")

    await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))

    assert server.model.calls[1].messages[1] == ScriptedMessage("model", tuple(step))


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
        (
            cancel(),
            asks_pb2.ASK_ACTION_CANCEL,
            MessageAsk.STATUS_CANCELLED,
            {"action": "cancel"},
        ),
    ],
    ids=["decline", "cancel with a reason", "cancel"],
)
async def test_a3_a_skip_and_a_cancel_reach_the_model(
    paused: Paused,
    answer: asks_pb2.AskAnswer,
    action: asks_pb2.AskAction.ValueType,
    status: conversations_pb2.MessageAsk.Status.ValueType,
    envelope: dict[str, JsonValue],
) -> None:
    played = await paused.noor.answer(paused.conversation_id, PLAN_ID, answer)

    assert played.names == ["started", "ask_resolved", "text", "done"]
    assert played.resolved.action == action
    assert paused.server.model.calls[1].messages[-1] == ScriptedMessage(
        "tool", (ToolOutcome(PLAN_ID, "ask_choice", value=envelope),)
    )
    messages = await paused.noor.messages(paused.conversation_id)
    assert messages[1].ask.status == status
    assert messages[2].ask.answer == answer


async def test_a4_a_chain_of_asks_replays_in_order(start_server: StartServer) -> None:
    server = await start_server(in_turn([ask_plan()], [ask_region()], [Text("All set.")]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")

    first = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    second = await noor.answer(asked.conversation_id, REGION_ID, accept("eu"))

    assert first.names == ["started", "ask_resolved", "ask", "done"]
    assert first.done.pending_tool_call_id == REGION_ID
    assert second.names == ["started", "ask_resolved", "text", "done"]
    eu: dict[str, JsonValue] = {"action": "accept", "content": {"selected": ["eu"]}}
    assert server.model.calls[2].messages == (
        ScriptedMessage("user", (Text("Set up my workspace"),)),
        ScriptedMessage("model", (signed(ask_plan()),)),
        ScriptedMessage("tool", (ToolOutcome(PLAN_ID, "ask_choice", value=TEAM),)),
        ScriptedMessage("model", (signed(ask_region()),)),
        ScriptedMessage("tool", (ToolOutcome(REGION_ID, "ask_choice", value=eu),)),
    )
    messages = await noor.messages(asked.conversation_id)
    assert [message.type for message in messages] == [
        Message.TYPE_USER,
        Message.TYPE_TOOL_CALL,
        Message.TYPE_TOOL_RESULT,
        Message.TYPE_TOOL_CALL,
        Message.TYPE_TOOL_RESULT,
        Message.TYPE_ASSISTANT,
    ]
    assert [message.ask.status for message in messages[1:5]] == [MessageAsk.STATUS_ANSWERED] * 4


async def test_a_later_turn_shows_the_model_the_ask_and_its_answer(paused: Paused) -> None:
    await paused.noor.answer(paused.conversation_id, PLAN_ID, accept("team"))
    thanks = await paused.noor.prompt("Thanks", paused.conversation_id)
    assert thanks.text == "You are welcome."
    assert paused.server.model.calls[2].messages == (
        ScriptedMessage("user", (Text("Set up my workspace"),)),
        ScriptedMessage("model", (rebuilt(ask_plan()),)),
        ScriptedMessage("tool", (ToolOutcome(PLAN_ID, "ask_choice", value=TEAM),)),
        ScriptedMessage("model", (Text("Setting up the Team plan."),)),
        ScriptedMessage("user", (Text("Thanks"),)),
    )


async def test_a7_a_button_is_an_answer(paused: Paused) -> None:
    result = await paused.noor.press(paused.conversation_id, PLAN_ID, "option:team")

    assert result.text == "Setting up the Team plan."
    assert result.title == "Workspace setup"
    assert result.state == turns_pb2.Turn.STATE_COMPLETED
    assert not result.HasField("error")
    assert not result.HasField("pending_ask")
    messages = await paused.noor.messages(paused.conversation_id)
    assert [message.type for message in messages] == [
        Message.TYPE_USER,
        Message.TYPE_TOOL_CALL,
        Message.TYPE_TOOL_RESULT,
        Message.TYPE_ASSISTANT,
    ]
    assert messages[2].ask.answer == accept("team")
    assert paused.server.model.calls[1].messages == (
        ScriptedMessage("user", (Text("Set up my workspace"),)),
        ScriptedMessage("model", (ask_plan(b"\x00\x01signature"),)),
        ScriptedMessage("tool", (ToolOutcome(PLAN_ID, "ask_choice", value=TEAM),)),
    )


async def test_every_button_of_a_card_answers_as_its_response_does(
    start_server: StartServer,
) -> None:
    for button_id in ("option:us", "option:eu", "skip"):
        server = await start_server(in_turn([ask_region()], [Text("Done.")]))
        noor = await server.person()
        asked = await noor.prompt("Set up my workspace")
        button = next(each for each in asked.ask.simple.buttons if each.id == button_id)
        result = await noor.press(asked.conversation_id, REGION_ID, button_id)
        messages = await noor.messages(asked.conversation_id)
        assert result.text == "Done."
        assert messages[2].ask.answer == button.response


async def test_an_answer_survives_a_restart(start_server: StartServer, paused: Paused) -> None:
    await paused.server.stop()
    server = await start_server(in_turn([Text("Setting up the Team plan.")]))
    noor = await server.person()
    result = await noor.press(paused.conversation_id, PLAN_ID, "option:team")
    assert result.text == "Setting up the Team plan."
    assert server.model.calls[0].messages[1] == ScriptedMessage(
        "model", (ask_plan(b"\x00\x01signature"),)
    )


async def test_an_answer_can_come_before_the_asking_stream_has_ended(
    start_server: StartServer,
) -> None:
    """A second server answers the instant the ask can be seen, many times over."""
    rounds = 20
    first = await start_server(in_turn(*[[ask_plan()]] * rounds))
    second = await start_server(in_turn(*[[Text("Done.")]] * rounds))
    phone, watch = await first.person(), await second.person()
    for _ in range(rounds):
        asking = asyncio.create_task(phone.prompt("Set up my workspace"))
        async with asyncio.timeout(10):
            while not (pending := await watch.pending()):
                pass
        result = await watch.press(
            pending[0].conversation_id, pending[0].tool_call_id, "option:team"
        )
        assert result.text == "Done."
        assert (await asking).names == ["started", "ask", "done"]

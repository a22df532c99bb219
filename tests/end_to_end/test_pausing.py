"""A turn pauses on a question (spec turns 15.1)."""

import asyncio
from dataclasses import replace
from itertools import pairwise
from statistics import median

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1 import asks_pb2, cards_pb2, conversations_pb2, turns_pb2
from parleyd.models.script import Hold, ScriptedStep, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.person import Person, accept
from tests.server import StartServer
from tests.standard_asks import PLAN, PLAN_ID, ask_plan

OPAQUE = b"\x00\xffopaque-signature"


async def test_p1_a_choice_pauses_the_turn(start_server: StartServer) -> None:
    server = await start_server(in_turn([ask_plan()]))
    noor = await server.person()

    played = await noor.prompt("Set up my workspace")

    assert played.names == ["started", "ask", "done"]
    assert [event.sequence for event in played.events] == [1, 2, 3]
    assert played.events[0].started.conversation_created
    assert played.ask.conversation_id == played.conversation_id
    assert played.ask.tool_call_id == PLAN_ID
    assert played.ask.kind == asks_pb2.ASK_KIND_CHOICE
    assert played.ask.origin == asks_pb2.ASK_ORIGIN_MODEL
    assert played.ask.input.prompt == PLAN["prompt"]
    assert [option.id for option in played.ask.input.choice.options] == [
        "starter",
        "team",
        "enterprise",
    ]
    assert [(button.id, button.style) for button in played.ask.simple.buttons] == [
        ("option:team", cards_pb2.SimpleCardButton.STYLE_PRIMARY),
        ("option:starter", cards_pb2.SimpleCardButton.STYLE_DEFAULT),
        ("option:enterprise", cards_pb2.SimpleCardButton.STYLE_DEFAULT),
    ]
    assert not played.ask.simple.handoff
    assert played.done.pending_tool_call_id == PLAN_ID
    assert played.done.state == turns_pb2.Turn.STATE_PAUSED
    assert not played.done.retryable
    assert len(server.model.calls) == 1
    assert server.model.text_calls == []


async def test_p2_a_paused_conversation_shows_the_ask_and_nothing_of_the_provider(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([Text("", OPAQUE), ask_plan(OPAQUE)]))
    noor = await server.person()
    played = await noor.prompt("Set up my workspace")

    conversation = await noor.conversation(played.conversation_id)
    messages = await noor.messages(played.conversation_id)

    pending = conversation.pending_ask
    assert pending.tool_call_id == PLAN_ID
    assert pending.kind == asks_pb2.ASK_KIND_CHOICE
    assert pending.input == played.ask.input
    assert pending.simple == played.ask.simple
    assert conversation.title == ""
    assert [message.type for message in messages] == [
        conversations_pb2.Message.TYPE_USER,
        conversations_pb2.Message.TYPE_TOOL_CALL,
    ]
    assert messages[0].text == "Set up my workspace"
    assert messages[1].ask.status == conversations_pb2.MessageAsk.STATUS_PENDING
    assert messages[1].ask.input == played.ask.input
    seen = conversation.SerializeToString() + b"".join(
        message.SerializeToString() for message in [*messages, *played.events]
    )
    assert OPAQUE not in seen


@pytest.mark.parametrize(
    "steps",
    [[[ask_plan()], [Text("Done.")]], [[Text("One moment."), ask_plan()], [Text("Done.")]]],
    ids=["ask", "text and ask"],
)
async def test_p3_no_tool_event_is_sent_for_an_ask(
    start_server: StartServer, steps: list[ScriptedStep]
) -> None:
    server = await start_server(in_turn(*steps))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    answered = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    assert asked.names == ["started", "ask", "done"]
    assert answered.names == ["started", "ask_resolved", "text", "done"]


async def test_p5_text_beside_an_ask_is_dropped(start_server: StartServer) -> None:
    server = await start_server(in_turn([Text("Let me ask"), ask_plan()]))
    noor = await server.person()
    played = await noor.prompt("Set up my workspace")
    messages = await noor.messages(played.conversation_id)
    assert played.names == ["started", "ask", "done"]
    assert [message.type for message in messages] == [
        conversations_pb2.Message.TYPE_USER,
        conversations_pb2.Message.TYPE_TOOL_CALL,
    ]


async def test_p6_an_ask_can_be_answered_on_receipt(start_server: StartServer) -> None:
    server = await start_server(in_turn([ask_plan()], [Text("Setting up the Team plan.")]))
    phone, watch = await server.person(), await server.person()
    stream = phone.stream(
        turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text="Set up my workspace"))
    )
    first = [await anext(stream), await anext(stream)]
    ask = first[-1].ask
    result = await watch.press(ask.conversation_id, ask.tool_call_id, "option:team")
    rest = [event async for event in stream]
    assert result.text == "Setting up the Team plan."
    assert [event.WhichOneof("event") for event in rest] == ["done"]


async def test_p7_each_ask_of_a_chain_costs_the_same(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    asks = 30
    steps = [[replace(ask_plan(OPAQUE), call_id=f"call_{number}")] for number in range(1, asks + 1)]
    server = await start_server(in_turn(*steps))
    noor = await server.person()

    written = [await _written(engine)]
    played = await noor.prompt("Set up my workspace")
    written.append(await _written(engine))
    for number in range(1, asks):
        assert await _steps(engine) == number
        await noor.answer(played.conversation_id, f"call_{number}", accept("team"))
        written.append(await _written(engine))

    costs = [after - before for before, after in pairwise(written)]
    assert await _steps(engine) == asks
    # Medians, since a batch of the request log falls into some of them.
    assert median(costs[24:30]) == pytest.approx(median(costs[1:7]), rel=0.2)
    async with engine.connect() as connection:
        sizes = await connection.scalars(
            text("SELECT octet_length(messages) FROM turn_steps ORDER BY step_no")
        )
        # Each step holds its own call alone; the ids differ by a digit.
        smallest, *_, largest = sorted(sizes.all())
        assert largest - smallest <= 1


async def test_a_caller_that_leaves_changes_nothing(start_server: StartServer) -> None:
    server = await start_server(in_turn([Hold("thinking"), ask_plan()], [Text("Done.")]))
    phone, watch = await server.person(), await server.person()
    call = phone.client.turns.StreamTurn(
        turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text="Set up my workspace"))
    )
    started = await anext(aiter(call))
    await server.model.holds.reached("thinking")
    call.cancel()
    server.model.holds.release("thinking")
    pending = await _pending(watch)
    assert pending.conversation_id == started.event.started.conversation_id
    result = await watch.press(pending.conversation_id, pending.tool_call_id, "option:team")
    assert result.text == "Done."


async def _pending(person: Person) -> turns_pb2.PendingAsk:
    """Waits until the person has a pending ask."""
    async with asyncio.timeout(10):
        while not (pending := await person.pending()):
            await asyncio.sleep(0.01)
    return pending[0]


async def _written(engine: AsyncEngine) -> int:
    """Returns how many bytes the database has written to its log."""
    async with engine.connect() as connection:
        place = await connection.scalar(
            text("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')")
        )
    return int(place)


async def _steps(engine: AsyncEngine) -> int:
    async with engine.connect() as connection:
        return int(await connection.scalar(text("SELECT count(*) FROM turn_steps")) or 0)

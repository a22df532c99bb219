"""Faults of other systems with several devices, tried with approvals and other asks."""

import asyncio
from datetime import datetime

import grpc
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import error_of
from parley.v1 import asks_pb2, turns_pb2
from parley.v1.conversations_pb2 import CreateConversationRequest
from parleyd.models.script import Hold, Text
from parleyd.models.scripted import by_progress, by_prompt, in_turn
from tests.end_to_end.guarded import (
    APPROVED,
    CLEAN_UP,
    DONE,
    approval,
    denial,
    denied,
    rows,
    told,
    wait_on_approval,
)
from tests.end_to_end.person import accept, refused
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import DELETE, DELETE_ID, PLANS, StandardTools, delete

BUTTONS = {"approve": approval(), "deny": denial()}


@pytest.mark.parametrize(("button_id", "answer"), BUTTONS.items(), ids=[*BUTTONS])
async def test_bc_080_a_button_of_an_approval_does_what_the_full_answer_does(
    start_server: StartServer,
    tools: StandardTools,
    engine: AsyncEngine,
    button_id: str,
    answer: asks_pb2.AskAnswer,
) -> None:
    pressing = await wait_on_approval(start_server, tools)
    answering = await wait_on_approval(start_server, tools)
    button = next(one for one in pressing.asked.ask.simple.buttons if one.id == button_id)
    assert button.response == answer

    pressed = await pressing.noor.press(pressing.own, pressing.approval_id, button_id)
    answered = await answering.answer(answer)
    watched = await pressing.noor.watch(pressing.own, pressed.turn_id)

    assert watched.names == answered.names == APPROVED
    assert list(map(told, watched.results)) == list(map(told, answered.results))
    assert pressing.server.model.calls[1].messages == answering.server.model.calls[1].messages
    found = [rows(await one.noor.messages(one.own)) for one in (pressing, answering)]
    assert found[0] == found[1]
    async with engine.connect() as connection:
        asks = await connection.execute(
            text("SELECT status, answer, input, tool_name, tool_args FROM asks")
        )
        first, second = map(tuple, asks.all())
    assert first == second
    runs = [run.approval_id for run in tools.runs(DELETE)]
    ids = [pressing.approval_id, answering.approval_id]
    assert runs == (ids if button_id == "approve" else [])


async def test_bc_084_one_approval_that_is_decided_hides_no_other(
    start_server: StartServer, tools: StandardTools
) -> None:
    pick = by_prompt(
        {
            CLEAN_UP: by_progress([delete()], [Hold("thinking"), *DONE]),
            "Set me up": by_progress([ask_plan()], DONE),
        }
    )
    servers = [await start_server(pick, tools=tools.all_hosted) for _ in range(2)]
    phone, laptop = [await server.person() for server in servers]
    guarded = await phone.prompt(CLEAN_UP)
    asked = await laptop.prompt("Set me up")
    for device in (phone, laptop):
        assert [one.tool_call_id for one in await device.pending()] == [
            PLAN_ID,
            guarded.ask.tool_call_id,
        ]

    answering = asyncio.create_task(
        phone.answer(guarded.conversation_id, guarded.ask.tool_call_id, approval())
    )
    async with asyncio.timeout(30):
        await servers[0].model.holds.reached("thinking")
        running = (await laptop.conversation(guarded.conversation_id)).running_turn_id
        watching = asyncio.create_task(laptop.watch(guarded.conversation_id, running))
        for device in (phone, laptop):
            assert [one.tool_call_id for one in await device.pending()] == [PLAN_ID]
            other = await device.conversation(asked.conversation_id)
            assert other.pending_ask.tool_call_id == PLAN_ID
        servers[0].model.holds.release("thinking")
        answered, watched = await asyncio.gather(answering, watching)
    assert watched.events == answered.events
    assert [one.tool_call_id for one in map(_resolved, watched.events) if one] == [
        guarded.ask.tool_call_id
    ]
    last = await laptop.answer(asked.conversation_id, PLAN_ID, accept("team"))
    assert last.text == "Done."
    assert await phone.pending() == []


def _resolved(event: turns_pb2.TurnEvent) -> turns_pb2.AskResolved | None:
    return event.ask_resolved if event.HasField("ask_resolved") else None


async def test_bc_086_another_device_approves_long_after_the_waiting_call_has_ended(
    start_server: StartServer, tools: StandardTools, engine: AsyncEngine
) -> None:
    """The two hours pass in the database: everything there is made two hours older."""
    server = await start_server(in_turn([delete()], DONE), tools=tools.all_hosted)
    phone, laptop = await server.person(), await server.person()
    made = await phone.client.conversations.CreateConversation(CreateConversationRequest())
    own = made.conversation.conversation_id
    request = turns_pb2.TurnRequest(
        conversation_id=own, prompt=turns_pb2.PromptInput(text=CLEAN_UP)
    )
    paused = (await phone.client.turns.Turn(request, timeout=5)).result
    assert paused.state == turns_pb2.Turn.STATE_PAUSED
    approval_id = paused.pending_ask.tool_call_id
    await server.stop()
    async with engine.begin() as connection:
        for table in ("conversations", "turns", "asks", "messages"):
            await connection.execute(
                text(f"UPDATE {table} SET create_time = create_time - interval '2 hours'")
            )
    server = await start_server(in_turn(DONE), tools=tools.all_hosted)
    phone, laptop = await server.person(), await server.person()

    (pending,) = await laptop.pending()
    assert pending.tool_call_id == approval_id
    answered = await laptop.answer(own, approval_id, approval())

    assert answered.names == APPROVED
    assert len(tools.runs(DELETE)) == 1
    assert await phone.pending() == []
    seen = await phone.messages(own)
    assert (seen[-1].text, seen[-1].turn_id) == ("Done.", answered.turn_id)
    finished = await phone.turn(own, answered.turn_id)
    assert (finished.state, finished.result.text) == (turns_pb2.Turn.STATE_COMPLETED, "Done.")
    assert (await phone.watch(own, answered.turn_id)).events == answered.events


@pytest.mark.parametrize(
    ("first", "late"), [(approval(), denial()), (denial(), approval())], ids=["yes", "no"]
)
async def test_bc_088_whoever_is_late_is_told_what_was_decided_and_not_what_they_said(
    start_server: StartServer,
    tools: StandardTools,
    engine: AsyncEngine,
    first: asks_pb2.AskAnswer,
    late: asks_pb2.AskAnswer,
) -> None:
    """The late device is told the turn and the time; what was decided it reads in that turn.

    Who decided is the owner, always; devices have no names here.
    """
    guarded = await wait_on_approval(start_server, tools)
    other = await start_server(in_turn([Text("Never.")]), tools=tools.all_hosted)
    laptop = await other.person()

    decided = await guarded.answer(first)
    errors = [
        await refused(laptop.answer(guarded.own, guarded.approval_id, late)),
        await refused(laptop.press(guarded.own, guarded.approval_id, "approve")),
        await refused(laptop.press(guarded.own, guarded.approval_id, "deny")),
    ]

    async with engine.connect() as connection:
        resolved = await connection.scalar(text("SELECT resolve_time FROM asks"))
    for error in errors:
        assert error.code() == grpc.StatusCode.ABORTED
        metadata = error_of(error).metadata
        assert metadata["resolved_by_turn_id"] == decided.turn_id
        assert metadata["action"] == "accept"
        assert datetime.fromisoformat(metadata["resolve_time"]) == resolved
    watched = await laptop.watch(guarded.own, decided.turn_id)
    (result,) = watched.results
    yes = first == approval()
    assert told(result) == (
        (DELETE_ID, PLANS, False, "")
        if yes
        else (DELETE_ID, denied("user_denied"), False, "user_denied")
    )
    answer = next(
        row.ask.answer for row in await laptop.messages(guarded.own) if row.ask.HasField("answer")
    )
    assert answer == first
    assert guarded.runs == (1 if yes else 0)
    assert other.model.calls == []

"""Clients that leave, logs and titles that fail: the turn is none the worse (spec turns 15.5)."""

import asyncio
from collections.abc import AsyncIterable
from typing import Any

import grpc
import pytest

from parley.v1 import conversations_pb2, turns_pb2
from parleyd.models.script import Fail, Hold, Raise, ScriptedStep, Text
from parleyd.models.scripted import TITLE, by_progress
from tests.end_to_end.person import Person, refused
from tests.failpoints import Failpoints, Place, block, throw
from tests.server import StartServer

DEADLINE = 30
COMPLETED = turns_pb2.Turn.STATE_COMPLETED
HELD_REPLY = by_progress([Text("Hel"), Hold("thinking"), Text("lo.")])


async def _first_event(call: AsyncIterable[Any]) -> turns_pb2.TurnEvent:
    response = await anext(aiter(call))
    return response.event


async def _whole(noor: Person, conversation_id: str, turn_id: str) -> None:
    """Checks that a turn nobody waited for has ended as if somebody had."""
    async with asyncio.timeout(DEADLINE):
        watched = await noor.watch(conversation_id, turn_id)
    assert watched.names == ["started", "text", "done"]
    turn = await noor.turn(conversation_id, turn_id)
    assert (turn.state, turn.result.text) == (COMPLETED, "Hello.")
    rows = await noor.messages(conversation_id)
    assert [row.text for row in rows] == ["Hello?", "Hello."]
    assert (await noor.conversation(conversation_id)).title == "Workspace setup"


@pytest.mark.parametrize("leave", ["cancels its call", "loses its connection"])
async def test_f22_a_turn_goes_on_although_its_client_left(
    start_server: StartServer, leave: str
) -> None:
    server = await start_server(HELD_REPLY)
    noor, elsewhere = await server.person(), await server.person()
    call = noor.client.turns.StreamTurn(
        turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text="Hello?"))
    )
    started = await _first_event(call)
    async with asyncio.timeout(DEADLINE):
        await server.model.holds.reached("thinking")
    if leave == "cancels its call":
        call.cancel()
    else:
        await noor.client.close()
    conversation_id = started.started.conversation_id
    between = await elsewhere.turn(conversation_id, started.turn_id)

    server.model.holds.release("thinking")

    assert between.state == turns_pb2.Turn.STATE_RUNNING
    await _whole(elsewhere, conversation_id, started.turn_id)
    assert len(server.model.calls) == 1


@pytest.mark.parametrize("place", ["before_tx1", "after_tx1", "before_tx2", "before_close"])
async def test_f22_a_turn_goes_on_although_its_client_left_in_a_transaction(
    start_server: StartServer, place: Place
) -> None:
    points = Failpoints(block(place))
    server = await start_server(by_progress([Text("Hello.")]), wrap_store=points.store)
    noor = await server.person()
    conversation_id = await _empty_conversation(noor)
    call = noor.client.turns.StreamTurn(
        turns_pb2.StreamTurnRequest(
            conversation_id=conversation_id, prompt=turns_pb2.PromptInput(text="Hello?")
        )
    )
    async with asyncio.timeout(DEADLINE):
        reading = asyncio.create_task(_first_event(call))
        await points.holds.reached(place)
        call.cancel()
        # What is sent on this connection afterwards finds the call cancelled.
        assert (await noor.conversation(conversation_id)).conversation_id == conversation_id
        points.holds.release(place)
        await asyncio.wait([reading])
        while not (rows := await noor.messages(conversation_id)):
            pass
    await _whole(noor, conversation_id, rows[0].turn_id)


async def test_f23_a_turn_goes_on_although_its_callers_time_is_over(
    start_server: StartServer,
) -> None:
    server = await start_server(HELD_REPLY)
    noor = await server.person()
    conversation_id = await _empty_conversation(noor)
    request = turns_pb2.TurnRequest(
        conversation_id=conversation_id, prompt=turns_pb2.PromptInput(text="Hello?")
    )

    error = await refused(noor.client.turns.Turn(request, timeout=1))
    turn_id = (await noor.conversation(conversation_id)).running_turn_id
    server.model.holds.release("thinking")

    assert error.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    assert turn_id
    await _whole(noor, conversation_id, turn_id)
    assert len(server.model.calls) == 1


async def _empty_conversation(noor: Person) -> str:
    made = await noor.client.conversations.CreateConversation(
        conversations_pb2.CreateConversationRequest()
    )
    return made.conversation.conversation_id


async def test_f24_a_log_that_fails_changes_nothing(start_server: StartServer) -> None:
    points = Failpoints(throw("in_log", RuntimeError("The log is full.")))
    server = await start_server(by_progress([Text("Hello.")]), wrap_log=points.log)
    noor = await server.person()

    played = await noor.prompt("Hello?")
    result = await noor.run(
        turns_pb2.TurnRequest(
            conversation_id=played.conversation_id, prompt=turns_pb2.PromptInput(text="Hello?")
        )
    )

    assert played.names == ["started", "text", "done"]
    assert played.done.title == "Workspace setup"
    assert (result.state, result.text, result.HasField("error")) == (COMPLETED, "Hello.", False)
    assert points.reached["in_log"] >= 2


@pytest.mark.parametrize(
    "title", [[Fail("server")], [Fail("other")], [Raise()], [*TITLE, Raise()]], ids=str
)
async def test_f24_a_title_that_fails_is_no_title_and_no_error(
    start_server: StartServer, title: ScriptedStep
) -> None:
    server = await start_server(by_progress([Text("Hello.")]), title=title)
    noor = await server.person()

    played = await noor.prompt("Hello?")

    assert played.names == ["started", "text", "done"]
    assert played.done == turns_pb2.TurnDone(
        conversation_id=played.conversation_id, state=COMPLETED
    )
    assert len(server.model.text_calls) == 1
    assert (await noor.conversation(played.conversation_id)).title == ""
    turn = await noor.turn(played.conversation_id, played.turn_id)
    assert (turn.state, turn.result.HasField("error")) == (COMPLETED, False)

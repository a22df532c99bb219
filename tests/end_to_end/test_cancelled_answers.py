"""Calls that are cancelled at any point leave the pool of connections as it was."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import grpc
import pytest
from google.protobuf.field_mask_pb2 import FieldMask

from parley.v1 import conversations_pb2, turns_pb2
from parleyd.models.script import Call, Hold, ScriptedStep, Text, last_prompt
from parleyd.models.scripted import by_progress
from parleyd.turns.model import ModelCall
from tests.end_to_end.leftovers import (
    faults_told,
    no_more_tasks_than,
    nobody_follows,
    open_streams,
    tasks_running,
)
from tests.end_to_end.person import Person, accept
from tests.server import StartServer
from tests.standard_asks import PLAN
from tests.standard_tools import StandardTools, look_up

pytestmark = pytest.mark.alone

SEED = 20_260_131
MANY = 10_000
CONVERSATIONS = 20
ROUNDS = 25
DEADLINE = 60


@dataclass(frozen=True)
class Sessions:
    """The sessions of one test's database, seen from a connection that is none of the service's."""

    connection: "asyncpg.Connection[asyncpg.Record]"

    async def count(self, condition: str = "true") -> int:
        """Counts those of the service."""
        return await self.connection.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            f" AND application_name = 'parleyd' AND {condition}"
        )

    async def are(self, most: int) -> None:
        """Checks that there are so many at most, none in a transaction; some may be ending."""
        end = asyncio.get_running_loop().time() + DEADLINE
        while await self.count() > most or await self.count("state LIKE 'idle in %'"):
            assert asyncio.get_running_loop().time() < end
            await asyncio.sleep(0.1)


@pytest.fixture
async def sessions(database_url: str) -> AsyncIterator[Sessions]:
    connection = await asyncpg.connect(database_url)
    yield Sessions(connection)
    await connection.close()


def always_asks(call: ModelCall) -> ScriptedStep:
    """Asks again after every answer."""
    del call
    return [Call("ask_choice", PLAN)]


async def cut_short(call: Awaitable[Any], seconds: float) -> None:
    """Starts a call and cancels it after a while, if it is not over."""
    calling = asyncio.ensure_future(call)
    await asyncio.wait([calling], timeout=seconds)
    calling.cancel()
    await asyncio.wait([calling])
    if not calling.cancelled() and (error := calling.exception()):
        # The answer before this one may have been taken although its call was cancelled.
        assert isinstance(error, grpc.aio.AioRpcError)
        assert error.code() in (grpc.StatusCode.ABORTED, grpc.StatusCode.CANCELLED)


async def pending_in(noor: Person, conversation_id: str) -> str:
    """Returns the ask that a conversation waits on, once no turn of it runs."""
    async with asyncio.timeout(DEADLINE):
        while True:
            conversation = await noor.conversation(conversation_id)
            if conversation.pending_ask.tool_call_id and not conversation.running_turn_id:
                return conversation.pending_ask.tool_call_id
            await asyncio.sleep(0.01)


async def test_bc_109_cancelled_answers_leave_no_transaction_and_no_connection(
    start_server: StartServer, sessions: Sessions
) -> None:
    server = await start_server(always_asks, pool_size=2, owner_turns=MANY)
    noor = await server.person()
    chance = random.Random(SEED)
    asked = [await noor.prompt("Set up my workspace") for _ in range(CONVERSATIONS)]
    tasks_before = tasks_running()

    async def answer_and_leave(conversation_id: str) -> None:
        for _ in range(ROUNDS):
            ask = await pending_in(noor, conversation_id)
            await cut_short(
                noor.answer(conversation_id, ask, accept("team")), chance.uniform(0, 0.1)
            )

    with faults_told() as faults:
        async with asyncio.TaskGroup() as group:
            for each in asked:
                group.create_task(answer_and_leave(each.conversation_id))
        for each in asked:
            await pending_in(noor, each.conversation_id)
        await no_more_tasks_than(tasks_before)

    assert faults == []
    await sessions.are(4)
    for number in range(50):
        conversation_id = asked[number % CONVERSATIONS].conversation_id
        ask = await pending_in(noor, conversation_id)
        played = await noor.answer(conversation_id, ask, accept("team"))
        assert played.names == ["started", "ask_resolved", "ask", "done"]
    await nobody_follows()
    await sessions.are(4)


async def test_bc_109_other_cancelled_calls_leave_none_either(
    start_server: StartServer, sessions: Sessions
) -> None:
    server = await start_server(always_asks, pool_size=2, owner_turns=MANY)
    noor = await server.person()
    chance = random.Random(SEED)
    asked = await noor.prompt("Set up my workspace")

    def some_call(number: int) -> Awaitable[Any]:
        named = conversations_pb2.Conversation(
            conversation_id=asked.conversation_id, title=f"Title {number}"
        )
        match number % 6:
            case 0:
                return noor.conversation(asked.conversation_id)
            case 1:
                return noor.messages(asked.conversation_id)
            case 2:
                return noor.turn(asked.conversation_id, asked.turn_id)
            case 3:
                return noor.watch(asked.conversation_id, asked.turn_id)
            case 4:
                return noor.client.conversations.UpdateConversation(
                    conversations_pb2.UpdateConversationRequest(
                        conversation=named, update_mask=FieldMask(paths=["title"])
                    )
                )
            case _:
                return noor.client.conversations.CreateConversation(
                    conversations_pb2.CreateConversationRequest()
                )

    with faults_told() as faults:
        for round_no in range(20):
            await asyncio.gather(
                *(
                    cut_short(some_call(number), chance.uniform(0, 0.05))
                    for number in range(round_no * 30, round_no * 30 + 30)
                )
            )

    assert faults == []
    await sessions.are(4)
    for number in range(48):
        await some_call(number)
    assert (await noor.conversation(asked.conversation_id)).title == "Title 46"
    await sessions.are(4)
    assert open_streams("noor") == 0


async def test_bc_097_a_thousand_clients_leave_after_three_events_and_their_turns_go_on(
    start_server: StartServer, tmp_path: Path
) -> None:
    batches, clients = 20, 50

    def held_by_batch(call: ModelCall) -> ScriptedStep:
        batch = last_prompt(call.messages)
        return by_progress([look_up()], [Hold(batch), Text("There are 3 plans.")])(call)

    tools = StandardTools(tmp_path / "runs")
    server = await start_server(held_by_batch, tools=tools.hosted, owner_turns=MANY)
    noor = await server.person()
    server.model.holds.release("Hello?")
    await noor.prompt("Hello?")
    before = tasks_running()

    async def leave_after_three(prompt: str) -> tuple[str, str]:
        call = noor.client.turns.StreamTurn(
            turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text=prompt))
        )
        seen: list[turns_pb2.TurnEvent] = []
        async for response in call:
            if response.event.sequence:
                seen.append(response.event)
            if len(seen) == 3:
                call.cancel()
                break
        return seen[0].started.conversation_id, seen[0].turn_id

    turns: list[tuple[str, str]] = []
    with faults_told() as faults:
        for batch in range(batches):
            prompt = f"batch {batch}"
            turns += await asyncio.gather(*(leave_after_three(prompt) for _ in range(clients)))
            await server.model.holds.reached(prompt, clients)
            server.model.holds.release(prompt)
        for conversation_id, turn_id in turns:
            await ended(noor, conversation_id, turn_id)
        await no_more_tasks_than(before)

    assert faults == []
    assert len(set(turns)) == batches * clients
    assert len(tools.runs()) == batches * clients + 1
    await nobody_follows()


async def test_bc_111_idle_streams_hold_no_connection(
    start_server: StartServer, sessions: Sessions
) -> None:
    def held_or_asking(call: ModelCall) -> ScriptedStep:
        if last_prompt(call.messages) == "Think long":
            return [Hold("thinking"), Text("I have thought.")]
        return always_asks(call)

    here = await start_server(held_or_asking, pool_size=5, owner_streams=MANY)
    elsewhere = await start_server(held_or_asking, pool_size=5, owner_streams=MANY)
    noor, far_noor = await here.person(), await elsewhere.person()
    thinking = asyncio.create_task(noor.prompt("Think long"))
    await here.model.holds.reached("thinking")
    (listed,) = (
        await noor.client.conversations.ListConversations(
            conversations_pb2.ListConversationsRequest()
        )
    ).conversations
    named = listed.conversation_id, listed.running_turn_id
    watching = [
        asyncio.create_task(device.watch(*named)) for device in (noor, far_noor) for _ in range(100)
    ]
    async with asyncio.timeout(DEADLINE):
        while open_streams("noor") < len(watching):
            await asyncio.sleep(0.05)

    asked = await noor.prompt("Set up my workspace")
    for device in (noor, far_noor) * 10:
        ask = await pending_in(device, asked.conversation_id)
        played = await device.answer(asked.conversation_id, ask, accept("team"))
        assert played.names == ["started", "ask_resolved", "ask", "done"]
    await sessions.are(2 * (5 + 1 + 1))

    assert not any(each.done() for each in watching)
    here.model.holds.release("thinking")
    async with asyncio.timeout(DEADLINE):
        for played in await asyncio.gather(thinking, *watching):
            assert played.names == ["started", "text", "done"]
    await nobody_follows()
    assert open_streams("noor") == 0


async def ended(noor: Person, conversation_id: str, turn_id: str) -> None:
    """Waits until a turn is closed, and checks that it came to its end."""
    async with asyncio.timeout(DEADLINE):
        while True:
            turn = await noor.turn(conversation_id, turn_id)
            if turn.state == turns_pb2.Turn.STATE_COMPLETED:
                assert turn.result.text == "There are 3 plans."
                assert turn.last_event_sequence == 5
                return
            assert turn.state == turns_pb2.Turn.STATE_RUNNING
            await asyncio.sleep(0.01)

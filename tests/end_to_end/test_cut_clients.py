"""Clients that leave at any point: the turn goes on, nothing is left of them (spec turns 3.9)."""

import asyncio
import random
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal
from uuid import uuid4

import grpc
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

import parley
from parley.v1 import conversations_pb2, turns_pb2
from parleyd.models.script import Hold, Text
from parleyd.models.scripted import by_progress
from tests.clients.cutting_proxy import cutting_proxy
from tests.end_to_end.leftovers import (
    collecting,
    faults_told,
    no_more_tasks_than,
    nobody_follows,
    open_streams,
    tasks_running,
)
from tests.end_to_end.person import Person
from tests.server import Server, StartServer
from tests.standard_tools import StandardTools, look_up

pytestmark = pytest.mark.alone

TURNS = 200
SEED = 20_260_131
MANY = 10_000
HOUR = timedelta(hours=1)
SOON = 20

Call = Literal["stream", "unary", "stream and watch"]
Cut = Literal["cancelled", "channel closed", "connection lost"]


@dataclass(frozen=True)
class Client:
    """Somebody who starts a turn and leaves after a while.

    Who `waits` leaves only once the turn has started; of the others some leave before.
    """

    call: Call
    cut: Cut
    seconds: float
    waits: bool
    conversation_id: str
    request_id: str

    async def live(self, server: Server) -> None:
        """Starts the turn, and leaves."""
        async with (
            cutting_proxy(server.address) as (proxy, address),
            parley.connect(address, server.key.issue("noor", HOUR)) as client,
        ):
            begun = asyncio.Event()
            playing = asyncio.create_task(self._play(Person(client), begun))
            playing.add_done_callback(lambda _: begun.set())
            if self.waits:
                await begun.wait()
            await asyncio.wait([playing], timeout=self.seconds)
            match self.cut:
                case "cancelled":
                    playing.cancel()
                case "channel closed":
                    await client.close()
                case "connection lost":
                    proxy.cut()
            await asyncio.wait([playing], timeout=SOON)
        assert playing.done()
        if not playing.cancelled():
            assert isinstance(playing.exception(), grpc.aio.AioRpcError | None)

    async def repeat(self, noor: Person) -> turns_pb2.Turn.State.ValueType:
        """Sends the same request again, and returns how its turn has ended."""
        if self.call == "unary":
            return (await noor.run(self._unary())).state
        return (await noor.play(self._streamed())).done.state

    async def _play(self, noor: Person, begun: asyncio.Event) -> None:
        if self.call == "unary":
            await noor.run(self._unary())
            return
        async for event in noor.stream_all(self._streamed()):
            begun.set()
            if event.HasField("started") and self.call == "stream and watch":
                await noor.watch(event.started.conversation_id, event.turn_id)

    def _unary(self) -> turns_pb2.TurnRequest:
        return turns_pb2.TurnRequest(
            conversation_id=self.conversation_id,
            request_id=self.request_id,
            prompt=turns_pb2.PromptInput(text="How many plans are there?"),
        )

    def _streamed(self) -> turns_pb2.StreamTurnRequest:
        return turns_pb2.StreamTurnRequest(
            request_id=self.request_id,
            prompt=turns_pb2.PromptInput(text="How many plans are there?"),
        )


async def some_clients(noor: Person) -> list[Client]:
    """Returns clients of every sort; those with a unary call have a conversation each."""
    chance = random.Random(SEED)
    calls: tuple[Call, ...] = ("stream", "unary", "stream and watch")
    cuts: tuple[Cut, ...] = ("cancelled", "channel closed", "connection lost")
    clients: list[Client] = []
    for number in range(TURNS):
        call = calls[number % len(calls)]
        conversation_id = ""
        if call == "unary":
            created = await noor.client.conversations.CreateConversation(
                conversations_pb2.CreateConversationRequest()
            )
            conversation_id = created.conversation.conversation_id
        clients.append(
            Client(
                call=call,
                cut=chance.choice(cuts),
                seconds=chance.uniform(0, 2),
                waits=call != "unary" and number % 5 > 0,
                conversation_id=conversation_id,
                request_id=str(uuid4()),
            )
        )
    return clients


async def test_f22_turns_whose_clients_are_cut_off_all_come_to_their_end(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    tools = StandardTools(tmp_path / "runs")
    server = await start_server(
        by_progress(
            [Text("Let me "), Text("look."), look_up(hold="inside")],
            [Text("There are "), Hold("thinking"), Text("3 plans.")],
        ),
        tools=tools.hosted,
        owner_turns=MANY,
        owner_streams=MANY,
    )
    noor = await server.person()
    clients = await some_clients(noor)
    before = tasks_running()

    with faults_told() as faults:
        async with collecting(), asyncio.TaskGroup() as group:
            for client in clients:
                group.create_task(client.live(server))
            await asyncio.sleep(0.7)
            tools.holds.release("inside")
            await asyncio.sleep(0.7)
            server.model.holds.release("thinking")
        stored = await once_all_are_closed(engine)
        await no_more_tasks_than(before)

    assert faults == []
    await nobody_follows()
    assert open_streams("noor") == 0
    assert stored > TURNS / 2
    ended = [await client.repeat(noor) for client in clients]
    assert ended == [turns_pb2.Turn.STATE_COMPLETED] * TURNS
    assert len(tools.runs()) == TURNS
    assert await once_all_are_closed(engine) == TURNS
    assert await rows_of_turns(engine) == [
        (["user", "tool_call", "tool_result", "assistant"], "There are 3 plans.", 1, TURNS)
    ]


async def once_all_are_closed(engine: AsyncEngine) -> int:
    """Waits until every stored turn is closed, and counts them."""
    query = text("SELECT count(*) FILTER (WHERE state <> 'closed'), count(*) FROM turns")
    async with asyncio.timeout(60), engine.connect() as connection:
        while True:
            still_open, stored = (await connection.execute(query)).one()
            if not still_open:
                return stored
            await asyncio.sleep(0.05)


async def rows_of_turns(engine: AsyncEngine) -> list[tuple[list[str], str, int, int]]:
    """Returns what turns have stored: rows, reply, how many processes, and how many turns have."""
    query = text(
        "SELECT rows, reply, lease_epoch, count(*) FROM (SELECT turn_id,"
        " array_agg(type ORDER BY position) AS rows,"
        " max(text) FILTER (WHERE type = 'assistant') AS reply FROM messages GROUP BY turn_id)"
        " AS each JOIN turns ON turns.id = turn_id GROUP BY rows, reply, lease_epoch"
    )
    async with engine.connect() as connection:
        return [tuple(row) for row in await connection.execute(query)]

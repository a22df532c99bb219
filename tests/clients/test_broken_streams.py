"""A client follows a turn through broken connections and stopped servers (spec turns 16.1)."""

import asyncio
from uuid import uuid4

import parley
from parley.v1 import turns_pb2 as pb
from parleyd.models.script import Hold, Text
from parleyd.models.scripted import in_turn
from tests.clients.cutting_proxy import cutting_proxy
from tests.rpc.wire import HOUR
from tests.server import StartServer

SOON = 30
REQUEST = pb.StreamTurnRequest(prompt=pb.PromptInput(text="Think"), request_id=str(uuid4()))


def numbered(events: list[pb.TurnEvent]) -> list[tuple[int, str | None]]:
    """Returns the numbers and names of the stored events."""
    return [(event.sequence, event.WhichOneof("event")) for event in events if event.sequence]


async def test_w1_a_turn_is_followed_on_another_server_when_the_connection_breaks(
    start_server: StartServer,
) -> None:
    here = await start_server(in_turn([Hold("long"), Text("Well.")]))
    elsewhere = await start_server(in_turn())
    async with (
        asyncio.timeout(SOON),
        cutting_proxy(here.address) as (proxy, address),
        parley.connect(address, here.key.issue("noor", HOUR)) as client,
    ):
        events: list[pb.TurnEvent] = []
        async for event in parley.turn_events(client, REQUEST):
            events.append(event)
            if event.HasField("started"):
                await here.model.holds.reached("long")
                proxy.target = elsewhere.address
                proxy.cut()
                here.model.holds.release("long")
    assert numbered(events) == [(1, "started"), (2, "text"), (3, "done")]
    assert len({event.turn_id for event in events}) == 1
    assert len(here.model.calls) == 1


async def test_w1_a_turn_is_followed_to_the_server_that_goes_on_when_its_own_stops(
    start_server: StartServer,
) -> None:
    here = await start_server(in_turn([Hold("for ever"), Text("Never said.")]))
    elsewhere = await start_server(in_turn([Text("Well.")]))
    async with (
        asyncio.timeout(SOON),
        cutting_proxy(here.address) as (proxy, address),
        parley.connect(address, here.key.issue("noor", HOUR)) as client,
        asyncio.TaskGroup() as tasks,
    ):
        events: list[pb.TurnEvent] = []
        async for event in parley.turn_events(client, REQUEST):
            events.append(event)
            if event.HasField("started"):
                await here.model.holds.reached("for ever")
                proxy.target = elsewhere.address
                tasks.create_task(here.stop())
    assert numbered(events) == [(1, "started"), (2, "resumed"), (3, "text"), (4, "done")]
    assert events[-2].text.text == "Well."


async def test_a_request_that_broke_before_its_first_event_starts_one_turn(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([Hold("long"), Text("Well.")]))
    noor = await server.person()
    async with (
        asyncio.timeout(SOON),
        cutting_proxy(server.address) as (proxy, address),
        parley.connect(address, server.key.issue("noor", HOUR)) as client,
    ):
        await client.turns.ListPendingAsks(pb.ListPendingAsksRequest())  # it is connected now
        proxy.deaf = True
        following = asyncio.create_task(_all(client))
        await server.model.holds.reached("long")
        proxy.deaf = False
        proxy.cut()
        server.model.holds.release("long")
        events = await following
    assert numbered(events) == [(1, "started"), (2, "text"), (3, "done")]
    assert len(await noor.messages(events[0].started.conversation_id)) == 2
    assert len(server.model.calls) == 1


async def _all(client: parley.Client) -> list[pb.TurnEvent]:
    return [event async for event in parley.turn_events(client, REQUEST)]

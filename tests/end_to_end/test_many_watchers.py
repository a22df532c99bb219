"""A thousand who watch what waits on them, in one process (spec turns 16.6, X4)."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

import asyncpg
import pytest

import parley
from parleyd.models.scripted import in_turn
from tests.end_to_end.asking_service import Ask, AskingService, asking_service, empty_conversation
from tests.end_to_end.person import Person
from tests.end_to_end.watcher import Watcher
from tests.server import Server, StartServer

T = TypeVar("T")

pytestmark = pytest.mark.alone

OWNERS: Final = 100
DEVICES: Final = 10
ROUNDS: Final = 2
CONNECTIONS: Final = 5
SECONDS: Final = 90
SEED: Final = 20_261_201


@dataclass
class Owner:
    """Somebody with many devices that all watch, and what each of them is to be told."""

    person: Person
    name: str
    conversations: list[str]
    devices: list[Watcher]
    expected: list[str]
    asked: list[Ask] = field(default_factory=list[Ask])


@asynccontextmanager
async def all_watching(server: Server) -> AsyncGenerator[list[Owner]]:
    """Yields owners whose devices have all been told what waits on them, which is nothing."""
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as streams:
        owners: list[Owner] = []
        tasks: list[asyncio.Task[None]] = []
        for number in range(OWNERS):
            name = f"owner {number}"
            client = await stack.enter_async_context(
                parley.connect(server.address, server.token(name))
            )
            person = Person(client)
            own = [await empty_conversation(person) for _ in range(2)]
            devices = [Watcher() for _ in range(DEVICES)]
            tasks += [streams.create_task(device.follow(client)) for device in devices]
            owners.append(Owner(person, name, own, devices, ["0 wait"]))
        await told(owners)
        try:
            yield owners
        finally:
            for task in tasks:
                task.cancel()


async def told(owners: list[Owner]) -> None:
    """Waits until every device was told all that it is to be told, and checks that it was."""
    async with asyncio.timeout(SECONDS):
        for owner in owners:
            for device in owner.devices:
                await device.until(len(owner.expected))
    for owner in owners:
        for device in owner.devices:
            assert device.told == owner.expected


async def ask(service: AskingService, owner: Owner) -> list[Ask]:
    """Lets a service ask in all conversations of an owner, one after another."""
    asks = [await service.ask(own, owner=owner.name) for own in owner.conversations]
    owner.expected += [f"+{each.tool_call_id}" for each in asks]
    return asks


async def press(owner: Owner, chance: random.Random) -> None:
    """Lets an owner answer what was asked, in some order."""
    for each in chance.sample(owner.asked, len(owner.asked)):
        await owner.person.press(each.conversation_id, each.tool_call_id, "option:team")
        owner.expected.append(f"-{each.tool_call_id} accept")


@pytest.fixture
async def session(database_url: str) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    """Yields a connection that is none of the service's."""
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


async def sessions(session: "asyncpg.Connection[asyncpg.Record]", condition: str = "true") -> int:
    """Counts the service's connections to the database."""
    return await session.fetchval(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        f" AND application_name = 'parleyd' AND {condition}"
    )


async def cut_the_listener(session: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Ends the connection on which the server hears of changes."""
    ended = await session.fetch(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name = 'parleyd'"
        " AND query ILIKE 'LISTEN%'"
    )
    assert [cut for (cut,) in ended] == [True]


async def test_x4_a_thousand_watchers_see_every_change_once_and_in_order(
    start_server: StartServer, session: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    # Three for calls and watchers, one for the heartbeat, one that listens.
    server = await start_server(in_turn(), pool_size=CONNECTIONS - 2)
    service = await asking_service(server)
    chance = random.Random(SEED)
    counts: list[int] = []
    async with all_watching(server) as owners:
        assert sum(len(owner.devices) for owner in owners) == 1_000
        for cut in (False, True) * ROUNDS:
            if cut:
                await cut_the_listener(session)
            asked = await in_groups(lambda owner: ask(service, owner), owners)
            counts.append(await sessions(session))
            if cut:
                # What comes and goes while nothing is heard of it is told to nobody.
                await told(owners)
                await cut_the_listener(session)
            for owner, asks in zip(owners, asked, strict=True):
                owner.asked = asks
            await in_groups(lambda owner: press(owner, chance), owners)
            counts.append(await sessions(session))
            await told(owners)
    assert 0 < max(counts) <= CONNECTIONS


async def in_groups(act: Callable[[Owner], Awaitable[T]], owners: Sequence[Owner]) -> list[T]:
    """Does something for each owner, for a few of them at once."""
    places = asyncio.Semaphore(8)

    async def in_turn_of(owner: Owner) -> T:
        async with places:
            return await act(owner)

    return await asyncio.gather(*map(in_turn_of, owners))

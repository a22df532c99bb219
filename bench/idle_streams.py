"""What very many idle streams cost: memory, processor, connections, and how soon they all wake.

Turns of several people wait in the model. Half of the streams (`WatchTurn`) are attached to the
process that runs the turns, half to another one, on the same database; each process may have five
connections: three that queries share, one that listens, one that renews leases. The processor is
looked at for as long as it takes every stream to be sent its empty response, which keeps it open.
Then the model goes on at once in all turns, and each stream notes when it gets its next event. The
floor, measured in the same run, is a bare grpc.aio server with as many streams as a process has,
which are sent one message each; it sends nothing while they are idle. The client, which is one
process, has its part in every latency.

    python -m bench.idle_streams [--streams N] [--people N] [--seconds N]
"""

import argparse
import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import grpc
import uvloop
from rich.console import Console
from rich.table import Table

from bench.echo import WATCH
from bench.held import held_turn
from bench.measure import percentile
from bench.postgres import Connection, another_user, connected, migrated_postgres
from bench.scripts import THINKING
from bench.servers import Fleet, ServerProcess, fleet, server_process
from bench.streams import Hears, Streams
from parley import Client
from parley.v1 import turns_pb2 as pb
from parleyd.contract import limits

POOL_SIZE, CONNECTIONS = 3, 5
SAMPLE_SECONDS = 0.2
HERE, THERE = "the turns' process", "another process"
_CONNECTIONS = "SELECT usename, count(*) FROM pg_stat_activity WHERE usename = ANY($1) GROUP BY 1"
Method: TypeAlias = "grpc.aio.UnaryStreamMultiCallable[bytes, bytes]"


@dataclass(frozen=True)
class Side:
    """A server with what is to be opened on it: a first stream for each connection, then more."""

    name: str
    server: ServerProcess
    first: list[Hears]
    more: list[Hears]
    user: str = ""


@dataclass(frozen=True)
class Idle:
    """What the idle streams of one server cost, and how soon they woke, in seconds."""

    name: str
    streams: int
    bytes_each: float
    cpu_share: float
    latencies: list[float]
    broken: int
    user: str


async def main(streams: int, people: int, seconds: float) -> None:
    """Measures Parley and its floor and prints one table."""
    half = max(streams // 2, people)
    floor = await bare(half, people, seconds)
    most: dict[str, int] = {}
    sides = await attached(half, people, seconds, most)
    table = Table("server", "streams", "KiB each", "CPU idle", "connections")
    for column in ("p50 ms", "p99 ms", "all, ms", "of the floor", "broken"):
        table.add_column(column)
    for idle in (*sides, floor):
        assert idle.latencies, "every stream broke"
        last = max(idle.latencies)
        table.add_row(
            idle.name,
            str(idle.streams),
            f"{idle.bytes_each / 1024:.1f}",
            f"{idle.cpu_share:.1%}",
            f"{most[idle.user]} of {CONNECTIONS}" if idle.user else "",
            f"{percentile(idle.latencies, 50) * 1000:.0f}",
            f"{percentile(idle.latencies, 99) * 1000:.0f}",
            f"{last * 1000:.0f}",
            f"{last / max(floor.latencies):.1f}",
            str(idle.broken),
        )
    console = Console(width=120)
    console.print(table)
    console.print(f"{people} turns, one of each person. Idle for {seconds:g} s.")


async def attached(
    half: int, people: int, seconds: float, most: dict[str, int]
) -> tuple[Idle, ...]:
    """Attaches streams to the turns of several people, half of them elsewhere."""
    async with migrated_postgres() as url, fleet() as servers, AsyncExitStack() as stack:
        users = {HERE: "bench_here", THERE: "bench_there"}
        sides: list[Side] = []
        running: dict[str, pb.WatchTurnRequest] = {}
        for name, user in users.items():
            address = await another_user(url, user)
            starting = servers.server(address, "think", pool_size=POOL_SIZE)
            server = await stack.enter_async_context(starting)
            hears: list[Hears] = []
            for number in range(people):
                owner = f"person {number}"
                client = await _client(servers, server, owner, stack)
                if owner not in running:
                    running[owner] = await held_turn(client)
                hears.append(partial(_watched, client, running[owner]))
            sides.append(Side(name, server, hears, _repeated(hears, half - people), user))
        connection = await stack.enter_async_context(connected(url))
        counting = asyncio.create_task(_count(connection, list(users.values()), most))
        try:
            return await _measured(sides, seconds)
        finally:
            counting.cancel()
            with suppress(asyncio.CancelledError):
                await counting


async def bare(count: int, channels: int, seconds: float) -> Idle:
    """Opens as many streams of a bare grpc.aio server."""
    async with server_process("bench.echo") as server, AsyncExitStack() as stack:
        hears: list[Hears] = []
        for _ in range(channels):
            channel = grpc.aio.insecure_channel(server.address)
            method: Method = (await stack.enter_async_context(channel)).unary_stream(WATCH)
            hears.append(partial(_echoed, method))
        side = Side("bare grpc.aio", server, hears, _repeated(hears, count - channels))
        return (await _measured([side], seconds))[0]


async def _measured(sides: list[Side], seconds: float) -> tuple[Idle, ...]:
    """Opens everything, lets it be idle, and wakes it."""
    async with asyncio.TaskGroup() as group:
        opened = [Streams(group) for _ in sides]
        memory: list[float] = []
        for side, streams in zip(sides, opened, strict=True):
            await streams.open(side.first)
            before = side.server.resident_bytes
            await streams.open(side.more)
            memory.append((side.server.resident_bytes - before) / max(len(side.more), 1))
        cpu = [side.server.cpu_seconds for side in sides]
        await asyncio.sleep(seconds)
        cpu = [side.server.cpu_seconds - had for side, had in zip(sides, cpu, strict=True)]
        woken = time.perf_counter()
        await sides[0].server.tell(THINKING)
        latencies = [await streams.latencies(woken) for streams in opened]
    return tuple(
        Idle(
            side.name,
            streams.count,
            each,
            spent / seconds,
            latency,
            streams.broken,
            side.user,
        )
        for side, streams, each, spent, latency in zip(
            sides, opened, memory, cpu, latencies, strict=True
        )
    )


async def _client(
    servers: Fleet, server: ServerProcess, owner: str, stack: AsyncExitStack
) -> Client:
    [client] = await stack.enter_async_context(servers.clients(server, owner=owner))
    return client


async def _watched(client: Client, request: pb.WatchTurnRequest) -> AsyncIterator[None]:
    """Yields for every stored event of a turn, the first of which is there already."""
    async for response in client.turns.WatchTurn(request):
        if response.event.sequence:
            yield None


async def _echoed(method: Method) -> AsyncIterator[None]:
    async for _ in method(b"x" * 100):
        yield None


def _repeated(hears: list[Hears], count: int) -> list[Hears]:
    return [hears[number % len(hears)] for number in range(count)]


async def _count(connection: Connection, users: list[str], most: dict[str, int]) -> None:
    """Keeps the highest count of connections that each user has had, until it is cancelled."""
    while True:
        for user, count in await connection.fetch(_CONNECTIONS, users):
            most[user] = max(most.get(user, 0), count)
        await asyncio.sleep(SAMPLE_SECONDS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="What very many idle streams cost.")
    parser.add_argument("--streams", type=int, default=2000, help="on both processes together")
    parser.add_argument("--people", type=int, default=20, help="each with one turn")
    parser.add_argument(
        "--seconds", type=float, default=float(limits.QUIET_SECONDS), help="how long all is idle"
    )
    uvloop.run(main(**vars(parser.parse_args())))

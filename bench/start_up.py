"""Whether starting a server depends on how many turns are parked.

Start-up is the time from the start of the process to the first call that it answers; the memory is
looked at a second later, when every background task has had its first round. Measured in turn on a
database without parked turns, which is the floor, and on one with very many, inserted by SQL: each
with its conversation, turn, ask, messages, step and events, copied from one that the service made.
At the end one of them is answered, so they are real.

    python -m bench.start_up [--parked N] [--runs N]
"""

import argparse
import asyncio
import time
from dataclasses import dataclass
from statistics import median

import uvloop
from rich.console import Console
from rich.table import Table

from bench.parked import park_copies
from bench.postgres import another_database, connected, migrated_postgres
from bench.servers import OWNER, Fleet, fleet
from bench.waiting import Waiting, ask, stored_events
from parley import Client
from parley.v1 import turns_pb2 as pb

PARKING = "somebody else"
"""Owns the conversation that is copied. `OWNER` has the copies."""
CALLER = "a newcomer"
"""Makes the first call and owns nothing, so that its answer is the same everywhere."""
SETTLING_SECONDS = 1


@dataclass(frozen=True)
class Start:
    """A start: seconds until the first answer, and bytes of memory then."""

    seconds: float
    resident_bytes: int


async def main(parked: int, runs: int) -> None:
    """Starts servers on both databases in turn and prints one table."""
    async with migrated_postgres() as url, fleet() as servers:
        crowded = await another_database(url, "crowded")
        await park(crowded, servers, parked)
        starts: dict[str, list[Start]] = {url: [], crowded: []}
        for _ in range(runs):
            for database, so_far in starts.items():
                so_far.append(await started(database, servers))
        await answered(crowded, servers)
    table = Table(
        "parked turns", "start-up s", "worst s", "of the floor", "RSS MiB", "of the floor"
    )
    floor = starts[url]
    for count, so_far in ((0, floor), (parked, starts[crowded])):
        seconds = [each.seconds for each in so_far]
        table.add_row(
            str(count),
            f"{median(seconds):.2f}",
            f"{max(seconds):.2f}",
            f"{median(seconds) / median(each.seconds for each in floor):.2f}",
            f"{_memory(so_far) / 2**20:.1f}",
            f"{_memory(so_far) / _memory(floor):.2f}",
        )
    console = Console(width=120)
    console.print(table)
    console.print(f"Medians of {runs} starts each, in turn.")


async def started(url: str, servers: Fleet) -> Start:
    """Starts a server, makes a call, and stops it again."""
    start = time.perf_counter()
    async with servers.server(url) as server, servers.clients(server, owner=CALLER) as clients:
        await _pending(clients[0])
        seconds = time.perf_counter() - start
        await asyncio.sleep(SETTLING_SECONDS)
        return Start(seconds, server.resident_bytes)


async def park(url: str, servers: Fleet, count: int) -> None:
    """Lets one turn ask, and copies it."""
    async with (
        servers.server(url) as server,
        servers.clients(server, owner=PARKING) as clients,
        connected(url) as connection,
    ):
        original = await ask(clients[0])
        await park_copies(connection, original, range(1, count + 1), OWNER)


async def answered(url: str, servers: Fleet) -> None:
    """Checks that the copies are real: one of them is answered and gets its reply."""
    async with servers.server(url) as server, servers.clients(server) as clients:
        copy = (await _pending(clients[0])).pending_asks[0]
        waiting = Waiting(copy.conversation_id, copy.tool_call_id)
        *_, done = [event async for event in stored_events(clients[0], waiting.answer)]
        if done.done.state != pb.Turn.STATE_COMPLETED:
            raise AssertionError(f"a copy can't be answered: {done}")


async def _pending(client: Client) -> pb.ListPendingAsksResponse:
    return await client.turns.ListPendingAsks(pb.ListPendingAsksRequest())


def _memory(starts: list[Start]) -> float:
    return median(each.resident_bytes for each in starts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Start-up with and without parked turns.")
    parser.add_argument("--parked", type=int, default=20_000, help="turns that wait on an ask")
    parser.add_argument("--runs", type=int, default=5, help="starts on each database")
    uvloop.run(main(**vars(parser.parse_args())))

"""Asks and answers over real gRPC, beside what the parts cost without Parley.

One round trip is a turn that asks and a turn that answers with a card button and gets a reply of
twenty parts: two calls and five commits. The floors, measured in the same run, are two calls of a
bare grpc.aio echo server, and five commits of one small row each through asyncpg. The write
transactions are counted by the ids that PostgreSQL gave out, so heartbeats and the batches of the
request log are among them.

    python -m bench.round_trips [--trips N]
"""

import argparse
from dataclasses import dataclass

import uvloop
from rich.console import Console
from rich.table import Table

from bench.floors import commits, echo
from bench.measure import Measured, measure
from bench.postgres import Written, connected, migrated_postgres
from bench.servers import CHANNELS, Fleet, fleet
from bench.waiting import ask
from parley.v1 import turns_pb2 as pb

CONCURRENCIES = (1, 16, 64)
CALLS, COMMITS = 2, 5


@dataclass(frozen=True)
class Trips:
    """Round trips, and what they took of the server and the database, each."""

    measured: Measured
    cpu_ms: float
    transactions: float


async def main(trips: int) -> None:
    """Measures at each concurrency and prints one table."""
    table = Table("at a time", "trips/s", "p50 ms", "p99 ms", "server CPU ms", "write tx")
    for column in ("echo trips/s", "of echo", f"{COMMITS} commits/s", "of commits"):
        table.add_column(column)
    async with migrated_postgres() as url, fleet() as servers:
        for concurrency in CONCURRENCIES:
            times = max(trips * min(concurrency, 8) // 8, 20)
            calls = await echo(times, concurrency, CALLS)
            writes = await commits(url, times, concurrency, COMMITS)
            run = await round_trips(url, servers, times, concurrency)
            table.add_row(
                str(concurrency),
                f"{run.measured.per_second:.0f}",
                f"{run.measured.percentile(50):.1f}",
                f"{run.measured.percentile(99):.1f}",
                f"{run.cpu_ms:.1f}",
                f"{run.transactions:.2f}",
                f"{calls.per_second:.0f}",
                f"{run.measured.per_second / calls.per_second:.2f}",
                f"{writes.per_second:.0f}",
                f"{run.measured.per_second / writes.per_second:.2f}",
            )
    Console(width=120).print(table)


async def round_trips(url: str, servers: Fleet, times: int, concurrency: int) -> Trips:
    """Runs round trips on a server of their own."""
    async with (
        servers.server(url) as server,
        servers.clients(server, min(CHANNELS, concurrency)) as clients,
        connected(url) as connection,
    ):
        turn = 0

        async def once() -> None:
            nonlocal turn
            client = clients[turn % len(clients)]
            turn += 1
            waiting = await ask(client)
            request = pb.TurnRequest(conversation_id=waiting.conversation_id, button=waiting.button)
            response = await client.turns.Turn(request)
            if not response.result.text.startswith("word0 "):
                raise AssertionError(f"not the reply: {response.result}")

        await measure(once, times=concurrency * 4, concurrency=concurrency)
        written, cpu = await Written.so_far(connection), server.cpu_seconds
        measured = await measure(once, times=times, concurrency=concurrency)
        cpu = server.cpu_seconds - cpu
        written = (await Written.so_far(connection)).since(written)
        return Trips(measured, cpu / times * 1000, written.transactions / times)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Round trips per second beside their floors.")
    parser.add_argument("--trips", type=int, default=1000, help="round trips at concurrency 8 up")
    uvloop.run(main(parser.parse_args().trips))

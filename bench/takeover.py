"""How soon another process goes on with the turns of one that dies, or that is told to stop.

A process runs some turns, which wait in the model; a second one runs beside it, and a client
watches the turns there. Then the first is killed (SIGKILL) or told to stop (SIGTERM). Each turn is
timed until the client has its `resumed` and its `done`. The floor of a kill is read from the
database in that moment: until the lease of a turn ends nobody may take it. That of a stop, measured
in the same run, is a notification from one connection to another.

A kill takes until a lease ends, so several processes are killed at once, and the turns of them all
are taken over by one.

    python -m bench.takeover [--processes N] [--turns N] [--stops N]
"""

import argparse
import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from statistics import median

import uvloop
from rich.console import Console
from rich.table import Table

from bench.held import held_turn
from bench.measure import percentile
from bench.postgres import Connection, connected, migrated_postgres
from bench.scripts import THINKING
from bench.servers import Fleet, ServerProcess, fleet
from parley import Client
from parley.v1 import turns_pb2 as pb

STAGGER_SECONDS = 0.8
"""Between the starts of processes that are killed at once: so their leases end at other times."""
NOTIFICATIONS = 200
_LEASES = """
SELECT id, extract(epoch FROM lease_until - clock_timestamp())::float8
FROM turns WHERE state = 'running'
"""


@dataclass(frozen=True)
class Taken:
    """When a turn was gone on with and done, in seconds after the end of its process began.

    `leased` is how much was left of its lease then.
    """

    resumed: float
    done: float
    leased: float


async def main(processes: int, turns: int, stops: int) -> None:
    """Kills processes, then stops some, and prints one table."""
    async with (
        migrated_postgres() as url,
        fleet() as servers,
        servers.server(url, "think") as other,
        servers.clients(other) as clients,
        connected(url) as connection,
    ):
        await other.tell(THINKING)
        here = Here(url, servers, clients[0], connection)
        killed = await here.taken(processes, turns, ServerProcess.kill)
        stopped: list[Taken] = []
        for _ in range(stops):
            stopped += await here.taken(1, turns, ServerProcess.terminate)
        notified = median(await notifications(url, connection))
    table = Table("what", "turns", "until", "median s", "p90 s", "worst s", "floor s", "above it s")
    _add(table, f"SIGKILL of {processes} at once", killed, [each.leased for each in killed])
    _add(table, f"SIGTERM of 1, {stops} times", stopped, [notified] * len(stopped))
    console = Console(width=120)
    console.print(table)
    console.print("The floor of a kill: what is left of the lease. Of a stop: one notification.")


@dataclass(frozen=True)
class Here:
    """Where turns are taken over, and who watches them there."""

    url: str
    servers: Fleet
    watcher: Client
    connection: Connection

    async def taken(
        self, processes: int, turns: int, end: Callable[[ServerProcess], None]
    ) -> list[Taken]:
        """Runs turns in new processes, ends these at once, and waits until all turns are done."""
        async with AsyncExitStack() as stack:
            running: list[ServerProcess] = []
            requests: list[pb.WatchTurnRequest] = []
            for number in range(processes):
                await asyncio.sleep(STAGGER_SECONDS * min(number, 1))
                server = await stack.enter_async_context(self.servers.server(self.url, "think"))
                [client] = await stack.enter_async_context(self.servers.clients(server))
                requests += [await held_turn(client) for _ in range(turns)]
                running.append(server)
            watching = [Watching(self.watcher, each) for each in requests]
            timing = asyncio.gather(*(each.times() for each in watching))
            await asyncio.gather(*(each.attached.wait() for each in watching))
            leased = {str(turn): left for turn, left in await self.connection.fetch(_LEASES)}
            ended = time.perf_counter()
            for server in running:
                end(server)
            times = await timing
        return [
            Taken(resumed - ended, done - ended, leased[each.turn_id])
            for each, (resumed, done) in zip(watching, times, strict=True)
        ]


async def notifications(url: str, listening: Connection) -> list[float]:
    """Measures notifications from one connection to another, in seconds."""
    heard = asyncio.Event()
    latencies: list[float] = []

    def hear(*_: object) -> None:
        heard.set()

    await listening.add_listener("bench", hear)
    async with connected(url) as connection:
        for _ in range(NOTIFICATIONS):
            heard.clear()
            start = time.perf_counter()
            await connection.execute("NOTIFY bench")
            await heard.wait()
            latencies.append(time.perf_counter() - start)
    await listening.remove_listener("bench", hear)
    return latencies


class Watching:
    """A client that watches a turn to its end."""

    def __init__(self, client: Client, request: pb.WatchTurnRequest) -> None:
        self.turn_id = request.turn_id
        self.attached = asyncio.Event()
        self._watching = client.turns.WatchTurn(request)

    async def times(self) -> tuple[float, float]:
        """Returns when the turn was resumed, which it must be once, and when it was done."""
        resumed: list[float] = []
        async for response in self._watching:
            event = response.event
            self.attached.set()
            if event.HasField("error"):
                raise AssertionError(f"the turn failed: {event.error}")
            if event.HasField("resumed"):
                resumed.append(time.perf_counter())
            if event.HasField("done"):
                if len(resumed) != 1:
                    raise AssertionError(f"resumed {len(resumed)} times")
                return resumed[0], time.perf_counter()
        raise AssertionError("a turn ends with done")


def _add(table: Table, name: str, taken: list[Taken], floors: list[float]) -> None:
    for until, seconds in (
        ("resumed", [each.resumed for each in taken]),
        ("done", [each.done for each in taken]),
    ):
        above = [each - floor for each, floor in zip(seconds, floors, strict=True)]
        table.add_row(
            name,
            str(len(seconds)),
            until,
            f"{median(seconds):.3f}",
            f"{percentile(seconds, 90):.3f}",
            f"{max(seconds):.3f}",
            f"{median(floors):.4f}",
            f"{median(above):.3f}",
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How soon another process takes over turns.")
    parser.add_argument("--processes", type=int, default=4, help="that are killed at once")
    parser.add_argument("--turns", type=int, default=5, help="of each process")
    parser.add_argument("--stops", type=int, default=4, help="how often one is told to stop")
    uvloop.run(main(**vars(parser.parse_args())))

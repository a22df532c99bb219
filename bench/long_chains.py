"""What the 50th ask of one conversation costs beside its first ones.

One prompt leads to a chain of asks: each answer, a button, is followed by the next ask. A round
trip is one answer with the ask that follows. The floor, measured in the same run and the same
conversations, are asks 2 to 6; asks 46 to 50 should cost no more than 1.2 times as much, in time,
in bytes of WAL and in the server's processor time. Beside them are two commits of a small row,
which an ask takes.

    python -m bench.long_chains [--conversations N]
"""

import argparse
import time
from dataclasses import dataclass
from statistics import fmean, median

import uvloop
from rich.console import Console
from rich.table import Table

from bench.floors import commits
from bench.measure import percentile
from bench.postgres import Connection, Written, connected, migrated_postgres
from bench.servers import ServerProcess, fleet
from bench.waiting import ask
from parley import Client

EARLY, LATE = range(2, 7), range(46, 51)
AIM = 1.2
COMMITS = 2
"""Of an answer that is followed by the next ask."""


@dataclass(frozen=True)
class Moment:
    """What the server and the database had done until then."""

    cpu_seconds: float
    written: Written


@dataclass(frozen=True)
class Asks:
    """What asks of one conversation cost: the milliseconds of each, and what they took together."""

    milliseconds: tuple[float, ...]
    cpu_seconds: float
    wal_bytes: int


async def main(conversations: int) -> None:
    """Plays the conversations one after the other and prints one table."""
    async with (
        migrated_postgres() as url,
        fleet() as servers,
        servers.server(url, "asks") as server,
        servers.clients(server) as clients,
        connected(url) as connection,
    ):
        floor = await commits(url, conversations * len(EARLY), 1, COMMITS)
        await played(clients[0], server, connection)  # warms everything up
        chains = [await played(clients[0], server, connection) for _ in range(conversations)]
    early, late = ([chain[place] for chain in chains] for place in (0, 1))
    console = Console(width=120)
    console.print(_table(early, late, floor.percentile(50)))
    console.print(f"{conversations} conversations, one after the other.")


async def played(
    client: Client, server: ServerProcess, connection: Connection
) -> tuple[Asks, Asks]:
    """Plays one conversation; returns what its early and its late asks cost."""
    waiting = await ask(client)
    latencies: dict[int, float] = {}
    moments: dict[int, Moment] = {}
    for number in range(2, LATE.stop + 1):
        if number in {EARLY.start, EARLY.stop, LATE.start, LATE.stop}:
            moments[number] = Moment(server.cpu_seconds, await Written.so_far(connection))
        if number == LATE.stop:
            break
        start = time.perf_counter()
        waiting = await ask(client, waiting.answer)
        latencies[number] = (time.perf_counter() - start) * 1000

    def cost(asks: range) -> Asks:
        before, after = moments[asks.start], moments[asks.stop]
        return Asks(
            tuple(latencies[number] for number in asks),
            after.cpu_seconds - before.cpu_seconds,
            after.written.since(before.written).wal_bytes,
        )

    return cost(EARLY), cost(LATE)


def _table(early: list[Asks], late: list[Asks], floor_ms: float) -> Table:
    table = Table("an ask", "2 to 6", "46 to 50", "ratio", "aim", "", f"{COMMITS} commits", "of it")

    def row(name: str, first: float, last: float, *floor: str) -> None:
        ratio = last / first
        held = "held" if ratio <= AIM else "MISSED"
        table.add_row(name, f"{first:.1f}", f"{last:.1f}", f"{ratio:.2f}", f"{AIM}", held, *floor)

    first_ms = [taken for asks in early for taken in asks.milliseconds]
    last_ms = [taken for asks in late for taken in asks.milliseconds]
    of_floor = f"{median(first_ms) / floor_ms:.1f} · {median(last_ms) / floor_ms:.1f}"
    row("median ms", median(first_ms), median(last_ms), f"{floor_ms:.1f}", of_floor)
    row("p90 ms", percentile(first_ms, 90), percentile(last_ms, 90))
    row(
        "median KiB of WAL",
        median(asks.wal_bytes for asks in early) / len(EARLY) / 1024,
        median(asks.wal_bytes for asks in late) / len(LATE) / 1024,
    )
    row(
        "mean server CPU ms",
        fmean(asks.cpu_seconds for asks in early) / len(EARLY) * 1000,
        fmean(asks.cpu_seconds for asks in late) / len(LATE) * 1000,
    )
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The 50th ask of a conversation beside the first.")
    parser.add_argument("--conversations", type=int, default=12)
    uvloop.run(main(parser.parse_args().conversations))

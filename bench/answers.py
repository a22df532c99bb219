"""How soon an answer is acknowledged: checked, locked, committed, and told to whoever sent it.

From the sending of the press of a button to the receipt of `started` and `ask_resolved`. The
conversations wait on their asks beforehand, so that answers alone are measured. Twice: while the
model thinks until the measurement is over, as real models take their time; and with turns that run
on to their reply before the sender goes on, so that the server has that work too. The floor,
measured in the same run, is one commit of a small row through asyncpg.

    python -m bench.answers [--answers N]
"""

import argparse
import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from itertools import cycle
from typing import Literal, TypeAlias, get_args

import uvloop
from rich.console import Console
from rich.table import Table

from bench.floors import commits
from bench.measure import Measured, measure
from bench.postgres import migrated_postgres
from bench.scripts import THINKING
from bench.servers import CHANNELS, Fleet, fleet
from bench.waiting import Waiting, ask, stored_events
from parley import Client
from parley.v1 import turns_pb2 as pb

CONCURRENCIES = (1, 16)
AIM_P50_MS, AIM_P99_MS = 10, 50
"""At a concurrency of 16, while the model thinks."""

Then: TypeAlias = Literal["thinks", "replies"]
Events: TypeAlias = AsyncGenerator[pb.TurnEvent, None]


@dataclass(frozen=True)
class Acknowledged:
    """Acknowledgements, and what each took of the server's processor."""

    measured: Measured
    cpu_ms: float


async def main(answers: int) -> None:
    """Measures at each concurrency and prints one table."""
    table = Table("at a time", "the model", "answers/s", "p50 ms", "p99 ms", "server CPU ms", "aim")
    for column in ("commit p50 ms", "p99 ms", "p50 of it"):
        table.add_column(column)
    async with migrated_postgres() as url, fleet() as servers:
        for concurrency in CONCURRENCIES:
            times = max(answers * min(concurrency, 4) // 4, 20)
            floor = await commits(url, times, concurrency)
            for then in get_args(Then):
                run = await acknowledged(url, servers, times, concurrency, then)
                p50, p99 = run.measured.percentile(50), run.measured.percentile(99)
                table.add_row(
                    str(concurrency),
                    then,
                    f"{run.measured.per_second:.0f}",
                    f"{p50:.1f}",
                    f"{p99:.1f}",
                    f"{run.cpu_ms:.1f}",
                    _aim(p50, p99) if concurrency == max(CONCURRENCIES) else "",
                    f"{floor.percentile(50):.1f}",
                    f"{floor.percentile(99):.1f}",
                    f"{p50 / floor.percentile(50):.1f}",
                )
    console = Console(width=120)
    console.print(table)
    console.print(
        f"One server process. The aim, at 16 at a time: p50 {AIM_P50_MS} ms, p99 {AIM_P99_MS} ms."
    )


def _aim(p50: float, p99: float) -> str:
    return "held" if p50 <= AIM_P50_MS and p99 <= AIM_P99_MS else "MISSED"


async def acknowledged(
    url: str, servers: Fleet, times: int, concurrency: int, then: Then
) -> Acknowledged:
    """Answers on a server of their own, which has prepared the asks."""
    async with (
        servers.server(url, "ask_then_think") as server,
        servers.clients(server, min(CHANNELS, concurrency)) as clients,
    ):
        warming = concurrency * 4
        prepared = iter(await _prepared(clients, warming + times))
        if then == "replies":
            await server.tell(THINKING)
        latencies: list[float] = []
        left: list[Events] = []

        async def once() -> None:
            client, waiting = next(prepared)
            sent = time.perf_counter()
            events = stored_events(client, waiting.answer)
            await _resolved(events)
            latencies.append(time.perf_counter() - sent)
            if then == "thinks":
                left.append(events)
            else:
                await _replied(events)

        await measure(once, times=warming, concurrency=concurrency)
        latencies.clear()
        cpu = server.cpu_seconds
        run = await measure(once, times=times, concurrency=concurrency)
        cpu = server.cpu_seconds - cpu
        await server.tell(THINKING)
        await asyncio.gather(*map(_replied, left))
    return Acknowledged(Measured(run.wall, tuple(latencies)), cpu / times * 1000)


async def _prepared(clients: list[Client], count: int) -> list[tuple[Client, Waiting]]:
    """Returns conversations that wait, each with a client to answer it."""
    waiting: list[tuple[Client, Waiting]] = []
    turn = cycle(clients)

    async def prepare() -> None:
        client = next(turn)
        waiting.append((client, await ask(client)))

    await measure(prepare, times=count, concurrency=CHANNELS)
    return waiting


async def _resolved(events: Events) -> None:
    """Reads up to the acknowledgement."""
    started, resolved = await anext(events), await anext(events)
    if not (started.HasField("started") and resolved.HasField("ask_resolved")):
        raise AssertionError(f"not acknowledged: {started} {resolved}")


async def _replied(events: Events) -> None:
    """Reads up to the end."""
    *_, done = [event async for event in events]
    if done.done.state != pb.Turn.STATE_COMPLETED:
        raise AssertionError(f"no reply: {done}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How soon answers are acknowledged.")
    parser.add_argument("--answers", type=int, default=600, help="answers at concurrency 4 up")
    uvloop.run(main(parser.parse_args().answers))

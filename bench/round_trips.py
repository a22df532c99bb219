"""Asks and answers over real gRPC, beside what the parts cost without Parley.

One round trip is a turn that asks and a turn that answers with a card button and gets a reply of
twenty parts: two calls and five commits. The floors, measured in the same run, are two calls of a
bare grpc.aio echo server, and five commits of one small row each through asyncpg.

    python -m bench.round_trips [--trips N]
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import asyncpg
import grpc
import psutil
import uvloop
from rich.console import Console
from rich.table import Table

import parley
from bench.echo import METHOD
from bench.measure import Measured, measure
from parley.v1 import turns_pb2 as pb
from parleyd.app.embedded_postgres import start
from parleyd.store.migrate import migrate

CONCURRENCIES = (1, 16, 64)
CALLS, COMMITS = 2, 5
CHANNELS = 8


@asynccontextmanager
async def process(*arguments: str) -> AsyncGenerator[tuple[list[str], int]]:
    """Runs a server of ours; yields the words it prints first and its process id."""
    server = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        *arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert server.stdout
        yield (await server.stdout.readline()).decode().split(), server.pid
    finally:
        assert server.stdin
        server.stdin.close()
        await server.wait()


async def main(trips: int) -> None:
    """Measures at each concurrency and prints one table."""
    table = Table("concurrency", "trips/s", "p50 ms", "p99 ms", "server CPU ms/trip")
    for column in ("echo trips/s", "of echo", "commit trips/s", "of commits"):
        table.add_column(column)
    with (
        tempfile.TemporaryDirectory(prefix="parley-bench-") as postgres_home,
        tempfile.TemporaryDirectory(prefix="parley-bench-") as keys_home,
    ):
        postgres = await asyncio.to_thread(start, Path(postgres_home))
        try:
            await migrate(postgres.url)
            for concurrency in CONCURRENCIES:
                times = max(trips * min(concurrency, 8) // 8, 20)
                echo = await _echo(times, concurrency)
                commits = await _commits(postgres.url, times, concurrency)
                parley_run, cpu = await _parley(postgres.url, Path(keys_home), times, concurrency)
                table.add_row(
                    str(concurrency),
                    f"{parley_run.per_second:.0f}",
                    f"{parley_run.percentile(50):.1f}",
                    f"{parley_run.percentile(99):.1f}",
                    f"{cpu / times * 1000:.1f}",
                    f"{echo.per_second:.0f}",
                    f"{parley_run.per_second / echo.per_second:.2f}",
                    f"{commits.per_second:.0f}",
                    f"{parley_run.per_second / commits.per_second:.2f}",
                )
        finally:
            await asyncio.to_thread(postgres.stop)
    Console(width=120).print(table)


async def _parley(url: str, home: Path, times: int, concurrency: int) -> tuple[Measured, float]:
    """Returns the round trips and the server's processor seconds for them."""
    async with AsyncExitStack() as stack:
        (address, token), pid = await stack.enter_async_context(
            process("bench.server", url, str(home))
        )
        clients = [
            await stack.enter_async_context(parley.connect(address, token))
            for _ in range(min(CHANNELS, concurrency))
        ]
        turn = 0

        async def once() -> None:
            nonlocal turn
            client = clients[turn % len(clients)]
            turn += 1
            prompt = pb.StreamTurnRequest(prompt=pb.PromptInput(text="Set up my workspace"))
            *_, ask, done = [
                each.event async for each in client.turns.StreamTurn(prompt) if each.event.sequence
            ]
            button = pb.ButtonInput(tool_call_id=ask.ask.tool_call_id, button_id="option:team")
            request = pb.TurnRequest(conversation_id=done.done.conversation_id, button=button)
            response = await client.turns.Turn(request)
            if not response.result.text.startswith("word0 "):
                raise AssertionError(f"not the reply: {response.result}")

        await measure(once, times=concurrency * 4, concurrency=concurrency)
        server = psutil.Process(pid)
        before = sum(server.cpu_times()[:2])
        measured = await measure(once, times=times, concurrency=concurrency)
        return measured, sum(server.cpu_times()[:2]) - before


async def _echo(times: int, concurrency: int) -> Measured:
    async with process("bench.echo") as ((address,), _), AsyncExitStack() as stack:
        channels = [
            await stack.enter_async_context(grpc.aio.insecure_channel(address))
            for _ in range(min(CHANNELS, concurrency))
        ]
        calls: list[Callable[[bytes], Awaitable[bytes]]] = [
            channel.unary_unary(METHOD) for channel in channels
        ]
        turn = 0

        async def once() -> None:
            nonlocal turn
            turn += 1
            for _ in range(CALLS):
                await calls[turn % len(calls)](b"x" * 100)

        await measure(once, times=concurrency * 4, concurrency=concurrency)
        return await measure(once, times=times, concurrency=concurrency)


async def _commits(url: str, times: int, concurrency: int) -> Measured:
    async with asyncpg.create_pool(url, min_size=1, max_size=min(concurrency, 10)) as pool:
        await pool.execute("CREATE TABLE IF NOT EXISTS bench_rows (payload bytea)")

        async def once() -> None:
            for _ in range(COMMITS):
                await pool.execute("INSERT INTO bench_rows VALUES ($1)", b"x" * 500)

        await measure(once, times=concurrency * 4, concurrency=concurrency)
        return await measure(once, times=times, concurrency=concurrency)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Round trips per second beside their floors.")
    parser.add_argument("--trips", type=int, default=2000, help="round trips at concurrency 8 up")
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    uvloop.run(main(parser.parse_args().trips))

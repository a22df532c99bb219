"""What the parts of a call cost without Parley, measured in the run that they are compared with."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TypeAlias

import asyncpg
import grpc

from bench.echo import ECHO
from bench.measure import Measured, measure
from bench.servers import CHANNELS, server_process

Method: TypeAlias = Callable[[bytes], Awaitable[bytes]]

POOL = 10
"""Connections at most, as many as the service has by default."""
ROW = b"x" * 500
REQUEST = b"x" * 100


async def echo(times: int, concurrency: int, calls: int = 1) -> Measured:
    """Measures so many calls of a bare grpc.aio server, one after the other."""
    async with server_process("bench.echo") as server, AsyncExitStack() as stack:
        channels = [
            await stack.enter_async_context(grpc.aio.insecure_channel(server.address))
            for _ in range(min(CHANNELS, concurrency))
        ]
        methods: list[Method] = [channel.unary_unary(ECHO) for channel in channels]
        turn = 0

        async def once() -> None:
            nonlocal turn
            turn += 1
            for _ in range(calls):
                await methods[turn % len(methods)](REQUEST)

        await measure(once, times=concurrency * 4, concurrency=concurrency)
        return await measure(once, times=times, concurrency=concurrency)


async def commits(url: str, times: int, concurrency: int, each: int = 1) -> Measured:
    """Measures so many commits of one small row through asyncpg, one after the other."""
    async with asyncpg.create_pool(url, min_size=1, max_size=min(concurrency, POOL)) as pool:
        await pool.execute("CREATE TABLE IF NOT EXISTS bench_rows (payload bytea)")

        async def once() -> None:
            for _ in range(each):
                await pool.execute("INSERT INTO bench_rows VALUES ($1)", ROW)

        await measure(once, times=concurrency * 4, concurrency=concurrency)
        return await measure(once, times=times, concurrency=concurrency)


async def selects(url: str, times: int) -> Measured:
    """Measures `SELECT 1` through asyncpg."""
    async with asyncpg.create_pool(url, min_size=1, max_size=1) as pool:

        async def once() -> None:
            await pool.fetchval("SELECT 1")

        await measure(once, times=20, concurrency=1)
        return await measure(once, times=times, concurrency=1)

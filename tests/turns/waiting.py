"""How the tests of this folder wait: for a condition, and never longer than a deadline."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

DEADLINE = 10.0

T = TypeVar("T")


async def until(condition: Callable[[], bool]) -> None:
    """Waits until a condition holds."""
    async with asyncio.timeout(DEADLINE):
        while not condition():
            await asyncio.sleep(0.001)


async def in_time(work: Awaitable[T]) -> T:
    """Returns what work comes to."""
    async with asyncio.timeout(DEADLINE):
        return await work


def now() -> float:
    """Returns the time of the running loop."""
    return asyncio.get_running_loop().time()

"""Work that a process does again and again."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from parleyd.contract.errors import Unavailable
from parleyd.turns.rounds import rounds
from tests.turns.waiting import in_time, now, until

LONG = 600.0


@asynccontextmanager
async def going_round(
    work: Callable[[], Awaitable[None]], seconds: float, woken: asyncio.Event | None = None
) -> AsyncGenerator[asyncio.Task[None]]:
    task = asyncio.get_running_loop().create_task(rounds("test", seconds, work, woken))
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


class Work:
    """Counts the rounds; `faults` are raised by the first ones."""

    def __init__(self, *faults: Exception) -> None:
        self.times: list[float] = []
        self.hold: asyncio.Event | None = None
        self._faults = list(faults)

    async def __call__(self) -> None:
        self.times.append(now())
        if self.hold:
            await self.hold.wait()
        if self._faults:
            raise self._faults.pop(0)


async def test_the_first_round_comes_at_once_and_the_next_after_the_time() -> None:
    work = Work()
    async with going_round(work, 0.05):
        await until(lambda: len(work.times) == 3)
    assert work.times[2] - work.times[0] >= 0.099


async def test_waking_brings_a_round_at_once() -> None:
    work, woken = Work(), asyncio.Event()
    async with going_round(work, LONG, woken):
        for count in range(1, 4):
            await until(lambda count=count: len(work.times) == count)
            woken.set()
        await until(lambda: len(work.times) == 4)


async def test_who_wakes_while_a_round_is_at_work_is_served_by_the_next() -> None:
    work, woken = Work(), asyncio.Event()
    work.hold = asyncio.Event()
    async with going_round(work, LONG, woken):
        await until(lambda: len(work.times) == 1)
        woken.set()
        work.hold.set()
        await until(lambda: len(work.times) == 2)


@pytest.mark.parametrize("fault", [Unavailable("away"), ValueError("ours"), TimeoutError()])
async def test_a_round_that_fails_is_followed_by_the_next(fault: Exception) -> None:
    work = Work(fault, fault)
    async with going_round(work, 0.001):
        await until(lambda: len(work.times) >= 3)


async def test_a_cancellation_ends_it() -> None:
    work = Work()
    async with going_round(work, LONG) as task:
        await until(lambda: len(work.times) == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await in_time(task)

"""What a server in the test's own process must not leave behind: tasks, and those who follow."""

import asyncio
import gc
from collections import Counter
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from inspect import isasyncgen
from typing import Any

from parleyd.turns.followers import Followers
from parleyd.turns.live import LiveTurn

DEADLINE = 30
COLLECTING_SECONDS = 0.05


async def no_more_tasks_than(before: Counter[str]) -> None:
    """Checks that no task is left but those that ran before; the last may be on their way out."""
    end = asyncio.get_running_loop().time() + DEADLINE
    while (left := tasks_running() - before) and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(0.02)
    assert not left, left


def tasks_running() -> Counter[str]:
    """Counts the tasks of this loop, by what they run, but for the calls of clients.

    A client that cancels a call before it was sent may keep the task that waits for its status.
    """
    names = (_name(task) for task in asyncio.all_tasks())
    return Counter(name for name in names if not name.startswith("_AioCall."))


async def nobody_follows() -> None:
    """Checks that nothing is left of those who follow turns, nor of turns that ran here."""
    end = asyncio.get_running_loop().time() + DEADLINE
    while (left := _following()) and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(0.2)
    assert not left, left


def open_streams(owner: str) -> int:
    """Counts the watch streams that servers of this process think a person has open."""
    counted = (each for each in gc.get_objects() if isinstance(each, Followers))
    return sum(each.open_streams(owner) for each in counted)


@asynccontextmanager
async def collecting() -> AsyncGenerator[None]:
    """Collects garbage all the time: a task that nobody holds on to is gone soon then."""

    async def collect() -> None:
        while True:
            gc.collect()
            await asyncio.sleep(COLLECTING_SECONDS)

    gc.collect()
    gc.freeze()  # what is here already, most of it modules, isn't looked at each time
    task = asyncio.create_task(collect())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        gc.unfreeze()


@contextmanager
def faults_told() -> Generator[list[str]]:
    """Yields what the loop tells of meanwhile: lost tasks, errors that nobody has seen."""
    told: list[str] = []
    loop = asyncio.get_running_loop()
    before = loop.get_exception_handler()
    loop.set_exception_handler(lambda _, context: told.append(str(context)))
    try:
        yield told
        gc.collect()
    finally:
        loop.set_exception_handler(before)


def _name(task: asyncio.Task[Any]) -> str:
    work: object = task.get_coro()  # those of grpc are of a kind of their own
    return str(getattr(work, "__qualname__", work))


def _following() -> list[str]:
    gc.collect()
    left: list[str] = []
    for found in gc.get_objects():
        if isasyncgen(found) and found.ag_code in (
            Followers.follow.__code__,
            Followers.watch.__code__,
        ):
            left.append("a follower")
        elif isinstance(found, LiveTurn):
            left.append(f"the turn {found.turn_id}")
    return left

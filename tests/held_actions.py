"""Host actions that run until a test lets them go, for servers of tests to load."""

import asyncio
import threading
from contextlib import suppress

from parleyd.tools import ActionResult, host_action

DEADLINE = 60
INTERVAL = 0.01


class Held:
    """What holds the actions of one test. `started` names those that came, `ended` that went."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.ended: list[str] = []
        self._coroutines = asyncio.Event()
        self._threads = threading.Event()

    def release(self) -> None:
        """Lets every action go that waits or comes later."""
        self._coroutines.set()
        self._threads.set()

    async def come(self, times: int) -> None:
        """Waits until so many actions have come."""
        async with asyncio.timeout(DEADLINE):
            while len(self.started) < times:
                await asyncio.sleep(INTERVAL)

    async def wait(self, name: str) -> None:
        """Waits as a coroutine does."""
        self.started.append(name)
        try:
            await self._coroutines.wait()
        finally:
            self.ended.append(name)

    def wait_in_thread(self, name: str) -> None:
        """Waits as a thread does."""
        self.started.append(name)
        assert self._threads.wait(DEADLINE)
        self.ended.append(name)


_held = [Held()]


def hold_anew() -> Held:
    """Returns what holds the actions from now on."""
    _held[:] = [Held()]
    return _held[0]


@host_action
async def wait() -> ActionResult:
    """Ends when it is let go or cancelled."""
    await _held[0].wait("wait")
    return ActionResult(text="Done.")


@host_action
async def fail() -> None:
    """Raises when it is let go."""
    await _held[0].wait("fail")
    raise ValueError


@host_action
async def stubborn() -> None:
    """Ends when it is let go, and not when it is cancelled."""
    waiting = asyncio.ensure_future(_held[0].wait("stubborn"))
    while not waiting.done():
        with suppress(asyncio.CancelledError):
            await asyncio.shield(waiting)


@host_action(name="inThread")
def in_thread() -> None:
    """Runs in a thread and ends when it is let go."""
    _held[0].wait_in_thread("inThread")


@host_action(name="atOnce")
def at_once() -> ActionResult:
    """Waits for nothing."""
    return ActionResult(text="Done.")

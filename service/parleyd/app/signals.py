"""Stopping by signal: what was started is stopped too, a database server above all."""

import asyncio
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def told_to_stop() -> Generator[asyncio.Event]:
    """Yields an event that the first stop signal sets; the second cancels the current task."""
    stop = asyncio.Event()
    cancel = _canceller()

    def told() -> None:
        if stop.is_set():
            cancel()
        stop.set()

    with _handled(told):
        yield stop


@contextmanager
def cancelled_by_signals() -> Generator[None]:
    """Lets a stop signal cancel the current task, so that it cleans up behind itself."""
    with _handled(_canceller()):
        yield


def _canceller() -> Callable[[], object]:
    task = asyncio.current_task()
    assert task
    return task.cancel


@contextmanager
def _handled(told: Callable[[], object]) -> Generator[None]:
    loop = asyncio.get_running_loop()
    # A signal that our parent ignores stays ignored, as nohup wants it.
    numbers = [each for each in STOP_SIGNALS if signal.getsignal(each) != signal.SIG_IGN]
    for number in numbers:
        loop.add_signal_handler(number, told)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)

"""The news of asks in this process: what wakes those who wait for one (spec turns 16.4, 16.6)."""

import asyncio
from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager
from uuid import UUID

from parleyd.contract.errors import ParleyError


class AskNews:
    """Wakes those who wait for an ask. Who waits holds an event, and no database connection."""

    def __init__(self) -> None:
        self._woken: defaultdict[UUID, set[asyncio.Event]] = defaultdict(set)
        self._closed: ParleyError | None = None

    def hear(self, ask_id: UUID) -> None:
        """Takes the news that an ask has changed."""
        for woken in self._woken.get(ask_id, ()):
            woken.set()

    def wake_all(self) -> None:
        """Wakes everybody: news may have been lost."""
        for ask_id in self._woken:
            self.hear(ask_id)

    def close(self, error: ParleyError) -> None:
        """Ends every wait with `error`."""
        self._closed = error
        self.wake_all()

    def check_open(self) -> None:
        """Returns while this process goes on.

        Raises:
            ParleyError: It stops.
        """
        if self._closed:
            raise self._closed

    @contextmanager
    def waker(self, ask_id: UUID) -> Generator[asyncio.Event]:
        """Yields what is set at each news of an ask: clear it, read the ask, then wait for it."""
        woken = asyncio.Event()
        self._woken[ask_id].add(woken)
        try:
            yield woken
        finally:
            self._woken[ask_id].discard(woken)
            if not self._woken[ask_id]:
                del self._woken[ask_id]

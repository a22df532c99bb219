"""The end of asks whose time is over (spec turns 16.5)."""

from typing import Protocol
from uuid import UUID


class LapseStore(Protocol):
    """Writes the end of asks whose time is over."""

    async def settle_next(self) -> UUID | None:
        """Cancels the ask that is over the longest, and returns its conversation.

        No model runs for it; the next message's model is told. None where nothing is due.

        Raises:
            Unavailable: The database can't be reached.
        """
        ...


class Lapses:
    """Writes, in every process, what has lapsed: nothing is wrong before, only the slot is held."""

    def __init__(self, store: LapseStore) -> None:
        self._store = store

    async def settle_due(self) -> None:
        """Cancels asks, one transaction each, until none is due.

        Raises:
            Unavailable: The database can't be reached.
        """
        while await self._store.settle_next():
            pass

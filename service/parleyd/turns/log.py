"""The events of a turn that runs here, for everyone who follows it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

from parleyd.contract.errors import ParleyError
from parleyd.contract.events import TurnEvent
from parleyd.contract.turns import TurnResult


class TurnLog:
    """Grows while its turn runs. Holds stored events only: no follower sees what could be lost.

    A follower keeps a place in the list and nothing else: it may leave at any time, and a slow one
    holds nobody up.
    """

    def __init__(self) -> None:
        self._events: list[TurnEvent] = []
        self._changed = asyncio.Event()
        self._end: TurnResult | ParleyError | None = None

    def append(self, events: Sequence[TurnEvent]) -> None:
        """Adds events whose transaction has committed."""
        self._events.extend(events)
        self._wake()

    def end(self, outcome: TurnResult | ParleyError) -> None:
        """Ends the log: with the turn's result, or with what keeps this process from it."""
        self._end = outcome
        self._wake()

    async def follow(self) -> AsyncGenerator[TurnEvent, None]:
        """Yields every event from the first to the last.

        Raises:
            ParleyError: This process can't go on with the turn.
        """
        place = 0
        while True:
            changed = self._changed
            while place < len(self._events):
                yield self._events[place]
                place += 1
            if isinstance(self._end, ParleyError):
                raise self._end
            if self._end:
                return
            await changed.wait()

    async def result(self) -> TurnResult:
        """Waits for the end and returns it.

        Raises:
            ParleyError: This process can't go on with the turn.
        """
        while self._end is None:
            await self._changed.wait()
        if isinstance(self._end, ParleyError):
            raise self._end
        return self._end

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

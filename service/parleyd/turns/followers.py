"""Those who follow turns in this process: what wakes them, and what they are sent (16.1, 6.5).

One code path serves the client that started a turn and every one that attaches later, here or in
another process. A follower that waits holds no database connection.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import aclosing, contextmanager
from typing import TypeAlias
from uuid import UUID

from parleyd.contract import limits
from parleyd.contract.errors import EventsExpired, ParleyError
from parleyd.contract.events import Done, TurnEvent
from parleyd.contract.previews import BlocksPreview, Preview, PreviewDiscarded, TextPreview
from parleyd.turns.live import LiveTurn, StepText
from parleyd.turns.turn_reader import StoredEvents, TurnReader
from parleyd.turns.waking import woken_within

Sent: TypeAlias = TurnEvent | Preview | None
"""What a follower is sent; None says that nothing has happened for a while."""


class Followers:
    """The followers of turns, with the turns that run here."""

    def __init__(self, reader: TurnReader) -> None:
        self._reader = reader
        self._live: dict[UUID, LiveTurn] = {}
        self._woken: defaultdict[UUID, set[asyncio.Event]] = defaultdict(set)
        self._heard: dict[UUID, int] = {}
        self._streams: Counter[str] = Counter()
        self._closed: ParleyError | None = None

    # ------------------------------------------------------------ turns that run here

    def add(self, live: LiveTurn) -> None:
        """Makes a turn known that runs here."""
        self._live[live.turn_id] = live

    def remove(self, live: LiveTurn) -> None:
        """Forgets a turn that has ended here; those who follow it keep what they hold."""
        if self._live.get(live.turn_id) is live:
            del self._live[live.turn_id]

    def live(self, turn_id: UUID) -> LiveTurn | None:
        """Returns a turn that runs here."""
        return self._live.get(turn_id)

    # ------------------------------------------------------------ waking

    def wake(self, turn_id: UUID) -> None:
        """Wakes those who follow a turn."""
        for woken in self._woken.get(turn_id, ()):
            woken.set()

    def hear(self, turn_id: UUID) -> None:
        """Takes a notification. Those of turns that run here say nothing new."""
        if turn_id not in self._live:
            self.wake(turn_id)

    def wake_all(self) -> None:
        """Wakes everybody: notifications may have been lost."""
        for turn_id in self._woken:
            self.wake(turn_id)

    async def poll(self) -> None:
        """Wakes those whose notification was lost: one query for all turns that run elsewhere.

        Raises:
            Unavailable: The database can't be reached.
        """
        turn_ids = [turn_id for turn_id in self._woken if turn_id not in self._live]
        self._heard = {turn_id: self._heard.get(turn_id, -1) for turn_id in turn_ids}
        if not turn_ids:
            return
        last_events = await self._reader.read_last_events(turn_ids)
        for turn_id, last_event in last_events.items():
            if last_event != self._heard.get(turn_id):
                self._heard[turn_id] = last_event
                self.wake(turn_id)

    def close(self, error: ParleyError) -> None:
        """Ends every stream with `error`, that of a turn that runs here once it has stopped."""
        self._closed = error
        self.wake_all()

    # ------------------------------------------------------------ following

    def open_streams(self, owner: str) -> int:
        """Counts the watch streams that a person has open here."""
        return self._streams[owner]

    async def watch(self, owner: str, turn_id: UUID, after: int) -> AsyncGenerator[Sent, None]:
        """Yields what `follow` does; counts as an open stream of its owner."""
        self._streams[owner] += 1
        try:
            async with aclosing(self.follow(owner, turn_id, after)) as followed:
                async for sent in followed:
                    yield sent
        finally:
            self._streams[owner] -= 1
            if not self._streams[owner]:
                del self._streams[owner]

    async def follow(
        self, owner: str, turn_id: UUID, after: int = 0, live: LiveTurn | None = None
    ) -> AsyncGenerator[Sent, None]:
        """Yields the events of a turn after the number `after`, and previews, until `done`.

        Where there is nothing to send yet, it begins with None.

        The text of a running step is noted before the events are read: so no preview overtakes an
        event or outlives its step.

        Raises:
            EventsExpired: The events are gone, or a closed turn never had as many.
            Unavailable: The database can't be reached, or this process stops.
        """
        follower = _Follower(turn_id, after)
        quiet_since, silent = _now(), True
        with self._waker(turn_id) as woken:
            while True:
                woken.clear()
                live = self._live.get(turn_id) or live
                noted = live.step if live else None
                found = await self._events(owner, turn_id, follower.place, live)
                for sent in follower.take(found.events):
                    quiet_since, silent = _now(), False
                    yield sent
                if follower.done or (found.closed and not found.events):
                    return
                if follower.place < found.last_event:
                    continue
                if live and live.error:
                    raise live.error
                if self._closed and not self._live.get(turn_id):
                    raise self._closed
                for preview in follower.preview(noted):
                    quiet_since, silent = _now(), False
                    yield preview
                if silent:  # whoever attaches wants to know that it is
                    silent = False
                    yield None
                wait = min(follower.pause, limits.QUIET_SECONDS - (_now() - quiet_since))
                if await woken_within(woken, wait):
                    continue
                if _now() - quiet_since >= limits.QUIET_SECONDS:
                    quiet_since = _now()
                    yield None

    async def _events(
        self, owner: str, turn_id: UUID, place: int, live: LiveTurn | None
    ) -> StoredEvents:
        """Returns the events after `place`: from memory where the turn runs here."""
        if live and live.reaches(place):
            closed = live.result is not None
            found = StoredEvents(tuple(live.since(place)), live.last_event, closed)
        else:
            found = await self._reader.read_events(owner, turn_id, place)
        if found.closed and not found.events and place != found.last_event:
            raise EventsExpired(turn_id)
        return found

    @contextmanager
    def _waker(self, turn_id: UUID) -> Generator[asyncio.Event]:
        woken = asyncio.Event()
        self._woken[turn_id].add(woken)
        try:
            yield woken
        finally:
            self._woken[turn_id].discard(woken)
            if not self._woken[turn_id]:
                del self._woken[turn_id]


class _Follower:
    """One follower's place in a turn, and what it was shown of the running step."""

    def __init__(self, turn_id: UUID, after: int) -> None:
        self.place = after
        self.done = False
        self.pause = float(limits.QUIET_SECONDS)
        self._turn_id = turn_id
        self._shown: StepText | None = None
        self._pieces = 0
        self._previewed = float("-inf")

    def take(self, events: Sequence[TurnEvent]) -> Generator[TurnEvent | Preview]:
        """Yields new events, after the withdrawal of a preview that they would contradict."""
        yield from self._withdraw()
        for event in events:
            self._shown = None
            yield event
            self.place = event.sequence
            self.done = isinstance(event.body, Done)

    def preview(self, step: StepText | None) -> Generator[Preview]:
        """Yields what is new in the text of the step, at most every 50 ms."""
        self.pause = limits.QUIET_SECONDS
        if step is None or step.after != self.place:
            return
        if step.dropped:
            yield from self._withdraw()
            return
        if step is not self._shown:
            self._shown, self._pieces = step, 0
        there = step.document.count if step.document else len(step.pieces)
        if self._pieces == there:
            return
        since = _now() - self._previewed
        if since < limits.PREVIEW_SECONDS:
            self.pause = limits.PREVIEW_SECONDS - since
            return
        seen, self._pieces = self._pieces, there
        self._previewed = _now()
        if step.document and (shown := step.document.shown):
            yield BlocksPreview(
                turn_id=self._turn_id, document=shown.document, pending=shown.pending
            )
        else:
            yield TextPreview(turn_id=self._turn_id, delta="".join(step.pieces[seen:]))

    def _withdraw(self) -> Generator[Preview]:
        if self._shown and self._shown.dropped:
            if self._pieces:
                yield PreviewDiscarded(turn_id=self._turn_id)
            self._shown = None


def _now() -> float:
    return asyncio.get_running_loop().time()

"""Watching what waits on a person (spec turns 16.6).

One task reads for all who watch in this process: the asks of all notifications at once, and all
owners that are due for another look. So a thousand watchers take one connection at a time, and what
is read later is never older.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from time import monotonic
from typing import Final, TypeAlias
from uuid import UUID

import structlog

from parleyd.contract import limits
from parleyd.contract.conversations import PendingAsk
from parleyd.contract.errors import ParleyError, RateLimited, Unavailable
from parleyd.turns.pending_feeds import (
    Change,
    OwnerFeed,
    PendingReader,
    Snapshot,
    owner_hash,
)
from parleyd.turns.waking import woken_within

Sent: TypeAlias = Snapshot | Change | None
"""What a watcher is sent; None says that nothing has happened for a while."""

News: TypeAlias = tuple[UUID, int]
"""An ask and the revision of which a notification told."""

WAIT_SECONDS: Final = (0.2, 0.5, 1.0, 2.0, 3.0)
"""How long to wait before another try to read; the last one for all that follow."""

log = structlog.stdlib.get_logger()


class PendingWatch:
    """All who watch pending asks in this process. Nothing is read while nobody does.

    `streams` is how many of them one person may be, `look_seconds` how often all is read again, in
    case that a notification was lost.
    """

    def __init__(
        self,
        reader: PendingReader,
        *,
        streams: int = limits.OWNER_STREAMS,
        look_seconds: float = limits.PENDING_LOOK_SECONDS,
        now: Callable[[], float] = monotonic,
    ) -> None:
        self._reader = reader
        self._streams = streams
        self._look_seconds = look_seconds
        self._now = now
        self._feeds: dict[str, OwnerFeed] = {}
        self._hashes: dict[str, OwnerFeed] = {}
        self._watchers: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._heard: dict[News, str] = {}
        self._work = asyncio.Event()
        self._closed: ParleyError | None = None

    # ------------------------------------------------------------ waking

    def hear(self, hashed: str, ask_id: UUID, revision: int) -> None:
        """Takes the news that an ask of an owner has come, in its first revision, or gone."""
        if hashed in self._hashes:
            self._heard.setdefault((ask_id, revision), hashed)
            self._work.set()

    def look_again(self) -> None:
        """Has everything read again: news may have been lost."""
        for feed in self._feeds.values():
            feed.looked_at = None
        self._work.set()

    def close(self, error: ParleyError) -> None:
        """Ends every stream with `error`."""
        self._closed = error
        for owner in self._watchers:
            self._wake(owner)

    # ------------------------------------------------------------ watching

    async def watch(self, owner: str) -> AsyncGenerator[Sent, None]:
        """Yields all that waits on an owner, then each change, once and in order, without an end.

        Who is too far behind is sent all that waits again. Begins with the first look.

        Raises:
            RateLimited: The person watches too often already.
            Unavailable: The process stops.
        """
        if len(self._watchers.get(owner, ())) >= self._streams:
            raise RateLimited("streams of one person may be open", self._streams)
        feed, woken = self._join(owner)
        place, quiet_since = None, self._now()
        try:
            while True:
                woken.clear()
                if self._closed:
                    raise self._closed
                changes = feed.since(place) if place is not None else None
                if feed.read and (place is None or changes is None):
                    place, quiet_since = feed.end, self._now()
                    yield feed.snapshot
                elif changes:
                    for change in changes:
                        yield change
                    place, quiet_since = (place or 0) + len(changes), self._now()
                elif self._now() - quiet_since >= limits.QUIET_SECONDS:
                    quiet_since = self._now()
                    yield None
                else:
                    await woken_within(woken, limits.QUIET_SECONDS - (self._now() - quiet_since))
        finally:
            self._leave(owner, woken)

    def _join(self, owner: str) -> tuple[OwnerFeed, asyncio.Event]:
        feed = self._feeds.get(owner)
        if feed is None:
            feed = self._feeds[owner] = OwnerFeed(owner)
            self._hashes[owner_hash(owner)] = feed
            self._work.set()
        woken = asyncio.Event()
        self._watchers[owner].add(woken)
        return feed, woken

    def _leave(self, owner: str, woken: asyncio.Event) -> None:
        self._watchers[owner].discard(woken)
        if not self._watchers[owner]:
            del self._watchers[owner], self._feeds[owner], self._hashes[owner_hash(owner)]

    def _wake(self, owner: str) -> None:
        for woken in self._watchers.get(owner, ()):
            woken.set()

    # ------------------------------------------------------------ reading

    async def run(self) -> None:
        """Reads for all watchers until it is cancelled; goes on when the database is away."""
        failures = 0
        while True:
            await woken_within(self._work, self._next_look())
            self._work.clear()
            try:
                await self._round()
                failures = 0
            except Unavailable as error:
                if not failures:
                    log.warning("pending_watch_waits", reason=error.reason)
                self._work.set()
                await asyncio.sleep(WAIT_SECONDS[min(failures, len(WAIT_SECONDS) - 1)])
                failures += 1
            except Exception:
                log.exception("pending_watch_failed")
                await asyncio.sleep(WAIT_SECONDS[-1])

    def _next_look(self) -> float:
        """Returns in how many seconds an owner is due for another look."""
        now = self._now()
        waits = (self._until_due(feed, now) for feed in self._feeds.values())
        return min(waits, default=self._look_seconds)

    def _until_due(self, feed: OwnerFeed, now: float) -> float:
        if feed.looked_at is None:
            return 0.0
        return max(feed.looked_at + self._look_seconds - now, 0.0)

    async def _round(self) -> None:
        """Reads what there is news of, and all that waits on the owners who are due."""
        now = self._now()
        due = {owner: feed for owner, feed in self._feeds.items() if not self._until_due(feed, now)}
        for feed in due.values():
            # Before it is read: who asks for another look meanwhile gets one.
            feed.looked_at = now
        heard, self._heard = self._heard, {}
        try:
            await self._read(due, heard)
        except BaseException:
            self._heard = heard | self._heard
            for feed in due.values():
                feed.looked_at = None
            raise

    async def _read(self, due: Mapping[str, OwnerFeed], heard: Mapping[News, str]) -> None:
        """Tells watchers what has changed: of owners who are due, the difference to what they know.

        News comes in the order of the commits. Where some may have been lost, what is read takes
        its place, in the order of the times that are stored.
        """
        pending = await self._reader.read_pending(due) if due else None
        found = _by_owner(pending.asks if pending else ())
        named = {ask_id for ask_id, _ in heard}
        for owner, feed in due.items():
            named |= feed.missing(found[owner])
        rows = {each.ask.id: each for each in await self._reader.read_asks(named)} if named else {}
        for (ask_id, revision), hashed in heard.items():
            feed, row = self._hashes.get(hashed), rows.get(ask_id)
            if feed and row and feed.owner not in due:
                feed.hear(revision, row)
                self._wake(feed.owner)
        for each in found.values():
            # It waited when all was looked at. Has it gone since, the news of that is to come.
            for still in each:
                rows.pop(still.ask.id, None)
        gone = _by_owner(rows.values())
        for owner, feed in due.items():
            assert pending, "it was read for those who are due"
            feed.look(found[owner], gone[owner], pending.now)
            self._wake(owner)


def _by_owner(asks: Iterable[PendingAsk]) -> defaultdict[str, list[PendingAsk]]:
    owners: defaultdict[str, list[PendingAsk]] = defaultdict(list)
    for each in asks:
        owners[each.ask.owner].append(each)
    return owners

"""What waits on the owners who watch in this process, and how that changes (spec turns 16.6)."""

import hashlib
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Final, Protocol, TypeAlias
from uuid import UUID

from parleyd.contract.asks.ask import Ask
from parleyd.contract.conversations import PendingAsk

OWNER_HASH_DIGITS: Final = 32
"""The first hex digits of the SHA-256 of an owner's name that notifications carry."""

CHANGES_KEPT: Final = 200
"""Who is further behind than so many changes is sent all there is."""

GONE_KEPT: Final = 2_000
"""How many asks a feed remembers that it has removed, so that none is removed twice."""


@dataclass(frozen=True)
class FoundPending:
    """All that waits on some owners, as it was at `now` by the database's clock."""

    asks: Sequence[PendingAsk]
    now: datetime


class PendingReader(Protocol):
    """Reads what watchers are told, for many of them at once.

    They come with the titles of their conversations. An ask whose time is over reads as cancelled,
    and one of a deleted conversation is. Every call raises `Unavailable` without a database.
    """

    async def read_asks(self, ask_ids: Iterable[UUID]) -> Sequence[PendingAsk]:
        """Reads asks, whatever has become of them."""
        ...

    async def read_pending(self, owners: Iterable[str]) -> FoundPending:
        """Reads all pending asks of some owners, oldest first."""
        ...


@dataclass(frozen=True)
class Snapshot:
    """All that waits on an owner, newest first."""

    pending: tuple[PendingAsk, ...]


@dataclass(frozen=True)
class Added:
    """An ask that waits from now on."""

    pending: PendingAsk


@dataclass(frozen=True)
class Removed:
    """An ask that waits no more, as it was resolved."""

    ask: Ask


Change: TypeAlias = Added | Removed


def owner_hash(owner: str) -> str:
    """Returns what notifications say of an owner: nobody reads a name in them."""
    return hashlib.sha256(owner.encode()).hexdigest()[:OWNER_HASH_DIGITS]


class OwnerFeed:
    """The pending asks of one owner, with the last changes, for all who watch them here.

    A place in the feed is the number of changes before it. `read` is false until it was read once.
    `looked_at` is when a look at all of it last began, by the watch's clock; None asks for one.
    """

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.read = False
        self.looked_at: float | None = None
        self._begun: datetime | None = None
        self._known: dict[UUID, PendingAsk] = {}
        self._gone: OrderedDict[UUID, None] = OrderedDict()
        self._changes: deque[Change] = deque(maxlen=CHANGES_KEPT)
        self._end = 0

    @property
    def end(self) -> int:
        """Returns the place after the last change."""
        return self._end

    @property
    def snapshot(self) -> Snapshot:
        """Returns all that waits now."""
        newest = sorted(self._known.values(), key=_age, reverse=True)
        return Snapshot(tuple(newest))

    def since(self, place: int) -> Sequence[Change] | None:
        """Returns the changes after a place; None where they are not all kept any more."""
        behind = self._end - place
        if behind > len(self._changes):
            return None
        return list(self._changes)[len(self._changes) - behind :]

    def missing(self, found: Iterable[PendingAsk]) -> set[UUID]:
        """Returns the asks that wait as far as is known here, and are not among those found."""
        return self._known.keys() - {each.ask.id for each in found}

    def look(self, found: Iterable[PendingAsk], gone: Iterable[PendingAsk], now: datetime) -> None:
        """Takes in all that waits, as it was read at `now`, and what was known or told of but gone.

        The first time that is where the feed begins; later the difference is told, in the order of
        the times that are stored.
        """
        if not self.read:
            self._known = {each.ask.id: each for each in found}
            self.read, self._begun = True, now
            return
        came = [(each.ask.create_time, self._come, each) for each in (*found, *gone)]
        went = [(each.ask.resolve_time or now, self._go, each) for each in gone]
        for _, take, each in sorted([*came, *went], key=itemgetter(0)):
            take(each)

    def hear(self, revision: int, found: PendingAsk) -> None:
        """Takes in the news that an ask has come, which its first revision says, or gone.

        Each happens once, however often it is told of. An ask that has gone since the news of its
        coming goes with the news of that, in its place among those of others.
        """
        if not self.read:
            return
        self._come(found)
        if revision > 1:
            self._go(found)

    def _come(self, found: PendingAsk) -> None:
        ask = found.ask
        if ask.id in self._known or ask.id in self._gone:
            return
        # The first look has not seen what had gone before it.
        if ask.resolve_time is None or (self._begun and ask.resolve_time > self._begun):
            self._add(found)

    def _go(self, found: PendingAsk) -> None:
        ask = found.ask
        if ask.status == "pending" or ask.id not in self._known:
            return
        del self._known[ask.id]
        self._gone[ask.id] = None
        if len(self._gone) > GONE_KEPT:
            self._gone.popitem(last=False)
        self._note(Removed(ask))

    def _add(self, pending: PendingAsk) -> None:
        self._known[pending.ask.id] = pending
        self._note(Added(pending))

    def _note(self, change: Change) -> None:
        self._changes.append(change)
        self._end += 1


def _age(pending: PendingAsk) -> tuple[datetime, int]:
    """Returns what sorts asks as `ListPendingAsks` does when it is turned around."""
    return pending.ask.create_time, -pending.ask.id.int

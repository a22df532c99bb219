"""Asks that wait on people, and what reads them for those who watch: in memory."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID, uuid4

from parleyd.contract.answers import accepted
from parleyd.contract.asks.ask import Ask
from parleyd.contract.cards import SimpleCard
from parleyd.contract.conversations import PendingAsk
from parleyd.contract.errors import Unavailable
from parleyd.turns.pending_feeds import FoundPending

NOON: Final = datetime(2026, 12, 1, 12, tzinfo=UTC)
SECOND: Final = timedelta(seconds=1)


def waiting(at: datetime = NOON, owner: str = "noor") -> PendingAsk:
    """Returns a pending ask that was made at a moment."""
    key = uuid4()
    ask = Ask(
        id=key,
        conversation_id=uuid4(),
        chain_id=uuid4(),
        owner=owner,
        tool_call_id=f"call_{key.hex}",
        kind="confirm",
        tool_name="ask_confirm",
        input={"prompt": "Sure?"},
        simple=SimpleCard(
            tool_call_id=f"call_{key.hex}", kind="confirm", text="Sure?", buttons=(), handoff=False
        ),
        status="pending",
        create_time=at,
    )
    return PendingAsk(ask=ask, title=None)


def resolved(pending: PendingAsk, at: datetime) -> PendingAsk:
    """Returns an ask that was answered at a moment."""
    changed = {
        "status": "answered",
        "answer": accepted({"confirmed": True}),
        "resolve_time": at,
        "resolved_by_turn": uuid4(),
    }
    return PendingAsk(ask=pending.ask.model_copy(update=changed), title=pending.title)


class Rows:
    """The rows of asks, which are read when `open` is set. Counts what it is asked for.

    While `fails` holds, there is no database. `seconds` is how long after noon it is.
    """

    def __init__(self) -> None:
        self.looks: list[list[str]] = []
        self.readings: list[set[UUID]] = []
        self.open = asyncio.Event()
        self.open.set()
        self.fails = False
        self.seconds = 0
        self._rows: dict[UUID, PendingAsk] = {}

    def ask(self, owner: str = "noor") -> PendingAsk:
        """Stores an ask that waits from now on."""
        self.seconds += 1
        pending = waiting(NOON + self.seconds * SECOND, owner)
        self._rows[pending.ask.id] = pending
        return pending

    def resolve(self, pending: PendingAsk) -> PendingAsk:
        """Stores that an ask was answered."""
        self.seconds += 1
        gone = resolved(pending, NOON + self.seconds * SECOND)
        self._rows[gone.ask.id] = gone
        return gone

    async def read_asks(self, ask_ids: Iterable[UUID]) -> Sequence[PendingAsk]:
        """See `PendingReader`."""
        named = set(ask_ids)
        self.readings.append(named)
        rows = [self._rows[each] for each in named]
        await self._answers()
        return rows

    async def read_pending(self, owners: Iterable[str]) -> FoundPending:
        """See `PendingReader`. What is stored before it is `open` is not found."""
        named = list(owners)
        self.looks.append(named)
        found = [
            each
            for each in self._rows.values()
            if each.ask.owner in named and each.ask.status == "pending"
        ]
        now = NOON + self.seconds * SECOND
        await self._answers()
        return FoundPending(found, now)

    async def _answers(self) -> None:
        await self.open.wait()
        if self.fails:
            raise Unavailable("There is no database.")

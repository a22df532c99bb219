"""A conversation while its lock is held, and how an ask of it is resolved.

What a transaction of a turn writes, given what it read under the lock, is decided in `openings.py`
and `endings.py` (spec turns 3.5). Pure: the store reads, calls these, and writes what they return.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pydantic import JsonValue

from parleyd.contract.answers import action_of
from parleyd.contract.asks.ask import Ask
from parleyd.contract.json import storable_object


@dataclass(frozen=True)
class LockedConversation:
    """A conversation while its lock is held. `now` is the transaction's time."""

    id: UUID
    owner: str
    title: str | None
    project: str | None
    deleted: bool
    last_seq: int
    last_turn_no: int
    now: datetime


def resolve(ask: Ask, envelope: dict[str, JsonValue], turn_id: UUID | None, now: datetime) -> Ask:
    """Returns a pending ask as an envelope resolves it."""
    return ask.model_copy(
        update={
            "status": "cancelled" if action_of(envelope) == "cancel" else "answered",
            "answer": storable_object(envelope),
            "resolved_by_turn": turn_id,
            "resolve_time": now,
        }
    )

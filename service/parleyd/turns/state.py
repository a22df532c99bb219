"""A conversation as a turn meets it, and how an ask of it is resolved.

What a transaction of a turn writes, given what it read, is decided in `openings.py` and
`endings.py` (spec turns 3.5). Pure: the store reads, calls these, and writes what they return.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from pydantic import JsonValue

from parleyd.contract.answers import action_of
from parleyd.contract.asks.ask import Ask
from parleyd.contract.json import storable_object


@dataclass(frozen=True)
class SeenConversation:
    """A conversation as it was read at `now`, by the database's clock.

    While its lock is held it stays so. Without the lock it is what a write compares the stored
    conversation with: `last_seq` and `last_turn_no` only grow, so where they and the rest are as
    they were, nothing has happened to the conversation's messages, turns and asks meanwhile.
    """

    id: UUID
    owner: str
    title: str | None
    project: str | None
    deleted: bool
    last_seq: int
    last_turn_no: int
    retryable_turn_id: UUID | None
    now: datetime


@dataclass(frozen=True)
class TurnPlace:
    """What the end of a turn depends on beside its conversation.

    `next_position` is that of the turn's next row. `slot_taken` says that another ask is pending,
    and `slot_may_lapse` that its time is over at some moment, or is already: only a lock tells.
    `taken_call_ids` are the public ids of asks, as far as they matter. `newer_turn` says that the
    conversation has gone on, so that this turn can't be retried.
    """

    next_position: int
    slot_taken: bool = False
    slot_may_lapse: bool = False
    taken_call_ids: frozenset[str] = frozenset()
    newer_turn: bool = False


@dataclass(frozen=True)
class Outlook:
    """What the end of a turn will meet, if nothing else happens to its conversation till then.

    Of the ids that asks have taken it knows nothing.
    """

    conversation: SeenConversation
    place: TurnPlace


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


def expires(now: datetime, seconds: float | None) -> datetime | None:
    """Returns when an ask that is made `now` expires; None where it may wait for good."""
    return None if seconds is None else now + timedelta(seconds=seconds)

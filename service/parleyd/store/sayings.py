"""Sayings: what a person brought to a turn, and the ask that it resolved (spec turns 12.1)."""

from typing import Final
from uuid import UUID

from sqlalchemy import Connection, literal_column, select

from parleyd.contract.asks.ask import Ask
from parleyd.contract.json import compact
from parleyd.store.asks import ASK_COLUMNS, ask_of
from parleyd.store.statements import given, run
from parleyd.store.tables import asks, messages, turns

_RETRIED: Final = (
    select(turns.c.id, turns.c.retry_of, turns.c.answered_ask_id)
    .where(turns.c.id == given("turn"))
    .cte("retried", recursive=True)
)
_LINE: Final = _RETRIED.union_all(
    select(turns.c.id, turns.c.retry_of, turns.c.answered_ask_id).join_from(
        turns, _RETRIED, turns.c.id == _RETRIED.c.retry_of
    )
)
"""A turn, what it retries, what that retries, and so on."""

_SAID: Final = (
    select(messages.c.text, asks.c.answer)
    .select_from(_LINE)
    .join(
        messages,
        (messages.c.turn_id == _LINE.c.id) & (messages.c.type == literal_column("'user'")),
        isouter=True,
    )
    .join(asks, asks.c.id == _LINE.c.answered_ask_id, isouter=True)
    .where(_LINE.c.retry_of.is_(None))
)


def read_said(connection: Connection, turn_id: UUID) -> str:
    """Reads what the person brought to a turn; of a retry, to the first turn of its line.

    That is the text of a message, or the stored envelope of an answer as compact JSON. Empty where
    nobody said anything, and where there is no such turn.
    """
    row = run(connection, _SAID, turn=turn_id).one_or_none()
    if row is None:
        return ""
    said, answer = row
    return compact(answer) if answer is not None else said or ""


_RESOLVED: Final = (
    select(*ASK_COLUMNS)
    .join_from(messages, asks, asks.c.id == messages.c.ask_id)
    .where(
        messages.c.turn_id == given("turn"),
        messages.c.type == literal_column("'tool_result'"),
        asks.c.resolved_by_turn == given("turn"),
        asks.c.created_by_turn.is_distinct_from(given("turn")),
    )
    .order_by(messages.c.position)
    .limit(1)
)
"""By the turn's own rows, which have an index. What it asked in vain is its own, not resolved."""


def read_resolved(connection: Connection, turn_id: UUID) -> Ask | None:
    """Reads the ask that a turn answered, or cancelled with its message, when it was opened."""
    row = run(connection, _RESOLVED, turn=turn_id).mappings().one_or_none()
    return ask_of(row) if row else None

"""Retention: what is removed when it has served its time (spec turns 16.1, 16.2)."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Select,
    Table,
    delete,
    exists,
    func,
    literal,
    literal_column,
    not_,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract import limits
from parleyd.store.asks import HOLDS_SLOT
from parleyd.store.dataset_tables import datasets
from parleyd.store.engine import Database
from parleyd.store.file_tables import file_requests
from parleyd.store.statements import run
from parleyd.store.tables import (
    action_tokens,
    asks,
    conversation_requests,
    conversations,
    turn_events,
    turns,
)

ROWS_AT_ONCE: Final = 500
"""How many turns, or requests, one transaction clears: few enough to be done in a moment."""


@dataclass(frozen=True)
class ClearedRows:
    """What a round removed: events, datasets, action tokens, and request ids of what they made."""

    events: int = 0
    turn_requests: int = 0
    conversation_requests: int = 0
    file_requests: int = 0
    ask_requests: int = 0
    datasets: int = 0
    action_tokens: int = 0


async def clear_old_rows(engine: AsyncEngine) -> ClearedRows:
    """Removes old events, request ids and action tokens, and datasets that nobody can read.

    Works in short transactions, and may run in several processes at once: each takes rows that no
    other one has.

    Raises:
        Unavailable: The database can't be reached. What was removed until then stays removed.
    """
    database = Database(engine)
    events = await _clear(database, _OLD_EVENTS)
    turn_requests = await _clear(database, _OLD_TURN_REQUESTS)
    conversation_requests = await _clear(database, _OLD_CONVERSATION_REQUESTS)
    file_requests = await _clear(database, _OLD_FILE_REQUESTS)
    ask_requests = await _clear(database, _OLD_ASK_REQUESTS)
    expired = await _clear(database, _OLD_DATASETS)
    tokens = await _clear(database, _OLD_TOKENS)
    return ClearedRows(
        events,
        turn_requests,
        conversation_requests,
        file_requests,
        ask_requests,
        expired,
        tokens,
    )


async def _clear(database: Database, batch: Select[int, int]) -> int:
    """Runs a batch until it finds no full one; it returns what it found and what it removed."""

    def clear(connection: Connection) -> tuple[int, int]:
        found, removed = run(connection, batch).one()
        return found, removed

    removed = 0
    while True:
        found, just_removed = await database.write(clear, _is_tried_again)
        removed += just_removed
        if found < ROWS_AT_ONCE:
            return removed


def _is_tried_again(connection: Connection) -> bool:
    """Answers for a lost COMMIT: the next round finds out by itself."""
    del connection
    return False


# ---------------------------------------------------------------- statements

_EVENT_END: Final = func.now() - literal(timedelta(hours=limits.EVENT_HOURS))
_REQUEST_END: Final = func.now() - literal(timedelta(hours=limits.REQUEST_ID_HOURS))

# The first event of a turn finds it by an index, and is claimed for all of them.
_OLD_TURNS: Final = (
    select(turn_events.c.turn_id)
    .join_from(turn_events, turns, turns.c.id == turn_events.c.turn_id)
    .where(
        turn_events.c.sequence == literal_column("1"),
        turn_events.c.create_time < _EVENT_END,
        turns.c.close_time < _EVENT_END,
    )
    .order_by(turn_events.c.create_time)
    .limit(ROWS_AT_ONCE)
    .with_for_update(of=turn_events, skip_locked=True)
    .cte("old_turns")
)
_REMOVED_EVENTS: Final = (
    delete(turn_events)
    .where(turn_events.c.turn_id == _OLD_TURNS.c.turn_id)
    .returning(turn_events.c.sequence)
    .cte("removed")
)
_OLD_EVENTS: Final = select(
    select(func.count()).select_from(_OLD_TURNS).scalar_subquery(),
    select(func.count()).select_from(_REMOVED_EVENTS).scalar_subquery(),
)


def _old_ids(
    table: Table,
    request_id: Column[str | None],
    request_hash: Column[bytes | None],
    *more: ColumnElement[bool],
) -> Select[int, int]:
    """Returns the batch that takes old request ids off the rows of a table, which stay."""
    key, made = table.c["id"], table.c["create_time"]
    old = (
        select(key)
        .where(request_id.is_not(None), made < _REQUEST_END, *more)
        .order_by(made)
        .limit(ROWS_AT_ONCE)
        .with_for_update(key_share=True, skip_locked=True)
        .cte("named_rows")
    )
    cleared = (
        update(table)
        .where(key == old.c.id)
        .values({request_id: None, request_hash: None})
        .returning(key)
        .cte("cleared")
    )
    return select(
        select(func.count()).select_from(old).scalar_subquery(),
        select(func.count()).select_from(cleared).scalar_subquery(),
    )


_OLD_TURN_REQUESTS: Final = _old_ids(turns, turns.c.request_id, turns.c.request_hash)
_OLD_ASK_REQUESTS: Final = _old_ids(
    asks, asks.c.service_request_id, asks.c.service_request_hash, not_(HOLDS_SLOT)
)


def _old_requests(requests: Table) -> Select[int, int]:
    """Returns the batch that removes old request ids from a table of them."""
    owner, request_id = requests.c.owner, requests.c.request_id
    old = (
        select(owner, request_id)
        .where(requests.c.create_time < _REQUEST_END)
        .order_by(requests.c.create_time)
        .limit(ROWS_AT_ONCE)
        .with_for_update(skip_locked=True)
        .cte("old_requests")
    )
    removed = (
        delete(requests)
        .where(owner == old.c.owner, request_id == old.c.request_id)
        .returning(request_id)
        .cte("removed")
    )
    return select(
        select(func.count()).select_from(old).scalar_subquery(),
        select(func.count()).select_from(removed).scalar_subquery(),
    )


_OLD_CONVERSATION_REQUESTS: Final = _old_requests(conversation_requests)
_OLD_FILE_REQUESTS: Final = _old_requests(file_requests)

_EXPIRED: Final = datasets.c.expire_time <= func.now()
_ORPHANED: Final = exists().where(
    conversations.c.id == datasets.c.conversation_id, conversations.c.delete_time.is_not(None)
)
_OVER_DATASETS: Final = (
    select(datasets.c.id)
    .where(or_(_EXPIRED, _ORPHANED))
    .limit(ROWS_AT_ONCE)
    .with_for_update(of=datasets, skip_locked=True)
    .cte("over_datasets")
)
_REMOVED_DATASETS: Final = (
    delete(datasets)
    .where(datasets.c.id == _OVER_DATASETS.c.id)
    .returning(datasets.c.id)
    .cte("removed")
)
_OLD_DATASETS: Final = select(
    select(func.count()).select_from(_OVER_DATASETS).scalar_subquery(),
    select(func.count()).select_from(_REMOVED_DATASETS).scalar_subquery(),
)

_OVER_TOKENS: Final = (
    select(action_tokens.c.token_hash)
    .where(
        action_tokens.c.expire_time < func.now() - literal(timedelta(hours=limits.USED_TOKEN_HOURS))
    )
    .order_by(action_tokens.c.expire_time)
    .limit(ROWS_AT_ONCE)
    .with_for_update(skip_locked=True)
    .cte("over_tokens")
)
_REMOVED_TOKENS: Final = (
    delete(action_tokens)
    .where(action_tokens.c.token_hash == _OVER_TOKENS.c.token_hash)
    .returning(action_tokens.c.token_hash)
    .cte("removed")
)
_OLD_TOKENS: Final = select(
    select(func.count()).select_from(_OVER_TOKENS).scalar_subquery(),
    select(func.count()).select_from(_REMOVED_TOKENS).scalar_subquery(),
)

"""Asks: their rows, the conversation's single slot, and the list of what waits on a person."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import (
    CTE,
    Column,
    ColumnElement,
    Connection,
    RowMapping,
    and_,
    case,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from parleyd.contract.answers import EXPIRED, cancelled
from parleyd.contract.asks.ask import Ask
from parleyd.contract.conversations import PendingAsk
from parleyd.contract.json import compact
from parleyd.contract.pages import Page, PageRequest
from parleyd.store.columns import Json, Stored
from parleyd.store.pages import page_of, place_in_time, read_place_in_time
from parleyd.store.statements import given, rows_of, run
from parleyd.store.tables import asks, conversations
from parleyd.turns.pending_feeds import OWNER_HASH_DIGITS

_COLUMNS: Final = [asks.c[name] for name in Ask.model_fields]
"""A stored ask is the contract's `Ask`, column by column."""

HOLDS_SLOT: Final = asks.c.status == literal_column("'pending'")
"""Whether an ask keeps others out of its conversation's slot, though its time may be over.

Spelled out, not bound: so the partial indexes serve it whatever the plan.
"""

HAS_LAPSED: Final = and_(HOLDS_SLOT, asks.c.expire_time <= func.now())
"""Whether the time of an ask is over, and nobody has written that yet (spec turns 16.5)."""

IS_PENDING: Final = and_(
    HOLDS_SLOT, or_(asks.c.expire_time.is_(None), asks.c.expire_time > func.now())
)
"""Whether an ask waits on a person. For every reader it is over at its `expire_time`."""

_AS_LAPSED: Final[Mapping[str, ColumnElement[Any]]] = {
    "status": literal_column("'cancelled'", asks.c.status.type),
    "answer": literal_column(f"'{compact(cancelled(EXPIRED))}'::jsonb", asks.c.answer.type),
    "resolve_time": asks.c.expire_time,
}
"""How an ask reads whose time is over: no reader has to wait for whoever writes it."""


def _as_read(column: Column[Any]) -> ColumnElement[Any]:
    if column.name not in _AS_LAPSED:
        return column
    return case((HAS_LAPSED, _AS_LAPSED[column.name]), else_=column)


ASK_COLUMNS: Final = [_as_read(each).label(f"ask_{each.name}") for each in _COLUMNS]
"""What to select for `ask_of`."""


def ask_of(row: RowMapping) -> Ask | None:
    """Returns the ask among the columns of a row; None where an outer join found none."""
    if row["ask_id"] is None:
        return None
    return Ask(**{each.name: row[f"ask_{each.name}"] for each in _COLUMNS})


# ---------------------------------------------------------------- writing


def inserted_asks(fence: CTE) -> CTE:
    """Inserts the `asks` given, whole but for their times: those are the statement's."""
    new = rows_of("new_ask", _COLUMNS, given("asks", _ASKS))
    # A record's JSON null comes out as SQL's: an approval of a call that brings nothing has it too.
    guards = new.c.origin == literal_column("'approval'")
    changed = {
        "tool_args": case(
            (guards, func.coalesce(new.c.tool_args, literal_column("'null'::jsonb", Json())))
        ),
        "create_time": func.now(),
        "resolve_time": case((new.c.resolve_time.is_not(None), func.now())),
    }
    rows = (
        select(*(changed.get(each.name, each) for each in new.c))
        .select_from(fence)
        .join(new, literal_column("true"))
    )
    return (
        insert(asks)
        .from_select([each.name for each in _COLUMNS], rows)
        .returning(*_TOLD)
        .cte("new_asks")
    )


def resolved_ask(behind: CTE) -> CTE:
    """Resolves the ask `resolved_ask`, if there is one, as `resolved_…` say."""
    return (
        update(asks)
        .where(asks.c.id == given("resolved_ask"), exists().select_from(behind))
        .values(
            status=given("resolved_status"),
            answer=given("resolved_answer"),
            resolved_by_turn=given("resolved_by"),
            resolve_time=func.now(),
            revision=asks.c.revision + 1,
        )
        .returning(*_TOLD)
        .cte("resolved_ask")
    )


def told(changed: CTE) -> ColumnElement[int]:
    """Tells every process of asks that came into the slot or left it, as the transaction commits.

    Stands in the list of the statement's last SELECT, like `notified` of events. An ask that was
    cancelled as it was made has never waited on anybody, and is told to nobody (spec turns 16.6).
    """
    payload = func.concat_ws(
        literal_column("':'"),
        func.left(
            func.encode(
                func.sha256(func.convert_to(changed.c.owner, literal_column("'UTF8'"))),
                literal_column("'hex'"),
            ),
            literal_column(str(OWNER_HASH_DIGITS)),
        ),
        changed.c.id,
        changed.c.revision,
    )
    waited = or_(
        changed.c.status == literal_column("'pending'"),
        changed.c.revision > literal_column("1"),
    )
    return (
        select(func.count(func.pg_notify(literal_column("'asks'"), payload)))
        .where(waited)
        .scalar_subquery()
    )


_TOLD: Final = (asks.c.id, asks.c.owner, asks.c.status, asks.c.revision)


def resolution(ask: Ask | None) -> dict[str, object]:
    """Returns the values of `resolved_ask`; `ask` is as it becomes."""
    return {
        "resolved_ask": ask.id if ask else None,
        "resolved_status": ask.status if ask else "cancelled",
        "resolved_answer": ask.answer if ask else None,
        "resolved_by": ask.resolved_by_turn if ask else None,
    }


_ASKS: Final = Stored(TypeAdapter(tuple[Ask, ...]))

# ---------------------------------------------------------------- reading

_PENDING: Final = select(*ASK_COLUMNS).where(
    asks.c.conversation_id == given("conversation"), IS_PENDING
)


def read_pending(connection: Connection, conversation_id: UUID) -> Ask | None:
    """Reads the ask that a conversation waits on."""
    row = run(connection, _PENDING, conversation=conversation_id).mappings().one_or_none()
    return ask_of(row) if row else None


def list_pending(connection: Connection, owner: str, page: PageRequest) -> Page[PendingAsk]:
    """Lists what waits on `owner`, newest first.

    Raises:
        InvalidRequest: The page's place is none of this list.
    """
    query = (
        select(*ASK_COLUMNS, conversations.c.title)
        .join_from(asks, conversations, conversations.c.id == asks.c.conversation_id)
        .where(asks.c.owner == owner, IS_PENDING, conversations.c.delete_time.is_(None))
        .order_by(asks.c.create_time.desc(), asks.c.id)
        .limit(page.size + 1)
    )
    if page.after:
        time, key = read_place_in_time(page.after)
        query = query.where(
            asks.c.create_time <= time, or_(asks.c.create_time < time, asks.c.id > key)
        )
    found = [
        PendingAsk(ask=ask, title=row["title"])
        for row in connection.execute(query).mappings()
        if (ask := ask_of(row))
    ]
    return page_of(found, page, lambda item: place_in_time(item.ask.create_time, item.ask.id))

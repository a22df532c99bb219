"""Asks: their rows, the conversation's single slot, and the list of what waits on a person."""

from typing import Final
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import (
    CTE,
    Connection,
    RowMapping,
    case,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from parleyd.contract.asks.ask import Ask
from parleyd.contract.conversations import PendingAsk
from parleyd.contract.pages import Page, PageRequest
from parleyd.store.columns import Json, Stored
from parleyd.store.pages import page_of, place_in_time, read_place_in_time
from parleyd.store.statements import given, rows_of, run
from parleyd.store.tables import asks, conversations

_COLUMNS: Final = [asks.c[name] for name in Ask.model_fields]
"""A stored ask is the contract's `Ask`, column by column."""

ASK_COLUMNS: Final = [each.label(f"ask_{each.name}") for each in _COLUMNS]
"""What to select for `ask_of`."""

IS_PENDING: Final = asks.c.status == literal_column("'pending'")
"""Spelled out, not bound: so the partial indexes serve it whatever the plan."""


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
    return insert(asks).from_select([each.name for each in _COLUMNS], rows).cte("new_asks")


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
        .cte("resolved_ask")
    )


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

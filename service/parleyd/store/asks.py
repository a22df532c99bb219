"""Asks: their rows, the conversation's single slot, and the list of what waits on a person."""

from typing import Final
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import (
    CTE,
    Connection,
    RowMapping,
    and_,
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
from parleyd.contract.text import storable
from parleyd.store.columns import Stored
from parleyd.store.owners import check_owner
from parleyd.store.pages import page_of, place_in_time, read_place_in_time
from parleyd.store.statements import given, rows_of, run
from parleyd.store.tables import asks, conversations, turns
from parleyd.turns.openings import NamedAsks
from parleyd.turns.ports import AnswerableAsk

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
    """Inserts the `asks` given, whole."""
    new = rows_of("new_ask", _COLUMNS, given("asks", _ASKS))
    rows = select(*new.c).select_from(fence).join(new, literal_column("true"))
    return insert(asks).from_select([each.name for each in _COLUMNS], rows).cte("new_asks")


def resolved_ask() -> CTE:
    """Resolves the ask `resolved_ask`, if there is one, as `resolved_…` say."""
    return (
        update(asks)
        .where(asks.c.id == given("resolved_ask"))
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

_IN_CONVERSATION = asks.c.conversation_id == given("conversation")
_PENDING_OR_NAMED: Final = or_(
    and_(_IN_CONVERSATION, IS_PENDING),
    and_(_IN_CONVERSATION, asks.c.tool_call_id == given("named")),
)
"""The pending ask of `conversation`, and the one that is `named`."""

_NAMED_ASKS: Final = (
    select(*ASK_COLUMNS, turns.c.context_max_seq)
    .join_from(asks, turns, turns.c.id == asks.c.chain_id)
    .where(_PENDING_OR_NAMED)
)


def read_named_asks(
    connection: Connection, conversation_id: UUID, tool_call_id: str | None
) -> NamedAsks:
    """Reads the pending ask with its chain's starting point, and the named one."""
    found = NamedAsks()
    named = storable(tool_call_id) if tool_call_id else None
    rows = run(connection, _NAMED_ASKS, conversation=conversation_id, named=named)
    for row in rows.mappings():
        ask = ask_of(row)
        assert ask
        found = NamedAsks(
            pending=ask if ask.status == "pending" else found.pending,
            chain_start=row["context_max_seq"] if ask.status == "pending" else found.chain_start,
            named=ask if ask.tool_call_id == named else found.named,
        )
    return found


_ANSWERABLE: Final = (
    select(
        conversations.c.owner,
        conversations.c.delete_time.is_not(None).label("deleted"),
        *ASK_COLUMNS,
    )
    .join_from(conversations, asks, _PENDING_OR_NAMED, isouter=True)
    .where(conversations.c.id == given("conversation"))
)


def read_answerable(
    connection: Connection, caller: str, conversation_id: UUID, tool_call_id: str | None
) -> AnswerableAsk:
    """Reads the pending ask and the named one, without a lock.

    Raises:
        ConversationNotFound: No such conversation, or it is deleted.
        NotOwner: It is someone else's.
    """
    named = storable(tool_call_id) if tool_call_id else None
    result = run(connection, _ANSWERABLE, conversation=conversation_id, named=named)
    rows = result.mappings().all()
    owner, deleted = (rows[0]["owner"], rows[0]["deleted"]) if rows else (None, True)
    check_owner(conversation_id, caller, owner, deleted=deleted)
    found = [ask for row in rows if (ask := ask_of(row))]
    return AnswerableAsk(
        pending=next((ask for ask in found if ask.status == "pending"), None),
        named=next((ask for ask in found if ask.tool_call_id == named), None),
    )


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

"""Messages: the lines of a conversation."""

from typing import Final
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import (
    CTE,
    Connection,
    Integer,
    RowMapping,
    Uuid,
    and_,
    case,
    func,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from parleyd.contract.errors import MessageNotFound
from parleyd.contract.json import compact
from parleyd.contract.messages import Message, Rating
from parleyd.contract.pages import Page, PageRequest
from parleyd.store.asks import ASK_COLUMNS, ask_of
from parleyd.store.columns import Json, Stored
from parleyd.store.owners import read_owner
from parleyd.store.pages import page_of, read_numbers
from parleyd.store.statements import given, rows_of, run
from parleyd.store.tables import asks, messages, turns
from parleyd.turns.records import PlacedRow

_ROW_FIELDS: Final = [messages.c[name] for name in PlacedRow.model_fields]
_ROWS: Final = Stored(TypeAdapter(tuple[PlacedRow, ...]))

_RETRY: Final = turns.alias("retry")
_SUPERSEDED: Final = (
    select(_RETRY.c.id)
    .where(messages.c.status == literal_column("'error'"), _RETRY.c.retry_of == messages.c.turn_id)
    .scalar_subquery()
    .is_not(None)
)
"""Whether a message is what is left of a failed turn's text, and that turn was retried.

No EXISTS: PostgreSQL would answer that by reading all turns once, not the few by their index.
"""

_COLUMNS: Final = [
    *[messages.c[name] for name in Message.model_fields if name not in {"ask", "superseded"}],
    _SUPERSEDED.label("superseded"),
]
MESSAGES: Final = select(
    *[each.label(f"message_{each.name}") for each in _COLUMNS], *ASK_COLUMNS
).join_from(messages, asks, asks.c.id == messages.c.ask_id, isouter=True)
"""Messages with their asks, for `message_of`."""


def message_of(row: RowMapping) -> Message:
    """Returns the message of a row of `MESSAGES`."""
    return Message(**{each.name: row[f"message_{each.name}"] for each in _COLUMNS}, ask=ask_of(row))


def inserted_messages(fence: CTE | None = None) -> CTE:
    """Inserts the `rows` given, which have their places, for `turn` of `conversation`."""
    new = rows_of("new_row", _ROW_FIELDS, given("rows", _ROWS))
    # A record's JSON null comes out as SQL's: a tool that returned nothing has a result too.
    null = case((new.c.type == "tool_result", literal_column("'null'::jsonb", Json())))
    rows = select(
        given("conversation", Uuid()),
        given("turn", Uuid()),
        given("turn_no", Integer()),
        *[func.coalesce(each, null) if each.name == "result" else each for each in new.c],
    )
    if fence is not None:
        rows = rows.select_from(fence).join(new, literal_column("true"))
    names = ["conversation_id", "turn_id", "turn_no", *(each.name for each in _ROW_FIELDS)]
    return insert(messages).from_select(names, rows).cte("new_messages")


def list_messages(
    connection: Connection, conversation_id: UUID, page: PageRequest
) -> Page[Message]:
    """Lists the lines of a conversation in the order in which people read them.

    Raises:
        InvalidRequest: The page's place is none of this list.
    """
    turn_no, position = messages.c.turn_no, messages.c.position
    query = (
        MESSAGES.where(messages.c.conversation_id == conversation_id)
        .order_by(turn_no, position)
        .limit(page.size + 1)
    )
    if page.after:
        after_turn, after_position = read_numbers(page.after)
        query = query.where(
            turn_no >= after_turn, or_(turn_no > after_turn, position > after_position)
        )
    found = [message_of(row) for row in connection.execute(query).mappings()]
    return page_of(found, page, lambda item: (str(item.turn_no), str(item.position)), _weight)


def _weight(message: Message) -> int:
    """Returns about how many bytes a message is on the wire."""
    values = (message.args, message.result, message.ask and message.ask.input)
    return len(message.text.encode()) + sum(len(compact(value)) for value in values if value)


# ---------------------------------------------------------------- ratings

_SEQ_MAX: Final = 2**63 - 1
_NAMED: Final = and_(
    messages.c.conversation_id == given("conversation"), messages.c.seq == given("seq")
)
_RATE: Final = (
    update(messages).where(_NAMED).values(rating=given("rating")).returning(messages.c.seq)
)
_RATED: Final = (
    select(messages.c.seq)
    .where(_NAMED, messages.c.rating.is_not_distinct_from(given("rating")))
    .with_for_update(key_share=True)
)


def rate_message(
    connection: Connection,
    owner: str,
    conversation_id: UUID,
    message_id: int,
    rating: Rating | None,
) -> None:
    """Sets or clears a rating: one column of one row, without the conversation's lock.

    Raises:
        ConversationNotFound: No such conversation, or it is deleted.
        NotOwner: It is someone else's.
        MessageNotFound: It has no such message.
    """
    read_owner(connection, conversation_id, owner)
    if not 0 < message_id <= _SEQ_MAX:
        raise MessageNotFound(message_id)
    rated = run(connection, _RATE, conversation=conversation_id, seq=message_id, rating=rating)
    if rated.one_or_none() is None:
        raise MessageNotFound(message_id)


def was_rated(
    connection: Connection, conversation_id: UUID, message_id: int, rating: Rating | None
) -> bool:
    """Tells whether a message has this rating, once whoever changes it has ended."""
    found = run(connection, _RATED, conversation=conversation_id, seq=message_id, rating=rating)
    return found.one_or_none() is not None

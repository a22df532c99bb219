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
    insert,
    literal_column,
    or_,
    select,
)

from parleyd.contract.messages import Message
from parleyd.contract.pages import Page, PageRequest
from parleyd.store.asks import ASK_COLUMNS, ask_of
from parleyd.store.columns import Stored
from parleyd.store.pages import page_of, read_numbers
from parleyd.store.statements import given, rows_of
from parleyd.store.tables import asks, messages
from parleyd.turns.records import PlacedRow

_ROW_FIELDS: Final = [messages.c[name] for name in PlacedRow.model_fields]
_COLUMNS: Final = [messages.c[name] for name in Message.model_fields if name != "ask"]
_ROWS: Final = Stored(TypeAdapter(tuple[PlacedRow, ...]))

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
    rows = select(
        given("conversation", Uuid()),
        given("turn", Uuid()),
        given("turn_no", Integer()),
        *new.c,
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
    return page_of(found, page, lambda item: (str(item.turn_no), str(item.position)))

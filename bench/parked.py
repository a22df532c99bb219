"""Conversations that wait on an ask, many of them, made by SQL from one that the service made."""

from uuid import UUID

from bench.postgres import Connection
from bench.waiting import Waiting

_COPIES = """
CREATE TEMPORARY TABLE copies AS
SELECT n, gen_random_uuid() AS conversation, gen_random_uuid() AS turn, gen_random_uuid() AS ask
FROM generate_series(0, 0) AS n WITH NO DATA
"""
_NEW_COPIES = """
INSERT INTO copies
SELECT n, gen_random_uuid(), gen_random_uuid(), gen_random_uuid()
FROM generate_series($1::int, $2::int) AS n
"""
_COPY = """
INSERT INTO {table}
SELECT made.*
FROM copies
CROSS JOIN {table} AS original
CROSS JOIN LATERAL jsonb_populate_record(
  NULL::{table},
  {replaced}::jsonb || jsonb_build_object(
    'owner', $4::text, 'create_time', original.create_time - copies.n * interval '1 second'
  )
) AS made
WHERE original.{key}
ORDER BY copies.n DESC
"""
"""A row is copied as JSON, in which the ids are replaced: also within JSON columns, and within
events, whose bytes JSON shows in hexadecimal."""
_KEYS = {
    "conversations": "id = $1",
    "turns": "id = $2",
    "asks": "id = $3",
    "messages": "conversation_id = $1",
    "turn_steps": "chain_id = $2",
    "turn_events": "turn_id = $2",
}
_ORIGINAL = """
SELECT turns.id AS turn, asks.id AS ask
FROM asks JOIN turns ON turns.id = asks.created_by_turn
WHERE asks.conversation_id = $1 AND asks.status = 'pending'
"""


async def park_copies(
    connection: Connection, original: Waiting, numbers: range, owner: str
) -> None:
    """Copies a waiting conversation once for each number, with everything that belongs to it.

    The original is one prompt that led to an ask: its copies have rows in the same tables, equal
    but for their ids, their owner and their times, which lie so many seconds before the original's.
    They can be answered like any other. The original stays.
    """
    conversation = UUID(original.conversation_id)
    found = await connection.fetchrow(_ORIGINAL, conversation)
    assert found, "the original waits on an ask"
    async with connection.transaction():
        await connection.execute(_COPIES)
        await connection.execute(_NEW_COPIES, numbers.start, numbers.stop - 1)
        for table, key in _KEYS.items():
            statement = _COPY.format(table=table, key=key, replaced=_replaced())
            await connection.execute(statement, conversation, found["turn"], found["ask"], owner)
        await connection.execute("DROP TABLE copies")
    await connection.execute("VACUUM ANALYZE")


def _replaced() -> str:
    """Returns the expression of a row as JSON text with the copy's ids."""
    text = "to_jsonb(original)::text"
    for place, name in enumerate(("conversation", "turn", "ask"), 1):
        old, new = f"${place}::uuid::text", f"copies.{name}::text"
        text = f"replace({text}, {old}, {new})"
        text = f"replace({text}, {_hexadecimal(old)}, {_hexadecimal(new)})"
    return text


def _hexadecimal(text: str) -> str:
    return f"encode(convert_to({text}, 'UTF8'), 'hex')"

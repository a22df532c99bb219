"""The port of those who watch turns. No lock is taken, and no call opens a transaction."""

from collections.abc import Collection, Mapping
from typing import Final
from uuid import UUID

from sqlalchemy import Connection, RowMapping, and_, select
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.errors import TurnNotFound
from parleyd.contract.turns import Turn, TurnResult
from parleyd.store.engine import Database
from parleyd.store.events import read_events, read_last_events
from parleyd.store.owners import check_owner
from parleyd.store.statements import given, run
from parleyd.store.tables import conversations, turns
from parleyd.turns.turn_reader import StoredEvents


class PostgresTurnReader:
    """Reads turns from PostgreSQL; fulfils `TurnReader`."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._database = Database(engine)

    async def read_turn(self, owner: str, conversation_id: UUID, turn_id: UUID) -> Turn:
        """See `TurnReader`. One query."""
        return await self._database.read(
            lambda connection: read_turn(connection, owner, conversation_id, turn_id)
        )

    async def read_events(self, owner: str, turn_id: UUID, after: int) -> StoredEvents:
        """See `TurnReader`."""
        return await self._database.read(
            lambda connection: read_events(connection, owner, turn_id, after)
        )

    async def read_last_events(self, turn_ids: Collection[UUID]) -> Mapping[UUID, int]:
        """See `TurnReader`."""
        return await self._database.read(lambda connection: read_last_events(connection, turn_ids))


_RETRY: Final = turns.alias("retry")
_TURN: Final = (
    select(
        conversations.c.owner,
        conversations.c.delete_time.is_not(None).label("deleted"),
        turns.c.id,
        turns.c.state,
        turns.c.outcome,
        turns.c.last_event,
        turns.c.partial_text,
        turns.c.result,
        turns.c.retry_of,
        turns.c.create_time,
        turns.c.close_time,
        _RETRY.c.id.label("retried_by"),
    )
    .select_from(conversations)
    .join(
        turns,
        and_(turns.c.conversation_id == conversations.c.id, turns.c.id == given("turn")),
        isouter=True,
    )
    .join(_RETRY, _RETRY.c.retry_of == turns.c.id, isouter=True)
    .where(conversations.c.id == given("conversation"))
)
"""At most one row: a turn is retried at most once."""


def read_turn(connection: Connection, owner: str, conversation_id: UUID, turn_id: UUID) -> Turn:
    """Reads a turn as its owner sees it.

    Raises:
        ConversationNotFound: No such conversation, or it is deleted.
        NotOwner: It is someone else's.
        TurnNotFound: It has no such turn.
    """
    result = run(connection, _TURN, conversation=conversation_id, turn=turn_id)
    row = result.mappings().one_or_none()
    found, deleted = (row["owner"], row["deleted"]) if row else (None, True)
    check_owner(conversation_id, owner, found, deleted=deleted)
    if row is None or row["id"] is None:
        raise TurnNotFound(turn_id)
    return _turn_of(conversation_id, row)


def _turn_of(conversation_id: UUID, row: RowMapping) -> Turn:
    """Returns a turn: it runs until it is closed, though what it said may be stored before.

    What it said is a message then, and no partial text any more. A quiet turn has said nothing.
    """
    closed = row["state"] == "closed"
    result: TurnResult | None = row["result"] if closed else None
    if closed and result is None:
        result = TurnResult(
            conversation_id=conversation_id, turn_id=row["id"], state=row["outcome"]
        )
    return Turn(
        conversation_id=conversation_id,
        id=row["id"],
        state=row["outcome"] if closed else "running",
        last_event=row["last_event"],
        partial_text=row["partial_text"] if row["state"] == "running" else "",
        result=result,
        retry_of=row["retry_of"],
        retried_by=row["retried_by"],
        create_time=row["create_time"],
        close_time=row["close_time"],
    )

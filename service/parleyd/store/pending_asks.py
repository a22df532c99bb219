"""Pending asks for those who watch them: of many owners at once (spec turns 16.6)."""

from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import Connection, Result, Text, Uuid, any_, func, select
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.conversations import PendingAsk
from parleyd.store.asks import ASK_COLUMNS, IS_PENDING, ask_of
from parleyd.store.engine import Database
from parleyd.store.statements import given, run
from parleyd.store.tables import asks, conversations
from parleyd.turns.pending_feeds import FoundPending


class PostgresPendingReader:
    """Reads what watchers are told from PostgreSQL; fulfils `PendingReader`."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._database = Database(engine)

    async def read_asks(self, ask_ids: Iterable[UUID]) -> Sequence[PendingAsk]:
        """See `PendingReader`. One query.

        Raises:
            Unavailable: The database can't be reached.
        """
        named = list(ask_ids)
        return await self._database.read(lambda connection: read_asks(connection, named))

    async def read_pending(self, owners: Iterable[str]) -> FoundPending:
        """See `PendingReader`. Two queries, of which the first tells the time.

        Raises:
            Unavailable: The database can't be reached.
        """
        named = list(owners)
        return await self._database.read(lambda connection: read_pending(connection, named))


def read_asks(connection: Connection, ask_ids: Sequence[UUID]) -> Sequence[PendingAsk]:
    """Reads asks with the titles of their conversations, whatever has become of them."""
    return _asks_in(run(connection, _NAMED, asks=list(ask_ids)))


def read_pending(connection: Connection, owners: Sequence[str]) -> FoundPending:
    """Reads all that waits on some owners, oldest first.

    What came or went after the time that is told may be among it or not.
    """
    now = run(connection, _NOW).scalar_one()
    return FoundPending(_asks_in(run(connection, _PENDING, owners=list(owners))), now)


def _asks_in(result: Result[*tuple[object, ...]]) -> Sequence[PendingAsk]:
    return [
        PendingAsk(ask=ask, title=row["title"]) for row in result.mappings() if (ask := ask_of(row))
    ]


_NOW: Final = select(func.clock_timestamp())
_WITH_TITLES: Final = select(*ASK_COLUMNS, conversations.c.title).join_from(
    asks, conversations, conversations.c.id == asks.c.conversation_id
)
_NAMED: Final = _WITH_TITLES.where(asks.c.id == any_(given("asks", ARRAY(Uuid))))
_PENDING: Final = _WITH_TITLES.where(
    asks.c.owner == any_(given("owners", ARRAY(Text))),
    IS_PENDING,
    conversations.c.delete_time.is_(None),
).order_by(asks.c.create_time, asks.c.id)

"""Notices as whoever runs the service looks at them, and dead ones that are to be tried again."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import Connection, Integer, Uuid, any_, func, literal_column, select, update
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.value import Value
from parleyd.store.engine import Database
from parleyd.store.notice_tables import notices
from parleyd.store.statements import given, run
from parleyd.store.tables import asks


class ListedNotice(Value):
    """A notice, of which ask, and how far it has come. No word of what was asked is in it."""

    id: UUID
    state: str
    kind: str
    ask_id: UUID
    conversation_id: UUID
    tool_call_id: str
    attempts: int
    last_error: str | None
    create_time: datetime
    next_time: datetime
    end_time: datetime | None


class PostgresNoticeList:
    """Reads notices, and makes dead ones due."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._database = Database(engine)

    async def read(self, most: int) -> tuple[ListedNotice, ...]:
        """Returns the newest notices, the newest first.

        Raises:
            Unavailable: The database can't be reached.
        """
        return await self._database.read(lambda connection: _listed(connection, most, dead=False))

    async def read_dead(self, most: int) -> tuple[ListedNotice, ...]:
        """Returns the newest notices that are not tried any more.

        Raises:
            Unavailable: The database can't be reached.
        """
        return await self._database.read(lambda connection: _listed(connection, most, dead=True))

    async def retry(self, ids: Sequence[UUID]) -> frozenset[UUID]:
        """Makes dead notices due, as if they had never been tried, and returns which were dead.

        Raises:
            Unavailable: The database can't be reached.
        """
        made = await self._database.write_at_once(
            lambda connection: frozenset(run(connection, _RETRY, notices=list(ids)).scalars()),
            lambda _: None,
        )
        return made or frozenset()

    async def retry_all(self) -> frozenset[UUID]:
        """Makes every dead notice due, and returns which those were.

        Raises:
            Unavailable: The database can't be reached.
        """
        made = await self._database.write_at_once(
            lambda connection: frozenset(run(connection, _RETRY_ALL).scalars()), lambda _: None
        )
        return made or frozenset()


def _listed(connection: Connection, most: int, *, dead: bool) -> tuple[ListedNotice, ...]:
    statement = _LIST_DEAD if dead else _LIST
    return tuple(ListedNotice(**row) for row in run(connection, statement, most=most).mappings())


_IS_DEAD: Final = notices.c.state == literal_column("'dead'")
_LIST: Final = (
    select(
        *(
            asks.c[name] if name in {"conversation_id", "tool_call_id"} else notices.c[name]
            for name in ListedNotice.model_fields
        )
    )
    .join_from(notices, asks, asks.c.id == notices.c.ask_id)
    .order_by(notices.c.create_time.desc(), notices.c.id)
    .limit(given("most", Integer()))
)
_LIST_DEAD: Final = _LIST.where(_IS_DEAD)

_REVIVED: Final = (
    update(notices)
    .where(_IS_DEAD)
    .values(
        state=literal_column("'due'"),
        attempts=0,
        next_time=func.now(),
        end_time=None,
        last_error=None,
    )
    .returning(notices.c.id)
)
_RETRY_ALL: Final = _REVIVED
_RETRY: Final = _REVIVED.where(notices.c.id == any_(given("notices", ARRAY(Uuid))))

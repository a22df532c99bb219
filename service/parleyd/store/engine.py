"""The connection pool, transactions, and what an unreachable database looks like.

Every query of the layer goes through `Database`: it is the one place that tells a database that
can't be reached from a fault of ours.
"""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import asyncpg
from sqlalchemy import (
    BigInteger,
    Connection,
    Engine,
    Integer,
    column,
    event,
    func,
    select,
    table,
)
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, DisconnectionError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.util import greenlet_spawn

from parleyd.contract.errors import Unavailable
from parleyd.store.statements import AT_ONCE, driver_of, given, run

T = TypeVar("T")

CONNECT_SECONDS: Final = 5
POOL_SECONDS: Final = 5
"""How long a call waits for a free connection."""
ANSWER_SECONDS: Final = 10
"""How long a query may take on our side: longer than the server itself allows it."""
SESSION_END_MILLISECONDS: Final = 2000
"""How long to wait for the end of a lost session."""
LOOK_UP_DELAYS: Final = (0, 0.2, 1, 3)
"""When to ask whether a lost COMMIT went through, in seconds after each other."""

SESSION: Final = {
    "application_name": "parleyd",
    "default_transaction_isolation": "read committed",
    "lock_timeout": "3s",
    "statement_timeout": "8s",
    "idle_in_transaction_session_timeout": "8s",
}
"""All shorter than a lease (spec turns 3.5)."""

_LOST: Final = ("08", "28", "3D", "53", "57", "58", "25006", "25P03", "40001", "40P01", "55P03")
"""Beginnings of the SQLSTATEs of a database that can't serve this call now.

No connection or no way in, out of resources, stopped, read-only after a failover, timed out while a
transaction, a lock or a statement waited, or a deadlock.
"""


_CONNECTION_GONE: Final = ("08", "57P")
"""Those of them that end the connection, whatever became of its statement."""

_UNREACHABLE: Final = "The database can't be reached or did not answer in time. Try again."


def create_engine(url: str, *, pool_size: int) -> AsyncEngine:
    """Returns a pool of at most `pool_size` connections to the database of a `postgresql://` URL.

    The URL is libpq's: a query such as `?host=/folder/of/a/socket` or `?sslmode=require` counts.
    Nothing connects yet.
    """

    async def connect() -> "asyncpg.Connection[asyncpg.Record]":
        return await asyncpg.connect(
            url, timeout=CONNECT_SECONDS, command_timeout=ANSWER_SECONDS, server_settings=SESSION
        )

    engine = create_async_engine(
        "postgresql+asyncpg://",
        async_creator=connect,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=POOL_SECONDS,
        hide_parameters=True,
    )
    event.listen(engine.sync_engine, "checkout", _replace_closed)
    return engine


class Database:
    """Runs queries in one go each, off the caller's coroutine: a unit of work takes a connection.

    Works are plain functions of a connection. They hold one only while they run.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._at_once = engine.sync_engine.execution_options(isolation_level=AT_ONCE)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Runs queries that change nothing. Each sees what was committed when it began.

        Raises:
            Unavailable: The database can't be reached.
        """
        with lost_is_unavailable():
            return await greenlet_spawn(_connected, self._at_once, work)

    async def write(
        self, work: Callable[[Connection], T], happened: Callable[[Connection], bool]
    ) -> T:
        """Runs `work` as one transaction.

        Where the connection is lost in the COMMIT itself, `happened` finds out on a new one whether
        it went through. It waits for whatever `work` locked, and what it writes is rolled back.

        Raises:
            Unavailable: The database can't be reached. Nothing of `work` is stored, unless a COMMIT
                was lost and the database stays away.
        """
        with lost_is_unavailable():
            async with self._engine.connect() as connection:
                worked = await connection.run_sync(_in_transaction, work)
        if worked.lost and not await self._look_up(happened):
            raise Unavailable(_UNREACHABLE) from worked.lost
        return worked.outcome

    async def write_at_once(
        self, work: Callable[[Connection], T | None], found: Callable[[Connection], T | None]
    ) -> T | None:
        """Runs `work`, whose only write is its last statement, which commits as it ends.

        That is one round trip in place of three. `work` returns None where its statement found
        nothing to write, and so may `write_at_once`.

        Where the connection is lost in it, `found` reads on a new one what `work` would have
        returned; None says that nothing was written. The lost session is ended first: none of it
        can come late. `found` may wait for what the statement locked, and what it writes is rolled
        back.

        Raises:
            Unavailable: The database can't be reached. Nothing of `work` is stored, unless its
                connection was lost and the database stays away.
        """
        sessions: list[int] = []

        def noted(connection: Connection) -> T | None:
            sessions.append(driver_of(connection).get_server_pid())
            return work(connection)

        try:
            with lost_is_unavailable():
                return await greenlet_spawn(_connected, self._at_once, noted)
        except Unavailable as error:
            if not sessions or not _may_have_happened(error.__cause__):
                raise
            lost = error
        pid = sessions[0]
        outcome = await self._look_up(lambda connection: _after(connection, pid, found))
        if outcome is None:
            raise lost
        return outcome

    async def _look_up(self, happened: Callable[[Connection], T]) -> T:
        """Returns what `happened` says, as soon as there is a database to ask.

        Raises:
            Unavailable: There is none.
        """
        for delay in LOOK_UP_DELAYS[:-1]:
            await asyncio.sleep(delay)
            try:
                return await self._probe(happened)
            except Unavailable:
                continue
        await asyncio.sleep(LOOK_UP_DELAYS[-1])
        return await self._probe(happened)

    async def _probe(self, happened: Callable[[Connection], T]) -> T:
        with lost_is_unavailable():
            async with self._engine.connect() as connection:
                return await connection.run_sync(happened)


@dataclass(frozen=True)
class _Worked(Generic[T]):
    """What a work came to; `lost` is why nobody told whether its COMMIT went through."""

    outcome: T
    lost: Exception | None = None


def _in_transaction(connection: Connection, work: Callable[[Connection], T]) -> _Worked[T]:
    with connection.begin() as transaction:
        outcome = work(connection)
        try:
            transaction.commit()
        except Exception as error:
            if not is_lost(error):
                raise
            return _Worked(outcome, error)
    return _Worked(outcome)


def _connected(engine: Engine, work: Callable[[Connection], T]) -> T:
    """Runs `work` on a connection of the pool, all in one greenlet."""
    with engine.connect() as connection:
        return work(connection)


def _after(connection: Connection, session: int, found: Callable[[Connection], T]) -> T:
    """Returns what `found` reads once a lost session of ours is over."""
    run(connection, _END_SESSION, session=session, milliseconds=SESSION_END_MILLISECONDS)
    return found(connection)


_ACTIVITY: Final = table("pg_stat_activity", column("pid"), column("datname"), column("usename"))
_END_SESSION: Final = select(
    func.pg_terminate_backend(_ACTIVITY.c.pid, given("milliseconds", BigInteger()))
).where(
    _ACTIVITY.c.pid == given("session", Integer()),
    _ACTIVITY.c.pid != func.pg_backend_pid(),
    _ACTIVITY.c.usename == func.current_user(),
    _ACTIVITY.c.datname == func.current_database(),
)
"""Only of our own. Behind a pooler of connections the process is another's, and nothing matches."""


def violated(error: IntegrityError) -> str | None:
    """Returns the name of the constraint or unique index that a statement violated."""
    for cause in (error.orig, error.orig and error.orig.__cause__):
        if isinstance(cause, asyncpg.PostgresError):
            return cause.constraint_name
    return None


@contextmanager
def lost_is_unavailable() -> Generator[None]:
    """Turns the loss of the database into `Unavailable`; other faults pass.

    Raises:
        Unavailable: The database can't serve this call now.
    """
    try:
        yield
    except Exception as error:
        if is_lost(error):
            raise Unavailable(_UNREACHABLE) from error
        _forget_rows(error)
        raise


def is_lost(error: BaseException) -> bool:
    """Tells whether `error` means that the database can't serve this call now."""
    match error:
        case PoolTimeoutError() | OSError():
            return True
        case DBAPIError():
            state = getattr(error.orig, "sqlstate", None)
            return error.connection_invalidated or _is_lost_state(state)
        case asyncpg.PostgresError():
            return _is_lost_state(error.sqlstate)
        case _:
            return False


def _may_have_happened(error: BaseException | None) -> bool:
    """Tells whether a statement that failed so may have been committed all the same.

    What the server refused, with the connection still there, it has rolled back.
    """
    match error:
        case DBAPIError() if not error.connection_invalidated:
            state = getattr(error.orig, "sqlstate", None)
        case asyncpg.PostgresError():
            state = error.sqlstate
        case _:
            state = None
    return state is None or state.startswith(_CONNECTION_GONE)


def _forget_rows(error: BaseException | None) -> None:
    """Removes the rows that PostgreSQL quotes: what people wrote is not for a log (design D14)."""
    while error:
        if isinstance(error, asyncpg.PostgresError):
            error.detail = None
        error = error.__cause__


def _is_lost_state(state: str | None) -> bool:
    return state is not None and state.startswith(_LOST)


def _replace_closed(
    dbapi_connection: DBAPIConnection, entry: ConnectionPoolEntry, proxy: object
) -> None:
    """Replaces a pooled connection that the server has closed, without asking the server."""
    del dbapi_connection, proxy
    connection = entry.driver_connection
    if isinstance(connection, asyncpg.Connection) and connection.is_closed():
        raise DisconnectionError("The server closed this connection.")

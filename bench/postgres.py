"""A real PostgreSQL for a benchmark: its own folder, fsync on, and what it has written."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeAlias
from urllib.parse import urlsplit

import asyncpg

from parleyd.app.embedded_postgres import start
from parleyd.store.migrate import migrate

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


@asynccontextmanager
async def migrated_postgres(**conf: str) -> AsyncGenerator[str]:
    """Yields the address of a database with our tables, in a server that ends with the context.

    It is as safe as PostgreSQL is by default; `conf` are settings as in `postgresql.conf`.
    """
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as home:
        postgres = await asyncio.to_thread(start, Path(home), **conf)
        try:
            await migrate(postgres.url)
            yield postgres.url
        finally:
            await asyncio.to_thread(postgres.stop)


@asynccontextmanager
async def connected(url: str) -> AsyncGenerator[Connection]:
    """Yields a connection of the benchmark's own."""
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def another_database(url: str, name: str) -> str:
    """Makes another migrated database in the same server and returns its address."""
    async with connected(url) as connection:
        await connection.execute(f"CREATE DATABASE {name}")
    made = urlsplit(url)._replace(path=f"/{name}").geturl()
    await migrate(made)
    return made


async def another_user(url: str, name: str) -> str:
    """Makes another user who may do everything, and returns the address for them.

    So the connections of several processes can be told apart.
    """
    parts = urlsplit(url)
    async with connected(url) as connection:
        # Passwords are made of letters, digits, `-` and `_`.
        await connection.execute(f"CREATE ROLE {name} SUPERUSER LOGIN PASSWORD '{parts.password}'")
    return parts._replace(netloc=f"{name}:{parts.password}@").geturl()


@dataclass(frozen=True)
class Written:
    """What a database server wrote: bytes of WAL, and transactions that wrote something.

    Those of everybody count, such as heartbeats and the batches of the request log.
    """

    wal_bytes: int
    transactions: int

    @classmethod
    async def so_far(cls, connection: Connection) -> Self:
        """Reads what was written so far. Reading writes nothing and takes no transaction id."""
        row = await connection.fetchrow(
            "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint,"
            " pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
        )
        assert row
        return cls(row[0], row[1])

    def since(self, before: "Written") -> "Written":
        """Returns what was written between two moments."""
        return Written(self.wal_bytes - before.wal_bytes, self.transactions - before.transactions)

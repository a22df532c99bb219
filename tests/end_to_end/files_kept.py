"""Where the files of a deployment are, and everything else that it holds."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.turns.file_store import ByteStore, StoreFailed

DEADLINE = 30
WITHOUT_A_STORE: dict[str, Any] = {"file_store": "none"}
in_both_modes = pytest.mark.parametrize(
    "mode", [{}, WITHOUT_A_STORE], ids=["with_a_store", "without_a_store"]
)
"""Runs a test with a file store and without one: `mode` are settings (spec turns 11.1)."""


class WatchedBytes:
    """The real store of bytes of a server, behind counters and a switch; fulfils `ByteStore`.

    Give the server `wrap_bytes=watched.around`. `puts_left` are taken, no more than these;
    while it is `unreadable` nothing is read.
    """

    def __init__(self) -> None:
        self.reads: list[str] = []
        self.puts_left: int | None = None
        self.unreadable = False
        self._inner: ByteStore | None = None

    def around(self, inner: ByteStore) -> ByteStore:
        """Returns the store with this around it."""
        self._inner = inner
        return self

    async def put(self, key: str, data: bytes | BinaryIO) -> None:
        if self.puts_left is not None:
            if self.puts_left == 0:
                raise StoreFailed("The test says so.")
            self.puts_left -= 1
        await self._store.put(key, data)

    async def read(self, key: str) -> AsyncGenerator[bytes, None]:
        self.reads.append(key)
        if self.unreadable:
            raise StoreFailed("The test says so.")
        async with aclosing(self._store.read(key)) as pieces:
            async for piece in pieces:
                yield piece

    async def delete(self, key: str) -> None:
        await self._store.delete(key)

    async def signed_url(self, key: str, seconds: int) -> str | None:
        return await self._store.signed_url(key, seconds)

    @property
    def _store(self) -> ByteStore:
        assert self._inner, "no server was given this store"
        return self._inner


def objects(folder: Path) -> list[Path]:
    """Returns the objects in the store of the servers whose data are in `folder`."""
    return [path for path in (folder / "files").rglob("*") if path.is_file()]


async def file_rows(engine: AsyncEngine) -> int:
    """Counts the files that are known and not deleted."""
    return await _number(engine, "SELECT count(*) FROM files WHERE delete_time IS NULL")


async def used_rows(engine: AsyncEngine) -> int:
    """Counts the files that something refers to."""
    return await _number(engine, "SELECT count(*) FROM files WHERE use_time IS NOT NULL")


async def deleted(engine: AsyncEngine) -> list[str]:
    """Returns the ids of deleted files."""
    async with engine.connect() as connection:
        ids = await connection.scalars(
            text("SELECT id::text FROM files WHERE delete_time IS NOT NULL")
        )
        return list(ids.all())


async def swept(engine: AsyncEngine, folder: Path, left: int) -> None:
    """Makes every file older than unused ones may get, and waits until so many objects are left.

    The server has to sweep often: see `often_swept`.
    """
    async with engine.begin() as connection:
        await connection.execute(
            text("UPDATE files SET create_time = create_time - interval '25 hours'")
        )
    async with asyncio.timeout(DEADLINE):
        while len(objects(folder)) > left:
            await asyncio.sleep(0.05)


async def everything_stored(engine: AsyncEngine) -> bytes:
    """Returns all that the database holds, every column of every table."""
    held: list[bytes] = []
    async with engine.connect() as connection:
        columns = await connection.execute(
            text(
                "SELECT table_name, column_name, data_type FROM information_schema.columns"
                " WHERE table_schema = 'public'"
            )
        )
        for table, column, type_ in columns.all():
            read = f'"{column}"' if type_ == "bytea" else f'"{column}"::text'
            values = await connection.scalars(text(f'SELECT {read} FROM "{table}"'))
            held += [v.encode() if isinstance(v, str) else bytes(v or b"") for v in values]
    return b"\n".join(held)


def traces_of(data: bytes) -> list[bytes]:
    """Returns the forms in which the bytes of a file could have been kept, cut to what is sure."""
    middle = data[9:40]
    whole = b64encode(data)
    return [middle, middle.hex().encode(), repr(middle).encode()[2:-1], whole[:40], whole[12:52]]


async def _number(engine: AsyncEngine, statement: str) -> int:
    async with engine.connect() as connection:
        return (await connection.execute(text(statement))).scalar_one()

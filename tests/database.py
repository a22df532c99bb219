"""A real PostgreSQL for the tests: one private server a session, one fresh database a test.

Loaded as a pytest plugin by `tests/conftest.py`.
"""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.app.embedded_postgres import start
from parleyd.store.engine import create_engine
from parleyd.store.migrate import migrate

TEMPLATE = "parley_template"


class Server:
    """A private server with a database to copy, as the migrations leave it."""

    def __init__(self, url: str) -> None:
        self.url = url

    def url_of(self, database: str) -> str:
        """Returns the address of one database."""
        return urlsplit(self.url)._replace(path=f"/{database}").geturl()

    async def make(self, template: str = TEMPLATE) -> str:
        """Makes a database and returns its address. `template1` is one without tables."""
        name = f"test_{uuid4().hex}"
        await self._run(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url_of(name)

    async def drop(self, url: str) -> None:
        """Drops a database, whoever is connected to it."""
        await self._run(f"DROP DATABASE {urlsplit(url).path[1:]} WITH (FORCE)")

    async def _run(self, statement: str) -> None:
        connection = await asyncpg.connect(self.url)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()


@pytest.fixture(scope="session")
def postgres() -> Generator[Server]:
    """A server that is faster than it is safe."""
    home = Path(tempfile.mkdtemp(prefix="parley-tests-"))
    unsafe = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
    embedded = start(home, **unsafe, max_connections="200")
    try:
        server = Server(embedded.url)
        asyncio.run(_make_template(server))
        yield server
    finally:
        embedded.stop()
        shutil.rmtree(home)


async def _make_template(server: Server) -> None:
    connection = await asyncpg.connect(server.url)
    try:
        await connection.execute(f"CREATE DATABASE {TEMPLATE}")
    finally:
        await connection.close()
    await migrate(server.url_of(TEMPLATE))


@pytest.fixture
async def database_url(postgres: Server) -> AsyncGenerator[str]:
    """The address of a database of this test's own."""
    url = await postgres.make()
    yield url
    await postgres.drop(url)


@pytest.fixture
async def engine(database_url: str) -> AsyncGenerator[AsyncEngine]:
    """A pool of connections to this test's database."""
    engine = create_engine(database_url, pool_size=10)
    yield engine
    await engine.dispose()

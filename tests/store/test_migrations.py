"""The schema: the migrations, and the tables that the code speaks of, are the same."""

import asyncio
from collections.abc import AsyncGenerator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any
from urllib.parse import urlsplit

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, text

from parleyd import store
from parleyd.contract.errors import Unavailable
from parleyd.store.engine import create_engine
from parleyd.store.metadata import metadata
from parleyd.store.migrate import MigrationFailed, migrate
from tests.database import Server

for module in iter_modules(store.__path__, "parleyd.store."):
    if module.name.endswith("tables"):
        import_module(module.name)

CATALOG = {
    "columns": """
        SELECT relname, attname, format_type(atttypid, atttypmod), attnotnull, attidentity,
               pg_get_expr(adbin, adrelid)
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0
    """,
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    """,
    "indexes": "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
}


@pytest.fixture
async def empty_url(postgres: Server) -> AsyncGenerator[str]:
    """The address of a database without tables."""
    url = await postgres.make("template1")
    yield url
    await postgres.drop(url)


async def catalog(url: str, what: str) -> set[tuple[Any, ...]]:
    """Returns what PostgreSQL itself says of a schema, without the table of the migrations."""
    engine = create_engine(url, pool_size=1)
    try:
        async with engine.connect() as connection:
            rows = await connection.execute(text(CATALOG[what]))
            return {tuple(row) for row in rows if row[0] != "alembic_version"}
    finally:
        await engine.dispose()


@pytest.mark.parametrize("what", CATALOG)
async def test_the_migrations_make_the_tables_that_the_code_speaks_of(
    database_url: str, empty_url: str, what: str
) -> None:
    engine = create_engine(empty_url, pool_size=1)
    async with engine.begin() as connection:
        await connection.run_sync(metadata.create_all)
    await engine.dispose()

    assert await catalog(database_url, what) == await catalog(empty_url, what)


async def test_alembic_finds_nothing_to_migrate(database_url: str) -> None:
    def differences(connection: Connection) -> list[Any]:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        return compare_metadata(context, metadata)

    engine = create_engine(database_url, pool_size=1)
    async with engine.connect() as connection:
        assert await connection.run_sync(differences) == []
    await engine.dispose()


@pytest.mark.parametrize(
    ("index", "definition"),
    [
        ("asks_one_pending", "UNIQUE INDEX (conversation_id) WHERE (status = 'pending'::text)"),
        (
            "asks_pending_by_owner",
            "INDEX (owner, create_time DESC, id) WHERE (status = 'pending'::text)",
        ),
        (
            "conversations_by_owner",
            "INDEX (owner, update_time DESC, id) WHERE (delete_time IS NULL)",
        ),
        (
            "files_unused",
            "INDEX (create_time) WHERE ((use_time IS NULL) AND (delete_time IS NULL))",
        ),
        (
            "messages_one_result_per_ask",
            "UNIQUE INDEX (ask_id) WHERE ((type = 'tool_result'::text) AND (ask_id IS NOT NULL))",
        ),
        ("turns_lease", "INDEX (lease_until) WHERE (state <> 'closed'::text)"),
    ],
)
async def test_the_indexes_that_rules_lean_on_are_there(
    database_url: str, index: str, definition: str
) -> None:
    found = {name: made for _, name, made in await catalog(database_url, "indexes")}
    kind, columns = definition.split(" (", 1)

    assert found[index].startswith(f"CREATE {kind} {index} ON ")
    assert found[index].endswith(f"({columns}")


async def test_migrating_is_done_once_however_many_start_at_once(
    empty_url: str, database_url: str
) -> None:
    assert await catalog(empty_url, "columns") == set()

    await asyncio.gather(*(migrate(empty_url) for _ in range(4)))

    assert await catalog(empty_url, "columns") == await catalog(database_url, "columns")


async def test_migrating_again_changes_nothing(database_url: str) -> None:
    before = await catalog(database_url, "columns")

    await migrate(database_url)

    assert await catalog(database_url, "columns") == before


async def test_without_a_database_there_is_nothing_to_migrate(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        await migrate(f"postgresql://nobody@/nowhere?host={tmp_path}")


async def test_a_database_of_a_later_version_is_refused(database_url: str) -> None:
    engine = create_engine(database_url, pool_size=1)
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    await engine.dispose()
    with pytest.raises(MigrationFailed, match="later version"):
        await migrate(database_url)


async def test_a_user_who_may_not_migrate_is_told_so(empty_url: str) -> None:
    engine = create_engine(empty_url, pool_size=1)
    async with engine.begin() as connection:
        await connection.execute(text("CREATE ROLE guest LOGIN PASSWORD 'guest'"))
        await connection.execute(text("REVOKE CREATE ON SCHEMA public FROM PUBLIC"))
    await engine.dispose()
    url = urlsplit(empty_url)
    guest = url._replace(netloc="guest:guest@" + url.netloc.rpartition("@")[2]).geturl()
    with pytest.raises(MigrationFailed, match="permission denied"):
        await migrate(guest)

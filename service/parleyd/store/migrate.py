"""Brings a database's schema to this version."""

from typing import Final

import asyncpg
from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, NullPool, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from parleyd.store.engine import CONNECT_SECONDS, lost_is_unavailable

_LOCK: Final = 0x7061726C6579
"""The key of the advisory lock, `parley` in ASCII."""


class MigrationFailed(Exception):
    """The database can't be brought to this version; nothing was changed. The text says why."""


async def migrate(url: str) -> None:
    """Runs every migration that the database has not seen, all of them or none.

    Of several processes that start at once one does it while the others wait. A repeat changes
    nothing.

    Raises:
        Unavailable: The database can't be reached.
        MigrationFailed: A later version of this service has migrated it, or its user may not.
    """
    engine = _engine(url)
    try:
        with lost_is_unavailable():
            async with engine.begin() as connection:
                await connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
                await connection.run_sync(_upgrade)
    except CommandError as error:
        raise MigrationFailed(
            "A later version of Parley has migrated this database: run that version, or another "
            "database."
        ) from error
    except DBAPIError as error:
        raise MigrationFailed(f"The database refuses a migration: {error.orig}") from error
    finally:
        await engine.dispose()


def _engine(url: str) -> AsyncEngine:
    """Returns an engine without the time limits of the service: a migration may take its time."""

    async def connect() -> "asyncpg.Connection[asyncpg.Record]":
        return await asyncpg.connect(url, timeout=CONNECT_SECONDS)

    return create_async_engine("postgresql+asyncpg://", async_creator=connect, poolclass=NullPool)


def _upgrade(connection: Connection) -> None:
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", "parleyd.store:migrations")
    return config

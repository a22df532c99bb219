"""The database of this process: the one that is configured, or one of our own on this machine."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from parleyd.app.embedded_postgres import PostgresStartError, start
from parleyd.app.faults import CommandFailed, ConfigurationError
from parleyd.app.settings import Settings
from parleyd.contract.errors import Unavailable
from parleyd.store.migrate import MigrationFailed, migrate


@asynccontextmanager
async def migrated_database(settings: Settings) -> AsyncGenerator[str]:
    """Yields the URL of a database whose schema is this version's (design D1).

    Without `database_url` it is a PostgreSQL in `data_dir`, which runs as long as the context; one
    that runs there already is used and left running.

    Raises:
        ConfigurationError: `database_url` is malformed.
        CommandFailed: The database can't be started, reached or brought to this version.
    """
    if settings.database_url:
        url = settings.database_url.get_secret_value()
        await _migrate(url)
        yield url
        return
    try:
        server = await asyncio.to_thread(start, settings.data_dir / "postgres")
    except PostgresStartError as error:
        raise CommandFailed(str(error)) from error
    try:
        await _migrate(server.url)
        yield server.url
    finally:
        await asyncio.to_thread(server.stop)


async def _migrate(url: str) -> None:
    try:
        await migrate(url)
    except Unavailable as error:
        raise CommandFailed(f"The database can't be reached: {error.__cause__ or error}") from error
    except MigrationFailed as error:
        raise CommandFailed(str(error)) from error
    except ValueError as error:
        raise ConfigurationError(
            "PARLEY_DATABASE_URL can't be read as an address: write postgresql://user:password"
            "@host:port/name and percent-encode what is special in the password."
        ) from error

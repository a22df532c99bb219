"""What `parleyd notices` does on the database that the settings name."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

from parleyd.app.database import migrated_database
from parleyd.app.faults import CommandFailed
from parleyd.app.logs import set_up_logs
from parleyd.app.settings_sources import load_settings
from parleyd.contract.errors import Unavailable
from parleyd.store.engine import create_engine
from parleyd.store.listed_notices import PostgresNoticeList


async def listed(most: int, *, dead: bool) -> list[str]:
    """Returns the newest notices as lines of JSON.

    Raises:
        ConfigurationError: The settings can't be.
        CommandFailed: The database can't be reached.
    """
    async with _notices() as notices:
        found = await (notices.read_dead(most) if dead else notices.read(most))
    return [each.model_dump_json() for each in found]


async def made_due(ids: Sequence[str]) -> int:
    """Makes these dead notices due, or all if none is named, and returns how many were dead.

    Raises:
        ConfigurationError: The settings can't be.
        CommandFailed: The database can't be reached, or some of these are no dead notices.
    """
    wanted = {id_: _uuid(id_) for id_ in ids}
    async with _notices() as notices:
        known = [key for key in wanted.values() if key]
        made = await (notices.retry(known) if wanted else notices.retry_all())
    if unknown := [id_ for id_, key in wanted.items() if key not in made]:
        raise CommandFailed(
            f"{len(made)} due; of no dead notice: {', '.join(unknown)}. See parleyd notices --dead."
        )
    return len(made)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


@asynccontextmanager
async def _notices() -> AsyncGenerator[PostgresNoticeList]:
    settings = load_settings()
    set_up_logs("warning", settings.log_style)
    async with migrated_database(settings) as url:
        engine = create_engine(url, pool_size=1)
        try:
            yield PostgresNoticeList(engine)
        except Unavailable as error:
            raise CommandFailed(f"The database can't be reached: {error}") from error
        finally:
            await engine.dispose()

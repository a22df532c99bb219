"""The schema: migrations and tables say the same."""

import asyncio

from parleyd.store.migrate import is_current, migrate

from tests.database import Server


async def test_migrating_is_done_once_however_many_start_at_once(postgres: Server) -> None:
    url = await postgres.make("template1")
    assert not await is_current(url)

    await asyncio.gather(*(migrate(url) for _ in range(4)))

    assert await is_current(url)
    await postgres.drop(url)

"""Where a service keeps files, and that it sweeps them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.app.faults import ConfigurationError
from parleyd.app.ids import RandomIds
from parleyd.app.settings import Settings
from parleyd.app.wiring import running_service
from parleyd.contract import limits
from parleyd.contract.files import File
from parleyd.store.byte_stores import byte_store_of
from parleyd.store.files import PostgresFileRows
from parleyd.turns.files import Files

DEADLINE = 5


@asynccontextmanager
async def serving(folder: Path, database_url: str, **more: Any) -> AsyncGenerator[None]:
    settings = Settings(environment="development", port=0, data_dir=folder, **more)
    async with running_service(settings, database_url=database_url):
        yield


async def _forgotten(engine: AsyncEngine, folder: Path) -> File:
    """Returns a file that nothing has referred to in its time."""
    files = Files(PostgresFileRows(engine), byte_store_of(str(folder)), RandomIds())
    file = await files.keep("ada", "plan.txt", "text/plain", b"plan")
    async with engine.begin() as connection:
        await connection.execute(
            text(
                "UPDATE files SET create_time = now() - make_interval(hours => :hours, mins => 1)"
            ),
            {"hours": limits.UNUSED_FILE_HOURS},
        )
    return file


async def test_files_lie_in_the_data_folder_where_nothing_else_is_said(
    tmp_path: Path, database_url: str
) -> None:
    async with serving(tmp_path, database_url):
        assert (tmp_path / "files").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("form", ["a folder", "a URL"])
async def test_files_lie_where_the_setting_says(
    tmp_path: Path, database_url: str, form: str
) -> None:
    place = tmp_path / "elsewhere"
    named = str(place) if form == "a folder" else place.as_uri()

    async with serving(tmp_path, database_url, file_store=named):
        assert place.is_dir()

    assert not (tmp_path / "files").exists()


async def test_without_a_store_there_is_no_folder(tmp_path: Path, database_url: str) -> None:
    async with serving(tmp_path, database_url, file_store="none"):
        assert not (tmp_path / "files").exists()


async def test_a_store_that_can_not_be_used_stops_the_start(
    tmp_path: Path, database_url: str
) -> None:
    told = "PARLEY_FILE_STORE can't be used: Files lie in a folder or in a bucket"

    with pytest.raises(ConfigurationError, match=told):
        async with serving(tmp_path, database_url, file_store="memory:///"):
            pass


async def test_a_service_sweeps_what_nothing_refers_to(
    tmp_path: Path, database_url: str, engine: AsyncEngine
) -> None:
    folder = tmp_path / "files"
    file = await _forgotten(engine, folder)
    assert (folder / file.storage_key).exists()

    async with serving(tmp_path, database_url), asyncio.timeout(DEADLINE), engine.connect() as read:
        while not (await read.execute(text("SELECT purge_time FROM files"))).scalar():
            await read.rollback()

    assert not (folder / file.storage_key).exists()

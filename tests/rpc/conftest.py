"""What the tests of the wire share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

import parley
from parleyd.app.development_key import DevelopmentKey
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.person import Person
from tests.rpc.file_calls import CAP
from tests.rpc.file_server import FileServer, serving_files
from tests.rpc.refusals import Paused
from tests.rpc.wire import Wire, serving
from tests.server import Server, StartServer
from tests.standard_asks import ask_plan

REPLIES = 20


@pytest.fixture
def key(tmp_path: Path) -> DevelopmentKey:
    """A key of the test's own."""
    return DevelopmentKey.in_folder(tmp_path)


@pytest.fixture
async def wire(key: DevelopmentKey) -> AsyncIterator[Wire]:
    """A server whose servicer does what the test says."""
    async with serving(key) as running:
        yield running


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    """A server whose agent asks PLAN for a start and then says little."""
    return await start_server(in_turn([ask_plan()], *[[Text("Well.")]] * REPLIES))


@pytest.fixture
async def noor(server: Server) -> Person:
    """A person who talks to it."""
    return await server.person()


@pytest.fixture
async def paused(start_server: StartServer, engine: AsyncEngine) -> Paused:
    """A conversation of its own that waits on PLAN."""
    server = await start_server(in_turn([ask_plan()]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    return Paused(server, engine, noor.client, asked.conversation_id)


@pytest.fixture
async def file_server(engine: AsyncEngine, tmp_path: Path) -> AsyncIterator[FileServer]:
    """A server of files of at most `CAP` bytes."""
    async with serving_files(engine, tmp_path, file_bytes=CAP) as running:
        yield running


@pytest.fixture
async def uploader(file_server: FileServer) -> parley.Client:
    """Noor's connection to it."""
    return await file_server.client()

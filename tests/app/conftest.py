"""What the tests of the command line and of its chat share."""

import io
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.console import Console

from parleyd.app.chat.terminal import Terminal
from parleyd.models.played import Pick
from tests.app.desk import Desk
from tests.app.display import Display
from tests.app.processes import processes_in
from tests.app.seat import Seat, Sit
from tests.server import StartServer


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A data folder that a database server can reach that runs as another user."""
    folder = Path(tempfile.mkdtemp(prefix="parley-cli-"))
    folder.chmod(0o711)
    yield folder
    left = processes_in(folder)
    shutil.rmtree(folder)
    assert left == []


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[PipeInput]:
    """The keyboard of the terminal in this test. Keys that nobody reads yet wait for who does.

    Nobody has named an editor.
    """
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


@pytest.fixture
def screen() -> io.StringIO:
    """All that was printed, but for the prompts and menus themselves."""
    return io.StringIO()


@pytest.fixture
def terminal(screen: io.StringIO) -> Terminal:
    """A terminal of 100 columns."""
    return Terminal(Console(file=screen, width=100))


@pytest.fixture
def desk(terminal: Terminal, keys: PipeInput, screen: io.StringIO) -> Desk:
    return Desk(terminal, keys, screen)


@pytest.fixture
def sit(start_server: StartServer, keys: PipeInput, screen: io.StringIO) -> Sit:
    """Seats somebody before a service that plays a script."""

    async def take_a_seat(pick: Pick, **settings: Any) -> Seat:
        server = await start_server(pick, **settings)
        return Seat(await server.person(), keys, screen)

    return take_a_seat


@pytest.fixture
async def display() -> Display:
    """A screen of 24 lines of 80 columns."""
    return Display()

"""What the tests of the whole service may ask for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from parleyd.app import wiring
from parleyd.contract import limits
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.paused import Paused
from tests.receiver import Receiver, receiving
from tests.server import StartServer
from tests.standard_asks import ask_plan
from tests.standard_tools import StandardTools


@pytest.fixture
def tools(tmp_path: Path) -> StandardTools:
    return StandardTools(tmp_path / "runs")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Who is told of asks by a webhook, where a server has its settings."""
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def often_polled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets servers of this process see soon what a test has changed in the tables."""
    monkeypatch.setattr(limits, "POLL_SECONDS", 0.05)


@pytest.fixture
def often_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets servers of this process sweep their files ten times a second."""
    monkeypatch.setattr(wiring, "CLEARING_SECONDS", 0.1)


@pytest.fixture
async def paused(start_server: StartServer) -> Paused:
    server = await start_server(
        in_turn(
            [ask_plan(b"\x00\x01signature")],
            [Text("Setting up the Team plan.")],
            [Text("You are welcome.")],
        )
    )
    noor = await server.person()
    return Paused(server, noor, await noor.prompt("Set up my workspace"))

"""What the tests of the whole service may ask for."""

import pytest

from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.paused import Paused
from tests.server import StartServer
from tests.standard_asks import ask_plan


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

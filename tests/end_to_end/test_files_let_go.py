"""Files leave the process with the turn that showed them, and don't wait to be collected."""

import asyncio
import gc
from collections.abc import Iterator

import pytest

from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from parleyd.turns.model import MediaShown
from parleyd.turns.runner import TurnRun
from tests.end_to_end.attached import attachment, message
from tests.server import StartServer

SCAN = b"%PDF-1.7\n of this test alone"


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Lets no garbage collector run but before."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def held() -> list[str]:
    """Returns what there is of turns and of the file, garbage that is not collected included."""
    return [
        type(each).__name__
        for each in gc.get_objects()
        if isinstance(each, TurnRun) or (isinstance(each, MediaShown) and each.data == SCAN)
    ]


@pytest.mark.usefixtures("uncollected")
async def test_a_turn_that_has_ended_holds_no_file_any_more(start_server: StartServer) -> None:
    server = await start_server(in_turn([Text("A tent.")]))
    noor = await server.person()

    await noor.play(message(attachment("scan.pdf", "application/pdf", SCAN)))

    assert held()
    server.model.calls.clear()
    async with asyncio.timeout(5):
        while held():
            await asyncio.sleep(0.02)

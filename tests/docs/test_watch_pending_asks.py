"""The page on watching says what happens, and its code runs as it stands."""

import asyncio
import re
from pathlib import Path
from typing import Any, Final

from parley.v1 import turns_pb2
from parleyd.contract import limits
from parleyd.models.script import Text
from parleyd.models.scripted import by_progress
from tests.end_to_end.person import accept
from tests.rpc.web.http import events_of, http_front
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, ask_plan

PAGE: Final = (Path(__file__).parents[2] / "docs" / "how-to" / "watch-pending-asks.md").read_text(
    "utf-8"
)
(PROGRAM,) = re.findall("```python\n(.*?)```", PAGE, re.DOTALL)
SECONDS: Final = 20


async def test_the_program_keeps_the_list_of_what_waits(start_server: StartServer) -> None:
    server = await start_server(by_progress([ask_plan()], [Text("Done.")]))
    noor = await server.person()
    printed: asyncio.Queue[list[str]] = asyncio.Queue()
    names: dict[str, Any] = {"__name__": "watch", "print": printed.put_nowait}
    program = PROGRAM.replace("127.0.0.1:50051", server.address)
    exec(compile(program, "watch-pending-asks.md", "exec"), names)  # the code that readers copy
    running = asyncio.create_task(names["main"](server.token()))
    question = "Which plan do you want?"
    async with asyncio.timeout(SECONDS):
        assert await printed.get() == []
        asked = await noor.prompt("Set up my workspace")
        assert await printed.get() == [question]
        await noor.prompt("Another one")
        assert await printed.get() == [question] * 2
        await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
        assert await printed.get() == [question]
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_it_is_a_stream_of_events_over_http(start_server: StartServer) -> None:
    server = await start_server(by_progress([ask_plan()]))
    noor = await server.person()
    (path,) = re.findall(r"http://127\.0\.0\.1:8080(\S+)$", PAGE, re.MULTILINE)
    async with (
        http_front(server.address, server.token()) as http,
        asyncio.timeout(SECONDS),
        http.stream("GET", path) as response,
    ):
        assert response.headers["content-type"].startswith("text/event-stream")
        events = events_of(response)
        first = await anext(events)
        assert first is not None
        assert first.data["snapshot"].get("pendingAsks", []) == []
        await noor.prompt("Set up my workspace")
        async for event in events:
            if event:
                assert event.data["added"]["toolCallId"] == PLAN_ID
                break


def test_the_table_has_every_message() -> None:
    changes = turns_pb2.WatchPendingAsksResponse.DESCRIPTOR.oneofs_by_name["change"].fields
    rows = PAGE.partition("| message | means |")[2].split("\n\n")[0].splitlines()[2:]
    assert [row.split("`")[1] for row in rows[:-1]] == [field.name for field in changes]
    assert f"every {limits.QUIET_SECONDS} seconds" in rows[-1]

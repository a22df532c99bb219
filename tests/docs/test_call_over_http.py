"""The commands of the page do what it says, with a client that reads them as curl does."""

import re
import shlex
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2

from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.rpc.web.http import body, events_of, http_front
from tests.server import StartServer
from tests.server_process import LIFETIME
from tests.standard_asks import ask_plan

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "call-over-http.md").read_text("utf-8")
COMMANDS = [
    line
    for block in re.findall(r"^```\n(curl .*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for line in block.replace("\\\n", "").splitlines()
]
NOTES = b"Bring the tent.\n"


async def run(http: httpx2.AsyncClient, command: str, **names: str) -> httpx2.Response:
    """Sends what a command of curl would, with names in place of those on the page."""
    for name, value in names.items():
        command = re.sub(rf"\b{name}\b", value, command)
    _, *words = shlex.split(command)
    path, headers = "", dict[str, str]()
    more: dict[str, Any] = {}
    while words:
        match words.pop(0):
            case "-s" | "-sN" | "-OJ":
                pass
            case "-H":
                name, _, value = words.pop(0).partition(": ")
                headers[name] = value.replace("$TOKEN", http.headers["authorization"][7:])
            case "-d":
                more["content"] = words.pop(0)
            case "-F":
                assert words.pop(0) == "file=@notes.txt;type=text/plain"
                more["files"] = {"file": ("notes.txt", NOTES, "text/plain")}
            case url:
                path = url.removeprefix("$PARLEY")
    response = await http.request("POST" if more else "GET", path, headers=headers, **more)
    assert response.status_code == 200, response.text
    return response


async def test_the_commands_of_the_page_do_what_it_says(start_server: StartServer) -> None:
    stream, make, ask, press, answer, upload, download = COMMANDS
    server = await start_server(
        in_turn([ask_plan()], [ask_plan()], [Text("Well.")], [ask_plan()], [Text("Good.")])
    )
    async with http_front(server.address, server.key.issue("noor", LIFETIME)) as http:
        streamed = await run(http, stream)
        events = [event async for event in events_of(streamed)]
        made = body(await run(http, make))["conversation"]["conversationId"]
        asked = body(await run(http, ask, CONVERSATION=made))["result"]
        call_id = asked["pendingAsk"]["toolCallId"]
        names = {"CONVERSATION": made, "CALL": call_id, "UUID": str(uuid4())}
        pressed = body(await run(http, press, **names))["result"]
        again = body(await run(http, ask, CONVERSATION=made))["result"]
        names["CALL"] = again["pendingAsk"]["toolCallId"]
        answered = body(await run(http, answer, **names))["result"]
        file = body(await run(http, upload))["file"]
        downloaded = await run(http, download, FILE=file["fileId"])
    assert [next(iter(event.data)) for event in events if event] == ["started", "ask", "done"]
    assert asked["state"] == "STATE_PAUSED"
    assert pressed["text"] == "Well."
    assert answered["text"] == "Good."
    assert downloaded.content == NOTES

"""The code of the page on Kotlin compiles and runs as it stands."""

import json
import re
from pathlib import Path
from typing import Final

import pytest

from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.clients.kotlin.scenes import CLIENT, REPOSITORY, java
from tests.clients.scenes import ran
from tests.gateway.conftest import StartGateway
from tests.server import Server, StartServer
from tests.standard_asks import ask_plan
from tests.standard_tools import DELETE, StandardTools, delete

pytestmark = pytest.mark.timeout(600)
"""The first test compiles the client, and gets what it is built with."""

PAGE: Final = REPOSITORY / "docs" / "how-to" / "call-from-kotlin.md"
PROGRAMS: Final = CLIENT / "src" / "test" / "kotlin" / "page"
TEAM: Final = [Text("Team it is.")]


def test_the_code_of_the_page_is_that_of_the_programs() -> None:
    blocks = re.findall(r"```kotlin\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    *compiled, on_a_watch = blocks
    programs = [path.read_text(encoding="utf-8") for path in sorted(PROGRAMS.iterdir())]
    assert compiled[0] in programs
    assert [block for block in compiled if not any(block in each for each in programs)] == []
    assert "@Composable" in on_a_watch


async def test_the_program_asks_and_presses_a_button(
    built: str, start_server: StartServer, start_gateway: StartGateway
) -> None:
    server = await start_server(in_turn([ask_plan()], TEAM), web=True)
    assert await printed(built, "page.ChatKt", start_gateway, server) == [
        "Which plan do you want? [Team, Starter, Enterprise]",
        "Team it is.",
    ]


async def test_what_is_written_is_shown(
    built: str, start_server: StartServer, start_gateway: StartGateway
) -> None:
    server = await start_server(in_turn([Text("Hello "), Text("there.")]), web=True)
    shown = await printed(built, "page.PageKt", start_gateway, server, "say")
    assert all("Hello there.".startswith(line) for line in shown)
    assert shown[-1] == "Hello there."


async def test_a_question_is_answered(
    built: str, start_server: StartServer, start_gateway: StartGateway
) -> None:
    server = await start_server(in_turn([ask_plan()], TEAM), web=True)
    answered = await printed(built, "page.PageKt", start_gateway, server, "answer")
    assert answered == ["Team it is."]


async def test_a_call_is_approved(
    built: str, start_server: StartServer, start_gateway: StartGateway, tmp_path: Path
) -> None:
    tools = StandardTools(tmp_path / "runs")
    script = in_turn([delete(note="a\u202eb")], [Text("Gone.")])
    server = await start_server(script, tools=tools.all_hosted, web=True)
    decided = await printed(built, "page.PageKt", start_gateway, server, "decide")
    assert decided == [rf'{DELETE} {{"note":"a\u202eb"}}', "Gone."]
    assert len(tools.runs(DELETE)) == 1


async def test_a_turn_is_watched_from_a_place(
    built: str, start_server: StartServer, start_gateway: StartGateway
) -> None:
    server = await start_server(in_turn([ask_plan()]), web=True)
    watched = await printed(built, "page.PageKt", start_gateway, server, "goOn")
    assert watched == ["2 ASK", "3 DONE"]


async def test_an_error_is_read(
    built: str, start_server: StartServer, start_gateway: StartGateway
) -> None:
    server = await start_server(in_turn([ask_plan()], TEAM), web=True)
    assert await printed(built, "page.PageKt", start_gateway, server, "press") == [
        "Team it is.",
        "Somebody else was faster: accept",
    ]


async def test_a_form_with_a_file_is_sent(
    built: str, start_server: StartServer, start_gateway: StartGateway
) -> None:
    server = await start_server(in_turn(), web=True)
    (told,) = await printed(built, "page.PageKt", start_gateway, server, "upload")
    file, data = await (await server.person()).download(json.loads(told)["file"]["fileId"])
    assert (file.filename, file.mime_type, data) == ("notes.txt", "text/plain", b"Hi.")


async def printed(
    built: str, program: str, start_gateway: StartGateway, server: Server, *acts: str
) -> list[str]:
    """Runs a program of the page, and returns the lines that it prints."""
    base_url = f"http://{(await start_gateway(server)).address}"
    command = java(built, program, *acts, base_url, server.token())
    return await ran(*command, folder=CLIENT)

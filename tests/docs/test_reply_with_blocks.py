"""The page on replies as documents says what happens, and its code runs as it stands."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from parley.v1 import turns_pb2 as pb
from parleyd.app.settings_sources import load_settings
from parleyd.contract import limits
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.prompt import prompt_section
from parleyd.models.script import ScriptedStep, Text
from parleyd.models.scripted import in_turn
from parleyd.turns.block_replies import NOTE
from tests.docs.pages import codes_in
from tests.rpc.wire import HOUR
from tests.server import Server, StartServer
from tests.standard_asks import ask_plan

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "reply-with-blocks.md").read_text("utf-8")
(PROGRAM,) = re.findall("```python\n(.*?)```", PAGE, re.DOTALL)
START, COMMAND, SETTINGS = re.findall(
    "```\n(.*?)```", re.sub("```python\n.*?```", "", PAGE, flags=re.DOTALL), re.DOTALL
)
EVENTS = [codes_in(line.split("|")[1])[0] for line in PAGE.splitlines() if line.startswith("| `")]
SOON = 10
VALID = """v: 1
blocks:
  - {type: heading, text: Loans}
  - {type: metric, label: Harbour, value: "41"}
  - {type: text, markdown: Most are novels.}
  - {type: divider}"""
DRAWN = ["# Loans", "Harbour 41", "Most are novels.", "(divider)"]
INVALID = "v: 1\nblocks:\n  - {type: heading}"
WITHOUT_ID = """v: 1
blocks:
  - type: actions
    elements: [{type: button, id: more, text: More, action: {kind: reply, text: More}}]"""
PROSE = "Harbour lends most."


async def printed(server: Server) -> list[str]:
    """Returns what the program of the page prints of one turn."""
    lines: list[str] = []

    def note(*values: object) -> None:
        lines.append(" ".join(map(str, values)))

    names: dict[str, Any] = {"__name__": "show", "print": note}
    program = PROGRAM.replace("127.0.0.1:50051", server.address)
    exec(compile(program, "reply-with-blocks.md", "exec"), names)  # the very code readers copy
    async with asyncio.timeout(SOON):
        await names["main"](server.key.issue("noor", HOUR), "Which branch lends most?")
    return lines


def test_the_command_runs_the_program_as_it_can_be_run() -> None:
    assert COMMAND == '.venv/bin/python show.py TOKEN "Which branch lends most?"\n'
    assert "asyncio.run(main(*sys.argv[1:]))" in PROGRAM


@pytest.mark.parametrize(
    ("says", "lines"),
    [
        (VALID, DRAWN),
        (f"```yaml\n{VALID}\n```", DRAWN),
        (INVALID, [INVALID]),
        (PROSE, [PROSE]),
    ],
    ids=["a document", "one in a fence", "one that breaks a rule", "prose"],
)
async def test_the_program_shows_documents_and_what_is_none(
    start_server: StartServer, says: str, lines: list[str]
) -> None:
    server = await start_server(in_turn([Text(says)]), blocks=True)
    assert await printed(server) == lines
    section = prompt_section(BlockOptions(host_actions=()))
    assert section in str(server.model.calls[0].system)


@pytest.mark.parametrize(
    ("mended", "lines"), [(VALID, DRAWN), (PROSE, [PROSE])], ids=["mended", "not mended"]
)
async def test_the_program_shows_what_takes_the_place_of_a_reply(
    start_server: StartServer, mended: str, lines: list[str]
) -> None:
    server = await start_server(
        in_turn([Text(INVALID)], [Text(mended)]), blocks=True, blocks_repair=True
    )
    assert await printed(server) == lines


def test_the_events_of_the_page_are_those_of_documents() -> None:
    there = [field.name for field in pb.TurnEvent.DESCRIPTOR.oneofs_by_name["event"].fields]
    assert [name for name in EVENTS if name not in there] == []
    assert {"text", *(name for name in there if "blocks" in name or "replaced" in name)} == {
        *EVENTS
    }


def test_the_settings_of_the_page_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    first, *_ = START.split()
    for line in (first, *SETTINGS.split(), "PARLEY_BLOCKS_REPAIR=true"):
        assert line in PAGE
        monkeypatch.setenv(*line.split("=", 1))
    settings = load_settings()
    assert (settings.blocks, settings.blocks_html, settings.blocks_repair) == (True, True, True)
    assert settings.blocks_image_hosts == ("img.example.org", "cdn.example.org")


async def test_a_document_beside_a_question_goes_as_the_page_says(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([Text(VALID), ask_plan()]), blocks=True)
    played = await (await server.person()).prompt("Set me up")
    assert "`text`, `ask`, `blocks`" in PAGE
    assert played.names == ["started", "text", "ask", "blocks", "done"]


async def test_what_is_stored_is_as_the_page_says(start_server: StartServer) -> None:
    steps: list[ScriptedStep] = [[Text(text)] for text in (VALID, WITHOUT_ID, INVALID)]
    server = await start_server(in_turn(*steps), blocks=True)
    noor = await server.person()
    own = (await noor.prompt("1")).conversation_id
    for text in ("2", "3"):
        await noor.prompt(text, own)
    rows = [row for row in await noor.messages(own) if row.model]
    assert [row.HasField("blocks") for row in rows] == [True, True, False]
    assert rows[0].text == VALID
    assert "\n" not in rows[1].text
    assert rows[2].text.startswith(f"{INVALID}\n\n{NOTE}\n")
    assert f"`{NOTE}`" in PAGE
    assert limits.DOCUMENTS_BYTES == 768 * 1024
    assert "768 KiB" in PAGE

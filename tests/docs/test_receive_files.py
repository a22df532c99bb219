"""The page on files says what happens, and its code runs as it stands."""

import asyncio
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

import parley
from parley.v1 import turns_pb2 as pb
from parleyd.app.settings_sources import load_settings
from parleyd.contract.field_errors import Code
from parleyd.contract.reasons import Reason
from parleyd.models.script import Call, Text
from parleyd.models.scripted import in_turn
from parleyd.store.byte_stores import byte_store_of
from parleyd.tools import load_tools
from tests.app.processes import DEADLINE, environment, serve
from tests.docs.pages import codes_in
from tests.end_to_end.files_asked import NO_FILE
from tests.end_to_end.shown import last_outcome
from tests.rpc.wire import HOUR
from tests.server import StartServer

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
PAGE = (HOW_TO / "receive-files.md").read_text("utf-8")
PROGRAM, *OTHERS = re.findall("```python\n(.*?)```", PAGE, re.DOTALL)
COMMANDS, PRINTED, START = re.findall(
    "```\n(.*?)```", re.sub("```python\n.*?```", "", PAGE, flags=re.DOTALL), re.DOTALL
)
NOTES = b"Bring the tent.\n"
REFUSALS = [line for line in PAGE.splitlines() if line.startswith("| `")]


@pytest.fixture
def code() -> dict[str, Any]:
    """Returns what the blocks of the page define, one after the other."""
    names: dict[str, Any] = {"__name__": "send"}
    for block in (PROGRAM, *OTHERS):
        exec(compile(block, "receive-files.md", "exec"), names)  # the very code that readers copy
    return names


async def test_the_commands_print_what_the_page_shows(database_url: str, tmp_path: Path) -> None:
    env = environment(tmp_path / "data", PARLEY_DATABASE_URL=database_url)
    async with serve("--development", "--port", "0", env=env) as server:
        (tmp_path / "send.py").write_text(PROGRAM.replace("127.0.0.1:50051", server.address))
        commands = COMMANDS.replace(".venv/bin/python", shlex.quote(sys.executable))
        assert commands.count("TOKEN") == 1
        shell = await asyncio.create_subprocess_shell(
            commands.replace("TOKEN", server.token), cwd=tmp_path, stdout=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(DEADLINE):
            out, _ = await shell.communicate()
    assert out.decode() == PRINTED


async def test_an_ask_is_answered_with_uploads(
    start_server: StartServer, code: dict[str, Any], tmp_path: Path
) -> None:
    wish = Call("ask_files", {"prompt": "Which?", "accept": ["text"], "maxFiles": 2}, "which")
    server = await start_server(in_turn([wish], [Text("Noted.")]))
    noor = await server.person()
    asked = await noor.prompt("Read my notes")
    assert list(asked.ask.input.files.accept) == ["text"]
    paths = [tmp_path / "one.txt", tmp_path / "two.txt"]
    for path in paths:
        path.write_bytes(NOTES)
    assert await code["answer"](noor.client, asked.ask, *map(str, paths)) == "Noted."
    line, text, *_ = last_outcome(server.model.calls[-1]).shown
    assert "File 1 of 2: one.txt (text/plain, 16 bytes)" in str(line)
    assert "Bring the tent." in str(text)


async def test_a_file_of_a_tool_is_saved(
    start_server: StartServer,
    code: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = (HOW_TO / "add-a-tool.md").read_text("utf-8")
    _, export, _ = re.findall("```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "exporting.py").write_text(export, "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    tools = load_tools(["exporting"], asks_on=True)
    del sys.modules["exporting"]
    server = await start_server(in_turn([Call("export_orders")], [Text("Here.")]), tools=tools)
    noor = await server.person()
    played = await noor.prompt("Export my orders")
    (tmp_path / "saved").mkdir()
    for event in played.events:
        await code["save"](noor.client, event, tmp_path / "saved")
    (saved,) = (tmp_path / "saved").iterdir()
    assert saved.read_text() == "order;parcels\nA-17;3\n"


def test_the_refusals_are_reasons_and_codes() -> None:
    known = {reason.value for reason in Reason} | {code.value for code in Code}
    told = [codes_in(line.split("|")[1])[0] for line in REFUSALS]
    assert [name for name in told if name not in known] == []
    assert len(told) == len({*told})


@pytest.mark.parametrize(
    ("settings", "data", "mime_type", "reason", "code"),
    [
        ({}, NOTES, "application/zip", "INVALID_ATTACHMENT", "FILE_TYPE_NOT_ACCEPTED"),
        ({}, NOTES, "image/png", "INVALID_ATTACHMENT", "MIME_MISMATCH"),
        ({"file_bytes": 4}, NOTES, "text/plain", "FILE_TOO_LARGE", None),
        ({"uploads": False}, NOTES, "text/plain", "UPLOADS_DISABLED", None),
        ({}, None, "text/plain", "INVALID_ATTACHMENT", "FILE_NOT_OWNED"),
        ({"file_store": "none"}, None, "text/plain", "INVALID_ATTACHMENT", "FILE_NOT_OWNED"),
    ],
)
async def test_a_message_is_refused_as_the_page_says(
    start_server: StartServer,
    settings: dict[str, Any],
    data: bytes | None,
    mime_type: str,
    reason: str,
    code: str | None,
) -> None:
    server = await start_server(in_turn(), **settings)
    attachment = pb.Attachment(type=pb.Attachment.TYPE_FILE, mime_type=mime_type)
    if data:
        attachment.data = data
    else:
        attachment.file_id = NO_FILE
    prompt = pb.PromptInput(text="Read it", attachments=[attachment])
    async with parley.connect(server.address, server.key.issue("noor", HOUR)) as client:
        with pytest.raises(parley.ParleyError) as refused:
            async for _ in parley.turn_events(client, pb.StreamTurnRequest(prompt=prompt)):
                pass
    assert refused.value.reason == reason
    assert [field.code for field in refused.value.fields] == ([code] if code else [])
    assert f"| `{code or reason}` |" in PAGE


def test_a_server_starts_with_the_bucket_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    *variables, program, verb, option = shlex.split(START)
    assert (program, verb, option) == ("parleyd", "serve", "--development")
    for variable in variables:
        name, _, value = variable.partition("=")
        monkeypatch.setenv(name, value.replace("…", "given"))
    place = load_settings(development=True).file_place
    assert place == "s3://shop-files/parley"
    byte_store_of(place)

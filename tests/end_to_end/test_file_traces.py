"""No byte of a file is in a row, in a line of the log, or in what people are listed (spec 11.5)."""

from base64 import b64encode
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1 import files_pb2
from parleyd.models.script import Call, Fail, Text, after_prompt
from parleyd.turns.model import ModelCall
from tests.end_to_end.answers import file, files, kept
from tests.end_to_end.attached import attachment, message, three
from tests.end_to_end.drawing import NAMES, TABLE, call_of
from tests.end_to_end.files_asked import ALL
from tests.end_to_end.files_kept import everything_stored, in_both_modes, traces_of
from tests.end_to_end.hostile import GIF_WITH_SCRIPT, HTML, SVG, UNTRUE
from tests.end_to_end.kinds_asked import ASK_ID, NOTES, PNG
from tests.end_to_end.person import Person, Played, refused
from tests.end_to_end.shown import PDF
from tests.scripts import Script
from tests.server import Processes

HERE = "tests.end_to_end.test_file_traces"
ANSWERED = b"\x89PNG\r\n\x1a\n" + bytes(range(60, 250)) * 2
"""An image that is told from those that are attached."""
BYTES = (PNG, PDF, TABLE, ANSWERED, HTML, SVG, GIF_WITH_SCRIPT)
TRACES = [*(trace for data in BYTES for trace in traces_of(data)), NOTES.strip(), b64encode(NOTES)]
BROKEN = {"broken": False}


def _pick(call: ModelCall) -> Any:
    """Draws, tabulates, asks for files, and fails once with all of them in its messages."""
    done = sum(each.role == "model" for each in after_prompt(call.messages))
    if done == 0:
        tables = call_of("tabulate")
        return [call_of("draw"), Call(tables.name, tables.args, "call_tabulate")]
    if done == 1:
        return [Call("ask_files", {"prompt": "Well?", **ALL}, ASK_ID)]
    if not BROKEN["broken"]:
        BROKEN["broken"] = True
        return [Fail("other")]
    return [Text("Done.")]


EVERYTHING = Script(_pick)


@in_both_modes
async def test_fi1_no_byte_of_any_file_is_stored_in_a_row_logged_or_listed(
    processes: Processes,
    engine: AsyncEngine,
    capfd: pytest.CaptureFixture[str],
    mode: dict[str, Any],
) -> None:
    server = await processes.start(
        f"{HERE}:EVERYTHING", tools=NAMES, log_level="debug", log_format="json", **mode
    )
    noor = await server.person()

    asked = await noor.play(message(*await three(noor, "bytes")))
    assert asked.names[-2:] == ["ask", "done"]
    assert asked.names.count("file") == 2
    await _refuse_hostile_files(noor, asked)
    answer = files(
        file("answered.png", "image/png", ANSWERED),
        *([] if mode else [await _uploaded(noor)]),
        file("notes.txt", "text/plain", NOTES),
    )
    failed = await noor.answer(asked.conversation_id, ASK_ID, answer)
    assert failed.names == ["started", "ask_resolved", "error", "done"]
    retried = await noor.retry(asked.conversation_id, failed.turn_id)
    assert retried.text == "Done."
    listing = b"".join(
        each.SerializeToString()
        for each in (
            *await noor.messages(asked.conversation_id),
            await noor.conversation(asked.conversation_id),
            *(event for played in (asked, failed, retried) for event in played.events),
        )
    )
    server.terminate()
    await server.wait()

    log = capfd.readouterr().err.encode()
    assert b'"event": "call"' in log
    assert b"model_failed" in log
    dump = await everything_stored(engine)
    async with engine.connect() as connection:
        logged = await connection.scalars(text("SELECT prompt FROM ai_requests ORDER BY id"))
        prompts = logged.all()
    assert any("answered.png" in prompt for prompt in prompts)
    titles = "".join(each.prompt for each in processes.folder.title_calls())
    for name, where in {
        "a row": dump,
        "the log": log,
        "what is listed": listing,
        "the request for a title": titles.encode(),
    }.items():
        assert [trace for trace in TRACES if trace in where] == [], name
    # Names are what people wrote: they are stored, and in no line of the log.
    for name in (b"answered.png", b"scan.png", b"brief.pdf", b"plans.csv"):
        assert name in dump
        assert name not in log


async def _uploaded(noor: Person) -> Any:
    uploaded = await noor.upload("scan.png", "image/png", PNG)
    await noor.client.files.GetFile(files_pb2.GetFileRequest(file_id=uploaded.file_id))
    await noor.download(uploaded.file_id)
    return kept("scan.png", "image/png", uploaded.file_id)


async def _refuse_hostile_files(noor: Person, asked: Played) -> None:
    for name, mime_type, data in UNTRUE.values():
        answer = files(file(name, mime_type, data))
        await refused(noor.answer(asked.conversation_id, ASK_ID, answer))
        await refused(noor.play(message(attachment(name, mime_type, data))))
        await refused(noor.upload(name, mime_type, data))
    broken = attachment("scan.png", "image/png", PNG, "url")
    broken.url += "="
    await refused(noor.play(message(broken)))
    assert [each.tool_call_id for each in await noor.pending()] == [ASK_ID]

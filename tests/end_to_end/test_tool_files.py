"""Files that tools return: told, kept, shown once, and never swept (spec turns 6.1, 9.1, 11.5)."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import error_of
from parley.v1 import turns_pb2
from parleyd.models.script import Call, Hold, Text
from parleyd.models.scripted import by_progress, in_turn
from parleyd.turns.model import MediaShown, TextShown
from parleyd.turns.tool_runs import NOT_KEPT
from tests.end_to_end.drawing import DRAW_ID, DRAWING, LARGE, NAMES, TABLE, call_of
from tests.end_to_end.files_kept import (
    WatchedBytes,
    deleted,
    everything_stored,
    file_rows,
    in_both_modes,
    objects,
    swept,
    traces_of,
    used_rows,
)
from tests.end_to_end.kinds_asked import NOTES, PNG
from tests.end_to_end.person import Played, accept, refused
from tests.end_to_end.shown import SCAN, last_outcome, outcomes
from tests.failpoints import kill
from tests.scripts import Script
from tests.server import Processes, StartServer

HERE = "tests.end_to_end.test_tool_files"
DREW = Text("Here is the plan.")
SURE = Call("ask_confirm", {"prompt": "Sure?"}, "call_sure")
DRAWN = ["started", "tool_call", "file", "tool_result", "text", "done"]
DRAW = Script(by_progress([call_of("draw")], [Hold("thinking"), DREW]))
TABULATE = Script(by_progress([call_of("tabulate")], [DREW]))


def file_of(played: Played) -> turns_pb2.GeneratedFile:
    """Returns the one file that a turn told of."""
    (file,) = [event.file for event in played.events if event.HasField("file")]
    return file


def told_of(file: turns_pb2.GeneratedFile, data: bytes) -> dict[str, Any]:
    """Returns what the result of the call says of its file."""
    return {
        **({"fileId": file.file_id} if file.HasField("file_id") else {}),
        "filename": file.filename,
        "mimeType": file.mime_type,
        "size": len(data),
    }


@in_both_modes
async def test_a_file_of_a_tool_is_told_kept_and_shown(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path, mode: dict[str, Any]
) -> None:
    server = await start_server(in_turn([call_of("draw")], [DREW]), tools=DRAWING, **mode)
    noor = await server.person()

    played = await noor.prompt("Draw")

    assert played.names == DRAWN
    file = file_of(played)
    assert (file.filename, file.mime_type, file.tool_call_id) == ("scan.png", "image/png", DRAW_ID)
    (result,) = played.results
    expected: dict[str, Any] = {"file": told_of(file, PNG)}
    if mode:
        expected["note"] = NOT_KEPT
        assert file.WhichOneof("source") is None
    else:
        known, data = await noor.download(file.file_id)
        assert (known.filename, known.mime_type, data) == ("scan.png", "image/png", PNG)
        eve = await server.person("eve")
        assert error_of(await refused(eve.download(file.file_id))).reason == "FILE_NOT_FOUND"
    assert json.loads(result.result_json) == expected
    assert not result.is_error
    told = last_outcome(server.model.calls[1])
    assert (told.value, told.shown) == (expected, SCAN)
    kept = 0 if mode else 1
    assert (len(objects(tmp_path)), await file_rows(engine), await used_rows(engine)) == (
        (kept, kept, kept)
    )
    watched = await noor.watch(played.conversation_id, played.turn_id)
    assert watched.events == played.events
    listing = b"".join(
        each.SerializeToString() for each in await noor.messages(played.conversation_id)
    )
    dump = await everything_stored(engine)
    assert b"scan.png" in dump
    assert [trace for trace in traces_of(PNG) if trace in dump or trace in listing] == []


@in_both_modes
async def test_what_a_tool_says_and_the_text_of_its_file_are_both_shown(
    start_server: StartServer, mode: dict[str, Any]
) -> None:
    server = await start_server(in_turn([call_of("tabulate")], [DREW]), tools=DRAWING, **mode)
    played = await (await server.person()).prompt("Draw")
    told = last_outcome(server.model.calls[1])
    assert isinstance(told.value, dict)
    assert told.value["text"] == "21 plans"
    assert told.value["file"] == told_of(file_of(played), TABLE)
    assert told.shown == (
        TextShown(f"File 1 of 1: plans.csv (text/csv, {len(TABLE)} bytes)"),
        TextShown(TABLE.decode()),
    )


@in_both_modes
async def test_a_file_that_no_model_reads_is_told_of_and_may_be_downloaded(
    start_server: StartServer, tmp_path: Path, mode: dict[str, Any]
) -> None:
    server = await start_server(in_turn([call_of("archive_of")], [DREW]), tools=DRAWING, **mode)
    noor = await server.person()
    played = await noor.prompt("Pack")
    assert played.names == DRAWN
    file, told = file_of(played), last_outcome(server.model.calls[1])
    assert (file.filename, file.mime_type, told.shown) == ("../plans.zip", "application/zip", ())
    if not mode:
        known, data = await noor.download(file.file_id)
        assert (known.filename, known.mime_type) == (file.filename, file.mime_type)
        assert data.endswith(TABLE)
        (kept,) = objects(tmp_path)
        assert kept.name.endswith("-.._plans.zip")


@in_both_modes
async def test_bc_101_a_file_beyond_what_clients_receive_is_told_and_downloaded_in_pieces(
    start_server: StartServer, mode: dict[str, Any]
) -> None:
    server = await start_server(in_turn([call_of("draw_largely")], [DREW]), tools=DRAWING, **mode)
    noor = await server.person()
    played = await noor.prompt("Draw")
    assert played.names == DRAWN
    _, image = last_outcome(server.model.calls[1]).shown
    assert image == MediaShown("image/png", LARGE, "large.png")
    if not mode:
        assert (await noor.download(file_of(played).file_id))[1] == LARGE


@in_both_modes
async def test_a_pause_and_later_turns_have_what_the_file_is(
    start_server: StartServer, mode: dict[str, Any]
) -> None:
    steps = [[call_of("draw"), SURE], [Text("Done.")], [Text("Bye.")]]
    server = await start_server(in_turn(*steps), tools=DRAWING, **mode)
    noor = await server.person()
    asked = await noor.prompt("Draw")
    assert asked.names == ["started", "tool_call", "file", "tool_result", "ask", "done"]
    await noor.answer(asked.conversation_id, "call_sure", accept(confirmed=True))
    await noor.prompt("Thanks", asked.conversation_id)
    message = server.model.calls[1].messages[-1]
    drawn, _ = outcomes([message])
    assert isinstance(drawn.value, dict)
    assert drawn.value["file"] == told_of(file_of(asked), PNG)
    assert [each.shown for call in server.model.calls[1:] for each in outcomes(call.messages)] == [
        ()
    ] * 3


@in_both_modes
async def test_a_step_that_is_replayed_elsewhere_has_what_the_file_is(
    processes: Processes, mode: dict[str, Any]
) -> None:
    first = await processes.start(f"{HERE}:DRAW", tools=NAMES, **mode)
    second = await processes.start(f"{HERE}:DRAW", tools=NAMES, **mode)
    noor, elsewhere = await first.person(), await second.person()
    events = noor.stream(turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text="Draw")))
    started = await anext(events)
    await first.holds.reached("thinking")
    first.kill()
    await first.wait()
    second.holds.release("thinking")

    played = await elsewhere.watch(started.started.conversation_id, started.turn_id)

    assert played.names == [*DRAWN[:4], "resumed", *DRAWN[4:]]
    live, again = [
        each for call in processes.folder.model_calls() for each in outcomes(call.messages)
    ]
    assert (live.shown, again.shown) == (SCAN, ())
    assert live.value == again.value
    if not mode:
        assert (await elsewhere.download(file_of(played).file_id))[1] == PNG


async def test_an_approved_tool_tells_of_its_file_in_the_turn_of_the_answer(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn([call_of("draw_secretly")], [DREW]), tools=DRAWING)
    noor = await server.person()
    asked = await noor.prompt("Draw")
    assert await file_rows(engine) == 0
    answer = accept(confirmed=True)
    played = await noor.answer(asked.conversation_id, asked.ask.tool_call_id, answer)
    assert played.names == ["started", "ask_resolved", "file", "tool_result", "text", "done"]
    assert (await noor.download(file_of(played).file_id))[1] == PNG
    assert last_outcome(server.model.calls[1]).shown == SCAN
    assert await used_rows(engine) == 1


async def test_a_file_that_the_store_does_not_take_is_shown_and_said_to_be_gone_later(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    watched = WatchedBytes()
    watched.puts_left = 0
    script = in_turn([call_of("draw")], [DREW])
    server = await start_server(script, tools=DRAWING, wrap_bytes=watched.around)
    played = await (await server.person()).prompt("Draw")
    assert played.names == DRAWN
    file, told = file_of(played), last_outcome(server.model.calls[1])
    assert file.WhichOneof("source") is None
    assert told.value == {"file": told_of(file, PNG), "note": NOT_KEPT}
    assert told.shown == SCAN
    assert (objects(tmp_path), await file_rows(engine)) == ([], 0)


@pytest.mark.usefixtures("often_swept")
async def test_a_file_of_a_tool_is_never_swept(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    server = await start_server(in_turn([call_of("draw")], [DREW]), tools=DRAWING)
    noor = await server.person()
    file = file_of(await noor.prompt("Draw"))
    unused = await noor.upload("notes.txt", "text/plain", NOTES)
    await swept(engine, tmp_path, left=1)
    assert await deleted(engine) == [unused.file_id]
    assert (await noor.download(file.file_id))[1] == PNG


@pytest.mark.usefixtures("often_swept")
async def test_a_file_whose_result_was_never_stored_is_swept(
    processes: Processes, start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    server = await processes.start(f"{HERE}:TABULATE", kill("after_tool_run"), tools=NAMES)
    noor = await server.person()
    events = noor.stream(turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text="Draw")))
    started = await anext(events)
    await server.wait()
    assert (len(objects(tmp_path)), await used_rows(engine)) == (1, 0)

    after = await start_server(in_turn([Text("Nobody knows.")]), tools=DRAWING)
    elsewhere = await after.person()
    async with asyncio.timeout(60):
        played = await elsewhere.watch(started.started.conversation_id, started.turn_id)

    assert played.names == ["started", "tool_call", "resumed", "tool_result", "text", "done"]
    (lost,) = played.results
    assert json.loads(lost.result_json)["outcome"] == "unknown"
    await swept(engine, tmp_path, left=0)
    assert len(await deleted(engine)) == 1


@pytest.mark.parametrize("name", ["a/../b.csv", "a\0b.csv", "\u202evsc.exe", "ü" * 255])
async def test_a_name_is_told_everywhere_as_it_is_kept(
    start_server: StartServer, name: str
) -> None:
    call = call_of("tabulate", filename=name)
    server = await start_server(in_turn([call], [DREW]), tools=DRAWING)
    noor = await server.person()
    file = file_of(await noor.prompt("Draw"))
    known, _ = await noor.download(file.file_id)
    assert file.filename == known.filename == name.replace("\0", "\ufffd")
    told = last_outcome(server.model.calls[1])
    assert isinstance(told.value, dict)
    assert told.value["file"] == told_of(file, TABLE)
    assert not any(isinstance(each, MediaShown) for each in told.shown)
    label, _ = told.shown
    assert label == TextShown(f"File 1 of 1: {known.filename} (text/csv, {len(TABLE)} bytes)")

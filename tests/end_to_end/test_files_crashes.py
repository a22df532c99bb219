"""Files of an answer whose turn fails, dies, or meets a store that does (spec turns 11.5, 15.6)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from grpc import StatusCode
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1 import turns_pb2
from parleyd.models.script import Call, Fail, Hold, Text
from parleyd.models.scripted import by_progress, by_prompt
from parleyd.turns.model import TextShown
from tests.end_to_end.answers import file, files
from tests.end_to_end.attached import SEE, THREE_GONE, THREE_SHOWN, message, three
from tests.end_to_end.files_asked import ALL, answered_files
from tests.end_to_end.files_kept import (
    WatchedBytes,
    file_rows,
    in_both_modes,
    objects,
    swept,
    used_rows,
)
from tests.end_to_end.kinds_asked import ASK_ID, NOTES, PNG
from tests.end_to_end.person import refused
from tests.end_to_end.shown import (
    PDF,
    SCAN,
    SCAN_AND_NOTES,
    SCAN_GONE,
    last_outcome,
    outcome,
    shown_with,
)
from tests.end_to_end.waiting import wait_on
from tests.failpoints import kill
from tests.scripts import Script
from tests.server import Processes, StartServer

ASK = Call("ask_files", {"prompt": "Well?", **ALL}, ASK_ID)
DONE = Text("Done.")
HELD = Script(
    by_prompt(
        {
            "Please": by_progress([ASK], [Hold("answered"), DONE]),
            SEE: by_progress([Hold("seen"), DONE]),
        }
    )
)
ASKED = Script(by_progress([ASK], [DONE]))
HERE = "tests.end_to_end.test_files_crashes"
BOTH = ("answered", "seen")


@in_both_modes
async def test_c16_a_model_call_that_is_repeated_elsewhere_shows_the_files_where_they_are_kept(
    processes: Processes, mode: dict[str, Any]
) -> None:
    first, second = await asyncio.gather(
        *(processes.start(f"{HERE}:HELD", **mode) for _ in range(2))
    )
    noor, elsewhere = await first.person(), await second.person()
    asked = await noor.prompt("Please")
    answer = turns_pb2.AnswerInput(
        tool_call_id=ASK_ID, answer=files(file("scan.png", "image/png", PNG))
    )
    answering = noor.stream(
        turns_pb2.StreamTurnRequest(conversation_id=asked.conversation_id, answer=answer)
    )
    seeing = noor.stream(message(*await three(noor, "bytes")))
    began = [await anext(events) for events in (answering, seeing)]
    for hold in BOTH:
        await first.holds.reached(hold)
    first.kill()
    await first.wait()
    for hold in BOTH:
        second.holds.release(hold)

    answered, seen = [
        await elsewhere.watch(conversation_id, each.turn_id)
        for conversation_id, each in zip(
            (asked.conversation_id, began[1].started.conversation_id), began, strict=True
        )
    ]

    assert answered.names == ["started", "ask_resolved", "resumed", "text", "done"]
    assert seen.names == ["started", "resumed", "text", "done"]
    calls = processes.folder.model_calls()
    before, again = [
        outcome(call.messages[-1])
        for call in calls
        if call.prompt == "Please" and len(call.messages) > 1
    ]
    assert before.shown == SCAN
    assert again.shown == (SCAN_GONE if mode else SCAN)
    assert again.value == before.value
    shown, again_shown = [shown_with(SEE, call.messages) for call in calls if call.prompt == SEE]
    assert shown == THREE_SHOWN
    assert again_shown == (THREE_GONE if mode else THREE_SHOWN)


@pytest.mark.usefixtures("often_swept")
async def test_files_of_an_answer_that_died_before_it_was_stored_are_swept_and_the_ask_waits(
    processes: Processes, start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    dying = await processes.start(f"{HERE}:ASKED", kill("before_tx1", kind="answer"))
    noor = await dying.person()
    asked = await noor.prompt("Please")
    answer = files(file("scan.png", "image/png", PNG))
    error = await refused(noor.answer(asked.conversation_id, ASK_ID, answer))
    assert error.code() == StatusCode.UNAVAILABLE
    assert (len(objects(tmp_path)), await used_rows(engine)) == (1, 0)

    server = await start_server(ASKED.pick)
    after = await server.person()
    assert [each.tool_call_id for each in await after.pending()] == [ASK_ID]
    assert (await after.answer(asked.conversation_id, ASK_ID, answer)).text == "Done."
    await swept(engine, tmp_path, left=1)
    assert (await file_rows(engine), await used_rows(engine)) == (1, 1)


@in_both_modes
async def test_c16_a_retry_shows_the_files_where_they_are_kept(
    start_server: StartServer, mode: dict[str, Any]
) -> None:
    waiting = await wait_on(
        start_server, "files", ALL, [Fail("other")], [Fail("other")], [Text("Done.")], **mode
    )
    noor, conversation_id = waiting.noor, waiting.conversation_id
    answer = files(file("scan.png", "image/png", PNG))
    failed = await noor.answer(conversation_id, ASK_ID, answer)
    assert failed.names == ["started", "ask_resolved", "error", "done"]
    again = await noor.retry(conversation_id, failed.turn_id)
    assert again.names == ["started", "error", "done"]
    done = await noor.retry(conversation_id, again.turn_id)
    assert done.text == "Done."

    first, *retried = [last_outcome(call) for call in waiting.server.model.calls[1:]]
    assert first.shown == SCAN
    assert [each.shown for each in retried] == [SCAN_GONE if mode else SCAN] * 2
    assert [each.value for each in retried] == [first.value] * 2


async def test_a_retry_after_the_file_was_deleted_says_that_it_is_gone(
    start_server: StartServer,
) -> None:
    waiting = await wait_on(start_server, "files", ALL, [Fail("other")], [Text("Done.")])
    noor = waiting.noor
    notes = file("brief.pdf", "application/pdf", PDF)
    failed = await noor.answer(waiting.conversation_id, ASK_ID, files(notes))
    (listed,) = await answered_files(waiting)
    await noor.delete_file(listed.file_id)
    assert (await noor.retry(waiting.conversation_id, failed.turn_id)).text == "Done."
    assert last_outcome(waiting.server.model.calls[2]).shown == (
        TextShown(f"File 1 of 1: brief.pdf (application/pdf, {len(PDF)} bytes)"),
        SCAN_GONE[1],
    )


@pytest.mark.parametrize("puts", [0, 1])
async def test_a_store_that_fails_leaves_the_ask_pending_and_nothing_behind(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path, puts: int
) -> None:
    watched = WatchedBytes()
    waiting = await wait_on(start_server, "files", ALL, wrap_bytes=watched.around)
    answer = files(file("scan.png", "image/png", PNG), file("notes.txt", "text/plain", NOTES))
    watched.puts_left = puts
    await waiting.fails_with(answer, "ATTACHMENT_UPLOAD_FAILED")
    assert (objects(tmp_path), await file_rows(engine)) == ([], 0)
    watched.puts_left = None
    played = await waiting.noor.answer(waiting.conversation_id, ASK_ID, answer)
    assert played.text == "Done."
    assert last_outcome(waiting.server.model.calls[1]).shown == SCAN_AND_NOTES

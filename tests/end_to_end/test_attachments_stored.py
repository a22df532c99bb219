"""Attachments on their way into the store: repeats, failures, and lost races (spec turns 11.6)."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from grpc import StatusCode
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import error_of
from parley.v1 import turns_pb2
from parleyd.models.script import Call, Hold, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.answers import file, files
from tests.end_to_end.attached import (
    SEE,
    THREE_SHOWN,
    attachment,
    message,
    three,
)
from tests.end_to_end.files_asked import ALL, NO_FILE
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
from tests.end_to_end.kinds_asked import ASK_ID, NOTES, PNG
from tests.end_to_end.person import Person, refused
from tests.end_to_end.shown import shown_with
from tests.failpoints import Failpoints, block, lose_database
from tests.server import StartServer

DEADLINE = 30


@in_both_modes
async def test_a_repeat_with_attachments_attaches_to_the_first_turn(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path, mode: dict[str, Any]
) -> None:
    server = await start_server(in_turn([Text("A tent.")]), **mode)
    noor = await server.person()
    request_id = str(uuid4())
    given = await three(noor, "bytes")
    first = await noor.play(message(*given, request_id=request_id))
    kept = len(objects(tmp_path)), await file_rows(engine)

    again = await noor.play(message(*given, request_id=request_id))

    assert again.events == first.events
    assert (len(objects(tmp_path)), await file_rows(engine)) == kept
    assert len(server.model.calls) == 1
    changed: tuple[list[turns_pb2.Attachment], ...] = (
        given[:2],
        [*given[:2], attachment("notes.txt", "text/plain", NOTES[:-1])],
        [*given[:2], attachment("other.txt", "text/plain", NOTES)],
        [],
    )
    for other in changed:
        error = error_of(await refused(noor.play(message(*other, request_id=request_id))))
        assert error.reason == "REQUEST_ID_REUSED"
    assert (len(objects(tmp_path)), await file_rows(engine)) == kept


@pytest.mark.parametrize("puts", [0, 2])
async def test_a_store_that_fails_stores_no_turn_and_the_same_request_works_later(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path, puts: int
) -> None:
    watched = WatchedBytes()
    server = await start_server(in_turn([Text("A tent.")]), wrap_bytes=watched.around)
    noor = await server.person()
    request = message(*await three(noor, "bytes"), request_id=str(uuid4()))
    watched.puts_left = puts

    error = error_of(await refused(noor.play(request)))

    assert (error.code, error.reason) == (StatusCode.UNAVAILABLE, "ATTACHMENT_UPLOAD_FAILED")
    assert error.metadata["http_status"] == "502"
    assert await noor.conversations() == []
    assert server.model.calls == []
    assert (objects(tmp_path), await file_rows(engine)) == ([], 0)
    dump = await everything_stored(engine)
    assert SEE.encode() not in dump
    assert [trace for trace in traces_of(PNG) if trace in dump] == []

    watched.puts_left = None
    assert (await noor.play(request)).text == "A tent."
    assert shown_with(SEE, server.model.calls[0].messages) == THREE_SHOWN
    assert (len(objects(tmp_path)), await used_rows(engine)) == (3, 3)


async def test_an_upload_that_cannot_be_read_stores_no_turn(start_server: StartServer) -> None:
    watched = WatchedBytes()
    server = await start_server(in_turn([Text("A tent.")]), wrap_bytes=watched.around)
    noor = await server.person()
    request = message(*await three(noor, "upload"))
    watched.unreadable = True
    error = error_of(await refused(noor.play(request)))
    assert (error.code, error.reason) == (StatusCode.UNAVAILABLE, "ATTACHMENT_UPLOAD_FAILED")
    assert await noor.conversations() == []
    watched.unreadable = False
    assert (await noor.play(request)).text == "A tent."


@pytest.mark.usefixtures("often_swept")
async def test_what_a_lost_race_of_two_equal_requests_stored_is_swept(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    points = Failpoints(block("before_tx1", times=1))
    server = await start_server(in_turn([Text("A tent.")]), wrap_store=points.store)
    noor = await server.person()
    request = message(attachment("scan.png", "image/png", PNG), request_id=str(uuid4()))
    async with asyncio.timeout(DEADLINE):
        late = asyncio.create_task(noor.play(request))
        await points.holds.reached("before_tx1")
        winner = await noor.play(request)
        points.holds.release("before_tx1")
        loser = await late
    assert loser.events == winner.events
    assert len(server.model.calls) == 1
    assert (len(objects(tmp_path)), await file_rows(engine), await used_rows(engine)) == (2, 2, 1)

    await swept(engine, tmp_path, left=1)

    assert len(await deleted(engine)) == 1
    message_, *_ = await noor.messages(winner.conversation_id)
    assert (await noor.download(message_.content[1].image.file_id))[1] == PNG


@pytest.mark.usefixtures("often_swept")
async def test_what_a_lost_race_of_two_answers_stored_is_swept(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    ask = Call("ask_files", {"prompt": "Well?", **ALL}, ASK_ID)
    points = Failpoints(block("before_tx1", times=1, kind="answer"))
    server = await start_server(in_turn([ask], [Text("Done.")]), wrap_store=points.store)
    noor = await server.person()
    conversation_id = (await noor.prompt("Please")).conversation_id
    async with asyncio.timeout(DEADLINE):
        late = asyncio.create_task(
            refused(noor.answer(conversation_id, ASK_ID, files(file("late.png", "image/png", PNG))))
        )
        await points.holds.reached("before_tx1")
        won = await noor.answer(
            conversation_id, ASK_ID, files(file("notes.txt", "text/plain", NOTES))
        )
        points.holds.release("before_tx1")
        error = error_of(await late)
    assert error.code == StatusCode.ABORTED
    assert error.metadata["resolved_by_turn_id"] == won.turn_id
    assert (len(objects(tmp_path)), await file_rows(engine), await used_rows(engine)) == (2, 2, 1)
    await swept(engine, tmp_path, left=1)
    (left,) = objects(tmp_path)
    assert left.read_bytes() == NOTES


@pytest.mark.usefixtures("often_swept")
async def test_what_a_turn_that_was_never_opened_stored_is_swept(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    points = Failpoints(lose_database("before_tx1", times=1))
    server = await start_server(in_turn([Text("A tent.")]), wrap_store=points.store)
    noor = await server.person()
    request = message(attachment("scan.png", "image/png", PNG))
    assert (await refused(noor.play(request))).code() == StatusCode.UNAVAILABLE
    assert await noor.conversations() == []
    assert (len(objects(tmp_path)), await used_rows(engine)) == (1, 0)
    assert (await noor.play(request)).text == "A tent."
    await swept(engine, tmp_path, left=1)
    assert (await file_rows(engine), await used_rows(engine)) == (1, 1)


async def test_attachments_of_requests_sent_at_once_make_one_turn(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn([Text("A tent.")]))
    noor = await server.person()
    request = message(*await three(noor, "bytes"), request_id=str(uuid4()))
    async with asyncio.timeout(DEADLINE):
        played = await asyncio.gather(*(noor.play(request) for _ in range(4)))
    assert len({each.turn_id for each in played}) == 1
    assert {tuple(each.names) for each in played} == {("started", "text", "done")}
    assert await used_rows(engine) == 3


async def test_a_turn_that_is_refused_for_another_reason_stores_no_file(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    held = in_turn([Hold("thinking"), Text("A tent.")], [Text("Hello, Eve.")])
    server = await start_server(held, owner_turns=1)
    noor, eve = await server.person(), await server.person("eve")
    foreign = (await _begun(eve, "Hello")).started.conversation_id
    await server.model.holds.reached("thinking")
    own = (await noor.prompt("Hello")).conversation_id
    scan = attachment("scan.png", "image/png", PNG)
    answer = files(file("scan.png", "image/png", PNG))
    reasons = {
        "RATE_LIMITED": eve.play(message(scan)),
        "NOT_OWNER": noor.play(message(scan, conversation_id=foreign)),
        "CONVERSATION_NOT_FOUND": noor.play(message(scan, conversation_id=NO_FILE)),
        "ASK_NOT_PENDING": noor.answer(own, ASK_ID, answer),
        "PROMPT_REQUIRED": noor.play(message(scan, text="")),
    }
    assert [error_of(await refused(call)).reason for call in reasons.values()] == [*reasons]
    assert (objects(tmp_path), await file_rows(engine)) == ([], 0)
    server.model.holds.release("thinking")


async def _begun(person: Person, text: str) -> turns_pb2.TurnEvent:
    """Begins a turn, follows it no further, and returns its first event."""
    prompt = turns_pb2.PromptInput(text=text)
    return await anext(person.stream(turns_pb2.StreamTurnRequest(prompt=prompt)))


async def test_a_retry_and_an_answer_have_no_attachments() -> None:
    for kind in (turns_pb2.RetryInput, turns_pb2.AnswerInput, turns_pb2.ButtonInput):
        assert "attachments" not in kind.DESCRIPTOR.fields_by_name

"""Uploads to the whole service: their limits, their owners, and the sweep (spec turns 11.2)."""

import hashlib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from grpc import StatusCode
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import error_of
from parley.v1 import files_pb2, turns_pb2
from parleyd.contract import limits
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.answers import file, files, kept
from tests.end_to_end.files_asked import ALL, NO_FILE
from tests.end_to_end.files_kept import (
    WITHOUT_A_STORE,
    WatchedBytes,
    deleted,
    file_rows,
    objects,
    swept,
    used_rows,
)
from tests.end_to_end.kinds_asked import ASK_ID, NOTES, PNG
from tests.end_to_end.person import CHUNK, Person, refused
from tests.end_to_end.shown import last_outcome
from tests.end_to_end.waiting import wait_on
from tests.refused_uploads import refused_file, refused_upload
from tests.server import StartServer

DEADLINE = 30
Call = Callable[[Person], Awaitable[object]]


async def test_fi7_an_upload_over_the_cap_stops_while_the_client_still_writes(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    server = await start_server(in_turn(), file_bytes=200_000)
    sent = 0

    def endless() -> Iterator[files_pb2.UploadFileRequest]:
        nonlocal sent
        header = files_pb2.FileHeader(filename="a.txt", mime_type="text/plain")
        yield files_pb2.UploadFileRequest(header=header)
        while True:
            sent += CHUNK
            yield files_pb2.UploadFileRequest(chunk=b"a" * CHUNK)

    told = await refused_upload(server.address, server.token(), endless())

    assert (told.code, told.reason) == (StatusCode.RESOURCE_EXHAUSTED, "FILE_TOO_LARGE")
    assert told.metadata == {"limit": "200000", "http_status": "413"}
    assert sent < 64 * 1024 * 1024
    assert (objects(tmp_path), await file_rows(engine)) == ([], 0)


async def test_fi7_an_upload_may_have_the_cap_and_not_one_byte_more(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    server = await start_server(in_turn(), file_bytes=CHUNK)
    noor = await server.person()
    for facts in ({}, {"size_bytes": CHUNK + 1}):
        told = await refused_file(server, "a.txt", "text/plain", b"a" * (CHUNK + 1), **facts)
        assert (told.code, told.reason) == (StatusCode.RESOURCE_EXHAUSTED, "FILE_TOO_LARGE"), facts
    assert (objects(tmp_path), await file_rows(engine)) == ([], 0)
    whole = await noor.upload("a.txt", "text/plain", b"a" * CHUNK, size_bytes=CHUNK)
    assert whole.size_bytes == CHUNK
    assert (len(objects(tmp_path)), await file_rows(engine)) == (1, 1)


async def test_fi7_a_disallowed_type_is_an_invalid_argument(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    told = await refused_file(await start_server(in_turn()), "a.zip", "application/zip", b"PK\3\4")
    assert (told.code, told.reason) == (StatusCode.INVALID_ARGUMENT, "FILE_TYPE_NOT_ALLOWED")
    assert [fault.path for fault in told.fields] == ["mimeType"]
    assert (objects(tmp_path), await file_rows(engine)) == ([], 0)


async def test_fi7_uploads_that_are_off_refuse_uploads_and_attachments_alike(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    before = await (await start_server(in_turn())).person()
    scan = await before.upload("scan.png", "image/png", PNG)
    waiting = await wait_on(start_server, "files", ALL, uploads=False)
    noor = waiting.noor
    attachments = [
        turns_pb2.Attachment(type=turns_pb2.Attachment.TYPE_IMAGE, mime_type="image/png", data=PNG),
        turns_pb2.Attachment(type=turns_pb2.Attachment.TYPE_IMAGE, file_id=scan.file_id),
    ]
    prompts = [turns_pb2.PromptInput(text="See", attachments=[each]) for each in attachments]
    for told in (
        await refused_file(waiting.server, "scan.png", "image/png", PNG),
        *[
            error_of(await refused(noor.play(turns_pb2.StreamTurnRequest(prompt=each))))
            for each in prompts
        ],
    ):
        assert (told.code, told.reason) == (StatusCode.PERMISSION_DENIED, "UPLOADS_DISABLED")
    assert (len(objects(tmp_path)), await file_rows(engine)) == (1, 1)
    assert len(await noor.conversations()) == 1
    # What was uploaded before may still be read, answered with and deleted.
    assert (await noor.download(scan.file_id))[1] == PNG
    answer = files(kept("scan.png", "image/png", scan.file_id), file("b.png", "image/png", PNG))
    assert (await noor.answer(waiting.conversation_id, ASK_ID, answer)).text == "Done."
    await noor.delete_file(scan.file_id)


async def test_fi3_without_a_store_nothing_about_files_is_implemented(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn(), **WITHOUT_A_STORE)
    noor = await server.person()
    of_files = noor.client.files
    calls: list[Awaitable[object]] = [
        noor.download(NO_FILE),
        noor.delete_file(NO_FILE),
        of_files.GetFile(files_pb2.GetFileRequest(file_id=NO_FILE)),
        of_files.CreateFileUrl(files_pb2.CreateFileUrlRequest(file_id=NO_FILE)),
    ]
    for told in (
        await refused_file(server, "scan.png", "image/png", PNG),
        *[error_of(await refused(call)) for call in calls],
    ):
        assert (told.code, told.reason) == (StatusCode.UNIMPLEMENTED, "FILES_DISABLED")


async def test_bc_101_a_file_beyond_what_a_message_may_hold_comes_by_a_chunked_upload(
    start_server: StartServer,
) -> None:
    waiting = await wait_on(start_server, "files", ALL, file_bytes=32 * 1024 * 1024)
    large = b"a" * (limits.RECEIVE_BYTES + 1)
    error = await refused(
        waiting.noor.answer(
            waiting.conversation_id, ASK_ID, files(file("large.txt", "text/plain", large))
        )
    )
    assert error.code() == StatusCode.RESOURCE_EXHAUSTED
    assert str(limits.RECEIVE_BYTES) in (error.details() or "")

    uploaded = await waiting.noor.upload(
        "large.txt", "text/plain", large, sha256=hashlib.sha256(large).digest()
    )
    answer = files(kept("large.txt", "text/plain", uploaded.file_id))
    played = await waiting.noor.answer(waiting.conversation_id, ASK_ID, answer)

    assert played.text == "Done."
    label, _ = last_outcome(waiting.server.model.calls[1]).shown
    assert f"{len(large)} bytes" in repr(label)
    assert (await waiting.noor.download(uploaded.file_id))[1] == large


async def test_nobody_learns_of_files_that_are_not_theirs(start_server: StartServer) -> None:
    server = await start_server(in_turn())
    noor, eve = await server.person(), await server.person("eve")
    foreign = (await eve.upload("scan.png", "image/png", PNG)).file_id
    deleted = (await noor.upload("scan.png", "image/png", PNG)).file_id
    await noor.delete_file(deleted)
    calls: list[Callable[[str], Awaitable[object]]] = [
        noor.download,
        lambda file_id: noor.client.files.GetFile(files_pb2.GetFileRequest(file_id=file_id)),
        lambda file_id: noor.client.files.CreateFileUrl(
            files_pb2.CreateFileUrlRequest(file_id=file_id)
        ),
    ]
    for call in calls:
        for file_id in (foreign, deleted, NO_FILE):
            told = error_of(await refused(call(file_id)))
            assert (told.code, told.reason) == (StatusCode.NOT_FOUND, "FILE_NOT_FOUND")
    for file_id in (deleted, NO_FILE):
        told = error_of(await refused(noor.delete_file(file_id)))
        assert (told.code, told.reason) == (StatusCode.NOT_FOUND, "FILE_NOT_FOUND")
    told = error_of(await refused(noor.delete_file(foreign)))
    assert (told.code, told.reason) == (StatusCode.PERMISSION_DENIED, "NOT_OWNER")
    assert (await eve.download(foreign))[1] == PNG


async def test_a_repeated_upload_is_one_file_that_an_answer_may_name(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    waiting = await wait_on(start_server, "files", ALL)
    request_id = str(uuid4())
    first, again = [
        await waiting.noor.upload("scan.png", "image/png", PNG, request_id=request_id)
        for _ in range(2)
    ]
    assert first == again
    assert (len(objects(tmp_path)), await file_rows(engine)) == (1, 1)
    other = await refused_file(waiting.server, "b.txt", "text/plain", NOTES, request_id=request_id)
    assert other.reason == "REQUEST_ID_REUSED"
    assert (len(objects(tmp_path)), await file_rows(engine)) == (1, 1)


async def test_a_store_that_takes_nothing_is_unavailable_and_the_upload_works_later(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    watched = WatchedBytes()
    server = await start_server(in_turn(), wrap_bytes=watched.around)
    noor = await server.person()
    watched.puts_left = 0
    error = await refused_file(server, "scan.png", "image/png", PNG)
    assert error.code is StatusCode.UNAVAILABLE
    assert (objects(tmp_path), await file_rows(engine)) == ([], 0)
    watched.puts_left = None
    assert (await noor.upload("scan.png", "image/png", PNG)).size_bytes == len(PNG)


@pytest.mark.usefixtures("often_swept")
async def test_uploads_are_swept_after_their_time_and_used_files_never(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    steps: list[Any] = [[Text("Done.")], [Text("Seen.")]]
    waiting = await wait_on(start_server, "files", ALL, *steps)
    noor = waiting.noor
    unused = await noor.upload("unused.txt", "text/plain", NOTES)
    answered = await noor.upload("answered.png", "image/png", PNG)
    attached = await noor.upload("attached.png", "image/png", PNG)
    answer = files(
        kept("answered.png", "image/png", answered.file_id), file("inline.png", "image/png", PNG)
    )
    await noor.answer(waiting.conversation_id, ASK_ID, answer)
    image = turns_pb2.Attachment.TYPE_IMAGE
    attachments = [
        turns_pb2.Attachment(type=image, file_id=attached.file_id),
        turns_pb2.Attachment(type=image, mime_type="image/png", data=PNG),
    ]
    prompt = turns_pb2.PromptInput(text="See", attachments=attachments)
    await noor.play(turns_pb2.StreamTurnRequest(prompt=prompt))
    assert (await file_rows(engine), await used_rows(engine)) == (5, 4)

    await swept(engine, tmp_path, left=4)

    assert await deleted(engine) == [unused.file_id]
    told = error_of(await refused(noor.download(unused.file_id)))
    assert told.reason == "FILE_NOT_FOUND"
    assert (await noor.download(answered.file_id))[1] == PNG
    assert (await noor.download(attached.file_id))[1] == PNG

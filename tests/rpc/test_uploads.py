"""Uploads that are refused, end too early or are too many (spec turns 11.2, 15.9)."""

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any
from uuid import uuid4

import grpc
import pytest
from grpc import StatusCode, aio
from sqlalchemy.ext.asyncio import AsyncEngine
from structlog.testing import capture_logs
from structlog.typing import EventDict

import parley
import parley.sync
from parley.v1 import files_pb2 as pb
from parleyd.contract import limits
from tests.clients.cutting_proxy import cutting_proxy
from tests.rpc.file_calls import (
    CAP,
    NO_FILE,
    NOTES,
    SAMPLES,
    chunk,
    downloaded,
    failure,
    file_rows,
    header,
    upload,
)
from tests.rpc.file_server import FileServer, serving_files
from tests.rpc.wire import HOUR

SOON = 20

MALFORMED: dict[str, tuple[list[pb.UploadFileRequest], str, str]] = {
    "nothing": ([], "header", "MISSING_REQUIRED"),
    "no_header": ([chunk(NOTES)], "header", "MISSING_REQUIRED"),
    "header_after_a_chunk": ([chunk(NOTES), header()], "header", "MISSING_REQUIRED"),
    "nothing_known_first": ([pb.UploadFileRequest(), header()], "header", "MISSING_REQUIRED"),
    "two_headers": ([header(), header(), chunk(NOTES)], "header", "TOO_MANY"),
    "header_at_the_end": ([header(), chunk(NOTES), header()], "header", "TOO_MANY"),
    "nothing_known": ([header(), pb.UploadFileRequest()], "chunk", "MISSING_REQUIRED"),
    "no_bytes": ([header()], "chunk", "MISSING_REQUIRED"),
    "empty_chunks": ([header(), chunk(b""), chunk(b"")], "chunk", "MISSING_REQUIRED"),
    "large_chunk": ([header(), chunk(b"x" * (limits.CHUNK_BYTES + 1))], "chunk", "TOO_LONG"),
    "no_name": ([header(filename=""), chunk(NOTES)], "filename", "MISSING_REQUIRED"),
    "long_name": ([header(filename="x" * 256), chunk(NOTES)], "filename", "TOO_LONG"),
    "long_name_in_utf_16": ([header(filename="😀" * 128), chunk(NOTES)], "filename", "TOO_LONG"),
    "negative_size": ([header(size_bytes=-1), chunk(NOTES)], "sizeBytes", "RANGE_INVALID"),
    "hexadecimal_digest": (
        [header(sha256=hashlib.sha256(NOTES).hexdigest().encode()), chunk(NOTES)],
        "sha256",
        "INVALID_FORMAT",
    ),
    "request_id": ([header(request_id="mine"), chunk(NOTES)], "requestId", "INVALID_FORMAT"),
    "fewer_bytes": ([header(size_bytes=99), chunk(NOTES)], "sizeBytes", "OUT_OF_RANGE"),
    "more_bytes": ([header(size_bytes=1), chunk(NOTES)], "sizeBytes", "OUT_OF_RANGE"),
    "another_digest": ([header(sha256=b"x" * 32), chunk(NOTES)], "sha256", "CHANGED_MISMATCH"),
}


@pytest.mark.parametrize(("requests", "path", "code"), MALFORMED.values(), ids=MALFORMED.keys())
async def test_a_malformed_upload_is_refused_and_leaves_nothing(
    engine: AsyncEngine,
    file_server: FileServer,
    requests: list[pb.UploadFileRequest],
    path: str,
    code: str,
) -> None:
    error = await file_server.refusal(requests)
    assert (error.code, error.reason) == (StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert [(fault.path, fault.code) for fault in error.fields] == [(path, code)]
    assert all(fault.message and fault.fix for fault in error.fields)
    assert (file_server.store.objects(), await file_rows(engine)) == ([], 0)


TYPES: dict[str, tuple[str, bytes, str]] = {
    "type_that_is_not_taken": ("application/zip", NOTES, "FILE_TYPE_NOT_ALLOWED"),
    "type_in_capitals": ("TEXT/PLAIN", NOTES, "FILE_TYPE_NOT_ALLOWED"),
    "type_with_parameters": ("text/plain; charset=utf-8", NOTES, "FILE_TYPE_NOT_ALLOWED"),
    "no_type": ("", NOTES, "FILE_TYPE_NOT_ALLOWED"),
    "text_as_png": ("image/png", NOTES, "MIME_MISMATCH"),
    "png_as_text": ("text/plain", SAMPLES["image/png"], "MIME_MISMATCH"),
    "gif_as_png": ("image/png", SAMPLES["image/gif"], "MIME_MISMATCH"),
    "zero_byte_in_text": ("text/plain", b"a\0b", "MIME_MISMATCH"),
    "text_that_is_no_utf_8": ("text/csv", b"\xff\xfea", "MIME_MISMATCH"),
    "text_as_json": ("application/json", b"{no}", "MIME_MISMATCH"),
}


@pytest.mark.parametrize(("mime_type", "data", "reason"), TYPES.values(), ids=TYPES.keys())
async def test_fi7_bytes_of_another_type_are_refused_and_leave_nothing(
    engine: AsyncEngine,
    file_server: FileServer,
    mime_type: str,
    data: bytes,
    reason: str,
) -> None:
    error = await file_server.refusal([header(mime_type=mime_type), chunk(data)])
    assert (error.code, error.reason) == (StatusCode.INVALID_ARGUMENT, reason)
    assert [fault.path for fault in error.fields] == ["mimeType"]
    assert (file_server.store.objects(), await file_rows(engine)) == ([], 0)


async def test_fi7_an_upload_may_have_the_cap_and_not_a_byte_more(
    engine: AsyncEngine, file_server: FileServer, uploader: parley.Client
) -> None:
    file = await upload(uploader, header(), chunk(b"x" * (CAP - 1)), chunk(b"x"))
    assert file.size_bytes == CAP
    error = await file_server.refusal([header(), chunk(b"x" * (CAP - 1)), chunk(b"xx")])
    assert (error.code, error.reason) == (StatusCode.RESOURCE_EXHAUSTED, "FILE_TOO_LARGE")
    assert error.metadata == {"limit": str(CAP), "http_status": "413"}
    assert (len(file_server.store.objects()), await file_rows(engine)) == (1, 1)


async def test_fi7_an_upload_over_the_cap_is_ended_while_the_client_still_sends(
    engine: AsyncEngine, file_server: FileServer
) -> None:
    def endless() -> Iterator[pb.UploadFileRequest]:
        yield header()
        while True:
            yield chunk(b"x" * 64 * 1024)

    error = await file_server.refusal(endless())
    assert (error.code, error.reason) == (StatusCode.RESOURCE_EXHAUSTED, "FILE_TOO_LARGE")
    assert (file_server.store.objects(), await file_rows(engine)) == ([], 0)


async def test_a_size_over_the_cap_is_refused_before_a_byte_is_read(
    file_server: FileServer,
) -> None:
    error = await file_server.refusal([header(size_bytes=CAP + 1)], unfinished=True)
    assert (error.code, error.reason) == (StatusCode.RESOURCE_EXHAUSTED, "FILE_TOO_LARGE")


async def test_a_type_that_is_not_taken_is_refused_before_a_byte_is_read(
    file_server: FileServer,
) -> None:
    error = await file_server.refusal([header(mime_type="application/zip")], unfinished=True)
    assert (error.code, error.reason) == (StatusCode.INVALID_ARGUMENT, "FILE_TYPE_NOT_ALLOWED")


async def test_fi7_uploads_that_are_off_are_refused_and_files_are_still_read(
    engine: AsyncEngine, tmp_path: Path
) -> None:
    async with serving_files(engine, tmp_path) as server:
        file = await upload(await server.client(), header(), chunk(NOTES))
    async with serving_files(engine, tmp_path, uploads=False) as server:
        noor = await server.client()
        error = await server.refusal([header(), chunk(NOTES)])
        assert (error.code, error.reason) == (StatusCode.PERMISSION_DENIED, "UPLOADS_DISABLED")
        assert len(await downloaded(noor, file.file_id)) == 2


async def test_fi3_a_deployment_without_a_store_has_none_of_it(
    engine: AsyncEngine, tmp_path: Path
) -> None:
    async with serving_files(engine, tmp_path, kept=False) as server:
        noor = await server.client()
        for refusal in (
            server.refusal([header(), chunk(NOTES)]),
            failure(noor.files.GetFile(pb.GetFileRequest(file_id="nonsense"))),
            failure(downloaded(noor, NO_FILE)),
            failure(noor.files.CreateFileUrl(pb.CreateFileUrlRequest(file_id=NO_FILE))),
            failure(noor.files.DeleteFile(pb.DeleteFileRequest(file_id=NO_FILE))),
        ):
            error = await refusal
            assert (error.code, error.reason) == (StatusCode.UNIMPLEMENTED, "FILES_DISABLED")
            assert error.metadata == {"http_status": "404"}


async def test_a_store_that_is_away_is_unavailable_and_nothing_is_stored(
    engine: AsyncEngine, file_server: FileServer, uploader: parley.Client
) -> None:
    kept = await upload(uploader, header(), chunk(NOTES))
    file_server.store.away = True
    for refusal in (
        file_server.refusal([header(), chunk(NOTES)]),
        failure(downloaded(uploader, kept.file_id)),
        failure(uploader.files.CreateFileUrl(pb.CreateFileUrlRequest(file_id=kept.file_id))),
    ):
        error = await refusal
        assert (error.code, error.reason) == (StatusCode.UNAVAILABLE, "UNAVAILABLE")
    assert (len(file_server.store.objects()), await file_rows(engine)) == (1, 1)


# ---------------------------------------------------------------- who leaves, and who says nothing


async def test_a_client_that_vanishes_leaves_no_object_and_no_row(
    engine: AsyncEngine, file_server: FileServer
) -> None:
    with capture_logs() as lines:
        for attempt in range(1, 6):
            async with (
                asyncio.timeout(SOON),
                cutting_proxy(file_server.address) as (proxy, address),
                parley.connect(address, file_server.key.issue("noor", HOUR)) as client,
            ):
                call = client.files.UploadFile()
                await call.write(header(request_id=str(uuid4())))
                await call.write(chunk(NOTES))
                # What is answered on the same connection was sent after the chunk.
                await failure(client.files.GetFile(pb.GetFileRequest(file_id=NO_FILE)))
                proxy.cut()
                with pytest.raises(aio.AioRpcError):
                    await call
                while len(_statuses(lines)) < attempt:
                    await asyncio.sleep(0.01)
    assert {*_statuses(lines)} == {"CANCELLED"}
    assert (file_server.store.objects(), await file_rows(engine)) == ([], 0)


def _statuses(lines: Sequence[EventDict]) -> list[str]:
    """Returns how uploads have ended, as the log says."""
    return [line["status"] for line in lines if line.get("method", "").endswith("/UploadFile")]


async def test_an_upload_that_says_nothing_is_ended(engine: AsyncEngine, tmp_path: Path) -> None:
    async with serving_files(engine, tmp_path, silence_seconds=0.05) as server:
        for said in ([], [header()], [header(), chunk(NOTES)]):
            error = await server.refusal(said, unfinished=True)
            assert (error.code, error.reason) == (StatusCode.UNAVAILABLE, "UNAVAILABLE")
        assert (server.store.objects(), await file_rows(engine)) == ([], 0)


async def test_one_person_may_have_so_many_transfers_open(file_server: FileServer) -> None:
    noor, eve = await file_server.client(), await file_server.client("eve")
    go, loop = Event(), asyncio.get_running_loop()
    ends: asyncio.Queue[grpc.Future[pb.UploadFileResponse]] = asyncio.Queue()

    def waiting() -> Iterator[pb.UploadFileRequest]:
        yield header()
        go.wait(SOON)
        yield chunk(NOTES)

    def ended(call: Any) -> None:
        loop.call_soon_threadsafe(ends.put_nowait, call)

    with parley.sync.connect(file_server.address, file_server.key.issue("noor", HOUR)) as client:
        try:
            for _ in range(limits.OWNER_TRANSFERS + 1):
                client.files.UploadFile.future(waiting()).add_done_callback(ended)
            refused = (await ends.get()).exception()
            assert isinstance(refused, grpc.RpcError)
            for error in (parley.error_of(refused), await failure(downloaded(noor, NO_FILE))):
                assert (error.code, error.reason) == (StatusCode.RESOURCE_EXHAUSTED, "RATE_LIMITED")
                assert error.metadata == {"limit": str(limits.OWNER_TRANSFERS)}
            assert (await upload(eve, header(), chunk(NOTES))).size_bytes == len(NOTES)
        finally:
            go.set()
        for _ in range(limits.OWNER_TRANSFERS):
            assert (await ends.get()).result().file.size_bytes == len(NOTES)
    assert (await upload(noor, header(), chunk(NOTES))).size_bytes == len(NOTES)

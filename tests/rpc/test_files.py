"""Files over the wire: what is kept comes back, to its owner alone (spec turns 11.2)."""

import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from grpc import StatusCode
from sqlalchemy.ext.asyncio import AsyncEngine

import parley
from parley.v1 import files_pb2 as pb
from parleyd.contract import limits
from parleyd.contract.file_types import FILE_TYPES
from parleyd.models.scripted import in_turn
from tests.refused_uploads import refused_upload
from tests.rpc.file_calls import (
    CAP,
    NO_FILE,
    NOTES,
    SAMPLES,
    chunk,
    downloaded,
    failure,
    header,
    upload,
)
from tests.rpc.file_server import FileServer, serving_files
from tests.server import StartServer


def test_there_is_a_sample_of_every_type() -> None:
    assert {*SAMPLES} == {*FILE_TYPES}


@pytest.mark.parametrize("mime_type", SAMPLES)
async def test_an_upload_comes_back_byte_for_byte(uploader: parley.Client, mime_type: str) -> None:
    data = SAMPLES[mime_type]
    before = datetime.now(UTC) - timedelta(minutes=1)
    file = await upload(
        uploader,
        header(
            filename="Plan für Köln.x",
            mime_type=mime_type,
            size_bytes=len(data),
            sha256=hashlib.sha256(data).digest(),
        ),
        *[chunk(data[at : at + 1]) for at in range(len(data))],
    )
    assert (file.filename, file.mime_type) == ("Plan für Köln.x", mime_type)
    assert file.size_bytes == len(data)
    assert before < file.create_time.ToDatetime(UTC) < before + timedelta(minutes=2)
    known = await uploader.files.GetFile(pb.GetFileRequest(file_id=file.file_id))
    assert known.file == file
    first, *pieces = await downloaded(uploader, file.file_id)
    assert first.file == file
    assert b"".join(piece.chunk for piece in pieces) == data


async def test_a_large_file_comes_in_pieces_that_every_client_takes(
    engine: AsyncEngine, tmp_path: Path
) -> None:
    data = b"0123456789abcdef" * 640 * 1024  # just the default cap
    assert len(data) == limits.FILE_BYTES
    async with serving_files(engine, tmp_path) as server:
        noor = await server.client()
        most = limits.CHUNK_BYTES
        chunks = [chunk(data[at : at + most]) for at in range(0, len(data), most)]
        file = await upload(noor, header(), *chunks)
        _, *pieces = await downloaded(noor, file.file_id)
    assert b"".join(piece.chunk for piece in pieces) == data
    assert max(len(piece.chunk) for piece in pieces) == limits.DOWNLOAD_CHUNK_BYTES


async def test_a_repeat_with_its_request_id_is_the_first_file(
    uploader: parley.Client, file_server: FileServer
) -> None:
    once = [header(request_id=str(uuid4())), chunk(NOTES)]
    first, second = await upload(uploader, *once), await upload(uploader, *once)
    assert first == second
    assert len(file_server.store.objects()) == 1
    error = await file_server.refusal([once[0], chunk(b"Another file.")])
    assert (error.code, error.reason) == (StatusCode.ALREADY_EXISTS, "REQUEST_ID_REUSED")
    assert len(file_server.store.objects()) == 1


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "C:\\a\\b.txt", "a\nb\u202e.txt", " ", "x" * 255, "😀" * 127]
)
async def test_any_name_is_shown_as_it_was_given_and_leads_nowhere(
    uploader: parley.Client, file_server: FileServer, tmp_path: Path, name: str
) -> None:
    file = await upload(uploader, header(filename=name), chunk(NOTES))
    assert file.filename == name
    (path,) = file_server.store.objects()
    assert path.parent.parent == tmp_path / "files" / "uploads"


async def test_a_name_that_can_not_be_stored_is_made_one_that_can(uploader: parley.Client) -> None:
    file = await upload(uploader, header(filename="a\0b.txt"), chunk(NOTES))
    assert file.filename == "a\ufffdb.txt"


# ---------------------------------------------------------------- whose file it is


@pytest.mark.parametrize("text_", ["", "nonsense", NO_FILE.replace("-", ""), f"{{{NO_FILE}}}"])
async def test_a_malformed_id_is_refused(uploader: parley.Client, text_: str) -> None:
    for call in (
        uploader.files.GetFile(pb.GetFileRequest(file_id=text_)),
        downloaded(uploader, text_),
        uploader.files.CreateFileUrl(pb.CreateFileUrlRequest(file_id=text_)),
        uploader.files.DeleteFile(pb.DeleteFileRequest(file_id=text_)),
    ):
        error = await failure(call)
        assert (error.code, error.reason) == (StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
        assert [(fault.path, fault.code) for fault in error.fields] == [
            ("fileId", "INVALID_FORMAT")
        ]


async def test_the_files_of_others_and_deleted_ones_read_like_none(
    file_server: FileServer, uploader: parley.Client
) -> None:
    eve = await file_server.client("eve")
    hers = (await upload(eve, header(), chunk(NOTES))).file_id
    deleted = (await upload(uploader, header(), chunk(NOTES))).file_id
    await uploader.files.DeleteFile(pb.DeleteFileRequest(file_id=deleted))
    for file_id in (hers, deleted, NO_FILE):
        for call in (
            uploader.files.GetFile(pb.GetFileRequest(file_id=file_id)),
            downloaded(uploader, file_id),
            uploader.files.CreateFileUrl(pb.CreateFileUrlRequest(file_id=file_id)),
        ):
            error = await failure(call)
            assert (error.code, error.reason) == (StatusCode.NOT_FOUND, "FILE_NOT_FOUND")
            assert error.message == f"There is no file {file_id} of yours."


async def test_deleting_removes_the_bytes_once(
    file_server: FileServer, uploader: parley.Client
) -> None:
    file_id = (await upload(uploader, header(), chunk(NOTES))).file_id
    eve = await file_server.client("eve")
    error = await failure(eve.files.DeleteFile(pb.DeleteFileRequest(file_id=file_id)))
    assert (error.code, error.reason) == (StatusCode.PERMISSION_DENIED, "NOT_OWNER")
    assert len(file_server.store.objects()) == 1
    await uploader.files.DeleteFile(pb.DeleteFileRequest(file_id=file_id))
    assert file_server.store.objects() == []
    error = await failure(uploader.files.DeleteFile(pb.DeleteFileRequest(file_id=file_id)))
    assert (error.code, error.reason) == (StatusCode.NOT_FOUND, "FILE_NOT_FOUND")


async def test_a_url_says_when_it_ends_and_a_store_that_makes_none_says_so(
    file_server: FileServer, uploader: parley.Client
) -> None:
    file_id = (await upload(uploader, header(), chunk(NOTES))).file_id
    error = await failure(uploader.files.CreateFileUrl(pb.CreateFileUrlRequest(file_id=file_id)))
    assert (error.code, error.reason) == (StatusCode.UNIMPLEMENTED, "FILES_DISABLED")
    file_server.store.url = "https://files.example"
    made = await uploader.files.CreateFileUrl(pb.CreateFileUrlRequest(file_id=file_id))
    assert made.url.startswith("https://files.example/uploads/")
    assert made.url.endswith(f"?seconds={limits.FILE_URL_SECONDS}")
    left = made.expire_time.ToDatetime(UTC) - datetime.now(UTC)
    assert timedelta(minutes=59) < left <= timedelta(hours=1)


async def test_bytes_that_are_gone_are_no_file(
    file_server: FileServer, uploader: parley.Client
) -> None:
    file_id = (await upload(uploader, header(), chunk(NOTES))).file_id
    for path in file_server.store.objects():
        path.unlink()
    error = await failure(downloaded(uploader, file_id))
    assert (error.code, error.reason) == (StatusCode.NOT_FOUND, "FILE_NOT_FOUND")


async def test_nobody_without_a_token_is_served(file_server: FileServer) -> None:
    async with parley.connect(file_server.address, "nonsense") as stranger:
        for refusal in (
            refused_upload(file_server.address, "nonsense", [header(), chunk(NOTES)]),
            failure(stranger.files.GetFile(pb.GetFileRequest(file_id=NO_FILE))),
            failure(downloaded(stranger, NO_FILE)),
            failure(stranger.files.CreateFileUrl(pb.CreateFileUrlRequest(file_id=NO_FILE))),
            failure(stranger.files.DeleteFile(pb.DeleteFileRequest(file_id=NO_FILE))),
        ):
            assert (await refusal).code is StatusCode.UNAUTHENTICATED
    assert file_server.store.objects() == []


async def test_the_whole_service_keeps_files_as_its_settings_say(start_server: StartServer) -> None:
    server = await start_server(in_turn(), file_bytes=CAP)
    client = (await server.person()).client
    file = await upload(client, header(), chunk(NOTES))
    _, *pieces = await downloaded(client, file.file_id)
    assert b"".join(piece.chunk for piece in pieces) == NOTES
    large = [header(), chunk(b"x" * (CAP + 1))]
    error = await refused_upload(server.address, server.token(), large)
    assert error.metadata["limit"] == str(CAP)
    for other, reason in (
        (await start_server(in_turn(), uploads=False), "UPLOADS_DISABLED"),
        (await start_server(in_turn(), file_store="none"), "FILES_DISABLED"),
    ):
        error = await refused_upload(other.address, other.token(), [header(), chunk(NOTES)])
        assert error.reason == reason

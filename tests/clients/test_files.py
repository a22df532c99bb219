"""The client's way to send and get files, against a real server."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
from grpc import StatusCode
from sqlalchemy.ext.asyncio import AsyncEngine

import parley.sync
from parley.transfers import CHUNK_BYTES
from tests.rpc.file_server import FileServer, serving_files
from tests.rpc.wire import HOUR

CAP = 200_000
NOTES = b"Bring the tent.\n"
PNG = b"\x89PNG\r\n\x1a\n...."
LARGE = b"0123456789\n" * (CAP // 11)


@pytest.fixture
async def server(engine: AsyncEngine, tmp_path: Path) -> AsyncIterator[FileServer]:
    async with serving_files(engine, tmp_path, file_bytes=CAP) as running:
        yield running


@pytest.fixture
async def client(server: FileServer) -> parley.Client:
    return await server.client()


async def test_a_file_on_disk_goes_there_and_back(client: parley.Client, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(LARGE)
    assert len(LARGE) > 3 * CHUNK_BYTES
    file = await parley.upload_file(client, path)
    assert (file.filename, file.mime_type, file.size_bytes) == (
        "notes.txt",
        "text/plain",
        len(LARGE),
    )
    assert await parley.download_file(client, file.file_id) == (file, LARGE)


async def test_bytes_go_there_and_back(client: parley.Client) -> None:
    file = await parley.upload_file(client, PNG, filename="tent.png")
    assert (file.filename, file.mime_type, file.size_bytes) == ("tent.png", "image/png", len(PNG))
    downloaded = await parley.download_file(client, file.file_id)
    assert (downloaded.file, downloaded.data) == (file, PNG)


async def test_a_client_without_asyncio_sends_and_gets_files(
    server: FileServer, tmp_path: Path
) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(LARGE)

    def there_and_back() -> parley.Download:
        with parley.sync.connect(server.address, server.key.issue("noor", HOUR)) as client:
            file = parley.sync.upload_file(client, path)
            with pytest.raises(parley.ParleyError) as raised:
                parley.sync.upload_file(client, b"x" * (CAP + 1), filename="notes.txt")
            assert raised.value.reason == "FILE_TOO_LARGE"
            with pytest.raises(parley.ParleyError) as raised:
                parley.sync.download_file(client, str(uuid4()))
            assert raised.value.reason == "FILE_NOT_FOUND"
            return parley.sync.download_file(client, file.file_id)

    downloaded = await asyncio.to_thread(there_and_back)
    assert (downloaded.file.filename, downloaded.data) == ("notes.txt", LARGE)


async def test_name_and_type_can_be_said(client: parley.Client, tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"a,b\n1,2\n")
    file = await parley.upload_file(client, path, filename="plans.x", mime_type="text/csv")
    assert (file.filename, file.mime_type) == ("plans.x", "text/csv")


async def test_a_repeat_with_its_request_id_is_the_same_file(
    client: parley.Client, server: FileServer
) -> None:
    own = str(uuid4())
    first = await parley.upload_file(client, NOTES, filename="notes.txt", request_id=own)
    again = await parley.upload_file(client, NOTES, filename="notes.txt", request_id=own)
    other = await parley.upload_file(client, NOTES, filename="notes.txt")
    assert first == again != other
    assert len(server.store.objects()) == 2


async def test_what_can_not_be_declared_is_not_sent(
    client: parley.Client, server: FileServer, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="say filename="):
        await parley.upload_file(client, NOTES)
    with pytest.raises(ValueError, match="say mime_type="):
        await parley.upload_file(client, NOTES, filename="notes")
    with pytest.raises(FileNotFoundError):
        await parley.upload_file(client, tmp_path / "none.txt")
    assert server.store.objects() == []


async def test_a_refusal_is_an_error_of_parley(client: parley.Client) -> None:
    with pytest.raises(parley.ParleyError) as raised:
        await parley.upload_file(client, b"x" * (CAP + 1), filename="notes.txt")
    assert (raised.value.reason, raised.value.metadata["limit"]) == ("FILE_TOO_LARGE", str(CAP))
    with pytest.raises(parley.ParleyError) as raised:
        await parley.upload_file(client, NOTES, filename="tent.png")
    assert (raised.value.code, raised.value.reason) == (
        StatusCode.INVALID_ARGUMENT,
        "MIME_MISMATCH",
    )
    with pytest.raises(parley.ParleyError) as raised:
        await parley.download_file(client, str(uuid4()))
    assert raised.value.reason == "FILE_NOT_FOUND"

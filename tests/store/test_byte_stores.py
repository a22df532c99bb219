"""Where bytes lie: a folder, and a bucket of an S3 server."""

import asyncio
import io
import os
import re
import tempfile
from collections.abc import AsyncIterator, Generator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from moto.server import ThreadedMotoServer

from parleyd.contract import limits
from parleyd.store.byte_stores import StoreUnusable, byte_store_of
from parleyd.turns.file_store import BytesMissing, ByteStore, StoreFailed

KEY = "uploads/0123/01ABC-plan_1.pdf"
BUCKET = "parley-files"
MIB = 1024 * 1024
STORES = ["folder", "bucket"]


@pytest.fixture(scope="module")
def s3() -> Generator[str]:
    """The address of an S3 server."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@pytest.fixture
def bucket(s3: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty bucket, which the environment leads to."""
    _name_in_environment(monkeypatch, s3)
    httpx2.post(f"{s3}/moto-api/reset").raise_for_status()
    httpx2.put(f"{s3}/{BUCKET}").raise_for_status()
    return f"s3://{BUCKET}/kept"


def _name_in_environment(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    for name, value in {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "hush-hush",
    }.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ByteStore:
    if request.param == "folder":
        return byte_store_of(str(tmp_path / "kept"))
    return byte_store_of(request.getfixturevalue("bucket"))


async def read(store: ByteStore, key: str = KEY) -> list[bytes]:
    return [piece async for piece in store.read(key)]


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


# ---------------------------------------------------------------- folder and bucket alike


@pytest.mark.parametrize(
    "size",
    [0, 1, limits.DOWNLOAD_CHUNK_BYTES, 3 * limits.DOWNLOAD_CHUNK_BYTES + 7, 17 * MIB],
    ids=["none", "one", "a piece", "pieces", "parts"],
)
@pytest.mark.parametrize("form", ["bytes", "file"])
async def test_bytes_come_back_in_pieces(store: ByteStore, size: int, form: str) -> None:
    data = os.urandom(size)
    with tempfile.TemporaryFile() as file:
        file.write(data)
        await store.put(KEY, data if form == "bytes" else file)

    pieces = await read(store)

    assert b"".join(pieces) == data
    assert all(0 < len(piece) <= limits.DOWNLOAD_CHUNK_BYTES for piece in pieces)


async def test_each_key_has_bytes_of_its_own(store: ByteStore) -> None:
    await asyncio.gather(*(store.put(f"{KEY}-{n}", b"%d" % n) for n in range(20)))

    assert [await read(store, f"{KEY}-{n}") for n in range(20)] == [[b"%d" % n] for n in range(20)]


async def test_deleted_bytes_are_gone_and_a_repeat_changes_nothing(store: ByteStore) -> None:
    await store.put(KEY, b"plan")
    await store.put(f"{KEY}-2", b"other")

    await store.delete(KEY)
    await store.delete(KEY)
    await store.delete("uploads/nobody/nothing")

    with pytest.raises(BytesMissing):
        await read(store)
    assert await read(store, f"{KEY}-2") == [b"other"]


async def test_a_reader_may_stop_early(store: ByteStore) -> None:
    await store.put(KEY, os.urandom(3 * MIB))
    pieces = store.read(KEY)

    assert len(await anext(pieces)) == limits.DOWNLOAD_CHUNK_BYTES
    await pieces.aclose()

    await store.delete(KEY)


class Broken(io.BytesIO):
    """A file that can't be read to its end."""

    def read(self, size: int | None = -1, /) -> bytes:
        if self.tell() >= 12 * MIB:
            raise OSError("the disk is gone")
        return super().read(size)


async def test_of_bytes_that_break_off_nothing_is_stored(store: ByteStore) -> None:
    with pytest.raises(StoreFailed, match="disk"):
        await store.put(KEY, Broken(bytes(20 * MIB)))

    with pytest.raises(BytesMissing):
        await read(store)


# ---------------------------------------------------------------- folders


async def test_a_folder_is_made_for_this_user_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "my files"

    for place in (str(folder), folder.as_uri()):
        store = byte_store_of(place)
        await store.put(KEY, b"plan")

    assert folder.stat().st_mode & 0o777 == 0o700
    assert files_in(folder) == {KEY}


async def test_a_folder_keeps_nothing_of_what_was_not_stored(tmp_path: Path) -> None:
    store = byte_store_of(str(tmp_path))
    with pytest.raises(StoreFailed):
        await store.put(KEY, Broken(bytes(20 * MIB)))
    with pytest.raises(StoreFailed):
        await store.put(f"uploads/{'n' * 300}", b"plan")

    async with asyncio.timeout(5):
        while files_in(tmp_path):
            await asyncio.sleep(0)


async def test_a_folder_has_no_urls(tmp_path: Path) -> None:
    store = byte_store_of(str(tmp_path))
    await store.put(KEY, b"plan")

    assert await store.signed_url(KEY, 60) is None


async def test_a_fault_does_not_tell_the_name_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "uploads").write_text("no folder")
    store = byte_store_of(str(tmp_path))

    with pytest.raises(StoreFailed) as failed:
        await store.put(KEY, b"plan")

    assert "plan" not in str(failed.value)
    assert failed.value.__suppress_context__


# ---------------------------------------------------------------- buckets


async def test_a_bucket_keeps_everything_under_its_prefix(bucket: str, s3: str) -> None:
    await byte_store_of(bucket).put(KEY, b"plan")

    listed = httpx2.get(f"{s3}/{BUCKET}").text

    assert re.findall("<Key>(.*?)</Key>", listed) == [f"kept/{KEY}"]


async def test_anybody_may_read_at_a_signed_url(bucket: str) -> None:
    store = byte_store_of(bucket)
    await store.put(KEY, b"plan")

    url = await store.signed_url(KEY, 3600)

    assert url
    assert "X-Amz-Expires=3600" in urlsplit(url).query
    assert "hush-hush" not in url
    assert httpx2.get(url).content == b"plan"


async def test_a_bucket_that_is_not_there_is_a_fault(bucket: str) -> None:
    del bucket
    store = byte_store_of("s3://another-bucket")

    with pytest.raises(StoreFailed):
        await store.put(KEY, b"plan")
    with pytest.raises(StoreFailed):
        await store.delete(KEY)


@pytest.fixture
async def silent() -> AsyncIterator[str]:
    """The address of a server that takes connections and says nothing."""
    held: list[asyncio.StreamWriter] = []

    async def hold(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.append(writer)

    server = await asyncio.start_server(hold, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    for writer in held:
        writer.close()
    server.close()


async def test_a_store_that_does_not_answer_is_given_up(
    silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _name_in_environment(monkeypatch, silent)
    for limit in ("ANSWER_SECONDS", "PUT_SECONDS"):
        monkeypatch.setattr(f"parleyd.store.byte_stores.{limit}", 0.1)
    store = byte_store_of(f"s3://{BUCKET}")

    async with asyncio.timeout(5):
        with pytest.raises(StoreFailed):
            await store.put(KEY, b"plan")
        with pytest.raises(StoreFailed):
            await store.delete(KEY)
        with pytest.raises(StoreFailed):
            await read(store)


async def test_a_store_that_is_away_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    _name_in_environment(monkeypatch, "http://127.0.0.1:9")
    store = byte_store_of(f"s3://{BUCKET}")

    async with asyncio.timeout(10):
        with pytest.raises(StoreFailed) as failed:
            await store.put(KEY, b"plan")

    assert KEY not in str(failed.value)


# ---------------------------------------------------------------- places


@pytest.fixture
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("AWS_", "AZURE_", "GOOGLE_"))]:
        monkeypatch.delenv(name)


@pytest.mark.usefixtures("clean_environment")
@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("files", "Name a folder by its whole path"),
        ("s3:bucket", "Name a folder by its whole path"),
        ("file://host/files", "A file URL has three slashes"),
        ("/dev/null/files", "The folder /dev/null/files can't be made (Not a directory)"),
        ("/dev/null", "The folder /dev/null can't be made (File exists)"),
        ("s3://", "There is no such bucket to be used (Generic URL error"),
        ("az://container", "There is no such bucket to be used (Generic MicrosoftAzure error: Acc"),
        ("ftp://host/files", "There is no such bucket to be used (Generic URL error"),
        ("https://host/files", "Files lie in a folder or in a bucket"),
        ("memory:///", "Files lie in a folder or in a bucket"),
        ("s3://key:hush@bucket/files", "The URL of a bucket holds neither credentials"),
        ("s3://bucket/files?region=x", "The URL of a bucket holds neither credentials"),
    ],
)
def test_a_place_that_can_not_be_used_is_told_in_a_sentence(place: str, sentence: str) -> None:
    with pytest.raises(StoreUnusable) as told:
        byte_store_of(place)

    assert str(told.value).startswith(sentence)
    assert "hush" not in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.usefixtures("clean_environment")
@pytest.mark.parametrize(
    "place", ["s3://bucket/a/b", "gs://bucket", "abfss://c@acc.dfs.core.windows.net/p"]
)
def test_buckets_of_every_vendor_are_places(place: str) -> None:
    assert byte_store_of(place)

"""Files are taken whole and true or not at all, and nobody sees another's (spec turns 11.2)."""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from io import BufferedRandom
from uuid import UUID, uuid4

import pytest

from parleyd.contract import limits
from parleyd.contract.errors import (
    FileMismatch,
    FileNotFound,
    FilesOff,
    FileTooLarge,
    FileTypeNotAllowed,
    InvalidRequest,
    Malformed,
    NotOwner,
    RequestIdReused,
    Unavailable,
)
from parleyd.contract.files import File, FileHeader
from parleyd.turns.file_store import BytesMissing, StoreFailed
from parleyd.turns.files import Files
from parleyd.turns.uploads import MEMORY_BYTES
from tests.turns.files_in_memory import MemoryBytes, MemoryFileRows
from tests.turns.ports_in_memory import RandomIds

PNG = b"\x89PNG\r\n\x1a\nrest"
CAP = 3 * MEMORY_BYTES
DEADLINE = 10


class Scene:
    """Files of memory, and what an upload has read so far."""

    def __init__(self) -> None:
        self.store = MemoryBytes()
        self.rows = MemoryFileRows()
        self.files = Files(self.rows, self.store, RandomIds(), file_bytes=CAP)
        self.read = 0

    async def upload(
        self,
        *chunks: bytes,
        mime_type: str = "text/plain",
        owner: str = "ada",
        size: int | None = None,
        sha256: bytes | None = None,
        request_id: UUID | None = None,
    ) -> File:
        header = FileHeader(
            filename="notes.txt",
            mime_type=mime_type,
            size=size,
            sha256=sha256,
            request_id=request_id,
        )
        return await self.files.upload(owner, header, self._chunks(*chunks))

    async def _chunks(self, *chunks: bytes) -> AsyncIterator[bytes]:
        for chunk in chunks:
            self.read += len(chunk)
            yield chunk

    @property
    def is_empty(self) -> bool:
        return not (self.store.objects or self.rows.files or self.rows.deleted)


@pytest.fixture
def scene() -> Scene:
    return Scene()


async def _bytes_of(scene: Scene, file: File, owner: str = "ada") -> bytes:
    _, pieces = await scene.files.open(owner, file.id)
    return b"".join([piece async for piece in pieces])


# ---------------------------------------------------------------- uploads


async def test_an_upload_is_kept_with_what_was_said_and_measured(scene: Scene) -> None:
    file = await scene.upload(b"hel", b"", b"lo")
    assert (file.filename, file.mime_type, file.size) == ("notes.txt", "text/plain", 5)
    assert file.sha256 == hashlib.sha256(b"hello").digest()
    assert await _bytes_of(scene, file) == b"hello"
    assert await scene.files.get("ada", file.id) == file


async def test_a_large_upload_goes_over_the_disk_and_comes_out_whole(scene: Scene) -> None:
    pieces = [bytes([65 + number]) * 300_000 for number in range(9)]
    file = await scene.upload(*pieces)
    assert scene.store.puts == [BufferedRandom]
    assert await _bytes_of(scene, file) == b"".join(pieces)
    assert file.sha256 == hashlib.sha256(b"".join(pieces)).digest()


async def test_an_upload_of_exactly_the_cap_is_taken(scene: Scene) -> None:
    assert (await scene.upload(*[b"x" * MEMORY_BYTES] * 3)).size == CAP


async def test_fi7_an_upload_stops_at_the_first_byte_over_the_cap(scene: Scene) -> None:
    with pytest.raises(FileTooLarge) as raised:
        await scene.upload(*[b"x" * MEMORY_BYTES] * 3, b"x", *[b"x"] * 100)
    assert raised.value.limit == CAP
    assert scene.read == CAP + 1
    assert scene.is_empty


async def test_fi7_a_size_over_the_cap_is_refused_before_a_byte_is_read(scene: Scene) -> None:
    with pytest.raises(FileTooLarge):
        await scene.upload(b"x", size=CAP + 1)
    assert scene.read == 0


@pytest.mark.parametrize(
    "mime_type", ["", "image/svg+xml", "text/html", "Image/PNG", "text/plain; charset=utf-8"]
)
async def test_fi7_a_type_that_is_not_taken_is_refused_before_a_byte_is_read(
    scene: Scene, mime_type: str
) -> None:
    with pytest.raises(FileTypeNotAllowed) as raised:
        await scene.upload(b"x", mime_type=mime_type)
    (field,) = raised.value.fields
    assert (field.path, field.code) == ("mimeType", "FILE_TYPE_NOT_ACCEPTED")
    assert scene.read == 0


@pytest.mark.parametrize(
    ("mime_type", "chunks"),
    [
        pytest.param("image/png", (b"\x89PNG\r\n", b"\x1a"), id="one byte short"),
        pytest.param("text/plain", (PNG,), id="an image"),
        pytest.param("text/plain", (b"%PD", b"F-"), id="a PDF in pieces"),
        pytest.param("text/csv", (b"\xc3", b"("), id="half a character"),
        pytest.param("text/plain", (b"x" * MEMORY_BYTES, b"\0"), id="U+0000 at the end"),
        pytest.param("application/json", (b"NaN",), id="no JSON"),
    ],
)
async def test_bytes_that_are_not_of_their_type_are_refused(
    scene: Scene, mime_type: str, chunks: tuple[bytes, ...]
) -> None:
    with pytest.raises(FileMismatch) as raised:
        await scene.upload(*chunks, mime_type=mime_type)
    (field,) = raised.value.fields
    assert (field.path, field.code) == ("mimeType", "MIME_MISMATCH")
    assert scene.is_empty


@pytest.mark.parametrize(
    ("mime_type", "chunks"),
    [
        pytest.param("image/png", (b"\x89PNG", b"\r\n\x1a\n"), id="a sign in pieces"),
        pytest.param("image/webp", (b"RIFF....", b"WEBP"), id="WebP in pieces"),
        pytest.param("text/csv", (b"\xc3", b"\xa4"), id="a character in pieces"),
        pytest.param("text/plain", (b"x" * (MEMORY_BYTES - 1) + b"\xc3", b"\xa4"), id="on disk"),
        pytest.param("application/json", (b"[1,", b"2]"), id="JSON"),
    ],
)
async def test_bytes_in_pieces_are_looked_at_whole(
    scene: Scene, mime_type: str, chunks: tuple[bytes, ...]
) -> None:
    file = await scene.upload(*chunks, mime_type=mime_type)
    assert await _bytes_of(scene, file) == b"".join(chunks)


@pytest.mark.parametrize(
    ("chunks", "size", "sha256", "path"),
    [
        pytest.param((), None, None, "chunk", id="no chunk"),
        pytest.param((b"", b""), None, None, "chunk", id="no bytes"),
        pytest.param((b"hello",), 4, None, "sizeBytes", id="more than was said"),
        pytest.param((b"hello",), 6, None, "sizeBytes", id="less than was said"),
        pytest.param((b"hello",), 5, b"\0" * 32, "sha256", id="another digest"),
    ],
)
async def test_what_a_header_says_has_to_be_true(
    scene: Scene, chunks: tuple[bytes, ...], size: int | None, sha256: bytes | None, path: str
) -> None:
    with pytest.raises(InvalidRequest) as raised:
        await scene.upload(*chunks, size=size, sha256=sha256)
    (field,) = raised.value.fields
    assert field.path == path
    assert field.fix
    assert scene.is_empty


async def test_a_true_size_and_digest_are_taken(scene: Scene) -> None:
    file = await scene.upload(b"hello", size=5, sha256=hashlib.sha256(b"hello").digest())
    assert file.size == 5


async def test_a_repeat_returns_the_first_file_and_stores_nothing(scene: Scene) -> None:
    request_id = uuid4()
    first = await scene.upload(b"hel", b"lo", request_id=request_id)
    assert await scene.upload(b"hello", request_id=request_id) == first
    assert len(scene.store.objects) == 1


async def test_another_upload_with_a_request_id_is_refused(scene: Scene) -> None:
    request_id = uuid4()
    await scene.upload(b"hello", request_id=request_id)
    for upload in (
        scene.upload(b"hallo", request_id=request_id),
        scene.upload(b"hello", mime_type="text/csv", request_id=request_id),
        scene.upload(b"hello", size=5, request_id=request_id),
    ):
        with pytest.raises(RequestIdReused):
            await upload
    assert len(scene.store.objects) == 1
    assert await scene.upload(b"hallo", request_id=request_id, owner="bo")


async def test_of_two_equal_uploads_at_once_one_is_kept(scene: Scene) -> None:
    request_id = uuid4()
    scene.rows.held.add("add")
    async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
        tasks = [group.create_task(scene.upload(b"hello", request_id=request_id)) for _ in range(2)]
        await scene.rows.holds.reached("add", times=2)
        scene.rows.holds.release("add")
    assert tasks[0].result() == tasks[1].result()
    assert len(scene.store.objects) == 1


async def test_an_upload_that_cannot_be_put_leaves_nothing(scene: Scene) -> None:
    scene.store.fails["put"] = StoreFailed()
    with pytest.raises(Unavailable):
        await scene.upload(b"hello")
    assert scene.is_empty


async def test_an_upload_that_cannot_be_inserted_leaves_nothing(scene: Scene) -> None:
    scene.rows.away.append(Unavailable("Away."))
    with pytest.raises(Unavailable):
        await scene.upload(b"hello")
    assert scene.is_empty


async def test_an_insert_that_worked_after_all_is_taken_back(scene: Scene) -> None:
    scene.rows.away.append(Unavailable("Away."))
    scene.rows.late = True
    with pytest.raises(Unavailable):
        await scene.upload(b"hello")
    assert scene.is_empty


async def test_an_insert_that_worked_after_all_is_there_for_the_repeat(scene: Scene) -> None:
    request_id = uuid4()
    scene.rows.away.append(Unavailable("Away."))
    scene.rows.late = True
    with pytest.raises(Unavailable):
        await scene.upload(b"hello", request_id=request_id)
    file = await scene.upload(b"hello", request_id=request_id)
    assert await _bytes_of(scene, file) == b"hello"
    assert len(scene.store.objects) == 1


async def test_a_repeat_never_returns_a_file_without_its_bytes(scene: Scene) -> None:
    request_id = uuid4()
    scene.rows.away.append(Unavailable("Away."))
    scene.rows.late = scene.rows.away_afterwards = True
    with pytest.raises(Unavailable):
        await scene.upload(b"hello", request_id=request_id)
    scene.rows.away_afterwards = False
    file = await scene.upload(b"hello", request_id=request_id)
    assert await _bytes_of(scene, file) == b"hello"
    assert len(scene.store.objects) == 1


@pytest.mark.parametrize("place", ["put", "add"])
async def test_a_client_that_leaves_while_its_upload_is_stored_leaves_nothing(
    scene: Scene, place: str
) -> None:
    holder = scene.store if place == "put" else scene.rows
    holder.held.add(place)
    async with asyncio.timeout(DEADLINE):
        upload = asyncio.create_task(scene.upload(b"x" * 2 * MEMORY_BYTES))
        await holder.holds.reached(place)
        for _ in range(2):
            upload.cancel()
            await asyncio.sleep(0)
        assert not upload.done()
        holder.holds.release(place)
        await asyncio.wait([upload])
        await holder.unstoppable.ended()
    assert upload.cancelled()
    assert scene.is_empty


async def test_a_client_that_leaves_finds_its_upload_with_its_request_id(scene: Scene) -> None:
    request_id = uuid4()
    scene.rows.held.add("add")
    async with asyncio.timeout(DEADLINE):
        upload = asyncio.create_task(scene.upload(b"hello", request_id=request_id))
        await scene.rows.holds.reached("add")
        upload.cancel()
        scene.rows.holds.release("add")
        await asyncio.wait([upload])
    assert upload.cancelled()
    file = await scene.upload(b"hello", request_id=request_id)
    assert await _bytes_of(scene, file) == b"hello"
    assert [*scene.store.objects] == [file.storage_key]


async def test_a_client_that_leaves_in_mid_upload_leaves_nothing(scene: Scene) -> None:
    reached = asyncio.Event()

    async def chunks() -> AsyncIterator[bytes]:
        yield b"x" * 2 * MEMORY_BYTES
        reached.set()
        await asyncio.Event().wait()

    header = FileHeader(filename="notes.txt", mime_type="text/plain")
    async with asyncio.timeout(DEADLINE):
        upload = asyncio.create_task(scene.files.upload("ada", header, chunks()))
        await reached.wait()
        upload.cancel()
        await asyncio.wait([upload])
    assert upload.cancelled()
    assert scene.is_empty


async def test_a_client_whose_connection_breaks_leaves_nothing(scene: Scene) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"hello"
        raise ConnectionError

    header = FileHeader(filename="notes.txt", mime_type="text/plain")
    with pytest.raises(ConnectionError):
        await scene.files.upload("ada", header, chunks())
    assert scene.is_empty


# ---------------------------------------------------------------- keys and names


@pytest.mark.parametrize(
    ("filename", "ending"),
    [
        ("plan.pdf", "plan.pdf"),
        ("../../etc/pass wd", ".._.._etc_pass_wd"),
        ("Grüße 🚢.txt", "Gr__e__.txt"),
        ("x" * 255 + ".png", "x" * 96 + ".png"),
    ],
)
async def test_a_key_is_safe_and_short_whatever_the_name(
    scene: Scene, filename: str, ending: str
) -> None:
    await scene.files.keep("ada", filename, "image/png", PNG)
    (key,) = scene.store.objects
    assert re.fullmatch(r"uploads/[0-9a-f]{32}/[0-9a-f]{32}-[A-Za-z0-9._-]+", key)
    assert key.endswith(f"-{ending}")
    assert len(key.rsplit("/", 1)[1]) < 255 - 32


async def test_the_files_of_one_person_are_in_one_folder_of_their_own(scene: Scene) -> None:
    keys = [scene.files.new_key(owner, "a.txt") for owner in ("ada", "ada", "bo")]
    folders = [key.rsplit("/", 1)[0] for key in keys]
    assert folders[0] == folders[1] != folders[2]
    assert len({*keys}) == 3


async def test_what_a_tool_calls_its_file_is_kept_as_far_as_it_can_be(scene: Scene) -> None:
    odd = await scene.files.keep("ada", "a\0" + "b" * 300, "x/" + "y" * 200, b"")
    assert odd.filename == "a\ufffd" + "b" * 252 + "…"
    assert odd.mime_type == "application/octet-stream"
    assert (await scene.files.keep("ada", "", "image/png", PNG)).filename == "document"


# ---------------------------------------------------------------- what is kept for us


async def test_what_cannot_be_inserted_is_not_kept(scene: Scene) -> None:
    scene.rows.away.append(Unavailable("Away."))
    with pytest.raises(Unavailable):
        await scene.files.keep("ada", "a.png", "image/png", PNG)
    assert scene.is_empty


async def test_what_was_kept_for_nothing_is_taken_back(scene: Scene) -> None:
    kept = [await scene.files.keep("ada", f"{name}.png", "image/png", PNG) for name in "abc"]
    await scene.files.delete("ada", kept[0].id)
    await scene.files.take_back(kept)
    assert scene.is_empty


# ---------------------------------------------------------------- reading


@pytest.mark.parametrize("which", range(3), ids=["get", "open", "url"])
async def test_nobody_reads_what_is_not_theirs_or_not_there(scene: Scene, which: int) -> None:
    file = await scene.upload(b"hello")
    read = (scene.files.get, scene.files.open, scene.files.url)[which]
    gone = await scene.upload(b"hello")
    await scene.files.delete("ada", gone.id)
    for owner, file_id in (("bo", file.id), ("ada", gone.id), ("ada", uuid4())):
        with pytest.raises(FileNotFound):
            await read(owner, file_id)
    assert scene.store.reads == []


async def test_bytes_that_are_gone_are_not_found(scene: Scene) -> None:
    file = await scene.upload(b"hello")
    scene.store.objects.clear()
    with pytest.raises(FileNotFound):
        await _bytes_of(scene, file)
    with pytest.raises(BytesMissing):
        await scene.files.load(file)


async def test_a_store_that_is_down_is_unavailable(scene: Scene) -> None:
    file = await scene.upload(b"hello")
    scene.store.fails |= {"read": StoreFailed(), "signed_url": StoreFailed()}
    with pytest.raises(Unavailable):
        await _bytes_of(scene, file)
    with pytest.raises(Unavailable):
        await scene.files.url("ada", file.id)


async def test_a_url_ends_after_an_hour(scene: Scene) -> None:
    file = await scene.upload(b"hello")
    scene.store.places[file.storage_key] = "https://bucket.example/notes"
    before = datetime.now(UTC)
    url, ends = await scene.files.url("ada", file.id)
    assert url == f"https://bucket.example/notes?seconds={limits.FILE_URL_SECONDS}"
    hour = timedelta(seconds=limits.FILE_URL_SECONDS)
    assert before + hour <= ends <= datetime.now(UTC) + hour


async def test_a_store_that_makes_no_urls_says_so(scene: Scene) -> None:
    file = await scene.upload(b"hello")
    with pytest.raises(FilesOff):
        await scene.files.url("ada", file.id)


# ---------------------------------------------------------------- deleting


async def test_a_deleted_file_is_gone_with_its_bytes(scene: Scene) -> None:
    file = await scene.upload(b"hello")
    await scene.files.delete("ada", file.id)
    assert scene.is_empty
    with pytest.raises(FileNotFound):
        await scene.files.delete("ada", file.id)


async def test_nobody_deletes_what_is_not_theirs(scene: Scene) -> None:
    file = await scene.upload(b"hello")
    with pytest.raises(NotOwner):
        await scene.files.delete("bo", file.id)
    assert await _bytes_of(scene, file) == b"hello"


async def test_bytes_that_the_store_keeps_go_with_the_next_sweep(scene: Scene) -> None:
    file = await scene.upload(b"hello")
    scene.store.fails["delete"] = StoreFailed()
    await scene.files.delete("ada", file.id)
    with pytest.raises(FileNotFound):
        await scene.files.get("ada", file.id)
    await scene.files.sweep()
    assert scene.store.objects
    scene.store.fails.clear()
    await scene.files.sweep()
    assert scene.is_empty


async def test_a_sweep_takes_all_that_nothing_refers_to(scene: Scene) -> None:
    kept = await scene.upload(b"hello")
    unused = [await scene.files.keep("ada", "a.png", "image/png", PNG) for _ in range(250)]
    scene.rows.unused |= {file.id for file in unused}
    await scene.files.sweep()
    assert [*scene.store.objects] == [kept.storage_key]
    assert [*scene.rows.files] == [kept.id]
    assert not scene.rows.deleted


async def test_bytes_that_are_not_given_up_hold_up_no_others(scene: Scene) -> None:
    unused = [await scene.files.keep("ada", "a.png", "image/png", PNG) for _ in range(250)]
    scene.rows.unused |= {file.id for file in unused}
    scene.store.stuck = {file.storage_key for file in unused[:3]}
    await scene.files.sweep()
    assert {*scene.store.objects} == scene.store.stuck
    scene.store.fails["delete"] = StoreFailed()
    await scene.files.sweep()
    assert {*scene.rows.deleted} == {file.id for file in unused[:3]}


async def test_faults_of_uploads_tell_where_and_how_to_mend_them(scene: Scene) -> None:
    with pytest.raises(Malformed) as raised:
        await scene.upload(b"x", mime_type="image/bmp")
    assert raised.value.message == (
        'mimeType is "image/bmp", which is no type that is taken. Send one of "image/jpeg", '
        '"image/png", "image/gif", "image/webp", "application/pdf", "text/plain", "text/csv", '
        '"application/json", in lower case and without parameters.'
    )

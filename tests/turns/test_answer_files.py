"""The files of an answer: checked all together, then stored, or shown once (spec turns 11.4)."""

from collections.abc import Sequence
from uuid import UUID, uuid4

import pytest
from pydantic import JsonValue

from parleyd.contract.answers import accepted
from parleyd.contract.data_urls import to_data_url
from parleyd.contract.errors import AttachmentNotStored, InvalidAnswer, Unavailable
from parleyd.contract.files import File
from parleyd.turns.answer_files import take_answer
from parleyd.turns.file_store import StoreFailed
from parleyd.turns.files import Files
from parleyd.turns.model import MediaShown, Shown, TextShown
from parleyd.turns.ports import AnswerOpening
from tests.turns.files_in_memory import MemoryBytes, MemoryFileRows
from tests.turns.ports_in_memory import RandomIds

PNG = b"\x89PNG\r\n\x1a\nrest"
CAP = 100


class Scene:
    """Files of memory, and answers that bring some."""

    def __init__(self) -> None:
        self.store = MemoryBytes()
        self.rows = MemoryFileRows()
        self.files = Files(self.rows, self.store, RandomIds())

    async def upload(
        self, data: bytes = PNG, mime_type: str = "image/png", owner: str = "ada"
    ) -> File:
        return await self.files.keep(owner, "scan", mime_type, data)

    async def take(
        self, *files: JsonValue, kept: bool = True
    ) -> tuple[list[JsonValue], Sequence[Shown] | None]:
        """Returns the files of a stored answer, and what the model is shown at once."""
        envelope = accepted({"files": list(files)})
        taken = await take_answer(self.files if kept else None, "ada", "call_1", envelope, CAP)
        opening = taken.opening
        assert isinstance(opening, AnswerOpening)
        assert (opening.kind, opening.tool_call_id) == ("answer", "call_1")
        content = opening.envelope["content"]
        assert isinstance(content, dict)
        stored = content["files"]
        assert isinstance(stored, list)
        assert opening.envelope == accepted({"files": stored})
        return stored, taken.shown

    async def faults(self, *files: JsonValue, kept: bool = True) -> list[tuple[str, str]]:
        """Returns what is wrong with the files of an answer."""
        with pytest.raises(InvalidAnswer) as raised:
            await self.take(*files, kept=kept)
        assert raised.value.fields[0].message in raised.value.message
        return [(field.path, field.code) for field in raised.value.fields]


@pytest.fixture
def scene() -> Scene:
    return Scene()


def inline(data: bytes = PNG, mime_type: str = "image/png") -> JsonValue:
    url = to_data_url(mime_type, data)
    return {"filename": "scan", "mimeType": mime_type, "size": 1, "url": url}


def named(file_id: object, mime_type: str = "image/png") -> JsonValue:
    return {"filename": "scan", "mimeType": mime_type, "size": 1, "fileId": str(file_id)}


async def test_fi1_an_inline_file_is_stored_and_the_answer_names_it(scene: Scene) -> None:
    stored, shown = await scene.take(inline(), inline(b"a,b", "text/csv"))
    first, second = scene.rows.files.values()
    assert stored == [
        {
            "fileId": str(first.id),
            "filename": "scan",
            "mimeType": "image/png",
            "size": len(PNG),
        },
        {"fileId": str(second.id), "filename": "scan", "mimeType": "text/csv", "size": 3},
    ]
    assert [*scene.store.objects.values()] == [PNG, b"a,b"]
    assert shown is None


async def test_without_a_store_an_inline_file_is_shown_and_kept_nowhere(scene: Scene) -> None:
    stored, shown = await scene.take(inline(), inline(b"", "text/plain"), kept=False)
    assert stored == [
        {"filename": "scan", "mimeType": "image/png", "size": len(PNG)},
        {"filename": "scan", "mimeType": "text/plain", "size": 0},
    ]
    assert shown == (
        TextShown("File 1 of 2: scan (image/png, 12 bytes)"),
        MediaShown("image/png", PNG, "scan"),
        TextShown("File 2 of 2: scan (text/plain, 0 bytes)"),
        TextShown(""),
    )


async def test_fi2_an_upload_is_named_by_its_own_id_with_its_real_size(scene: Scene) -> None:
    file = await scene.upload()
    stored, shown = await scene.take(named(f"{{{str(file.id).upper()}}}"), named(file.id))
    told = {"filename": "scan", "mimeType": "image/png", "size": len(PNG)}
    assert stored == [{**told, "fileId": str(file.id)}] * 2
    assert shown is None
    assert len(scene.store.objects) == 1
    assert scene.rows.sought == [{file.id}]


async def test_fi2_foreign_deleted_and_unknown_uploads_are_refused_alike_unread(
    scene: Scene,
) -> None:
    foreign, deleted = await scene.upload(owner="bo"), await scene.upload()
    await scene.files.delete("ada", deleted.id)
    ids = (foreign.id, deleted.id, uuid4(), "65f0")
    assert await scene.faults(*map(named, ids)) == [
        (f"content.files[{position}].fileId", "FILE_NOT_OWNED") for position in range(4)
    ]
    assert scene.store.reads == []


async def test_fi3_without_a_store_no_upload_is_anybodys(scene: Scene) -> None:
    file = await scene.upload()
    assert await scene.faults(named(file.id), kept=False) == [
        ("content.files[0].fileId", "FILE_NOT_OWNED")
    ]


async def test_fi5_the_faults_of_all_files_are_told_together_and_nothing_is_stored(
    scene: Scene,
) -> None:
    text, large = await scene.upload(b"text"), await scene.upload(b"x" * (CAP + 1))
    before = dict(scene.store.objects)
    faults = await scene.faults(
        inline(b"<html>"),
        named(uuid4()),
        *[inline()] * 8,
        inline(b"x" * (CAP + 1), "text/plain"),
        named(text.id),
        named(large.id),
    )
    assert faults == [
        ("content.files[0].mimeType", "MIME_MISMATCH"),
        ("content.files[1].fileId", "FILE_NOT_OWNED"),
        ("content.files[10].size", "FILE_TOO_LARGE"),
        ("content.files[11].mimeType", "MIME_MISMATCH"),
        ("content.files[12].size", "FILE_TOO_LARGE"),
    ]
    assert scene.store.objects == before
    assert scene.store.reads == [text.storage_key]


async def test_an_upload_whose_bytes_are_gone_is_no_upload(scene: Scene) -> None:
    file = await scene.upload()
    scene.store.objects.clear()
    assert await scene.faults(named(file.id)) == [("content.files[0].fileId", "FILE_NOT_OWNED")]


async def test_a_store_that_cannot_be_read_refuses_no_file(scene: Scene) -> None:
    file = await scene.upload()
    scene.store.fails["read"] = StoreFailed()
    with pytest.raises(AttachmentNotStored):
        await scene.take(named(file.id))


@pytest.mark.parametrize(
    ("error", "told"),
    [(StoreFailed(), AttachmentNotStored), (Unavailable("Away."), Unavailable)],
    ids=["the store", "the database"],
)
async def test_of_inline_files_all_are_stored_or_none(
    scene: Scene, error: Exception, told: type[Exception]
) -> None:
    upload = await scene.upload()
    scene.files = _FailsAtThird(scene.rows, scene.store, error)
    with pytest.raises(told):
        await scene.take(named(upload.id), inline(), inline(b"a", "text/plain"), inline())
    assert [*scene.rows.files] == [upload.id]
    assert [*scene.store.objects] == [upload.storage_key]


class _FailsAtThird(Files):
    """Keeps two files, and then no more."""

    def __init__(self, rows: MemoryFileRows, store: MemoryBytes, error: Exception) -> None:
        super().__init__(rows, store, RandomIds())
        self._error = error
        self._left = 2

    async def keep(self, owner: str, filename: str, mime_type: str, data: bytes) -> File:
        self._left -= 1
        if self._left < 0:
            raise self._error
        return await super().keep(owner, filename, mime_type, data)


async def test_no_more_than_one_file_is_loaded_at_a_time(scene: Scene) -> None:
    ids: list[UUID] = [(await scene.upload()).id for _ in range(3)]
    counting = _Counting(scene.rows, scene.store, RandomIds())
    scene.files = counting
    await scene.take(*map(named, ids))
    assert counting.most == 1


class _Counting(Files):
    """Counts the loads that are under way."""

    loading = 0
    most = 0

    async def load(self, file: File) -> bytes:
        self.loading += 1
        self.most = max(self.most, self.loading)
        try:
            return await super().load(file)
        finally:
            self.loading -= 1

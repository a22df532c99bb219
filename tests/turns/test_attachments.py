"""The attachments of a message: checked all together, stored, and shown (spec turns 11.6)."""

from uuid import uuid4

import pytest

from parleyd.contract import limits
from parleyd.contract.attachments import Attachment
from parleyd.contract.errors import (
    AttachmentNotStored,
    FileTooLarge,
    InvalidAttachment,
    Unavailable,
)
from parleyd.contract.files import File
from parleyd.contract.messages import MediaContent, TextContent
from parleyd.contract.turns import PromptInput
from parleyd.turns.attachments import take_attachments
from parleyd.turns.file_store import StoreFailed
from parleyd.turns.files import Files
from parleyd.turns.model import MediaShown, TextShown
from parleyd.turns.ports import PromptOpening
from parleyd.turns.taken_input import TakenInput
from tests.turns.files_in_memory import MemoryBytes, MemoryFileRows
from tests.turns.ports_in_memory import RandomIds

PNG = b"\x89PNG\r\n\x1a\nrest"
PDF = b"%PDF-1.7"
CAP = 100


class Scene:
    """Files of memory, and messages that come with some."""

    def __init__(self) -> None:
        self.store = MemoryBytes()
        self.rows = MemoryFileRows()
        self.files = Files(self.rows, self.store, RandomIds())

    async def upload(
        self,
        data: bytes = PNG,
        mime_type: str = "image/png",
        owner: str = "ada",
        filename: str = "photo.png",
    ) -> File:
        return await self.files.keep(owner, filename, mime_type, data)

    async def take(self, *attachments: Attachment, kept: bool = True) -> TakenInput:
        prompt = PromptInput(text="Look.\0", attachments=attachments)
        return await take_attachments(self.files if kept else None, "ada", prompt, CAP)

    async def faults(self, *attachments: Attachment, kept: bool = True) -> list[tuple[str, str]]:
        """Returns what is wrong with the attachments of a message."""
        with pytest.raises(InvalidAttachment) as raised:
            await self.take(*attachments, kept=kept)
        assert raised.value.fields[0].message in raised.value.message
        return [(field.path, field.code) for field in raised.value.fields]


@pytest.fixture
def scene() -> Scene:
    return Scene()


def image(data: bytes = PNG, mime_type: str | None = "image/png") -> Attachment:
    return Attachment(type="image", data=data, mime_type=mime_type)


def file(data: bytes, mime_type: str, filename: str | None = None) -> Attachment:
    return Attachment(type="file", data=data, mime_type=mime_type, filename=filename)


def content_of(taken: TakenInput) -> list[MediaContent]:
    opening = taken.opening
    assert isinstance(opening, PromptOpening)
    assert opening.text == "Look.\ufffd"
    assert opening.content
    assert opening.content[0] == TextContent(text=opening.text)
    return [part for part in opening.content[1:] if isinstance(part, MediaContent)]


async def test_inline_attachments_are_stored_and_shown_as_they_came(scene: Scene) -> None:
    taken = await scene.take(image(), file(PDF, "application/pdf", "plan.pdf"))
    picture, plan = scene.rows.files.values()
    assert (picture.filename, plan.filename) == ("image", "plan.pdf")
    assert [*scene.store.objects.values()] == [PNG, PDF]
    assert content_of(taken) == [
        MediaContent(
            type="image",
            file_id=picture.id,
            mime_type="image/png",
            filename=None,
            size=len(PNG),
        ),
        MediaContent(
            type="file",
            file_id=plan.id,
            mime_type="application/pdf",
            filename="plan.pdf",
            size=len(PDF),
        ),
    ]
    assert taken.shown == (
        TextShown("File 1 of 2: image (image/png, 12 bytes)"),
        MediaShown("image/png", PNG, "image"),
        TextShown("File 2 of 2: plan.pdf (application/pdf, 8 bytes)"),
        MediaShown("application/pdf", PDF, "plan.pdf"),
    )


async def test_without_a_store_a_message_keeps_what_its_attachments_are(scene: Scene) -> None:
    taken = await scene.take(file(b"a,b", "text/csv", "a\0.csv"), kept=False)
    assert content_of(taken) == [
        MediaContent(
            type="file", file_id=None, mime_type="text/csv", filename="a\ufffd.csv", size=3
        )
    ]
    assert taken.shown == (
        TextShown("File 1 of 1: a\ufffd.csv (text/csv, 3 bytes)"),
        TextShown("a,b"),
    )


async def test_an_upload_says_itself_what_it_is(scene: Scene) -> None:
    upload = await scene.upload()
    taken = await scene.take(
        Attachment(type="image", file_id=upload.id),
        Attachment(type="file", file_id=upload.id, mime_type="image/png", filename="b.png"),
    )
    assert [(each.file_id, each.filename, each.size) for each in content_of(taken)] == [
        (upload.id, "photo.png", len(PNG)),
        (upload.id, "b.png", len(PNG)),
    ]
    assert taken.shown is not None
    assert taken.shown[1] == MediaShown("image/png", PNG, "photo.png")
    assert len(scene.store.objects) == 1


async def test_foreign_deleted_and_unknown_uploads_are_refused_alike_unread(scene: Scene) -> None:
    foreign, deleted = await scene.upload(owner="bo"), await scene.upload()
    await scene.files.delete("ada", deleted.id)
    ids = (foreign.id, deleted.id, uuid4())
    attachments = [Attachment(type="image", file_id=file_id) for file_id in ids]
    with pytest.raises(InvalidAttachment) as raised:
        await scene.take(*attachments)
    fields = raised.value.fields
    assert [(field.path, field.code) for field in fields] == [
        (f"prompt.attachments[{position}].fileId", "FILE_NOT_OWNED") for position in range(3)
    ]
    told = {field.message.split('"')[2] for field in fields}
    assert told == {", which is no upload of yours."}
    assert scene.store.reads == []


async def test_without_a_store_no_upload_is_anybodys(scene: Scene) -> None:
    upload = await scene.upload()
    faults = await scene.faults(Attachment(type="image", file_id=upload.id), kept=False)
    assert faults == [("prompt.attachments[0].fileId", "FILE_NOT_OWNED")]


async def test_the_faults_of_all_attachments_are_told_together_and_nothing_is_stored(
    scene: Scene,
) -> None:
    made = await scene.upload(b"made", "application/octet-stream")
    text = await scene.upload(b"text")
    before = dict(scene.store.objects)
    faults = await scene.faults(
        image(),
        image(b"text"),
        image(PDF, "application/pdf"),
        image(mime_type=None),
        file(b"<svg/>", "image/svg+xml", "x" * 256),
        file(b"x" * (CAP + 1), "text/plain"),
        Attachment(type="file", file_id=made.id),
        Attachment(type="image", file_id=text.id),
        Attachment(type="file"),
    )
    assert faults == [
        ("prompt.attachments[1].mimeType", "MIME_MISMATCH"),
        ("prompt.attachments[2].mimeType", "FILE_TYPE_NOT_ACCEPTED"),
        ("prompt.attachments[3].mimeType", "MISSING_REQUIRED"),
        ("prompt.attachments[4].filename", "TOO_LONG"),
        ("prompt.attachments[4].mimeType", "FILE_TYPE_NOT_ACCEPTED"),
        ("prompt.attachments[5]", "FILE_TOO_LARGE"),
        ("prompt.attachments[6].mimeType", "FILE_TYPE_NOT_ACCEPTED"),
        ("prompt.attachments[7].mimeType", "MIME_MISMATCH"),
        ("prompt.attachments[8].fileId", "MISSING_REQUIRED"),
    ]
    assert scene.store.objects == before


async def test_an_attachment_over_the_cap_is_too_large(scene: Scene) -> None:
    upload = await scene.upload(b"x" * (CAP + 1), "text/plain")
    for attachment in (
        file(b"x" * (CAP + 1), "text/plain"),
        Attachment(type="file", file_id=upload.id),
    ):
        with pytest.raises(FileTooLarge) as raised:
            await scene.take(image(), attachment)
        assert raised.value.limit == CAP
    assert scene.store.reads == []
    assert await scene.take(file(b"x" * CAP, "text/plain"))


async def test_more_attachments_than_a_message_may_have_are_refused(scene: Scene) -> None:
    assert await scene.faults(*[image()] * (limits.ATTACHMENTS_MAX + 1)) == [
        ("prompt.attachments", "FILE_COUNT")
    ]
    assert len(content_of(await scene.take(*[image()] * limits.ATTACHMENTS_MAX))) == 10


async def test_an_upload_whose_bytes_are_gone_is_no_upload(scene: Scene) -> None:
    upload = await scene.upload()
    scene.store.objects.clear()
    assert await scene.faults(Attachment(type="image", file_id=upload.id)) == [
        ("prompt.attachments[0].fileId", "FILE_NOT_OWNED")
    ]


async def test_a_store_that_is_down_refuses_no_attachment(scene: Scene) -> None:
    upload = await scene.upload()
    scene.store.fails |= {"read": StoreFailed(), "put": StoreFailed()}
    with pytest.raises(AttachmentNotStored):
        await scene.take(Attachment(type="image", file_id=upload.id))
    with pytest.raises(AttachmentNotStored):
        await scene.take(image())
    assert [*scene.rows.files] == [upload.id]


async def test_of_inline_attachments_all_are_stored_or_none(scene: Scene) -> None:
    scene.files = _KeepsTwo(scene.rows, scene.store, RandomIds())
    with pytest.raises(Unavailable):
        await scene.take(image(), image(), image())
    assert not scene.rows.files
    assert not scene.store.objects


class _KeepsTwo(Files):
    """Keeps two files, and then the database is away."""

    kept = 0

    async def keep(self, owner: str, filename: str, mime_type: str, data: bytes) -> File:
        self.kept += 1
        if self.kept > 2:
            raise Unavailable("Away.")
        return await super().keep(owner, filename, mime_type, data)

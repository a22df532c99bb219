"""What the model is shown of files, when they came and later (spec turns 11.4, 11.5)."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.answers import accepted
from parleyd.contract.files import File
from parleyd.contract.messages import Content, MediaContent, Message, TextContent
from parleyd.turns.file_store import StoreFailed
from parleyd.turns.files import Files
from parleyd.turns.model import MediaShown, Shown, TextShown
from parleyd.turns.shown_files import (
    GONE,
    NO_TEXT,
    NOT_AGAIN,
    NOT_READ,
    FileToShow,
    ShownFiles,
    bytes_shown,
    shown,
)
from tests.turns.files_in_memory import MemoryBytes, MemoryFileRows
from tests.turns.ports_in_memory import RandomIds

PNG = b"\x89PNG\r\n\x1a\nrest"
MEBIBYTE = 1024 * 1024


class Scene:
    """Files of memory that stored answers and messages refer to."""

    def __init__(self) -> None:
        self.store = MemoryBytes()
        self.rows = MemoryFileRows()
        self.files = Files(self.rows, self.store, RandomIds())
        self.shown = ShownFiles(self.files, "ada")

    async def kept(self, data: bytes = PNG, mime_type: str = "image/png") -> File:
        return await self.files.keep("ada", "kept", mime_type, data)


@pytest.fixture
def scene() -> Scene:
    return Scene()


def media(file: File, file_id: UUID | None = None) -> MediaContent:
    return MediaContent(
        type="image",
        file_id=file_id or file.id,
        mime_type=file.mime_type,
        filename="a.png",
        size=file.size,
    )


def row(seq: int, *parts: Content) -> Message:
    return Message(
        type="user",
        text="Look.",
        content=(TextContent(text="Look."), *parts) if parts else None,
        conversation_id=UUID(int=1),
        seq=seq,
        turn_id=UUID(int=seq),
        turn_no=seq,
        position=0,
        create_time=datetime.now(UTC),
    )


def answer(*files: File, file_id: UUID | None = None) -> dict[str, JsonValue]:
    return accepted(
        {
            "files": [
                {
                    "fileId": str(file_id or file.id),
                    "filename": "b.png",
                    "mimeType": file.mime_type,
                    "size": file.size,
                }
                for file in files
            ]
        }
    )


def contents(parts: Sequence[Shown]) -> list[str | bytes]:
    """Returns what is shown after each line."""
    return [part.text if isinstance(part, TextShown) else part.data for part in parts[1::2]]


# ---------------------------------------------------------------- the parts


def test_fi1_every_file_is_shown_after_a_line_that_says_what_it_is() -> None:
    parts = shown(
        [
            FileToShow("a.png", "image/png", 12, PNG),
            FileToShow("b.pdf", "application/pdf", 8, b"%PDF-1.7"),
            FileToShow("c.csv", "text/csv", 3, b"a,b"),
            FileToShow("d.json", "application/json", 2, b"{}"),
            FileToShow("e.txt", "text/plain", 7, GONE),
        ]
    )
    assert parts == (
        TextShown("File 1 of 5: a.png (image/png, 12 bytes)"),
        MediaShown("image/png", PNG, "a.png"),
        TextShown("File 2 of 5: b.pdf (application/pdf, 8 bytes)"),
        MediaShown("application/pdf", b"%PDF-1.7", "b.pdf"),
        TextShown("File 3 of 5: c.csv (text/csv, 3 bytes)"),
        TextShown("a,b"),
        TextShown("File 4 of 5: d.json (application/json, 2 bytes)"),
        TextShown("{}"),
        TextShown("File 5 of 5: e.txt (text/plain, 7 bytes)"),
        TextShown("Its content is no longer there."),
    )


def test_fi4_a_long_text_is_cut_at_a_character_and_says_so() -> None:
    data = b"x" * 99_999 + "é".encode() + b"y" * 50
    line, text = shown([FileToShow("big.csv", "text/csv", len(data), data)])
    assert line == TextShown("File 1 of 1: big.csv (text/csv, 100051 bytes)")
    note = "[The file is cut to its first 99999 of 100051 bytes.]"
    assert text == TextShown("x" * 99_999 + "\n" + note)


def test_what_a_tool_calls_a_text_is_shown_as_far_as_it_is_one() -> None:
    parts = shown(
        [
            FileToShow("a.md", "text/markdown", 4, b"# Hi"),
            FileToShow("b.txt", "text/plain; charset=utf-8", 2, b"Hi"),
            FileToShow("c.txt", "text/plain", 1, b"\xff"),
            FileToShow("d.bin", "application/octet-stream", 1, b"\xff"),
        ]
    )
    assert contents(parts) == ["# Hi", "Hi", NO_TEXT, b"\xff"]


def test_the_size_of_what_is_shown_is_told() -> None:
    assert bytes_shown((TextShown("abc"), MediaShown("image/png", PNG))) == 3 + len(PNG)


# ---------------------------------------------------------------- of an answer


async def test_the_files_of_an_answer_come_from_the_store(scene: Scene) -> None:
    files = [await scene.kept(), await scene.kept(b"a,b", "text/csv")]
    assert await scene.shown.of_answer(answer(*files), None) == (
        TextShown("File 1 of 2: b.png (image/png, 12 bytes)"),
        MediaShown("image/png", PNG, "b.png"),
        TextShown("File 2 of 2: b.png (text/csv, 3 bytes)"),
        TextShown("a,b"),
    )
    assert len(scene.rows.sought) == 1


async def test_the_files_that_this_process_took_are_not_loaded(scene: Scene) -> None:
    file = await scene.kept()
    taken = (TextShown("File 1 of 1"), MediaShown("image/png", PNG))
    assert await scene.shown.of_answer(answer(file), taken) == taken
    assert scene.store.reads == []


async def test_a_file_that_is_gone_is_said_so(scene: Scene) -> None:
    deleted, foreign, empty = [await scene.kept() for _ in range(3)]
    await scene.files.delete("ada", deleted.id)
    other = await scene.files.keep("bo", "b.png", "image/png", PNG)
    del scene.store.objects[empty.storage_key]
    envelopes = (answer(deleted), answer(foreign, file_id=other.id), answer(empty))
    for envelope in envelopes:
        parts = await scene.shown.of_answer(envelope, None)
        assert parts[0] == TextShown("File 1 of 1: b.png (image/png, 12 bytes)")
        assert contents(parts) == [GONE]


async def test_without_a_store_all_is_gone_but_what_was_taken() -> None:
    envelope = accepted({"files": [{"filename": "b.png", "mimeType": "image/png", "size": 3}]})
    assert await ShownFiles(None, "ada").of_answer(envelope, None) == (
        TextShown("File 1 of 1: b.png (image/png, 3 bytes)"),
        TextShown(GONE),
    )


async def test_an_answer_is_not_shown_without_files_that_are_there(scene: Scene) -> None:
    file = await scene.kept()
    scene.store.fails["read"] = StoreFailed()
    with pytest.raises(StoreFailed):
        await scene.shown.of_answer(answer(file), None)


# ---------------------------------------------------------------- of messages


async def test_the_files_of_messages_are_shown_again(scene: Scene) -> None:
    first, second = await scene.kept(), await scene.kept(b"a", "text/csv")
    rows = (row(1, media(first), media(second)), row(2), row(3, media(first)))
    by_seq = await scene.shown.of_history(rows, 3, None)
    assert {seq: contents(parts) for seq, parts in by_seq.items()} == {1: [PNG, "a"], 3: [PNG]}
    assert by_seq[1][0] == TextShown("File 1 of 2: a.png (image/png, 12 bytes)")
    assert len(scene.rows.sought) == 1


async def test_a_file_without_a_name_is_called_what_it_is(scene: Scene) -> None:
    file = await scene.kept()
    unnamed = media(file).model_copy(update={"filename": None})
    by_seq = await scene.shown.of_history((row(1, unnamed),), 1, None)
    assert by_seq[1] == (
        TextShown("File 1 of 1: image (image/png, 12 bytes)"),
        MediaShown("image/png", PNG, "image"),
    )


async def test_the_own_message_is_shown_as_this_process_took_it(scene: Scene) -> None:
    file = await scene.kept()
    taken = (TextShown("File 1 of 1"), MediaShown("image/png", b"taken"))
    by_seq = await scene.shown.of_history((row(1, media(file)), row(2, media(file))), 2, taken)
    assert by_seq[2] == taken
    assert contents(by_seq[1]) == [PNG]
    assert len(scene.store.reads) == 1


async def test_nothing_is_shown_of_a_message_without_files(scene: Scene) -> None:
    assert await scene.shown.of_history((row(1), row(2)), 2, ()) == {}


async def test_of_earlier_messages_the_newest_files_are_shown_up_to_a_limit(scene: Scene) -> None:
    assert limits.HISTORY_MEDIA_BYTES == 16 * MEBIBYTE
    large = await scene.kept(PNG + b"x" * 9 * MEBIBYTE)
    small, text = await scene.kept(), await scene.kept(b"x" * 9 * MEBIBYTE, "text/plain")
    rows = (
        row(1, media(small)),
        row(2, media(large), media(small)),
        row(3, media(text)),
        row(4, media(large), media(small, uuid4())),
        row(5, media(large)),
    )
    by_seq = await scene.shown.of_history(rows, 5, None)
    whole = PNG + b"x" * 9 * MEBIBYTE
    assert contents(by_seq[5]) == [whole]
    assert contents(by_seq[4]) == [whole, GONE]
    assert isinstance(by_seq[3][1], TextShown)
    assert contents(by_seq[2]) == [NOT_AGAIN, NOT_AGAIN]
    assert contents(by_seq[1]) == [PNG]


async def test_an_earlier_file_that_cannot_be_read_does_not_stop_a_turn(scene: Scene) -> None:
    file = await scene.kept()
    scene.store.fails["read"] = StoreFailed()
    by_seq = await scene.shown.of_history((row(1, media(file)), row(2)), 2, None)
    assert contents(by_seq[1]) == [NOT_READ]
    with pytest.raises(StoreFailed):
        await scene.shown.of_history((row(1), row(2, media(file))), 2, None)

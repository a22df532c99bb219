"""What the model is shown of files: lines that say what they are, and the files (11.4, 11.6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

import structlog

from parleyd.contract import limits
from parleyd.contract.answered_files import shown_text
from parleyd.contract.file_types import TEXT_TYPES
from parleyd.contract.files import File
from parleyd.contract.json import JsonObject, object_at, objects_at, string_at, whole_at
from parleyd.contract.messages import MediaContent, Message
from parleyd.turns.file_store import BytesMissing, StoreFailed
from parleyd.turns.files import Files
from parleyd.turns.model import MediaShown, Shown, TextShown

GONE: Final = "Its content is no longer there."
"""What stands for the bytes of a file that are kept nowhere."""
NOT_READ: Final = "Its content can't be read at the moment."
NOT_AGAIN: Final = "Its content is not shown again."
"""What stands for a file of an earlier message, beyond `HISTORY_MEDIA_BYTES`."""
NO_TEXT: Final = "Its content is no text, whatever its type says."

log = structlog.stdlib.get_logger()


@dataclass(frozen=True)
class FileToShow:
    """A file as the model is told of it: its bytes, or what stands for them."""

    filename: str
    mime_type: str
    size: int
    content: bytes | str = field(repr=False)

    def parts(self, number: int, count: int) -> tuple[Shown, Shown]:
        """Returns the file, the `number`th of `count`, after a line that says what it is."""
        # On one line, whatever the name: the lines after it are the file's.
        name = " ".join(self.filename.splitlines())
        line = f"File {number} of {count}: {name} ({self.mime_type}, {self.size} bytes)"
        return TextShown(line), self._content()

    def _content(self) -> Shown:
        if isinstance(self.content, str):
            return TextShown(self.content)
        if self.mime_type not in TEXT_TYPES and not self.mime_type.startswith("text/"):
            return MediaShown(self.mime_type, self.content, self.filename)
        try:
            return TextShown(shown_text(self.content))
        except UnicodeDecodeError:
            # What a tool returned is not checked.
            return TextShown(NO_TEXT)


def shown(files: Sequence[FileToShow]) -> tuple[Shown, ...]:
    """Returns files as the model is shown them, each after a line that says what it is."""
    pairs = (file.parts(number, len(files)) for number, file in enumerate(files, start=1))
    return tuple(part for pair in pairs for part in pair)


def bytes_shown(parts: Sequence[Shown]) -> int:
    """Returns about how many bytes the model is shown."""
    return sum(len(part.text) if isinstance(part, TextShown) else len(part.data) for part in parts)


class ShownFiles:
    """Loads the files that one owner's turn shows the model again; a file that is gone is said so.

    Without a file store all are gone but those that the turn itself has taken. Files are loaded one
    after the other, and of texts no more is held than is shown.
    """

    def __init__(self, files: Files | None, owner: str) -> None:
        self._files = files
        self._owner = owner

    async def of_answer(
        self, envelope: JsonObject, taken: tuple[Shown, ...] | None
    ) -> tuple[Shown, ...]:
        """Returns the files of a stored answer; `taken` are they where this process took them.

        Raises:
            StoreFailed: One can't be read now. The model is not told of an answer without its
                files: the turn fails, and a retry shows them.
        """
        if taken is not None:
            return taken
        kept = [
            _Kept(
                string_at(file, "filename") or "",
                string_at(file, "mimeType") or "",
                whole_at(file, "size") or 0,
                UUID(file_id) if (file_id := string_at(file, "fileId")) else None,
            )
            for file in objects_at(object_at(envelope, "content"), "files")
        ]
        return await self._shown(kept, await self._found(kept))

    async def of_history(
        self, rows: Sequence[Message], own_seq: int, taken: tuple[Shown, ...] | None
    ) -> dict[int, tuple[Shown, ...]]:
        """Returns the files of messages by their `seq`.

        `taken` are those of the message `own_seq`, where this process took them. Of earlier ones
        the newest are shown, up to `HISTORY_MEDIA_BYTES`; what else there was is said.

        Raises:
            StoreFailed: A file of the message `own_seq` can't be read now.
        """
        by_seq: dict[int, tuple[Shown, ...]] = {}
        media = {row.seq: kept for row in rows if (kept := _kept_of(row))}
        if taken is not None and own_seq in media:
            by_seq[own_seq] = taken
            del media[own_seq]
        found = await self._found([each for kept in media.values() for each in kept])
        left = limits.HISTORY_MEDIA_BYTES
        for seq, kept in reversed(media.items()):
            if seq == own_seq:
                by_seq[seq] = await self._shown(kept, found)
                continue
            size = sum(each.bytes_shown for each in kept if each.file_id in found)
            if size > left:
                by_seq[seq] = shown([each.to_show(NOT_AGAIN) for each in kept])
                continue
            left -= size
            by_seq[seq] = await self._shown(kept, found, earlier=True)
        return by_seq

    async def _found(self, kept: Sequence["_Kept"]) -> Mapping[UUID, File]:
        ids = {each.file_id for each in kept if each.file_id}
        if self._files is None or not ids:
            return {}
        return await self._files.rows.find_files(self._owner, ids)

    async def _shown(
        self, kept: Sequence["_Kept"], found: Mapping[UUID, File], *, earlier: bool = False
    ) -> tuple[Shown, ...]:
        parts: list[Shown] = []
        for number, each in enumerate(kept, start=1):
            file = found.get(each.file_id) if each.file_id else None
            loaded = each.to_show(await self._content(file, earlier=earlier))
            parts += loaded.parts(number, len(kept))
        return tuple(parts)

    async def _content(self, file: File | None, *, earlier: bool) -> bytes | str:
        """Returns the bytes of a file, or what stands for them."""
        if self._files is None or file is None:
            return GONE
        try:
            return await self._files.load(file)
        except BytesMissing:
            log.warning("file_without_bytes", file_id=str(file.id))
            return GONE
        except StoreFailed as error:
            log.warning("file_not_read", file_id=str(file.id), cause=type(error).__name__)
            if not earlier:
                raise
            return NOT_READ


@dataclass(frozen=True)
class _Kept:
    """A file of a stored answer or message, and where its bytes are kept."""

    filename: str
    mime_type: str
    size: int
    file_id: UUID | None

    @property
    def bytes_shown(self) -> int:
        """Returns how many of its bytes the model is shown at most."""
        text = self.mime_type in TEXT_TYPES
        return min(self.size, limits.SHOWN_FILE_BYTES) if text else self.size

    def to_show(self, content: bytes | str) -> FileToShow:
        """Returns the file with its bytes, or with what stands for them."""
        return FileToShow(self.filename, self.mime_type, self.size, content)


def _kept_of(row: Message) -> list[_Kept]:
    return [
        _Kept(part.filename or part.type, part.mime_type, part.size, part.file_id)
        for part in row.content or ()
        if isinstance(part, MediaContent)
    ]

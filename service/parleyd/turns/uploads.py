"""Uploads: bytes as they come, held on disk, and checked against what was said of them (11.2)."""

import asyncio
import hashlib
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Iterator
from functools import partial
from io import BufferedRandom
from types import TracebackType
from typing import Final, Self, TypeVar

from parleyd.contract.errors import (
    FileMismatch,
    FileTooLarge,
    FileTypeNotAllowed,
    InvalidRequest,
    Malformed,
)
from parleyd.contract.field_errors import Code, FieldError, listed, quoted
from parleyd.contract.file_types import FILE_TYPES, pieces_are_of_type
from parleyd.contract.files import FileHeader
from parleyd.turns.requests import RequestKey
from parleyd.turns.type_checks import checked

MEMORY_BYTES: Final = 1024 * 1024
"""What of an upload is held in memory; a larger one is on disk."""

T = TypeVar("T")
_Fault = TypeVar("_Fault", bound=Malformed)


async def finished(work: Awaitable[T]) -> T:
    """Returns what `work` comes to. A cancellation is raised once it has ended, not before.

    For what can't be left half-way: a thread goes on when nobody waits for it any more.
    """
    task = asyncio.ensure_future(work)
    left: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            left = error
    if left:
        if not task.cancelled():
            task.exception()
        raise left
    return task.result()


class Spool:
    """The bytes of one upload, which end with it: few are in memory, more are in a nameless file.

    One task at a time adds to it, and reads it once all is added.
    """

    def __init__(self) -> None:
        self.size = 0
        self._digest = hashlib.sha256()
        self._recent = bytearray()
        self._file: BufferedRandom | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._file:
            self._file.close()

    async def add(self, chunk: bytes) -> None:
        """Adds bytes."""
        self._recent += chunk
        self.size += len(chunk)
        if len(self._recent) >= MEMORY_BYTES:
            await finished(asyncio.to_thread(self._to_disk))

    @property
    def sha256(self) -> bytes:
        """Returns the digest of all bytes."""
        whole = self._digest.copy()
        whole.update(self._recent)
        return whole.digest()

    def content(self) -> bytes | BufferedRandom:
        """Returns all bytes, or the open file that has them, at its beginning."""
        if self._file is None:
            return bytes(self._recent)
        if self._recent:
            self._to_disk()
        self._file.seek(0)
        return self._file

    def pieces(self) -> Iterator[bytes]:
        """Yields all bytes from the first."""
        content = self.content()
        if isinstance(content, bytes):
            yield content
            return
        while piece := content.read(MEMORY_BYTES):
            yield piece

    def _to_disk(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the spool
        self._file.write(self._recent)
        self._digest.update(self._recent)
        self._recent.clear()


async def receive(header: FileHeader, chunks: AsyncIterator[bytes], spool: Spool, cap: int) -> None:
    """Takes in the bytes of an upload, no further than `cap`, and checks them.

    Raises:
        FileTypeNotAllowed: It is of a type that is not taken.
        FileTooLarge: It says that it has too many bytes, or has.
        FileMismatch: The bytes are not of its type.
        InvalidRequest: There are none, or not those that the header says.
    """
    if header.mime_type not in FILE_TYPES:
        raise _fault(
            FileTypeNotAllowed,
            "mimeType",
            Code.FILE_TYPE_NOT_ACCEPTED,
            f"mimeType is {quoted(header.mime_type)}, which is no type that is taken.",
            f"Send one of {listed(FILE_TYPES)}, in lower case and without parameters.",
        )
    if header.size is not None and header.size > cap:
        raise FileTooLarge(cap)
    async for chunk in chunks:
        if spool.size + len(chunk) > cap:
            raise FileTooLarge(cap)
        await spool.add(chunk)
    await finished(checked(header.mime_type, partial(_check, header, spool)))


def upload_key(header: FileHeader, sha256: bytes) -> RequestKey | None:
    """Returns the key of an upload, if it has a request id: its header and its bytes."""
    if header.request_id is None:
        return None
    said = header.sha256.hex() if header.sha256 else None
    told = [header.filename, header.mime_type, header.size, said, sha256.hex()]
    return RequestKey(header.request_id, hashlib.sha256(json.dumps(told).encode()).digest())


def _check(header: FileHeader, spool: Spool) -> None:
    if not spool.size:
        raise _fault(
            InvalidRequest,
            "chunk",
            Code.MISSING_REQUIRED,
            "The file has no bytes.",
            "Send at least one byte after the header.",
        )
    if header.size is not None and header.size != spool.size:
        raise _fault(
            InvalidRequest,
            "sizeBytes",
            Code.OUT_OF_RANGE,
            f"sizeBytes is {header.size}, but {spool.size} bytes came.",
            "Send the whole file and its real size, or leave the size out.",
        )
    if header.sha256 is not None and header.sha256 != spool.sha256:
        raise _fault(
            InvalidRequest,
            "sha256",
            Code.CHANGED_MISMATCH,
            "sha256 is not that of the bytes that came.",
            "Send the file again with its real digest, or leave the digest out.",
        )
    if not pieces_are_of_type(spool.pieces(), header.mime_type):
        raise _fault(
            FileMismatch,
            "mimeType",
            Code.MIME_MISMATCH,
            f"mimeType is {quoted(header.mime_type)}, but the bytes of the file are not.",
            "Declare the real type of the file, or send another file.",
        )


def _fault(error: type[_Fault], path: str, code: Code, message: str, fix: str) -> _Fault:
    field = FieldError(path=path, code=code, message=message, fix=fix)
    return error(f"{message} {fix}", [field])

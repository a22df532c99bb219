"""Files: people upload them, tools return them, and the model is shown them (spec turns 11)."""

import asyncio
import hashlib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import BinaryIO, Final
from uuid import UUID

import structlog

from parleyd.contract import limits
from parleyd.contract.errors import (
    FileNotFound,
    FilesOff,
    ParleyError,
    RequestIdReused,
    Unavailable,
)
from parleyd.contract.files import File, FileDraft, FileHeader
from parleyd.contract.text import clip, storable, units
from parleyd.turns.file_store import BytesMissing, ByteStore, FileRows, StoreFailed, UploadSeen
from parleyd.turns.ports import Ids
from parleyd.turns.requests import RequestKey
from parleyd.turns.uploads import Spool, finished, receive, upload_key

KEY_NAME: Final = 100
"""How much of a file's name is in its key. Disks take names of 255 bytes, with what is before."""
SWEPT_AT_ONCE: Final = 100
NAMELESS: Final = "document"
TYPELESS: Final = "application/octet-stream"

_UNSAFE = re.compile("[^A-Za-z0-9._-]")

log = structlog.stdlib.get_logger()


class Files:
    """The files of a deployment that keeps some.

    Bytes are stored before what is known of them, so that no file is ever without its bytes. A
    failure or a cancellation in between leaves neither.
    """

    def __init__(
        self,
        rows: FileRows,
        store: ByteStore,
        ids: Ids,
        *,
        file_bytes: int = limits.FILE_BYTES,
    ) -> None:
        self.rows = rows
        self.store = store
        self._ids = ids
        self._file_bytes = file_bytes

    async def upload(self, owner: str, header: FileHeader, chunks: AsyncIterator[bytes]) -> File:
        """Takes a file whose bytes come in `chunks`, and no more of them than it may have.

        A repeat with the same request id, header and bytes returns the first file. Where the
        caller is cancelled at the very end, a file with a request id stays for its repeat.

        Raises:
            FileTypeNotAllowed, FileMismatch, InvalidRequest: It is not what it has to be, or says.
            FileTooLarge: It is over the cap; it was read no further.
            RequestIdReused: The request id came with another upload before.
            Unavailable: The store or the database can't be reached.
        """
        with Spool() as spool:
            await receive(header, chunks, spool, self._file_bytes)
            sha256 = spool.sha256
            request = upload_key(header, sha256)
            if request and (first := await self.rows.read_upload(owner, request)):
                return _repeated(request, *first)
            draft = self._draft(owner, header.filename, header.mime_type, spool.size, sha256)
            content = await finished(asyncio.to_thread(spool.content))
            try:
                return await self._add(draft, content, request)
            except UploadSeen as seen:
                assert request, "only a request with an id is seen again"
                return _repeated(request, seen.file, seen.digest)
            except StoreFailed as error:
                raise Unavailable(
                    "The file could not be stored. Nothing was; send it again."
                ) from error

    async def keep(self, owner: str, filename: str, mime_type: str, data: bytes) -> File:
        """Keeps bytes that were checked before, or came from a tool of ours.

        Raises:
            StoreFailed: They could not be stored; nothing was.
            Unavailable: The database can't be reached; nothing was stored.
        """
        sha256 = await asyncio.to_thread(lambda: hashlib.sha256(data).digest())
        draft = self._draft(owner, filename, mime_type, len(data), sha256)
        return await self._add(draft, data)

    async def take_back(self, files: Iterable[File]) -> None:
        """Deletes files that were kept for nothing; those that can't be are left to the sweep."""
        for file in files:
            try:
                await self.delete(file.owner, file.id)
            except ParleyError as error:
                log.warning("file_left", file_id=str(file.id), cause=type(error).__name__)

    async def load(self, file: File) -> bytes:
        """Returns the bytes of a file.

        Raises:
            BytesMissing: They are gone.
            StoreFailed: They can't be read.
        """
        async with aclosing(self.store.read(file.storage_key)) as pieces:
            return b"".join([piece async for piece in pieces])

    async def get(self, owner: str, file_id: UUID) -> File:
        """Returns a file of `owner`.

        Raises:
            FileNotFound: There is none, it is deleted, or it is someone else's.
        """
        found = await self.rows.find_files(owner, (file_id,))
        if file_id not in found:
            raise FileNotFound(file_id)
        return found[file_id]

    async def open(self, owner: str, file_id: UUID) -> tuple[File, AsyncGenerator[bytes, None]]:
        """Returns a file of `owner`, and its bytes in pieces, which the caller closes.

        Raises:
            FileNotFound: There is none, or its bytes are gone; the pieces raise it too.
            Unavailable: The store can't be reached; raised by the pieces.
        """
        file = await self.get(owner, file_id)
        return file, self._pieces(file)

    async def open_answered(
        self, service: str, file_id: UUID
    ) -> tuple[File, AsyncGenerator[bytes, None]]:
        """Returns a file with which somebody has answered an ask of `service`, as `open` does.

        Raises:
            FileNotFound: There is none, or its bytes are gone; the pieces raise it too.
            Unavailable: The store can't be reached; raised by the pieces.
        """
        file = await self.rows.find_answered_file(service, file_id)
        if file is None:
            raise FileNotFound(file_id)
        return file, self._pieces(file)

    async def url(self, owner: str, file_id: UUID) -> tuple[str, datetime]:
        """Returns a URL from which anybody may read a file of `owner`, and when it ends.

        Raises:
            FileNotFound: There is none, it is deleted, or it is someone else's.
            FilesOff: The store makes no URLs.
            Unavailable: The store can't be reached.
        """
        file = await self.get(owner, file_id)
        ends = datetime.now(UTC) + timedelta(seconds=limits.FILE_URL_SECONDS)
        try:
            url = await self.store.signed_url(file.storage_key, limits.FILE_URL_SECONDS)
        except StoreFailed as error:
            raise Unavailable("The file store can't be reached at the moment.") from error
        if url is None:
            raise FilesOff("This deployment makes no URLs of files; download the file instead.")
        return url, ends

    async def delete(self, owner: str, file_id: UUID) -> None:
        """Deletes a file of `owner`. Its bytes go at once, or with a sweep.

        Raises:
            FileNotFound: There is none, or it is deleted.
            NotOwner: It is someone else's.
        """
        await self._remove_bytes((await self.rows.delete_file(owner, file_id),))

    async def sweep(self) -> None:
        """Deletes what nothing has referred to in its time, and the bytes of deleted files.

        Bytes that the store does not give up are tried again, and hold up no others; those of a
        store that gives up none wait for the next sweep.
        """
        while True:
            files = await self.rows.take_leftovers(SWEPT_AT_ONCE)
            if not await self._remove_bytes(files) or len(files) < SWEPT_AT_ONCE:
                return

    def new_key(self, owner: str, filename: str) -> str:
        """Returns a key for new bytes, which nobody can guess (spec turns 11.2)."""
        folder = hashlib.sha256(owner.encode()).hexdigest()[:32]
        # The end of a name says more than its beginning: what kind of file it is.
        return f"uploads/{folder}/{self._ids.ulid()}-{_UNSAFE.sub('_', filename[-KEY_NAME:])}"

    def _draft(
        self, owner: str, filename: str, mime_type: str, size: int, sha256: bytes
    ) -> FileDraft:
        """Returns a new file. A tool's may have any name, or say anything of its type."""
        return FileDraft(
            id=self._ids.uuid(),
            owner=owner,
            filename=clip(storable(filename), limits.FILENAME) or NAMELESS,
            storage_key=self.new_key(owner, filename),
            mime_type=storable(mime_type) if units(mime_type) <= limits.MIME_TYPE else TYPELESS,
            size=size,
            sha256=sha256,
        )

    async def _add(
        self, draft: FileDraft, data: bytes | BinaryIO, request: RequestKey | None = None
    ) -> File:
        """Stores bytes, then what is known of them; where that goes wrong, neither stays.

        Each step runs to its end though the caller be cancelled: what it came to is known then.
        """
        inserting = False
        try:
            await finished(self.store.put(draft.storage_key, data))
            inserting = True
            return await finished(self.rows.add_file(draft, request))
        except BaseException as error:
            seen = isinstance(error, UploadSeen)
            await finished(self._undo(draft, request, known=inserting and not seen))
            raise

    async def _undo(self, draft: FileDraft, request: RequestKey | None, *, known: bool) -> None:
        """Removes bytes that were put. `known` says that the row may have been added after all.

        A row with a request id stays: its repeat returns it. Where nobody can tell whether there is
        such a row, its bytes stay, too.
        """
        try:
            if known and draft.id in await self.rows.find_files(draft.owner, (draft.id,)):
                if request is None:
                    await self.delete(draft.owner, draft.id)
                return
        except ParleyError as error:
            log.warning("file_unknown", file_id=str(draft.id), cause=type(error).__name__)
            if request:
                return
        try:
            await self.store.delete(draft.storage_key)
        except StoreFailed as error:
            log.warning("bytes_left", file_id=str(draft.id), cause=type(error).__name__)

    async def _pieces(self, file: File) -> AsyncGenerator[bytes, None]:
        try:
            async with aclosing(self.store.read(file.storage_key)) as pieces:
                async for piece in pieces:
                    yield piece
        except BytesMissing as error:
            raise FileNotFound(file.id) from error
        except StoreFailed as error:
            raise Unavailable("The file can't be read at the moment; try again.") from error

    async def _remove_bytes(self, files: Iterable[File]) -> bool:
        """Removes the bytes of deleted files, and tells whether the store gave any of them up."""
        gone: list[UUID] = []
        for file in files:
            try:
                await self.store.delete(file.storage_key)
            except StoreFailed as error:
                log.warning("bytes_left", file_id=str(file.id), cause=type(error).__name__)
            else:
                gone.append(file.id)
        if gone:
            await self.rows.forget_bytes(gone)
        return bool(gone)


def _repeated(request: RequestKey, file: File, digest: bytes) -> File:
    if digest != request.digest:
        raise RequestIdReused(request.id)
    return file

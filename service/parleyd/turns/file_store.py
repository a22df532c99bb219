"""The ports of files: their bytes, and what is known of them (spec turns 11)."""

from collections.abc import AsyncGenerator, Collection, Mapping
from typing import BinaryIO, Protocol
from uuid import UUID

from parleyd.contract.files import File, FileDraft
from parleyd.turns.requests import RequestKey


class StoreFailed(Exception):
    """The store of bytes did not do what it was asked; it may be away."""


class BytesMissing(StoreFailed):
    """There are no bytes under this key."""


class UploadSeen(Exception):
    """Another upload with the same request id was first; `file` is the one it made."""

    def __init__(self, file: File, digest: bytes) -> None:
        super().__init__(file.id)
        self.file = file
        self.digest = digest


class ByteStore(Protocol):
    """Keeps bytes under keys: on disk, or in a bucket."""

    async def put(self, key: str, data: bytes | BinaryIO) -> None:
        """Stores bytes; all of them, or nothing. An open file is read from its beginning.

        Raises:
            StoreFailed: They are not stored.
        """
        ...

    def read(self, key: str) -> AsyncGenerator[bytes, None]:
        """Yields the bytes of a key in pieces of 1 to `DOWNLOAD_CHUNK_BYTES`.

        Raises:
            BytesMissing: There are none.
            StoreFailed: They can't be read.
        """
        ...

    async def delete(self, key: str) -> None:
        """Removes the bytes of a key, if there are any.

        Raises:
            StoreFailed: They may still be there.
        """
        ...

    async def signed_url(self, key: str, seconds: int) -> str | None:
        """Returns a URL from which anybody may read the bytes; None where the store makes none.

        Raises:
            StoreFailed: The store did not answer.
        """
        ...


class FileRows(Protocol):
    """Keeps what is known of files. A file that is deleted is known to nobody but its owner."""

    async def add_file(self, draft: FileDraft, request: RequestKey | None = None) -> File:
        """Keeps a file whose bytes are stored.

        Raises:
            UploadSeen: The request id has made a file already.
        """
        ...

    async def read_upload(self, owner: str, request: RequestKey) -> tuple[File, bytes] | None:
        """Reads the file that a request id has made, and the digest of that request."""
        ...

    async def find_files(self, owner: str, file_ids: Collection[UUID]) -> Mapping[UUID, File]:
        """Reads files by their ids: those of `owner` that are not deleted."""
        ...

    async def find_answered_file(self, service: str, file_id: UUID) -> File | None:
        """Reads a file that somebody answered an ask of `service` with, if it is not deleted."""
        ...

    async def delete_file(self, owner: str, file_id: UUID) -> File:
        """Forgets a file, whose bytes are to be removed next.

        Raises:
            FileNotFound: There is none, or it is deleted.
            NotOwner: It is someone else's.
        """
        ...

    async def forget_bytes(self, file_ids: Collection[UUID]) -> None:
        """Notes that the bytes of deleted files are gone."""
        ...

    async def take_leftovers(self, most: int) -> tuple[File, ...]:
        """Deletes files that nothing has referred to in their time.

        Returns deleted files whose bytes may still be there: at most `most`, the oldest first.
        """
        ...

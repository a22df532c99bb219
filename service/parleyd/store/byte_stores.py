"""Where the bytes of files lie: in a folder of this machine, or in a bucket (spec turns 11.1)."""

import asyncio
import os
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final
from urllib.parse import unquote, urlsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import AzureStore, GCSStore, LocalStore, S3Store, from_url

from parleyd.contract import limits
from parleyd.turns.file_store import BytesMissing, ByteStore, StoreFailed

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig

CONNECT_SECONDS: Final = 5
ANSWER_SECONDS: Final = 30
"""How long the store may take to answer, or to send the next piece."""
PUT_SECONDS: Final = 120
"""How long it may take to store a file."""
WHOLE_SECONDS: Final = 3600
"""How long one request may take in all: a download waits for its reader between two pieces."""
REPEATS: Final = 2
"""How often a request that failed for a passing reason is sent again."""
PART_BYTES: Final = 8 * 1024 * 1024
"""A file above this goes to a bucket in parts of this size."""
PARTS_AT_ONCE: Final = 2

_REQUESTS: "ClientConfig" = {
    # Only an endpoint that the environment names is without TLS: whoever names one means it.
    "allow_http": True,
    "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
    "read_timeout": timedelta(seconds=ANSWER_SECONDS),
    "timeout": timedelta(seconds=WHOLE_SECONDS),
}
_RETRIES: "RetryConfig" = {
    "max_retries": REPEATS,
    "retry_timeout": timedelta(seconds=ANSWER_SECONDS),
}

_FOLDER_MODE: Final = 0o700
_EXAMPLE: Final = "s3://bucket/prefix"


class StoreUnusable(Exception):
    """There is no such store of files, or it can't be used. The text says why, and what to do."""


def byte_store_of(place: str) -> ByteStore:
    """Returns the store at a place: the whole path of a folder, or the URL of a folder or a bucket.

    Makes the folder, for this user alone, where there is none yet. Credentials of a bucket, its
    endpoint and region come from the variables that its vendor's own tools read. Nothing connects
    yet: whether a bucket lets us in shows with the first file.

    Raises:
        StoreUnusable: It can't be used.
    """
    if "://" not in place:
        return _in_folder(Path(place))
    url = urlsplit(place)
    if url.scheme == "file":
        if url.netloc not in {"", "localhost"}:
            raise StoreUnusable("A file URL has three slashes: write file:///the/folder.")
        return _in_folder(Path(unquote(url.path)))
    if url.password or url.query or url.fragment:
        raise StoreUnusable(
            "The URL of a bucket holds neither credentials nor options: leave them to the "
            "environment, as AWS_ACCESS_KEY_ID and its like."
        )
    try:
        found = from_url(place, client_options=_REQUESTS, retry_config=_RETRIES)
    except (BaseError, ValueError) as error:
        raise StoreUnusable(
            f"There is no such bucket to be used ({_first_line(error)}). Write a URL such as "
            f"{_EXAMPLE}, and set what its vendor needs in the environment."
        ) from error
    if not isinstance(found, (S3Store, GCSStore, AzureStore)):
        raise StoreUnusable(
            f"Files lie in a folder or in a bucket of S3, Google or Azure, not at {url.scheme}:// "
            f"addresses: write a URL such as {_EXAMPLE}."
        )
    return ObstoreBytes(found)


def _in_folder(folder: Path) -> ByteStore:
    if not folder.is_absolute():
        raise StoreUnusable(
            f"Name a folder by its whole path, from / on, or write a URL such as {_EXAMPLE}."
        )
    try:
        folder.mkdir(_FOLDER_MODE, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnusable(
            f"The folder {folder} can't be made ({error.strerror}): name another one, or let this "
            "user make it."
        ) from error
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise StoreUnusable(
            f"This user may not write into the folder {folder}: give it to this user, or name "
            "another one."
        )
    return ObstoreBytes(LocalStore(folder))


class ObstoreBytes:
    """Keeps bytes in a folder or a bucket; fulfils `ByteStore`. Every call ends in bounded time."""

    def __init__(self, store: LocalStore | S3Store | GCSStore | AzureStore) -> None:
        self._store = store

    async def put(self, key: str, data: bytes | BinaryIO) -> None:
        """See `ByteStore`. Nobody sees a key before all of its bytes are there."""
        with _failing(key):
            if not isinstance(data, bytes):
                data.seek(0)
            async with asyncio.timeout(PUT_SECONDS):
                await obstore.put_async(
                    self._store, key, data, chunk_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE
                )

    async def read(self, key: str) -> AsyncGenerator[bytes, None]:
        """See `ByteStore`."""
        size = limits.DOWNLOAD_CHUNK_BYTES
        with _failing(key):
            async with asyncio.timeout(ANSWER_SECONDS):
                found = await obstore.get_async(self._store, key)
            chunks = aiter(found.stream(min_chunk_size=size))
        while True:
            with _failing(key):
                async with asyncio.timeout(ANSWER_SECONDS):
                    chunk = await anext(chunks, None)
            if chunk is None:
                return
            for start in range(0, len(chunk), size):
                yield bytes(chunk[start : start + size])

    async def delete(self, key: str) -> None:
        """See `ByteStore`. A repeat changes nothing."""
        try:
            with _failing(key):
                async with asyncio.timeout(ANSWER_SECONDS):
                    await obstore.delete_async(self._store, key)
        except BytesMissing:
            # S3 knows no key that is missing: there the bucket is.
            if isinstance(self._store, S3Store):
                raise

    async def signed_url(self, key: str, seconds: int) -> str | None:
        """See `ByteStore`. A folder has no URLs."""
        if isinstance(self._store, LocalStore):
            return None
        with _failing(key):
            async with asyncio.timeout(ANSWER_SECONDS):
                return await obstore.sign_async(self._store, "GET", key, timedelta(seconds=seconds))


@contextmanager
def _failing(key: str) -> Generator[None]:
    """Turns faults of the store into ours.

    They are told without their causes, which quote the key, and so the name of a person's file.

    Raises:
        BytesMissing: There is nothing under the key.
        StoreFailed: The store did not do it.
    """
    try:
        yield
    except FileNotFoundError:
        raise BytesMissing("There is nothing under this key, or there is no such bucket.") from None
    except (BaseError, OSError) as error:
        said = _first_line(error).replace(key, "…")
        raise StoreFailed(f"{type(error).__name__}: {said}") from None


def _first_line(error: Exception) -> str:
    """Returns what a store says of its fault, without the body of its answer, which names keys."""
    return str(error).partition("\n")[0].partition("<")[0].strip(" :")

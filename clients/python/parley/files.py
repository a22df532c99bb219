"""Sending files and getting them.

```python
file = await parley.upload_file(client, Path("plan.pdf"))
attachment = Attachment(type=Attachment.TYPE_FILE, file_id=file.file_id)
```
"""

import asyncio
import hashlib
from collections.abc import AsyncGenerator
from contextlib import ExitStack
from io import BytesIO
from mimetypes import guess_type
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from grpc import StatusCode, aio

from parley.client import Client, error_of
from parley.v1 import files_pb2 as pb

CHUNK_BYTES: Final = 64 * 1024
"""Files are sent in pieces of this size."""
STATUS_TRIES: Final = 4

_STATUS_LOST: Final = (StatusCode.INTERNAL, "Internal error from Core")
"""How grpc.aio fails a call whose status it has lost."""


class Download(NamedTuple):
    """A file that was downloaded: what is known of it, and its bytes."""

    file: pb.File
    data: bytes


async def upload_file(
    client: Client,
    source: Path | bytes,
    *,
    filename: str = "",
    mime_type: str = "",
    request_id: str = "",
) -> pb.File:
    """Uploads a file, from disk or from memory, and returns what is known of it.

    A path gives its own name; bytes need a `filename`. Without a `mime_type` that of the name's
    ending is declared. The server checks that all bytes came as they were read.

    Only an upload with a `request_id`, a UUID, may be sent again: within 24 hours the repeat gets
    the same file.

    Raises:
        ParleyError: The server refuses.
        OSError: The path can't be read.
        ValueError: There is no name for the bytes, or no type known by the name.
    """
    name = filename or (source.name if isinstance(source, Path) else "")
    if not name:
        raise ValueError("Bytes have no name of their own: say filename=.")
    declared = mime_type or guess_type(name)[0]
    if not declared:
        raise ValueError(f"The name {name!r} does not tell the file's type: say mime_type=.")
    with ExitStack() as opened:
        if isinstance(source, Path):
            content: BinaryIO = opened.enter_context(await asyncio.to_thread(source.open, "rb"))
        else:
            content = BytesIO(source)
        digest = await asyncio.to_thread(hashlib.file_digest, content, "sha256")
        header = pb.FileHeader(
            filename=name,
            mime_type=declared,
            size_bytes=content.tell(),
            sha256=digest.digest(),
            request_id=request_id,
        )
        return await _uploaded(client, header, content)


async def _uploaded(client: Client, header: pb.FileHeader, content: BinaryIO) -> pb.File:
    """Sends a file, and once more where grpc lost what the server says of it.

    A server refuses a file while it still comes. A write that meets the end of the call before its
    status is there makes grpc forget the status. Nothing was kept then: all of a file has to come.
    """
    for tries in range(STATUS_TRIES, 0, -1):
        content.seek(0)
        try:
            response = await client.files.UploadFile(_requests(header, content))
        except aio.AioRpcError as failed:
            if tries > 1 and (failed.code(), failed.details()) == _STATUS_LOST:
                continue
            raise error_of(failed) from failed
        return response.file
    raise AssertionError("the last try returns or raises")


async def download_file(client: Client, file_id: str) -> Download:
    """Downloads a file into memory.

    Raises:
        ParleyError: The server refuses, or the connection breaks.
    """
    file, data = pb.File(), bytearray()
    try:
        async for response in client.files.DownloadFile(pb.DownloadFileRequest(file_id=file_id)):
            if response.HasField("file"):
                file = response.file
            data += response.chunk
    except aio.AioRpcError as failed:
        raise error_of(failed) from failed
    return Download(file, bytes(data))


async def _requests(
    header: pb.FileHeader, content: BinaryIO
) -> AsyncGenerator[pb.UploadFileRequest, None]:
    yield pb.UploadFileRequest(header=header)
    while chunk := await asyncio.to_thread(content.read, CHUNK_BYTES):
        yield pb.UploadFileRequest(chunk=chunk)

"""Sending files and getting them.

```python
file = await parley.upload_file(client, Path("plan.pdf"))
attachment = Attachment(type=Attachment.TYPE_FILE, file_id=file.file_id)
```
"""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Final

from grpc import StatusCode, aio

from parley.client import Client
from parley.errors import error_of
from parley.transfers import (
    Content,
    Download,
    declared,
    downloaded,
    measure,
    opened,
    upload_requests,
)
from parley.v1 import files_pb2 as pb

STATUS_TRIES: Final = 4

_STATUS_LOST: Final = (StatusCode.INTERNAL, "Internal error from Core")
"""How grpc.aio fails a call whose status it has lost."""


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
    header = declared(source, filename, mime_type, request_id)
    with await asyncio.to_thread(opened, source) as content:
        await asyncio.to_thread(measure, header, content)
        return await _uploaded(client, header, content)


async def _uploaded(client: Client, header: pb.FileHeader, content: Content) -> pb.File:
    """Sends a file, and once more where grpc lost what the server says of it.

    A server refuses a file while it still comes. A write that meets the end of the call before its
    status is there makes grpc forget the status. Nothing was kept then: all of a file has to come.
    """
    for tries in range(STATUS_TRIES, 0, -1):
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
    call = client.files.DownloadFile(pb.DownloadFileRequest(file_id=file_id))
    try:
        return downloaded([response async for response in call])
    except aio.AioRpcError as failed:
        raise error_of(failed) from failed


async def _requests(
    header: pb.FileHeader, content: Content
) -> AsyncGenerator[pb.UploadFileRequest, None]:
    requests = upload_requests(header, content)
    while request := await asyncio.to_thread(next, requests, None):
        yield request

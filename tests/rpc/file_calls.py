"""Calls about files, as the tests make them."""

from collections.abc import Sequence
from typing import Any

import pytest
from grpc import aio
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

import parley
from parley.v1 import files_pb2 as pb

CAP = 100_000
"""The most bytes a file may have in these tests."""
NOTES = b"Bring the tent.\n"
NO_FILE = "7e57ab1e-0000-4000-8000-000000000000"

SAMPLES = {
    "image/jpeg": b"\xff\xd8\xff\xe0....",
    "image/png": b"\x89PNG\r\n\x1a\n....",
    "image/gif": b"GIF89a....",
    "image/webp": b"RIFF\0\0\0\0WEBP....",
    "application/pdf": b"%PDF-1.7....",
    "text/plain": "Grüße".encode(),
    "text/csv": b"a,b\n1,2\n",
    "application/json": b'{"a": [1, 2]}',
}
"""Bytes of every type."""


def header(**facts: Any) -> pb.UploadFileRequest:
    """Returns the header of a text file, with other facts."""
    said: dict[str, Any] = {"filename": "notes.txt", "mime_type": "text/plain", **facts}
    return pb.UploadFileRequest(header=pb.FileHeader(**said))


def chunk(data: bytes) -> pb.UploadFileRequest:
    return pb.UploadFileRequest(chunk=data)


async def upload(client: parley.Client, *requests: pb.UploadFileRequest) -> pb.File:
    return (await client.files.UploadFile(iter(requests))).file


async def downloaded(client: parley.Client, file_id: str) -> Sequence[pb.DownloadFileResponse]:
    call = client.files.DownloadFile(pb.DownloadFileRequest(file_id=file_id))
    return [response async for response in call]


async def failure(call: Any) -> parley.ParleyError:
    """Awaits a call that must fail and returns why it did."""
    with pytest.raises(aio.AioRpcError) as raised:
        await call
    return parley.error_of(raised.value)


async def file_rows(engine: AsyncEngine) -> int:
    """Counts what is known of files, and of the request ids of uploads."""
    async with engine.connect() as connection:
        counted = await connection.execute(
            text("SELECT (SELECT count(*) FROM files) + (SELECT count(*) FROM file_requests)")
        )
        return counted.scalar_one()

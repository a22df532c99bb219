"""What sending and getting files needs to know, however the calls are made."""

import hashlib
from collections.abc import Iterable, Iterator
from io import BufferedReader, BytesIO
from mimetypes import guess_type
from os import SEEK_END
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from parley.v1 import files_pb2 as pb

CHUNK_BYTES: Final = 64 * 1024
"""Files are sent in pieces of this size."""

Content: TypeAlias = BufferedReader | BytesIO
"""An open file."""


class Download(NamedTuple):
    """A file that was downloaded: what is known of it, and its bytes."""

    file: pb.File
    data: bytes


def declared(source: Path | bytes, filename: str, mime_type: str, request_id: str) -> pb.FileHeader:
    """Returns the header of a file, without what its bytes say.

    Raises:
        ValueError: There is no name for the bytes, or no type known by the name.
    """
    name = filename or (source.name if isinstance(source, Path) else "")
    if not name:
        raise ValueError("Bytes have no name of their own: say filename=.")
    known = mime_type or guess_type(name)[0]
    if not known:
        raise ValueError(f"The name {name!r} does not tell the file's type: say mime_type=.")
    return pb.FileHeader(filename=name, mime_type=known, request_id=request_id)


def opened(source: Path | bytes) -> Content:
    """Opens a file for reading.

    Raises:
        OSError: The path can't be read.
    """
    return source.open("rb") if isinstance(source, Path) else BytesIO(source)


def measure(header: pb.FileHeader, content: Content) -> None:
    """Reads the bytes, and completes the header by their number and digest."""
    header.sha256 = hashlib.file_digest(content, "sha256").digest()
    header.size_bytes = content.seek(0, SEEK_END)


def upload_requests(header: pb.FileHeader, content: Content) -> Iterator[pb.UploadFileRequest]:
    """Yields the header and then the bytes, from their beginning."""
    content.seek(0)
    yield pb.UploadFileRequest(header=header)
    while chunk := content.read(CHUNK_BYTES):
        yield pb.UploadFileRequest(chunk=chunk)


def downloaded(responses: Iterable[pb.DownloadFileResponse]) -> Download:
    """Returns the file that came in pieces."""
    file, data = pb.File(), bytearray()
    for response in responses:
        if response.HasField("file"):
            file = response.file
        data += response.chunk
    return Download(file, bytes(data))

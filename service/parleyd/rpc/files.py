"""Files on the wire: uploads, downloads, and what is known of them (spec turns 11)."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import aclosing, contextmanager
from uuid import UUID

from structlog.contextvars import bind_contextvars
from typing_extensions import override

from parley.v1 import files_pb2 as pb
from parley.v1.files_pb2_grpc import FileServiceServicer
from parleyd.contract import limits
from parleyd.contract.errors import (
    FilesOff,
    InvalidRequest,
    RateLimited,
    Unavailable,
    UploadsOff,
)
from parleyd.contract.field_errors import Code
from parleyd.contract.files import File, FileHeader
from parleyd.rpc import fields
from parleyd.rpc.auth import calling_owner, current_caller
from parleyd.rpc.callers import Caller, Person, Service
from parleyd.rpc.calls import Context
from parleyd.rpc.times import time_to_proto
from parleyd.turns.files import Files

_SHA256_BYTES = 32


class FileServicer(FileServiceServicer):
    """Takes and gives the caller's files; without `files` there are none.

    With `uploads` off nothing is taken. An upload that says nothing for `silence_seconds` is ended.
    """

    def __init__(
        self,
        files: Files | None,
        *,
        uploads: bool,
        silence_seconds: float = limits.UPLOAD_SILENCE_SECONDS,
    ) -> None:
        self._kept = files
        self._uploads = uploads
        self._silence_seconds = silence_seconds
        self._transfers = _Transfers()

    @override
    async def UploadFile(
        self, request_iterator: AsyncIterator[pb.UploadFileRequest], context: Context
    ) -> pb.UploadFileResponse:
        files = self._files
        if not self._uploads:
            raise UploadsOff
        with self._transfers.one_more(current_caller()):
            async with aclosing(_heard(request_iterator, self._silence_seconds)) as requests:
                header = header_from_proto(await _header_of(requests))
                async with aclosing(_chunks_of(requests)) as chunks:
                    file = await files.upload(calling_owner(), header, chunks)
        bind_contextvars(file_id=str(file.id))
        return pb.UploadFileResponse(file=file_to_proto(file))

    @override
    async def GetFile(self, request: pb.GetFileRequest, context: Context) -> pb.GetFileResponse:
        file = await self._files.get(calling_owner(), _file_id(request.file_id))
        return pb.GetFileResponse(file=file_to_proto(file))

    @override
    async def DownloadFile(
        self, request: pb.DownloadFileRequest, context: Context
    ) -> AsyncGenerator[pb.DownloadFileResponse, None]:
        files, file_id = self._files, _file_id(request.file_id)
        caller = current_caller()
        with self._transfers.one_more(caller):
            match caller:
                case Person(owner=owner):
                    file, pieces = await files.open(owner, file_id)
                case Service(name=name):
                    file, pieces = await files.open_answered(name, file_id)
            async with aclosing(pieces):
                yield pb.DownloadFileResponse(file=file_to_proto(file))
                async for piece in pieces:
                    yield pb.DownloadFileResponse(chunk=piece)

    @override
    async def CreateFileUrl(
        self, request: pb.CreateFileUrlRequest, context: Context
    ) -> pb.CreateFileUrlResponse:
        url, expires = await self._files.url(calling_owner(), _file_id(request.file_id))
        return pb.CreateFileUrlResponse(url=url, expire_time=time_to_proto(expires))

    @override
    async def DeleteFile(
        self, request: pb.DeleteFileRequest, context: Context
    ) -> pb.DeleteFileResponse:
        await self._files.delete(calling_owner(), _file_id(request.file_id))
        return pb.DeleteFileResponse()

    @property
    def _files(self) -> Files:
        """Returns the files of a deployment that keeps some.

        Raises:
            FilesOff: It keeps none.
        """
        if self._kept is None:
            raise FilesOff(
                "This deployment keeps no files: send them as bytes of the message or the answer, "
                "or have a file store configured."
            )
        return self._kept


def file_to_proto(file: File) -> pb.File:
    """Returns what the owner of a file is told of it."""
    return pb.File(
        file_id=str(file.id),
        filename=file.filename,
        mime_type=file.mime_type,
        size_bytes=file.size,
        create_time=time_to_proto(file.create_time),
    )


def header_from_proto(header: pb.FileHeader) -> FileHeader:
    """Returns what is said of a file before its bytes come.

    The name is kept as it was given, in storable form: it is shown, and never a path.

    Raises:
        InvalidRequest: No name or one over its limit, a size or a checksum that can't be, or a
            request id that is no UUID.
    """
    size, sha256 = header.size_bytes, header.sha256
    if size < 0:
        raise _refused(
            "sizeBytes", Code.RANGE_INVALID, f"sizeBytes is {size}.", "Count the bytes, or say 0."
        )
    if sha256 and len(sha256) != _SHA256_BYTES:
        raise _refused(
            "sha256",
            Code.INVALID_FORMAT,
            f"sha256 has {len(sha256)} bytes, not {_SHA256_BYTES}.",
            "Send the digest itself, not its hexadecimal text, or leave it out.",
        )
    return FileHeader(
        filename=fields.filename(header.filename),
        mime_type=header.mime_type,
        size=size or None,
        sha256=sha256 or None,
        request_id=fields.request_id(header.request_id),
    )


class _Transfers:
    """Counts the uploads and downloads that every caller has open in this process."""

    def __init__(self) -> None:
        self._open: Counter[Caller] = Counter()

    @contextmanager
    def one_more(self, caller: Caller) -> Generator[None]:
        """Stands around an upload or a download.

        Raises:
            RateLimited: The caller has too many open already.
        """
        if self._open[caller] >= limits.OWNER_TRANSFERS:
            raise RateLimited("uploads and downloads of one caller may run", limits.OWNER_TRANSFERS)
        self._open[caller] += 1
        try:
            yield
        finally:
            self._open[caller] -= 1
            if not self._open[caller]:
                del self._open[caller]


async def _heard(
    requests: AsyncIterator[pb.UploadFileRequest], seconds: float
) -> AsyncGenerator[pb.UploadFileRequest, None]:
    """Yields what a client says until it has said all.

    Raises:
        Unavailable: It says nothing for too long.
    """
    while True:
        silence = asyncio.timeout(seconds)
        try:
            async with silence:
                request = await anext(requests, None)
        except TimeoutError as error:
            if not silence.expired():
                raise
            raise Unavailable(
                f"Nothing came of the upload for {seconds:g} seconds. Nothing was stored; send it "
                "again."
            ) from error
        if request is None:
            return
        yield request


async def _header_of(requests: AsyncIterator[pb.UploadFileRequest]) -> pb.FileHeader:
    first = await anext(requests, None)
    if first is None or not first.HasField("header"):
        raise _refused(
            "header",
            Code.MISSING_REQUIRED,
            "The upload does not begin with its header.",
            "Send the header first, then the bytes in chunks.",
        )
    return first.header


async def _chunks_of(
    requests: AsyncIterator[pb.UploadFileRequest],
) -> AsyncGenerator[bytes, None]:
    async for request in requests:
        if request.HasField("header"):
            raise _refused(
                "header",
                Code.TOO_MANY,
                "The upload has a second header.",
                "Send one header, and every file in an upload of its own.",
            )
        if not request.HasField("chunk"):
            raise _refused(
                "chunk",
                Code.MISSING_REQUIRED,
                "A piece of the upload holds nothing that this server knows.",
                "Send nothing but chunks after the header.",
            )
        if len(request.chunk) > limits.CHUNK_BYTES:
            raise _refused(
                "chunk",
                Code.TOO_LONG,
                f"A chunk has {len(request.chunk)} bytes, more than {limits.CHUNK_BYTES}.",
                "Send smaller chunks; 64 KiB are a good size.",
            )
        yield request.chunk


def _file_id(text: str) -> UUID:
    """Returns the id that a request names, which is on the call's log lines from now on."""
    file_id = fields.file_id(text)
    bind_contextvars(file_id=str(file_id))
    return file_id


def _refused(path: str, code: Code, message: str, fix: str) -> InvalidRequest:
    return fields.malformed(InvalidRequest, path, code, message, fix)

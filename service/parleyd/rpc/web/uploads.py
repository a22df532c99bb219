"""Uploads over HTTP: a form with one file becomes the stream of `UploadFile` (spec turns 11.2).

The form is kept in a temporary file first: its parts may come in any order, while the stream begins
with what is said of the file; and grpc for Python, which may lose the status of a server that
refuses in the middle, is asked once more then.
"""

import re
from base64 import b64decode
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Final, Self
from uuid import uuid4

from google.rpc.error_details_pb2 import ErrorInfo
from grpc import StatusCode, aio
from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.types import Send
from typing_extensions import override

from parley.v1 import files_pb2 as pb
from parleyd.contract.errors import FileTooLarge, InvalidRequest
from parleyd.contract.field_errors import Code, quoted
from parleyd.contract.reasons import Reason
from parleyd.rpc import fields
from parleyd.rpc.log import REQUEST_ID_KEY
from parleyd.rpc.web.bindings import Template
from parleyd.rpc.web.forwarding import Metadata, metadata_of, timeout_of, while_here
from parleyd.rpc.web.json_replies import json_of, json_response
from parleyd.rpc.web.problems import status_of_call

UPLOADS: Final = Template("/v1/files:upload")
"""Where files are uploaded."""

METHOD: Final = "/parley.v1.FileService/UploadFile"
FILE, SHA256, REQUEST_ID = "file", "sha256", "requestId"
"""The parts of the form."""

CHUNK_BYTES: Final = 64 * 1024
FORM_BYTES: Final = 16 * 1024
"""What a form may have beside its file: boundaries, heads, and the other parts."""
STATUS_TRIES: Final = 4

_PART_BYTES: Final = 1024
_HEX: Final = re.compile(r"[0-9a-fA-F]{64}")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{43}=?")
_STATUS_LOST: Final = (StatusCode.INTERNAL, "Internal error from Core")
"""How grpc.aio fails a call whose status it has lost."""


class Upload:
    """Takes files to the server behind `channel`; none with more than `cap` bytes."""

    def __init__(self, channel: aio.Channel, cap: int) -> None:
        self._cap = cap
        self._call: aio.StreamUnaryMultiCallable[pb.UploadFileRequest, pb.UploadFileResponse] = (
            channel.stream_unary(
                METHOD,
                request_serializer=pb.UploadFileRequest.SerializeToString,
                response_deserializer=pb.UploadFileResponse.FromString,
            )
        )

    async def __call__(self, request: Request, send: Send) -> None:
        """Takes one file. Nothing is read of the form of a caller who may not upload.

        Raises:
            FileTooLarge: The file is over the cap; the rest of it is not read.
            InvalidRequest: The form is not as it has to be.
            AioRpcError: The server refuses.
            ClientDisconnect: The client left.
        """
        way = _Way.of(request)
        _check_type(request.headers)
        if _declared(request.headers) > self._cap + FORM_BYTES:
            raise FileTooLarge(self._cap)
        await self._ask_leave(way)
        form = await _form_of(request, self._cap)
        try:
            file, header = _read_form(form)
            if header.size_bytes > self._cap:
                raise FileTooLarge(self._cap)
            work = partial(self._answer, header, file, way, request, send)
            await while_here(request.receive, work)
        finally:
            await form.close()

    async def _ask_leave(self, way: "_Way") -> None:
        """Begins an upload that has nothing in it, to hear whether the caller may upload at all.

        Raises:
            AioRpcError: Something else is wrong than that.
        """
        try:
            await self._call(_nothing(), metadata=way.metadata, timeout=way.seconds)
        except aio.AioRpcError as error:
            if _reason(error) != Reason.INVALID_REQUEST:
                raise

    async def _answer(
        self,
        header: pb.FileHeader,
        file: UploadFile,
        way: "_Way",
        request: Request,
        send: Send,
    ) -> None:
        told = json_of(await self._uploaded(header, file, way))
        await json_response(told)(request.scope, request.receive, send)

    async def _uploaded(
        self, header: pb.FileHeader, file: UploadFile, way: "_Way"
    ) -> pb.UploadFileResponse:
        """Sends a file on, and once more where grpc lost what the server says of it.

        Nothing was kept then: all of a file has to come.
        """
        for tries in range(STATUS_TRIES, 0, -1):
            await file.seek(0)
            call = self._call(_pieces(header, file), metadata=way.metadata, timeout=way.seconds)
            try:
                return await call
            except aio.AioRpcError as failed:
                if tries == 1 or (failed.code(), failed.details()) != _STATUS_LOST:
                    raise
            finally:
                call.cancel()
        raise AssertionError("the last try returns or raises")


@dataclass(frozen=True)
class _Way:
    """How all calls of one upload go on: what goes with them, and when they have to be over."""

    metadata: Metadata
    end: float | None
    """By the monotonic clock; None where the client gave no time."""

    @classmethod
    def of(cls, request: Request) -> Self:
        """Returns the way of a request, which has begun. Without an id it gets one.

        Raises:
            InvalidRequest: The client's wish is no number of milliseconds.
        """
        metadata, seconds = metadata_of(request), timeout_of(request)
        if all(name != REQUEST_ID_KEY for name, _ in metadata):
            # The lines of the log are told to be of one upload by it.
            metadata += ((REQUEST_ID_KEY, str(uuid4())),)
        return cls(metadata, None if seconds is None else monotonic() + seconds)

    @property
    def seconds(self) -> float | None:
        """Returns the seconds that are left."""
        return None if self.end is None else max(self.end - monotonic(), 0)


class _Form(MultiPartParser):
    """Reads a form to its end, and no further than a file of `cap` bytes may need."""

    def __init__(self, headers: Headers, pieces: AsyncIterator[bytes], cap: int) -> None:
        super().__init__(
            headers, self._bounded(pieces), max_files=1, max_fields=8, max_part_size=_PART_BYTES
        )
        self._cap = cap
        self._is_whole = False

    @override
    def on_end(self) -> None:
        """Notes that the last boundary came."""
        self._is_whole = True

    async def _bounded(self, pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
        size = 0
        async for piece in pieces:
            size += len(piece)
            if size > self._cap + FORM_BYTES:
                raise FileTooLarge(self._cap)
            yield piece
        if not self._is_whole:
            raise MultiPartException("It ends too early.")


async def _form_of(request: Request, cap: int) -> FormData:
    try:
        return await _Form(request.headers, request.stream(), cap).parse()
    except MultiPartException as error:
        message = f"The form can't be read: {error.message}"
        raise _refused("", Code.INVALID_FORMAT, message) from error


async def _nothing() -> AsyncGenerator[pb.UploadFileRequest, None]:
    return
    yield


async def _pieces(
    header: pb.FileHeader, file: UploadFile
) -> AsyncGenerator[pb.UploadFileRequest, None]:
    yield pb.UploadFileRequest(header=header)
    while piece := await file.read(CHUNK_BYTES):
        yield pb.UploadFileRequest(chunk=piece)


def _read_form(form: FormData) -> tuple[UploadFile, pb.FileHeader]:
    file: UploadFile | None = None
    header = pb.FileHeader()
    seen: set[str] = set()
    for name, value in form.multi_items():
        if name in seen:
            raise _refused(name, Code.TOO_MANY, f"The form has the part {quoted(name)} twice.")
        seen.add(name)
        match name, value:
            case "file", UploadFile():
                file = value
            case "sha256", str():
                header.sha256 = _digest(value)
            case "requestId", str():
                header.request_id = value
            case "file" | "sha256" | "requestId", _:
                raise _refused(
                    name,
                    Code.INVALID_TYPE,
                    f"The part {quoted(name)} is "
                    + ("a file." if isinstance(value, UploadFile) else "no file: it has no name."),
                )
            case _:
                raise _refused(
                    name,
                    Code.UNKNOWN_KEY,
                    f"The form has a part {quoted(name)}, which is not known.",
                )
    if file is None:
        raise _refused(FILE, Code.MISSING_REQUIRED, "The form has no file.")
    header.filename = file.filename or ""
    header.mime_type = (file.content_type or "").partition(";")[0].strip().lower()
    header.size_bytes = file.size or 0
    return file, header


def _digest(text: str) -> bytes:
    """Returns the digest that a part holds, in hexadecimal digits or as base64."""
    if _HEX.fullmatch(text):
        return bytes.fromhex(text)
    if _BASE64.fullmatch(text):
        return b64decode(text.rstrip("=") + "=", altchars=b"-_" if set(text) & {"-", "_"} else None)
    raise _refused(
        SHA256,
        Code.INVALID_FORMAT,
        "sha256 is neither 64 hexadecimal digits nor the base64 of 32 bytes.",
    )


def _check_type(headers: Headers) -> None:
    kind = headers.get("content-type", "")
    if kind.partition(";")[0].strip().lower() != "multipart/form-data":
        said = quoted(kind) if kind else "of no type"
        raise _refused("Content-Type", Code.INVALID_FORMAT, f"The body is {said}.")


def _declared(headers: Headers) -> int:
    length = headers.get("content-length", "")
    return int(length[:20]) if length.isdecimal() else 0


def _reason(error: aio.AioRpcError) -> str:
    info = ErrorInfo()
    for detail in status_of_call(error).details:
        detail.Unpack(info)
    return info.reason


def _refused(path: str, code: Code, message: str) -> InvalidRequest:
    return fields.malformed(
        InvalidRequest,
        path,
        code,
        message,
        f"Send multipart/form-data with one file as the part `{FILE}`, and, if you like, "
        f"`{SHA256}` and `{REQUEST_ID}`.",
    )

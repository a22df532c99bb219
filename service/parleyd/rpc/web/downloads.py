"""Downloads over HTTP: the bytes of a file, with its name and type (spec turns 11.2)."""

from functools import partial
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

from grpc import aio
from starlette.requests import Request
from starlette.types import Send

from parley.v1 import files_pb2 as pb
from parleyd.rpc.web.bindings import Template
from parleyd.rpc.web.forwarding import metadata_of, timeout_of, while_here

DOWNLOADS: Final = Template("/v1/files/{file_id}:download")
"""Where files are downloaded."""

METHOD: Final = "/parley.v1.FileService/DownloadFile"

_SAFE: Final = "!#$&+-.^_`|~"
"""What may stand in an extended value beside letters and digits (RFC 8187)."""


class Download:
    """Sends files of the server behind `channel`."""

    def __init__(self, channel: aio.Channel) -> None:
        self._call: aio.UnaryStreamMultiCallable[
            pb.DownloadFileRequest, pb.DownloadFileResponse
        ] = channel.unary_stream(
            METHOD,
            request_serializer=pb.DownloadFileRequest.SerializeToString,
            response_deserializer=pb.DownloadFileResponse.FromString,
        )

    async def __call__(self, request: Request, send: Send) -> None:
        """Sends a file, no faster than the client reads it.

        Raises:
            AioRpcError: The server refuses before the first byte.
        """
        (file_id,) = request.path_params["values"]
        call = self._call(
            pb.DownloadFileRequest(file_id=file_id),
            metadata=metadata_of(request),
            timeout=timeout_of(request),
        )
        await while_here(request.receive, partial(_send_file, call, send))


async def _send_file(
    call: "aio.UnaryStreamCall[pb.DownloadFileRequest, pb.DownloadFileResponse]", send: Send
) -> None:
    try:
        first = await call.read()
        assert isinstance(first, pb.DownloadFileResponse), "a download begins with its file"
        await send(_start(first.file))
        try:
            while isinstance(response := await call.read(), pb.DownloadFileResponse):
                piece = {"type": "http.response.body", "body": response.chunk, "more_body": True}
                await send(piece)
        except aio.AioRpcError:
            # The web server closes the connection of an answer that lacks its end, so that no
            # client takes a part for the whole.
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        call.cancel()


def _start(file: pb.File) -> dict[str, object]:
    headers = {
        "content-type": file.mime_type,
        "content-length": str(file.size_bytes),
        "content-disposition": disposition(file.filename),
        "cache-control": "private, no-store",
        # What people upload must never run in the page of somebody who opens it.
        "content-security-policy": "sandbox; default-src 'none'",
        "x-content-type-options": "nosniff",
    }
    return {
        "type": "http.response.start",
        "status": HTTPStatus.OK,
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }


def disposition(filename: str) -> str:
    """Returns the header that saves a file under its name (RFC 6266)."""
    plain = "".join(
        character
        if character.isascii() and character.isprintable() and character not in '"\\%'
        else "_"
        for character in filename
    )
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(filename, safe=_SAFE)}"

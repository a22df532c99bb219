"""One method as Connect calls it: every call goes on to the gRPC server."""

from base64 import b64encode
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterable
from contextlib import contextmanager
from typing import Final, TypeAlias

import structlog
from connectrpc.code import Code
from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.request import Headers, RequestContext
from connectrpc.server import Endpoint
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.descriptor_pb2 import MethodOptions
from grpc import aio

from parleyd.contract.errors import ParleyError
from parleyd.rpc.errors import internal_status, status_of, trace_of
from parleyd.rpc.web.connect_bodies import Body
from parleyd.rpc.web.connect_errors import connect_error
from parleyd.rpc.web.forwarding import FORWARDED
from parleyd.rpc.web.problems import status_of_call

Context: TypeAlias = RequestContext[Body, bytes]
Metadata: TypeAlias = Iterable[tuple[str, str | bytes]]

UPLOAD_HINT: Final = (
    "A stream of requests can't be sent here. To upload a file, POST it to /v1/files:upload as "
    "multipart/form-data, or call this method over gRPC."
)

_log = structlog.stdlib.get_logger()


class ConnectMethod:
    """A method of the gRPC server behind `channel`, with its types from the descriptor."""

    def __init__(self, channel: aio.Channel, method: MethodDescriptor) -> None:
        service = method.containing_service.full_name
        self.path = f"/{service}/{method.name}"
        self._method = method
        self._unary: aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(self.path)
        self._streaming: aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(
            self.path
        )

    def endpoint(self) -> Endpoint[Body, bytes]:
        """Returns the method as the Connect library serves it."""
        streams = (self._method.client_streaming, self._method.server_streaming)
        match streams:
            case (False, False):
                return Endpoint.unary(self._info(StreamType.UNARY), self._call)
            case (False, True):
                return Endpoint.server_stream(self._info(StreamType.SERVER_STREAM), self._stream)
            case (True, False):
                return Endpoint.client_stream(self._info(StreamType.CLIENT_STREAM), _refuse)
            case _:
                raise NotImplementedError(f"{self.path} streams both ways")

    def _info(self, stream_type: StreamType) -> MethodInfo[Body, bytes]:
        level = self._method.GetOptions().idempotency_level
        return MethodInfo(
            name=self._method.name,
            service_name=self._method.containing_service.full_name,
            input=Body,
            output=bytes,
            idempotency_level=(
                IdempotencyLevel.NO_SIDE_EFFECTS
                if level == MethodOptions.NO_SIDE_EFFECTS
                else IdempotencyLevel.UNKNOWN
            ),
            stream_type=stream_type,
        )

    async def _call(self, body: Body, context: Context) -> bytes:
        with _told(self.path, context):
            request = await body.as_binary(self._method.input_type)
            call = self._unary(request, metadata=_metadata(context), timeout=_seconds(context))
            reply = await call
            _add(context.response_headers, await call.initial_metadata())
            _add(context.response_trailers, await call.trailing_metadata())
            return await body.like_it(reply, self._method.output_type)

    async def _stream(self, body: Body, context: Context) -> AsyncGenerator[bytes, None]:
        with _told(self.path, context):
            request = await body.as_binary(self._method.input_type)
            call = self._streaming(request, metadata=_metadata(context), timeout=_seconds(context))
            try:
                first = True
                async for reply in call:
                    if first:
                        _add(context.response_headers, await call.initial_metadata())
                        first = False
                    yield await body.like_it(reply, self._method.output_type)
                _add(context.response_trailers, await call.trailing_metadata())
            finally:
                # The client may be gone; the turn that it followed goes on.
                call.cancel()


async def _refuse(bodies: AsyncIterator[Body], context: Context) -> bytes:
    del bodies, context
    raise ConnectError(Code.UNIMPLEMENTED, UPLOAD_HINT)


@contextmanager
def _told(path: str, context: Context) -> Generator[None]:
    """Ends a failed call as the gRPC server ended it.

    The unforeseen is logged and told as INTERNAL, without a word of what it was.
    """
    try:
        yield
    except aio.AioRpcError as error:
        _add(context.response_trailers, error.trailing_metadata() or ())
        raise connect_error(status_of_call(error)) from error
    except ParleyError as error:
        raise connect_error(status_of(error)) from error
    except Exception as error:
        _log.error("web_call_broke", method=path, trace=trace_of(error))
        raise connect_error(internal_status()) from error


def _metadata(context: Context) -> aio.Metadata:
    headers = context.request_headers
    return aio.Metadata(*((name, value) for name in FORWARDED for value in headers.getall(name)))


def _seconds(context: Context) -> float | None:
    left = context.timeout_ms
    return None if left is None else max(left, 0) / 1000


def _add(headers: Headers, metadata: Metadata) -> None:
    """Adds what the server sent beside its reply, as headers spell it."""
    for key, value in metadata:
        if not key.startswith("grpc-"):
            text = b64encode(value).decode().rstrip("=") if isinstance(value, bytes) else value
            headers.add(key, text)

"""Calls, and how an interceptor stands around them."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from inspect import isasyncgen
from typing import Any, TypeAlias, cast

import grpc
from google.protobuf.message import DecodeError
from grpc import aio

from parleyd.contract.errors import InvalidRequest

Context: TypeAlias = "aio.ServicerContext[Any, Any]"
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Behaviour: TypeAlias = Callable[[Any, Context], Any]
Read: TypeAlias = Callable[[bytes], object]

_ABOUT_THE_SERVER = ("/grpc.health.v1.Health/", "/grpc.reflection.v1alpha.ServerReflection/")

_MAKERS: dict[tuple[bool, bool], Callable[..., Handler]] = {
    (False, False): grpc.unary_unary_rpc_method_handler,
    (False, True): grpc.unary_stream_rpc_method_handler,
    (True, False): grpc.stream_unary_rpc_method_handler,
    (True, True): grpc.stream_stream_rpc_method_handler,
}


@dataclass(frozen=True)
class Call:
    """A call on its way to its servicer. `method` is its path, `/parley.v1.TurnService/Turn`."""

    method: str
    metadata: tuple[tuple[str, str | bytes], ...]
    context: Context

    @property
    def is_about_the_server(self) -> bool:
        """Tells whether the call asks for health or reflection, which are open to everybody."""
        return self.method.startswith(_ABOUT_THE_SERVER)

    @property
    def service(self) -> str:
        """Returns the full name of the service that the method is of, `parley.v1.TurnService`."""
        return self.method.removeprefix("/").partition("/")[0]

    def values(self, key: str) -> list[str]:
        """Returns every text that the client sent under a lower-case metadata key."""
        return [text for name, text in self.metadata if name == key and isinstance(text, str)]


Around: TypeAlias = Callable[[Call], AbstractAsyncContextManager[None]]
"""What is done before a call and after it. Faults of the call pass through it."""


class Interceptor(aio.ServerInterceptor):
    """Puts an async context manager around every call, unary or streaming.

    Requests stay bytes until the innermost interceptor has let the call in: who sends no valid
    token costs no parsing, and bytes that are no message are a fault like any other. Replies of an
    async generator are written here, so that grpc, which cancels the handler of a client that
    leaves, always cancels inside the context manager.
    """

    def __init__(self, around: Around) -> None:
        self._around = around

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable["Handler | None"]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "Handler | None":
        """Returns the method's handler with the context manager around it; none for none."""
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        behaviour = _behaviour(handler)
        read = handler.request_deserializer
        parse = _requests_of(handler) if handler.request_streaming else _request_of
        method = handler_call_details.method
        metadata = tuple((key, value) for key, value in handler_call_details.invocation_metadata)

        async def run(request: Any, context: Context) -> object:  # noqa: ANN401 - bytes, or a stream
            async with self._around(Call(method, metadata, context)):
                reply = behaviour(parse(read, request, context) if read else request, context)
                if not isasyncgen(reply):
                    return await reply
                async with aclosing(reply) as messages:
                    async for message in messages:
                        await context.write(message)
                return None

        return _MAKERS[handler.request_streaming, handler.response_streaming](
            run, request_deserializer=None, response_serializer=handler.response_serializer
        )


def _behaviour(handler: Handler) -> Behaviour:
    """Returns the one function of a handler."""
    shapes = (
        handler.unary_unary,
        handler.unary_stream,
        handler.stream_unary,
        handler.stream_stream,
    )
    return next(cast("Behaviour", shape) for shape in shapes if shape)


def _request_of(read: Read, request: bytes, _: Context) -> object:
    """Returns the one request of a call.

    Raises:
        InvalidRequest: It is none.
    """
    try:
        return read(request)
    except DecodeError as error:
        raise InvalidRequest("The request is no message of this method.") from error


def _requests_of(
    handler: Handler,
) -> Callable[[Read, AsyncIterator[bytes], Context], AsyncIterator[object]]:
    """Returns what reads the requests of a stream.

    A client that is gone looks to grpc's reader like one that has said all, and the cancelling
    comes a moment later. Where one reply answers the whole stream, half of it must never pass for
    the whole: its end counts once the head of the reply could still be sent.
    """

    async def requests(
        read: Read, stream: AsyncIterator[bytes], context: Context
    ) -> AsyncGenerator[object, None]:
        async for request in stream:
            yield _request_of(read, request, context)
        if not handler.response_streaming:
            try:
                await context.send_initial_metadata(())
            except aio.InternalError as error:
                raise asyncio.CancelledError from error

    return requests

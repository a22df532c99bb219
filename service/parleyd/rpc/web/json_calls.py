"""Unary calls as JSON: one HTTP request, one message back (spec turns 13)."""

from functools import partial
from typing import Final

from google.protobuf.json_format import MessageToJson
from google.protobuf.message import Message
from grpc import aio
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Send

from parleyd.rpc.threads import work_on
from parleyd.rpc.web.bindings import Binding
from parleyd.rpc.web.forwarding import metadata_of, timeout_of, while_here
from parleyd.rpc.web.json_requests import JSON, read_request

_HEADERS: Final = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


class JsonCall:
    """A unary method behind `channel`, called over HTTP."""

    def __init__(self, binding: Binding, channel: aio.Channel) -> None:
        self._binding = binding
        self._call: aio.UnaryUnaryMultiCallable[Message, Message] = channel.unary_unary(
            binding.method_path,
            request_serializer=binding.request.SerializeToString,
            response_deserializer=binding.response.FromString,
        )

    async def __call__(self, request: Request, send: Send) -> None:
        """Answers a request. A client that leaves cancels the call.

        Raises:
            Malformed, HttpProblem: The request can't be read.
            AioRpcError: The server refuses.
            ClientDisconnect: The client left.
        """
        message = await read_request(self._binding, request)
        call = self._call(message, metadata=metadata_of(request), timeout=timeout_of(request))
        await while_here(request.receive, partial(_answer, call, request, send))


async def _answer(
    call: "aio.UnaryUnaryCall[Message, Message]", request: Request, send: Send
) -> None:
    try:
        told = await work_on(await call, json_of)
    finally:
        call.cancel()
    response = Response(told.encode(), media_type=JSON, headers=_HEADERS)
    await response(request.scope, request.receive, send)


def json_of(message: Message) -> str:
    """Returns a message as proto3 JSON on one line.

    Fields that can't be unset are there with their defaults, so that an empty list is one.
    """
    return MessageToJson(
        message, indent=None, ensure_ascii=False, always_print_fields_with_no_presence=True
    )

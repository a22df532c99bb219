"""Unary calls as JSON: one HTTP request, one message back (spec turns 13)."""

from functools import partial
from typing import TYPE_CHECKING

from grpc import aio
from starlette.requests import Request
from starlette.types import Send

from parleyd.rpc.threads import work_on
from parleyd.rpc.web.bindings import Binding
from parleyd.rpc.web.forwarding import metadata_of, timeout_of, while_here
from parleyd.rpc.web.json_replies import json_of, json_response
from parleyd.rpc.web.json_requests import read_request

if TYPE_CHECKING:
    from google.protobuf.message import Message


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
    await json_response(told)(request.scope, request.receive, send)

"""Connect before a gRPC server that does what ours does seldom: metadata, endless streams."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from grpc import (
    RpcMethodHandler,
    StatusCode,
    aio,
    method_handlers_generic_handler,
    unary_stream_rpc_method_handler,
    unary_unary_rpc_method_handler,
)

from parley.v1 import turns_pb2
from tests.rpc.web.connect_client import (
    END,
    SERVICE,
    ConnectClient,
    ConnectFault,
    connected,
    fault_of,
)
from tests.rpc.web.fronts import web_before

DEADLINE = 10
SOON = 1.0
CHUNK = 64 * 1024
BUFFERED = 256
"""Chunks that may be on their way when nobody reads: of sockets, and of gRPC's windows."""

CALL = ("GetTurn", turns_pb2.GetTurnRequest(turn_id="t-1"), turns_pb2.GetTurnResponse)


@dataclass
class Upstream:
    """A gRPC server with one method of each shape."""

    metadata: list[tuple[str, str | bytes]] = field(default_factory=list[tuple[str, str | bytes]])
    status: StatusCode = StatusCode.OK
    reply: bytes = b""
    written: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)
    target: str = ""

    async def call(self, request: bytes, context: Any) -> bytes:
        """Answers, with metadata before and after."""
        del request
        self.metadata = list(context.invocation_metadata())
        await context.send_initial_metadata((("x-before", "1"), ("x-bytes-bin", b"\x00\x01")))
        context.set_trailing_metadata((("x-after", "2"),))
        if self.status is not StatusCode.OK:
            await context.abort(self.status, "Said by the test.")
        return self.reply

    async def stream(self, request: bytes, context: Any) -> AsyncGenerator[bytes, None]:
        """Never ends."""
        del request, context
        try:
            while True:
                yield turns_pb2.WatchTurnResponse(
                    event=turns_pb2.TurnEvent(turn_id="x" * CHUNK)
                ).SerializeToString()
                self.written += 1
        finally:
            self.left.set()


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    """The server, running."""
    here = Upstream()
    methods: dict[str, RpcMethodHandler[Any, Any]] = {
        "GetTurn": unary_unary_rpc_method_handler(here.call),
        "WatchTurn": unary_stream_rpc_method_handler(here.stream),
    }
    server = aio.server()
    server.add_generic_rpc_handlers(
        [method_handlers_generic_handler(SERVICE.removeprefix("/"), methods)]
    )
    here.target = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    yield here
    await server.stop(None)


@asynccontextmanager
async def ada_at(upstream: Upstream, **headers: str) -> AsyncGenerator[ConnectClient]:
    async with (
        web_before(upstream.target) as address,
        connected(address, "token", "json", **headers) as client,
    ):
        yield client


async def test_what_the_service_reads_goes_on_and_nothing_else(upstream: Upstream) -> None:
    headers = {
        "x_ai_api_key": "AIza-key",
        "x_request_id": "req-1",
        "cookie": "a=b",
        "origin": "https://app.example.org",
        "grpc_timeout": "1n",
    }
    async with ada_at(upstream, **headers) as ada:
        await ada.call(*CALL)
    sent = {key: value for key, value in upstream.metadata if key != "user-agent"}
    assert sent == {
        "authorization": "Bearer token",
        "x-ai-api-key": "AIza-key",
        "x-request-id": "req-1",
        "x-forwarded-for": "127.0.0.1",
    }


async def test_what_the_server_says_beside_its_reply_comes_as_headers(upstream: Upstream) -> None:
    async with ada_at(upstream) as ada:
        response = await ada.post("GetTurn", b"{}")
    assert response.headers["x-before"] == "1"
    assert response.headers["x-bytes-bin"] == "AAE"
    assert response.headers["trailer-x-after"] == "2"
    assert not [name for name in response.headers if name.startswith("grpc-")]


@pytest.mark.parametrize("status", list(StatusCode)[1:], ids=lambda status: status.name)
async def test_every_status_has_its_code(upstream: Upstream, status: StatusCode) -> None:
    upstream.status = status
    async with ada_at(upstream) as ada:
        response = await ada.post("GetTurn", b"{}")
    error = fault_of(response)
    # A call that its client waits for was cancelled by a server that stops.
    name = {"CANCELLED": "UNAVAILABLE"}.get(status.name, status.name)
    assert error.code == name.lower()
    assert response.headers["trailer-x-after"] == "2"


async def test_a_reply_that_is_no_message_is_our_fault_and_not_told(upstream: Upstream) -> None:
    upstream.reply = b"\xff\xff"
    async with ada_at(upstream) as ada:
        with pytest.raises(ConnectFault) as raised:
            await ada.call(*CALL)
    assert (raised.value.status, raised.value.code) == (500, "internal")
    assert raised.value.message == "Something went wrong on our side."
    assert raised.value.reason == "INTERNAL"


async def test_a_reply_of_six_megabytes_comes_through(upstream: Upstream) -> None:
    text = "x" * (6 * 1024 * 1024)
    reply = turns_pb2.GetTurnResponse(turn=turns_pb2.Turn(turn_id=text))
    upstream.reply = reply.SerializeToString()
    async with ada_at(upstream) as ada:
        assert (await ada.call(*CALL)).turn.turn_id == text


async def test_who_reads_no_more_is_not_written_to_and_may_still_leave(upstream: Upstream) -> None:
    async with web_before(upstream.target) as address, asyncio.timeout(DEADLINE):
        host, _, port = address.partition(":")
        _, writer = await asyncio.open_connection(host, int(port), limit=1024)
        body = bytes(5)
        writer.write(
            f"POST {SERVICE}/WatchTurn HTTP/1.1\r\nhost: x\r\n"
            "content-type: application/connect+proto\r\n"
            f"content-length: {len(body)}\r\n\r\n".encode()
            + body
        )
        before = -1
        while upstream.written == 0 or upstream.written != before:
            before = upstream.written
            await asyncio.sleep(0.2)  # the sockets between us fill up, and then all stands still
        assert before < BUFFERED
        assert not upstream.left.is_set()
        writer.transport.abort()
        async with asyncio.timeout(SOON):
            await upstream.left.wait()


async def test_an_endless_stream_ends_when_its_client_leaves(upstream: Upstream) -> None:
    async with ada_at(upstream) as ada, asyncio.timeout(DEADLINE):
        async with ada.frames("WatchTurn", b"{}") as frames:
            for _ in range(20):
                frame = await anext(frames)
                assert not frame.flags & END
                assert json.loads(frame.data)
        async with asyncio.timeout(SOON):
            await upstream.left.wait()

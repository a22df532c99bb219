"""One person's calls through the gateway, over each transport that it speaks."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Final, Protocol

import grpc
import httpx2
from google.protobuf import json_format
from google.rpc.error_details_pb2 import ErrorInfo
from pydantic import JsonValue

import parley
from parley.v1 import turns_pb2 as pb
from parleyd.app.gateway.plan import Address
from parleyd.rpc.web.event_shapes import shape_of
from tests.gateway.grpc_web import GrpcWebEnding
from tests.gateway.grpc_web import call as grpc_web_call
from tests.rpc.web.connect_client import ConnectClient, ConnectFault

SERVICE: Final = "/parley.v1.TurnService"
DEADLINE: Final = 30
OK: Final = 200


@dataclass(frozen=True)
class Event:
    """An event in the shape that server-sent events have; previews have no sequence."""

    sequence: int
    shape: JsonValue


@dataclass(unsafe_hash=True)
class Refused(Exception):
    """A call that failed before its first event: what HTTP says, and what the service says."""

    http_status: int
    code: str
    reason: str


class Transport(Protocol):
    """Somebody's way to call; the token may be none that counts."""

    def stream(self, request: pb.StreamTurnRequest) -> AsyncIterator[Event | None]:
        """Yields the events of a turn as they come; None for what keeps the stream open.

        Raises:
            Refused: There is none.
        """
        ...


def _event(response: pb.StreamTurnResponse) -> Event | None:
    if not response.HasField("event"):
        return None
    return Event(response.event.sequence, json.loads(shape_of(response.event)))


class NativeGrpc:
    """gRPC over HTTP/2."""

    def __init__(self, client: parley.Client) -> None:
        self._client = client

    async def stream(self, request: pb.StreamTurnRequest) -> AsyncIterator[Event | None]:
        try:
            async for response in self._client.turns.StreamTurn(request):
                yield _event(response)
        except grpc.aio.AioRpcError as error:
            raise Refused(OK, error.code().name, parley.error_of(error).reason) from error


class GrpcWeb:
    """gRPC-Web over HTTP/1.1."""

    def __init__(self, client: httpx2.AsyncClient, authorization: str) -> None:
        self._client = client
        self._authorization = authorization

    async def stream(self, request: pb.StreamTurnRequest) -> AsyncIterator[Event | None]:
        ending, url = GrpcWebEnding(), f"{SERVICE}/StreamTurn"
        async for message in grpc_web_call(
            self._client, url, request, ending, authorization=self._authorization
        ):
            yield _event(pb.StreamTurnResponse.FromString(message))
        assert ending.code
        if ending.code is not grpc.StatusCode.OK:
            info = ErrorInfo()
            ending.status.details[0].Unpack(info)
            raise Refused(OK, ending.code.name, info.reason)


class Connect:
    """Connect in JSON over HTTP/1.1."""

    def __init__(self, client: httpx2.AsyncClient, authorization: str) -> None:
        self._client = ConnectClient(client, "json", authorization=authorization)

    async def stream(self, request: pb.StreamTurnRequest) -> AsyncIterator[Event | None]:
        try:
            async for response in self._client.stream("StreamTurn", request, pb.StreamTurnResponse):
                yield _event(response)
        except ConnectFault as fault:
            raise Refused(fault.status, fault.code.upper(), fault.reason) from fault


class Json:
    """JSON over HTTP/1.1, answered by `accept`: server-sent events, or one JSON a line."""

    def __init__(self, client: httpx2.AsyncClient, authorization: str, accept: str) -> None:
        self._client = client
        self._headers = {"authorization": authorization, "accept": accept}

    async def stream(self, request: pb.StreamTurnRequest) -> AsyncIterator[Event | None]:
        body = json_format.MessageToDict(request)
        path = "/v1/turns:stream"
        if conversation_id := body.pop("conversationId", None):
            path = f"/v1/conversations/{conversation_id}/turns:stream"
        async with self._client.stream("POST", path, json=body, headers=self._headers) as response:
            if response.status_code != OK:
                raise _refused(response.status_code, await response.aread())
            lines = response.aiter_lines()
            if self._headers["accept"] == EVENTS:
                async for event in _server_sent(lines):
                    yield event
            else:
                async for line in lines:
                    yield _event(json_format.Parse(line, pb.StreamTurnResponse()))


def _refused(status: int, body: bytes) -> Refused:
    told = json.loads(body)
    return Refused(status, told["status"], told["details"][0]["reason"])


async def _server_sent(lines: AsyncIterator[str]) -> AsyncIterator[Event | None]:
    sequence = 0
    async for line in lines:
        name, _, value = line.partition(": ")
        match name:
            case "id":
                sequence = int(value)
            case "data":
                yield Event(sequence, json.loads(value))
                sequence = 0
            case "":
                if value:
                    yield None
            case _:
                raise AssertionError(f"no line of a stream of events: {line!r}")


EVENTS: Final = "text/event-stream"
LINES: Final = "application/x-ndjson"


@asynccontextmanager
async def _native(address: Address, token: str) -> AsyncGenerator[Transport]:
    async with parley.connect(str(address), token) as client:
        yield NativeGrpc(client)


def _over_http(
    made: Callable[[httpx2.AsyncClient, str], Transport],
) -> "Connects":
    @asynccontextmanager
    async def connect(address: Address, token: str) -> AsyncGenerator[Transport]:
        url = f"http://{address}"
        async with httpx2.AsyncClient(base_url=url, timeout=DEADLINE) as client:
            yield made(client, f"Bearer {token}")

    return connect


Connects = Callable[[Address, str], AbstractAsyncContextManager[Transport]]
"""Connects somebody with a token to a gateway."""

TRANSPORTS: Final[dict[str, Connects]] = {
    "gRPC": _native,
    "gRPC-Web": _over_http(GrpcWeb),
    "Connect": _over_http(Connect),
    "server-sent events": _over_http(lambda client, token: Json(client, token, EVENTS)),
    "JSON lines": _over_http(lambda client, token: Json(client, token, LINES)),
}
"""Every transport by its name."""

"""A client of Connect that shows what is on the wire."""

import json
from base64 import b64decode, urlsafe_b64encode
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeVar

import httpx2
from google.protobuf import json_format
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo

from parley.v1 import asks_pb2

M = TypeVar("M", bound=Message)

Encoding: TypeAlias = Literal["json", "proto"]

SERVICE = "/parley.v1.TurnService"
END = 0b10
DEADLINE = 30


@dataclass(eq=False)
class ConnectFault(Exception):
    """An error as it was sent: `status` is HTTP's, 200 of a stream."""

    status: int
    code: str
    message: str
    details: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    @property
    def reason(self) -> str:
        """The reason in the detail `ErrorInfo`."""
        return next(self.of(ErrorInfo)).reason

    @property
    def fixes(self) -> list[str]:
        """The paths in the detail `AskFieldErrors`."""
        return [each.path for found in self.of(asks_pb2.AskFieldErrors) for each in found.errors]

    @property
    def violations(self) -> list[str]:
        """The fields in the detail `BadRequest`."""
        return [each.field for found in self.of(BadRequest) for each in found.field_violations]

    def of(self, kind: type[M]) -> Iterator[M]:
        """Yields the details of a kind, which their type names as clients look it up."""
        for detail in self.details:
            if detail["type"] == kind.DESCRIPTOR.full_name:
                yield kind.FromString(b64decode(detail["value"] + "==="))


@dataclass(frozen=True)
class Frame:
    """One message of a stream, or its end."""

    flags: int
    data: bytes


class ConnectClient:
    """Somebody who calls by Connect in one of its encodings."""

    def __init__(
        self, http: httpx2.AsyncClient, encoding: Encoding = "json", **headers: str
    ) -> None:
        self.http = http
        self._encoding: Encoding = encoding
        self._headers = {name.replace("_", "-"): value for name, value in headers.items()}

    async def call(self, method: str, request: Message, reply: type[M]) -> M:
        """Makes a call with one reply.

        Raises:
            ConnectFault: It failed.
        """
        response = await self.post(method, self._encoded(request))
        return self._reply(response, reply)

    async def get(self, method: str, request: Message, reply: type[M]) -> M:
        """Makes the same call by GET, as clients may where there are no side effects."""
        encoded = urlsafe_b64encode(self._encoded(request)).decode().rstrip("=")
        query = {"connect": "v1", "encoding": self._encoding, "base64": "1", "message": encoded}
        response = await self.http.get(_path(method), params=query, headers=self._headers)
        return self._reply(response, reply)

    async def post(self, method: str, body: bytes) -> httpx2.Response:
        """Sends a body as it is."""
        return await self.http.post(
            _path(method),
            content=body,
            headers={
                "connect-protocol-version": "1",
                "content-type": f"application/{self._encoding}",
                **self._headers,
            },
        )

    async def stream(self, method: str, request: Message, reply: type[M]) -> AsyncGenerator[M]:
        """Yields the replies of a stream as they come.

        Raises:
            ConnectFault: It failed, before them or after some.
        """
        async with self.frames(method, self._encoded(request)) as frames:
            async for frame in frames:
                if frame.flags & END:
                    end = json.loads(frame.data)
                    if error := end.get("error"):
                        raise ConnectFault(200, **error)
                    return
                yield self._decoded(frame.data, reply)
        raise AssertionError("the stream has no end")

    async def all_of(self, method: str, request: Message, reply: type[M]) -> list[M]:
        """Returns the replies of a stream once it has ended well."""
        return [each async for each in self.stream(method, request, reply)]

    @asynccontextmanager
    async def frames(self, method: str, body: bytes) -> AsyncGenerator[AsyncIterator[Frame]]:
        """Sends one message of a stream, and yields the frames that come back."""
        async with self.http.stream(
            "POST",
            _path(method),
            content=bytes(1) + len(body).to_bytes(4, "big") + body,
            headers={
                "connect-protocol-version": "1",
                "content-type": f"application/connect+{self._encoding}",
                **self._headers,
            },
        ) as response:
            assert response.status_code == 200, response.status_code
            assert response.headers["content-type"] == f"application/connect+{self._encoding}"
            yield _frames(response.aiter_raw())

    def _encoded(self, request: Message) -> bytes:
        if self._encoding == "proto":
            return request.SerializeToString()
        return json_format.MessageToJson(request).encode()

    def _decoded(self, data: bytes, reply: type[M]) -> M:
        if self._encoding == "proto":
            return reply.FromString(data)
        return json_format.Parse(data, reply())

    def _reply(self, response: httpx2.Response, reply: type[M]) -> M:
        if response.status_code != 200:
            raise fault_of(response)
        assert response.headers["content-type"] == f"application/{self._encoding}"
        return self._decoded(response.content, reply)


def fault_of(response: httpx2.Response) -> ConnectFault:
    """Returns the error that a call with one reply ended with."""
    assert response.headers["content-type"] == "application/json"
    return ConnectFault(response.status_code, **response.json())


@asynccontextmanager
async def connected(
    address: str, token: str, encoding: Encoding = "json", **headers: str
) -> AsyncGenerator[ConnectClient]:
    """Yields a client of the server at `address`."""
    async with httpx2.AsyncClient(base_url=f"http://{address}", timeout=DEADLINE) as http:
        yield ConnectClient(http, encoding, authorization=f"Bearer {token}", **headers)


async def _frames(chunks: AsyncIterator[bytes]) -> AsyncIterator[Frame]:
    data = b""
    async for chunk in chunks:
        data += chunk
        while len(data) >= 5 and len(data) >= 5 + (size := int.from_bytes(data[1:5], "big")):
            yield Frame(data[0], data[5 : 5 + size])
            data = data[5 + size :]
    assert not data, "the stream ends in a frame"


def _path(method: str) -> str:
    return method if method.startswith("/") else f"{SERVICE}/{method}"

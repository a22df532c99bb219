"""A client of gRPC-Web, as small as it can be: HTTP/1.1, and frames of a flag and a length."""

import base64
import struct
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

import httpx2
from google.protobuf.message import Message
from google.rpc.status_pb2 import Status
from grpc import StatusCode

HEAD = struct.Struct(">BI")
TRAILERS = 0x80
"""Flags the last frame, whose lines are the trailers of the call."""
CODES = {code.value[0]: code for code in StatusCode}


@dataclass
class GrpcWebEnding:
    """How a call ended, once it has."""

    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    code: StatusCode | None = None
    message: str = ""
    status: Status = field(default_factory=Status)

    def read(self, trailers: Mapping[str, str]) -> None:
        """Reads the trailers, or the headers of an answer that has nothing else."""
        self.code = CODES[int(trailers["grpc-status"])]
        self.message = trailers.get("grpc-message", "")
        details = trailers.get("grpc-status-details-bin", "")
        self.status = Status.FromString(base64.b64decode(details + "=" * (-len(details) % 4)))


async def call(
    client: httpx2.AsyncClient,
    url: str,
    request: Message,
    ending: GrpcWebEnding,
    **headers: str,
) -> AsyncIterator[bytes]:
    """Yields the messages of a call as they come, and then knows its ending."""
    told = {"content-type": "application/grpc-web+proto", "x-grpc-web": "1"}
    told |= {name.replace("_", "-"): value for name, value in headers.items()}
    body = request.SerializeToString()
    async with client.stream(
        "POST", url, content=HEAD.pack(0, len(body)) + body, headers=told
    ) as response:
        # What the gateway itself says has the status of HTTP too.
        assert response.status_code == 200 or "grpc-status" in response.headers
        assert response.headers["content-type"] == "application/grpc-web+proto"
        ending.headers = response.headers
        if "grpc-status" in response.headers:
            ending.read(response.headers)
        unread = b""
        async for piece in response.aiter_bytes():
            unread += piece
            while len(unread) >= HEAD.size:
                flag, length = HEAD.unpack_from(unread)
                frame = unread[HEAD.size : HEAD.size + length]
                if len(frame) < length:
                    break
                unread = unread[HEAD.size + length :]
                if flag & TRAILERS:
                    lines = frame.decode().split("\r\n")
                    pairs = (line.partition(":") for line in lines if line)
                    ending.read({name.strip().lower(): value.strip() for name, _, value in pairs})
                else:
                    yield frame
        assert not unread

"""The Connect protocol for all our services, from their descriptors (design D7).

It speaks JSON and the protobuf encoding, GET for methods without side effects, and streams of
replies. Every call goes on to the gRPC server, so tokens, deadlines, logs and errors have one
place.
"""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final, TypeAlias, cast

from connectrpc.server import ConnectASGIApplication, Endpoint
from google.protobuf import descriptor_pool
from grpc import aio
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount
from starlette.types import ASGIApp, Receive, Scope, Send
from typing_extensions import override

from parleyd.contract import limits
from parleyd.rpc.server import SERVICES
from parleyd.rpc.web.connect_bodies import Body, Verbatim
from parleyd.rpc.web.connect_methods import ConnectMethod
from parleyd.rpc.web.forwarding import FORWARDED, is_plain

Headers: TypeAlias = Iterable[tuple[bytes, bytes]]

_READ: Final = frozenset(
    name.encode()
    for name in (
        *("content-type", "content-encoding", "accept-encoding"),
        *("connect-protocol-version", "connect-timeout-ms"),
        *("connect-content-encoding", "connect-accept-encoding"),
        *FORWARDED,
    )
)
_GRPC: Final = b"application/grpc"
"""How the content types of gRPC and gRPC-Web begin, which have another port."""


def connect_routes(channel: aio.Channel) -> list[BaseRoute]:
    """Returns the routes of Connect, which call the gRPC server behind `channel`."""
    front = ConnectFront(channel)
    return [Mount(f"/{service}", front) for service in SERVICES]


class ConnectFront:
    """An ASGI application that answers at `/<service>/<method>`."""

    def __init__(self, channel: aio.Channel) -> None:
        methods = [
            ConnectMethod(channel, method)
            for service in SERVICES
            for method in descriptor_pool.Default().FindServiceByName(service).methods
        ]
        self._endpoints = {method.path: method.endpoint() for method in methods}
        self._library = cast("ASGIApp", _Library(self._endpoints))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        headers = [(name, value) for name, value in scope["headers"] if _counts(name, value)]
        if refusal := self._refusal(scope["path"], headers):
            await refusal(scope, receive, send)
            return
        await self._library({**scope, "headers": headers}, receive, send)

    def _refusal(self, path: str, headers: Headers) -> Response | None:
        """Returns the answer to what is no call of Connect's."""
        if path not in self._endpoints:
            # Connect's clients read the code from the body, whatever the status is.
            told = {"code": "unimplemented", "message": f"There is no method {path}."}
            return JSONResponse(told, HTTPStatus.NOT_FOUND)
        if any(name == b"content-type" and value.startswith(_GRPC) for name, value in headers):
            return Response(status_code=HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        return None


class _Library(ConnectASGIApplication[None]):
    def __init__(self, endpoints: Mapping[str, Endpoint[Body, bytes]]) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType] - the library leaves it open
            service=None,
            endpoints=lambda _: cast("Mapping[str, Any]", endpoints),
            read_max_bytes=limits.RECEIVE_BYTES,
            codecs=[Verbatim("proto"), Verbatim("json")],
        )

    @property
    @override
    def path(self) -> str:
        return "/"


def _counts(name: bytes, value: bytes) -> bool:
    """Tells whether a header is read here or goes on, where it has to be plain text."""
    return name in _READ and is_plain(value.decode("latin-1"))

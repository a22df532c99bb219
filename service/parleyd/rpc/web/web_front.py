"""All that is served over HTTP: Connect, JSON with server-sent events, and the playground."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from grpc import aio
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from parleyd.contract import limits
from parleyd.rpc.server import Serving
from parleyd.rpc.tls import Tls
from parleyd.rpc.web.connect_front import connect_routes
from parleyd.rpc.web.forwarding import with_addresses
from parleyd.rpc.web.json_front import json_routes
from parleyd.rpc.web.playground import Playground, playground_routes
from parleyd.rpc.web.private_socket import private_socket
from parleyd.rpc.web.problems import nothing_here
from parleyd.rpc.web.web_server import WebServer

CHANNEL_OPTIONS: Final = (
    # What our own server sends is let through, whatever its size is.
    ("grpc.max_receive_message_length", -1),
)


@asynccontextmanager
async def web_front(
    serving: Serving,
    *,
    tls: Tls | None = None,
    file_bytes: int = limits.FILE_BYTES,
    playground: Playground | None = None,
) -> AsyncGenerator[WebServer]:
    """Yields a server of HTTP in front of a gRPC server that has not started yet.

    The caller gives it an address, starts it after the gRPC server, and stops it. Leaving cuts what
    is still open. `file_bytes` is the deployment's cap of an upload; without a `playground` none is
    served.

    Raises:
        OSError: There is no place for the socket between the two, or the playground is not built.
    """
    with private_socket() as path:
        target = serving.listen_on(path)
        async with aio.insecure_channel(target, options=CHANNEL_OPTIONS) as channel:
            web = WebServer(web_app(channel, file_bytes=file_bytes, playground=playground), tls)
            try:
                yield web
            finally:
                await web.stop(0)


def web_app(
    channel: aio.Channel,
    *,
    file_bytes: int = limits.FILE_BYTES,
    playground: Playground | None = None,
) -> ASGIApp:
    """Returns the ASGI app, which calls the gRPC server behind `channel`.

    It needs no lifespan, and keeps nothing between two requests.

    Raises:
        OSError: The playground is not built.
    """
    router = Router(
        [
            *connect_routes(channel),
            *json_routes(channel, file_bytes=file_bytes),
            *(playground_routes(playground) if playground else ()),
        ],
        redirect_slashes=False,
        default=_nowhere,
    )
    return with_addresses(router)


async def _nowhere(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers a request to a path that there is not."""
    await nothing_here().problem.response()(scope, receive, send)

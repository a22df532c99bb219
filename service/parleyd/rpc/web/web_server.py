"""HTTP in our event loop: an address, a start, and a stop that has an end."""

import asyncio
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import uvicorn
from starlette.types import ASGIApp
from typing_extensions import override

from parleyd.rpc.tls import Tls

KEEP_ALIVE_SECONDS: Final = 75
"""How long a connection may be idle: longer than a proxy in front keeps one, so that it is never
closed in the moment the proxy sends on it."""
HEAD_BYTES: Final = 64 * 1024
"""The size of a request's line and headers."""
CUT_SECONDS: Final = 1.0
"""How long requests may take to notice that their connection was cut."""


class WebServer:
    """Serves an ASGI app over HTTP/1.1, or over TLS where a certificate is given.

    Signals are left alone, and it writes no line about a request: the gRPC server does.
    """

    def __init__(self, app: ASGIApp, tls: Tls | None = None) -> None:
        self._server = _Server(
            uvicorn.Config(
                app,
                http="h11",
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="error",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                h11_max_incomplete_event_size=HEAD_BYTES,
                ssl_context_factory=(lambda _config, _usual: tls.context) if tls else None,
            )
        )
        self._socket: socket.socket | None = None
        self._serving: asyncio.Task[None] | None = None

    def listen(self, host: str, port: int) -> str:
        """Takes an address, before the start, and returns it as `host:port`. Port 0 is a free one.

        Raises:
            OSError: It can't be had.
        """
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        taken = socket.create_server(
            address[:2],
            family=family,
            # As gRPC does: `::` is every address, of both kinds.
            dualstack_ipv6=family == socket.AF_INET6 and socket.has_dualstack_ipv6(),
        )
        # asyncio sends at once on sockets that say that they are TCP's. On others the second half
        # of a reply waits for the client to acknowledge the first, which takes it 40 ms.
        self._socket = socket.socket(
            taken.family, taken.type, socket.IPPROTO_TCP, fileno=taken.detach()
        )
        port = self._socket.getsockname()[1]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    async def start(self) -> None:
        """Answers requests from now on."""
        assert self._socket, "it has no address"
        self._serving = asyncio.create_task(self._server.serve([self._socket]))
        ready = asyncio.create_task(self._server.ready.wait())
        try:
            await asyncio.wait([ready, self._serving], return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()
        if self._serving.done():
            self._serving.result()

    async def stop(self, grace: float) -> None:
        """Takes no more connections, closes those without requests, and ends when the others have.

        What is still open after `grace` seconds is cut. A repeat with a shorter grace makes it
        shorter; of a server that never started it gives the address up.
        """
        if self._serving is None:
            if self._socket:
                self._socket.close()
            return
        self._server.should_exit = True
        for seconds, harder in ((grace, self._server.cut), (CUT_SECONDS, self._server.leave)):
            done, _ = await asyncio.wait([self._serving], timeout=seconds)
            if done:
                break
            harder()
        await self._serving


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @override
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    def cut(self) -> None:
        """Closes every connection: to its request the client looks gone."""
        for connection in list(self.server_state.connections):
            connection.transport.abort()

    def leave(self) -> None:
        """Cancels the requests that go on all the same, and waits for none."""
        for task in self.server_state.tasks:
            task.cancel()
        self.force_exit = True

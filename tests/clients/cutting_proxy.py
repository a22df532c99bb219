"""A network between clients and servers that breaks when it is told to."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress


class CuttingProxy:
    """Passes connections on to `target`, `host:port`.

    While it is `deaf` it loses what servers say. It owns every socket that it accepts or opens:
    asyncio's servers of Python 3.11 leave some open that break while they are accepted.
    """

    def __init__(self, target: str) -> None:
        self.target = target
        self.deaf = False
        self._passing: set[asyncio.Task[None]] = set()

    def take(self, listening: socket.socket) -> None:
        """Accepts a connection and passes it on, until a side ends it or it is cut."""
        with suppress(OSError):
            connection, _ = listening.accept()
            passing = asyncio.get_running_loop().create_task(self._pass_on(connection))
            self._passing.add(passing)
            passing.add_done_callback(self._passing.discard)
            # Here, not in the task: one that is cancelled before its first step runs none of it.
            passing.add_done_callback(lambda _: connection.close())

    def cut(self) -> None:
        """Breaks every connection, without a word to either side."""
        for passing in self._passing:
            passing.cancel()

    async def end(self) -> None:
        """Breaks every connection, and returns once all are closed."""
        cut = list(self._passing)
        self.cut()
        await asyncio.gather(*cut, return_exceptions=True)

    async def _pass_on(self, client: socket.socket) -> None:
        host, _, port = self.target.rpartition(":")
        with socket.socket() as server:
            client.settimeout(0)
            server.settimeout(0)
            with suppress(OSError):
                await asyncio.get_running_loop().sock_connect(server, (host, int(port)))
                ways = [
                    asyncio.create_task(self._copy(client, server)),
                    asyncio.create_task(self._copy(server, client, may_be_lost=True)),
                ]
                try:
                    await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for way in ways:
                        way.cancel()
                    await asyncio.gather(*ways, return_exceptions=True)

    async def _copy(
        self, source: socket.socket, target: socket.socket, *, may_be_lost: bool = False
    ) -> None:
        loop = asyncio.get_running_loop()
        while data := await loop.sock_recv(source, 65536):
            if not (may_be_lost and self.deaf):
                await loop.sock_sendall(target, data)


@asynccontextmanager
async def cutting_proxy(target: str) -> AsyncGenerator[tuple[CuttingProxy, str]]:
    """Runs a proxy on a free port of this machine; yields it and its address."""
    proxy = CuttingProxy(target)
    loop = asyncio.get_running_loop()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0)
        loop.add_reader(listening, proxy.take, listening)
        host, port = listening.getsockname()
        try:
            yield proxy, f"{host}:{port}"
        finally:
            loop.remove_reader(listening)
            await proxy.end()

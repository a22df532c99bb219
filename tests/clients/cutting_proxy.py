"""A network between clients and servers that breaks when it is told to."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from tests.listening import stop_listening


class CuttingProxy:
    """Passes connections on to `target`, `host:port`.

    While it is `deaf` it loses what servers say.
    """

    def __init__(self, target: str) -> None:
        self.target = target
        self.deaf = False
        self._writers: set[asyncio.StreamWriter] = set()
        self._ended = False

    def cut(self) -> None:
        """Breaks every connection, without a word to either side."""
        for writer in self._writers:
            writer.transport.abort()

    def end(self) -> None:
        """Breaks every connection, also those that are on their way."""
        self._ended = True
        self.cut()

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Passes one connection on until both sides have ended it."""
        host, _, port = self.target.rpartition(":")
        with suppress(OSError):
            there, back = await asyncio.open_connection(host, int(port))
            self._writers |= {writer, back}
            if self._ended:
                self.cut()
            await asyncio.gather(self._up(reader, back), self._down(there, writer))
            self._writers -= {writer, back}
        writer.close()

    async def _up(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
        writer.close()

    async def _down(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                if not self.deaf:
                    writer.write(data)
        writer.close()


@asynccontextmanager
async def cutting_proxy(target: str) -> AsyncGenerator[tuple[CuttingProxy, str]]:
    """Runs a proxy on a free port of this machine; yields it and its address."""
    proxy = CuttingProxy(target)
    passing: set[asyncio.Task[None]] = set()

    # No coroutine: it is called the moment a connection is made, so that none goes unnoticed.
    def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        passing.add(asyncio.get_running_loop().create_task(proxy.pass_on(reader, writer)))

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    host, port, *_ = server.sockets[0].getsockname()
    try:
        yield proxy, f"{host}:{port}"
    finally:
        await stop_listening(server)
        proxy.end()
        await asyncio.gather(*passing)

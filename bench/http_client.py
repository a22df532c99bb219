"""HTTP/1.1 as cheap as it can be: one connection, requests made beforehand, bodies skipped.

What is measured of a protocol is the gateway and the service, not a client that Python is slow at.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from parleyd.app.gateway.plan import Address


def post(path: str, body: bytes, **headers: str) -> bytes:
    """Returns a POST as it goes over the wire."""
    return _request("POST", path, body, **headers)


def get(path: str, **headers: str) -> bytes:
    """Returns a GET as it goes over the wire."""
    return _request("GET", path, b"", **headers)


def _request(verb: str, path: str, body: bytes, **headers: str) -> bytes:
    told = {"host": "parley", "content-length": str(len(body)), **headers}
    lines = [f"{verb} {path} HTTP/1.1"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in told.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


class HttpConnection:
    """A connection that is kept, for one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def call(self, request: bytes) -> bytes:
        """Sends a request and returns the body of the answer, which has to be 200."""
        return b"".join([piece async for piece in self.pieces(request)])

    async def pieces(self, request: bytes) -> AsyncGenerator[bytes]:
        """Sends a request and yields the body of the answer as it comes."""
        self._writer.write(request)
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        if not head.startswith(b"http/1.1 200"):
            raise AssertionError(head.decode())
        if b"transfer-encoding: chunked" in head:
            while size := int(await self._reader.readuntil(b"\r\n"), 16):
                yield (await self._reader.readexactly(size + 2))[:-2]
            await self._reader.readexactly(2)
        else:
            length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
            yield await self._reader.readexactly(length)


@asynccontextmanager
async def http_connection(address: Address) -> AsyncGenerator[HttpConnection]:
    """Yields a connection."""
    reader, writer = await asyncio.open_connection(address.host, address.port)
    try:
        yield HttpConnection(reader, writer)
    finally:
        writer.close()
        await writer.wait_closed()

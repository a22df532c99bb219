"""The ways to an MCP server: HTTP, or the pipes of a program that is started here."""

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Generic, Self, TextIO, TypeAlias, TypeVar

import httpx2
from anyio import ClosedResourceError, EndOfStream
from mcp import StdioServerParameters, stdio_client
from mcp.client import Transport
from mcp.client._transport import ReadStream, TransportStreams
from mcp.client.streamable_http import streamable_http_client

from parleyd.contract import limits
from parleyd.tools.mcp.config import McpServer

TransportFactory: TypeAlias = Callable[[Callable[[], None]], Transport]
"""Makes a way to the server, for one session. It calls its argument when the server hangs up."""

CONNECT_SECONDS: Final = 10
LONGEST_SILENCE_SECONDS: Final = 3600
"""How long a response may go without a byte. Calls have limits of their own: this ends what a
server never answers and nobody waits for any more."""
EVENT_BYTES: Final = 2 * limits.FILE_BYTES
"""Of one event from a server: room for the largest file, which travels as base64."""

_Item = TypeVar("_Item")


def transport_factory(name: str, server: McpServer) -> TransportFactory:
    """Returns what makes the ways to a server.

    Raises:
        ToolsUnusable: A secret is missing, or one that can't be sent.
    """
    if server.url:
        url, headers = str(server.url), server.secret_headers(name)
        return lambda closed: _http(url, headers, closed)
    assert server.command
    program, *arguments = server.command
    parameters = StdioServerParameters(
        command=program,
        args=arguments,
        env=server.secret_env(name),
        encoding_error_handler="replace",
    )
    log_file = server.log_file or os.devnull
    return lambda closed: _stdio(parameters, str(log_file), closed)


@asynccontextmanager
async def _http(
    url: str, headers: dict[str, str], closed: Callable[[], None]
) -> AsyncGenerator[TransportStreams]:
    timeout = httpx2.Timeout(CONNECT_SECONDS, read=LONGEST_SILENCE_SECONDS)
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=EVENT_BYTES) as streams,
    ):
        read, write = streams
        yield _Watched(read, closed), write


@asynccontextmanager
async def _stdio(
    parameters: StdioServerParameters, log_file: str, closed: Callable[[], None]
) -> AsyncGenerator[TransportStreams]:
    async with AsyncExitStack() as stack:
        errors = stack.enter_context(_opened(log_file))
        read, write = await stack.enter_async_context(stdio_client(parameters, errlog=errors))
        yield _Watched(read, closed), write


def _opened(log_file: str) -> TextIO:
    return Path(log_file).open("a", encoding="utf-8")


class _Watched(Generic[_Item]):
    """A stream that tells when it has ended. A session keeps that to itself until it is used."""

    def __init__(self, stream: ReadStream[_Item], closed: Callable[[], None]) -> None:
        self._stream = stream
        self._closed = closed

    async def receive(self) -> _Item:
        """Returns the next item.

        Raises:
            EndOfStream: There is none any more.
            ClosedResourceError: The stream was closed here.
        """
        try:
            return await self._stream.receive()
        except (EndOfStream, ClosedResourceError):
            self._closed()
            raise

    async def aclose(self) -> None:
        """Closes the stream."""
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> _Item:
        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()

"""A connection to one MCP server that is kept up for as long as the service runs."""

import asyncio
import math
from collections.abc import Mapping
from importlib.metadata import version
from typing import Final, cast

import anyio
import structlog
from mcp import Client, MCPError
from mcp.client import IncomingMessage
from mcp.client.subscriptions import SubscriptionLost
from mcp.types import CONNECTION_CLOSED, CallToolResult, Implementation, RequestParamsMeta, Tool
from mcp.types import ToolListChangedNotification as ToolsChanged
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import JsonValue

from parleyd.tools.mcp.transports import TransportFactory

CONNECT_SECONDS: Final = 30
"""A program may have to be fetched and unpacked before it answers."""
ANSWER_SECONDS: Final = 10
"""How long a server may take to list its tools, before it counts as gone."""
LOOK_SECONDS: Final = 15
"""How often it is looked whether a server still answers, and with which tools."""
LOOK_GAP_SECONDS: Final = 0.2
LISTEN_AGAIN_SECONDS: Final = 5
CLOSE_SECONDS: Final = 2
FIRST_WAIT_SECONDS: Final = 0.5
LONGEST_WAIT_SECONDS: Final = 30
"""Between two tries to connect; each wait is twice the one before."""
FRESH_SECONDS: Final = 5
"""A server that answered so recently is called without looking first."""
READY_SECONDS: Final = 5
"""How long a call waits for a server that is just being connected to again."""
TOOLS_MOST: Final = 1000

log = structlog.stdlib.get_logger()


class NotConnected(Exception):
    """The server can't be reached: the call was not sent."""


class ConnectionLost(Exception):
    """The server was lost inside the call: whether it took effect is not known."""


class Connection:
    """Keeps a session with one server, from `run` until `stop`.

    One task owns the session: the SDK's cancel scopes have to be entered and left in the same one.
    Calls come from any.
    """

    def __init__(self, name: str, transport: TransportFactory) -> None:
        self.name = name
        self.listed: tuple[Tool, ...] | None = None
        """The tools of the server; None while it is not connected. Equal lists are one object."""
        self.tried = asyncio.Event()
        """Is set once the first try to connect has ended, either way."""
        self._transport = transport
        self._client: Client | None = None
        self._heard = -math.inf
        self._wanted = asyncio.Event()
        self._news = asyncio.Event()
        self._scope = anyio.CancelScope()
        self._stopping = False
        self._cause: str | None = None

    async def run(self) -> None:
        """Connects, and again after every loss, with growing waits, until `stop`."""
        wait, clock = FIRST_WAIT_SECONDS, asyncio.get_running_loop().time
        while not self._stopping:
            began = clock()
            try:
                with anyio.CancelScope() as self._scope:
                    await self._session()
            # Whatever a server does, or the library does about it: it is one that is not there.
            except Exception as error:  # noqa: BLE001
                self._lost(_cause(error))
            self.tried.set()
            if self._stopping:
                return
            if clock() - began > LONGEST_WAIT_SECONDS:
                wait = FIRST_WAIT_SECONDS
            await self._pause(wait)
            wait = min(2 * wait, LONGEST_WAIT_SECONDS)

    def stop(self) -> None:
        """Ends `run`: a session is closed, a try to connect given up."""
        self._stopping = True
        self._wanted.set()
        if self._client is None:
            self._scope.cancel()

    def abort(self) -> None:
        """Ends `run` without a goodbye to the server."""
        self._stopping = True
        self._scope.cancel()

    async def call(
        self, tool: str, args: Mapping[str, JsonValue], meta: dict[str, str]
    ) -> CallToolResult:
        """Calls a tool by its own name. Cancelling this cancels the call there.

        Raises:
            NotConnected: The call was not sent.
            ConnectionLost: It may have been.
            MCPError: The server refused it.
                Whatever the SDK makes of an answer that is none passes through.
        """
        client, heard = await self._answering(), -math.inf
        try:
            result = await client.call_tool(tool, dict(args), meta=cast("RequestParamsMeta", meta))
            heard = asyncio.get_running_loop().time()
        except Exception as error:
            closed = isinstance(error, MCPError) and error.code == CONNECTION_CLOSED
            if closed or self._client is not client:
                raise ConnectionLost from error
            raise
        else:
            return result
        finally:
            # After a call that failed or was given up it is looked whether the server is there.
            self._heard = heard
            if heard == -math.inf:
                self._wanted.set()

    @property
    def _heard_long_ago(self) -> bool:
        return asyncio.get_running_loop().time() - self._heard > FRESH_SECONDS

    async def _answering(self) -> Client:
        """Returns a client whose server has just answered."""
        try:
            async with asyncio.timeout(READY_SECONDS):
                while self._client is None or self._heard_long_ago:
                    news = self._news
                    self._wanted.set()
                    await news.wait()
                return self._client
        except TimeoutError as error:
            raise NotConnected from error

    async def _pause(self, seconds: float) -> None:
        """Waits; a call that wants the server ends all but the first wait early."""
        self._wanted.clear()
        await asyncio.sleep(FIRST_WAIT_SECONDS)
        with anyio.move_on_after(seconds - FIRST_WAIT_SECONDS):
            await self._wanted.wait()

    async def _session(self) -> None:
        """Connects and keeps the session until it is lost, or `stop`."""
        transport = self._transport(self._wanted.set)
        with anyio.fail_after(CONNECT_SECONDS) as limit:
            async with Client(
                transport,
                cache=None,
                client_info=Implementation(name="parley", version=version("parleyd")),
                message_handler=self._hear,
            ) as client:
                try:
                    limit.deadline = math.inf
                    await self._keep(client)
                finally:
                    self._client, self.listed = None, None
                    limit.deadline = anyio.current_time() + CLOSE_SECONDS

    async def _keep(self, client: Client) -> None:
        await self._look(client)
        async with anyio.create_task_group() as tasks:
            if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
                tasks.start_soon(self._listen, client)
            while not self._stopping:
                with anyio.move_on_after(LOOK_SECONDS):
                    await self._wanted.wait()
                self._wanted.clear()
                if not self._stopping:
                    await self._look(client)
                    # Some say at each look that their tools have changed.
                    await anyio.sleep(LOOK_GAP_SECONDS)
            tasks.cancel_scope.cancel()

    async def _look(self, client: Client) -> None:
        """Lists the tools; a server that doesn't answer is lost."""
        with anyio.fail_after(ANSWER_SECONDS):
            found = await _tools(client)
        self._heard = asyncio.get_running_loop().time()
        if self._client is None:
            log.info("mcp_server_connected", server=self.name, tools=len(found))
        elif found != self.listed:
            log.info("mcp_tools_changed", server=self.name, tools=len(found))
        self._client, self._cause = client, None
        if found != self.listed:
            self.listed = found
        self.tried.set()
        self._tell()

    async def _listen(self, client: Client) -> None:
        """Has the list looked at whenever the server says so, as from protocol 2026-07-28 on."""
        while True:
            try:
                async with client.listen(tools_list_changed=True) as changes:
                    self._wanted.set()
                    async for _ in changes:
                        self._wanted.set()
            except SubscriptionLost:
                pass
            except MCPError:  # it offers none: then it is looked every LOOK_SECONDS alone
                return
            self._wanted.set()
            await anyio.sleep(LISTEN_AGAIN_SECONDS)

    async def _hear(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolsChanged):
            self._wanted.set()

    def _lost(self, cause: str) -> None:
        """Tells of a loss, once for each cause until the server is back."""
        self._tell()
        if not self._stopping and cause != self._cause:
            log.warning("mcp_server_lost", server=self.name, cause=cause)
            self._cause = cause

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


async def _tools(client: Client) -> tuple[Tool, ...]:
    """Returns all pages of a server's tools, up to `TOOLS_MOST` tools."""
    if client.server_capabilities.tools is None:
        return ()
    found: list[Tool] = []
    cursor: str | None = None
    while len(found) < TOOLS_MOST:
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if not cursor:
            break
    return tuple(found[:TOOLS_MOST])


def _cause(error: BaseException) -> str:
    """Names what happened, without a word of the server's: the first error that is no group."""
    while isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        error = group.exceptions[0]
    name = type(error).__name__
    return f"{name} {error.code}" if isinstance(error, MCPError) else name

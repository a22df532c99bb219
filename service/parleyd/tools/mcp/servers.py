"""The MCP servers of a deployment, and the tools that they offer together."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import structlog

from parleyd.contract.field_errors import quoted
from parleyd.tools.mcp.config import McpServer
from parleyd.turns.tools import HostTool, RemoteTools, ToolSet

if TYPE_CHECKING:
    from mcp.types import Tool

    from parleyd.tools.mcp.connections import Connection

FIRST_ANSWER_SECONDS: Final = 2
"""How long the first turns after a start wait for servers that are still being connected to."""
STOP_SECONDS: Final = 3
"""How long a server is given to take leave."""

log = structlog.stdlib.get_logger()


@asynccontextmanager
async def mcp_tools(servers: Mapping[str, McpServer]) -> AsyncGenerator[RemoteTools]:
    """Keeps connections to servers, by name, and yields what finds their tools of the moment.

    A server that is away, slow or broken has no tools until it is back; nobody waits for it, but
    for `FIRST_ANSWER_SECONDS` after the start. Of two tools with one name that of the earlier
    server counts, also while that server is away: nobody else's tool may take the place of one that
    needs an approval. Programs that were started have ended when this is left.

    Raises:
        ToolsUnusable: A secret is missing, or one that can't be sent.
    """
    if not servers:
        yield _no_tools
        return
    # The SDK takes most of a second to import, and is of use to those with servers alone.
    from parleyd.tools.mcp.connections import Connection  # noqa: PLC0415
    from parleyd.tools.mcp.transports import transport_factory  # noqa: PLC0415

    offers = [
        _Offer(server, Connection(name, transport_factory(name, server)))
        for name, server in servers.items()
    ]
    connections = [offer.connection for offer in offers]
    tasks = [asyncio.create_task(each.run(), name=f"mcp_{each.name}") for each in connections]
    loop = asyncio.get_running_loop()
    deadline = loop.time() + FIRST_ANSWER_SECONDS

    async def remote_tools() -> ToolSet:
        untried = [each for each in connections if not each.tried.is_set()]
        if untried and (left := deadline - loop.time()) > 0:
            waits = [asyncio.create_task(each.tried.wait()) for each in untried]
            try:
                await asyncio.wait(waits, timeout=left)
            finally:
                for wait in waits:
                    wait.cancel()
        return _together(offers)

    try:
        yield remote_tools
    finally:
        for each in connections:
            each.stop()
        _, left = await asyncio.wait(tasks, timeout=STOP_SECONDS)
        for each in connections:
            each.abort()
        if left:
            await asyncio.wait(left)


async def _no_tools() -> ToolSet:
    return {}


def _together(offers: "Sequence[_Offer]") -> ToolSet:
    together: dict[str, HostTool] = {}
    taken = set[str]()
    for offer in offers:
        tools = offer.tools()
        together |= {name: tool for name, tool in tools.items() if name not in taken}
        offer.leave_out(taken.intersection(tools))
        taken |= offer.names
    return together


class _Offer:
    """The tools of one server, made anew when its list changes."""

    def __init__(self, server: McpServer, connection: "Connection") -> None:
        self.connection = connection
        self._server = server
        self._listed: tuple[Tool, ...] | None = None
        self._tools: dict[str, HostTool] = {}
        self._left_out = set[str]()
        self.names = set[str]()
        """Every name that its tools have had so far."""

    def tools(self) -> Mapping[str, HostTool]:
        """Returns the tools by name; none while the server is away."""
        from parleyd.tools.mcp.remote_tool import remote_tools  # noqa: PLC0415 - as above

        listed = self.connection.listed
        if listed is None:
            return {}
        if listed is not self._listed:
            self._tools = remote_tools(self.connection, self._server, listed)
            self._listed = listed
            self.names.update(self._tools)
        return self._tools

    def leave_out(self, names: AbstractSet[str]) -> None:
        """Warns, once for each, of tools whose names an earlier server's tools have."""
        for name in sorted(names - self._left_out):
            log.warning(
                "tool_dropped", server=self.connection.name, tool=quoted(name), reason="taken name"
            )
        self._left_out |= names

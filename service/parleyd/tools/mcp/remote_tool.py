"""A tool of an MCP server as a host tool."""

from collections.abc import Sequence
from typing import Final

import structlog
from mcp import MCPError
from mcp.types import Tool, ToolAnnotations
from pydantic import JsonValue

from parleyd.contract.field_errors import quoted
from parleyd.contract.json import compact
from parleyd.contract.text import clip, storable
from parleyd.tools.hosted import Profile
from parleyd.tools.mcp.config import McpServer
from parleyd.tools.mcp.connections import Connection, ConnectionLost, NotConnected
from parleyd.tools.mcp.results import returned_of
from parleyd.tools.schemas import SchemaArguments, SchemaTool
from parleyd.tools.unusable import ToolsUnusable
from parleyd.turns.tools import HostTool, ToolContext, ToolFailed
from parleyd.turns.toolsets import is_tool_name

KEY_META: Final = "parley/idempotencyKey"
APPROVAL_META: Final = "parley/approvalId"
DESCRIPTION: Final = 8000
"""UTF-16 units of a description at most: every model call carries it."""
SCHEMA_BYTES: Final = 64 * 1024

log = structlog.stdlib.get_logger()


def remote_tools(
    connection: Connection, server: McpServer, listed: Sequence[Tool]
) -> dict[str, HostTool]:
    """Returns the tools of a server that are to be offered, by the names they are offered under.

    One that can't be is left out with a warning, and so is the second of a name.
    """
    tools: dict[str, HostTool] = {}
    prefix = f"{connection.name}_" if server.prefix is None else server.prefix
    for tool in listed:
        name = prefix + tool.name
        if not server.offers(tool.name):
            continue
        reason = ""
        if not is_tool_name(name):
            reason = "malformed name"
        elif name in tools:
            reason = "second of its name"
        else:
            try:
                tools[name] = _remote_tool(name, connection, server, tool)
            except (ToolsUnusable, ValueError, RecursionError):
                reason = "unusable schema"
        if reason:
            server_name, called = connection.name, quoted(tool.name)
            log.warning("mcp_tool_dropped", server=server_name, tool=called, reason=reason)
    return tools


def needs_approval(server: McpServer, tool: Tool) -> bool:
    """Tells whether every call of a tool needs an approval, or none (design D6)."""
    if tool.name in server.needs_approval:
        return True
    if tool.name in server.no_approval:
        return False
    hints = tool.annotations or ToolAnnotations()
    match server.approval:
        case "always":
            return True
        case "never":
            return False
        case "as_annotated":
            return hints.read_only_hint is not True or hints.destructive_hint is True


def is_replay_safe(tool: Tool) -> bool:
    """Tells whether an interrupted run of a tool may be repeated.

    It may, if the tool is annotated read-only or idempotent.
    """
    hints = tool.annotations or ToolAnnotations()
    return hints.read_only_hint is True or hints.idempotent_hint is True


class _ArgumentsAsSent(SchemaArguments):
    """Arguments that go on as they are stored, digit for digit, once they are known to fit."""

    def read(self, args: JsonValue) -> dict[str, JsonValue]:
        """Returns arguments that fit.

        Raises:
            Misfit: They don't.
        """
        super().read(args)
        assert isinstance(args, dict)
        return args


def _remote_tool(name: str, connection: Connection, server: McpServer, tool: Tool) -> SchemaTool:
    if len(compact(tool.input_schema)) > SCHEMA_BYTES:
        raise ToolsUnusable(f"The schema of the tool `{name}` is too large: shorten it.")
    told = tool.description or tool.title or ""
    description = clip(storable(told), DESCRIPTION).strip()
    profile = Profile(
        name,
        description or f"The tool {tool.name} of {connection.name}.",
        replay_safe=is_replay_safe(tool),
        seconds=server.seconds,
        needs_approval=needs_approval(server, tool),
    )

    async def body(args: dict[str, JsonValue], context: ToolContext) -> object:
        meta = {KEY_META: context.idempotency_key}
        if context.approval_id:
            meta[APPROVAL_META] = context.approval_id
        try:
            return returned_of(await connection.call(tool.name, args, meta))
        except ToolFailed:
            raise
        except NotConnected as error:
            raise ToolFailed(
                f"The call did not run: the server {connection.name} can't be reached at the "
                "moment. Try again later, or go on without it."
            ) from error
        except ConnectionLost as error:
            raise ToolFailed(
                f"The server {connection.name} was lost inside the call. Whether it took effect "
                "is not known: check before you call it again."
            ) from error
        except MCPError as error:
            raise ToolFailed(
                f"The server {connection.name} answered the call with an error: {error.message}"
            ) from error
        # An answer that the SDK can't read, or that is not what the tool itself promised.
        except Exception as error:
            log.warning("mcp_result_unusable", tool=name, cause=type(error).__name__)
            raise ToolFailed(
                "The server answered the call, but its answer can't be used. Whether the call took "
                "effect is not known: check before you call it again."
            ) from error

    return SchemaTool(profile, _ArgumentsAsSent(tool.input_schema, name), body)

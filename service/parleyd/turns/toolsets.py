"""The host tools of a turn, and the names they may have (spec turns 9.1, 10.2, 10.4)."""

import re
from collections.abc import Iterator

import structlog

from parleyd.contract import limits
from parleyd.contract.asks.kinds import TOOL_PREFIX
from parleyd.contract.field_errors import quoted
from parleyd.turns.options import TurnOptions
from parleyd.turns.tools import HostTool, ToolSet, TurnContext

_NAME = re.compile(rf"[A-Za-z_][A-Za-z0-9_.-]{{0,{limits.TOOL_NAME_CHARACTERS - 1}}}")

log = structlog.stdlib.get_logger()


def is_tool_name(name: str) -> bool:
    """Tells whether a host tool may have this name."""
    return _NAME.fullmatch(name) is not None


def is_reserved(name: str) -> bool:
    """Tells whether the name belongs to asks, where asks are on."""
    return name.startswith(TOOL_PREFIX)


def offered_tools(
    static: ToolSet, requested: ToolSet, remote: ToolSet, *, asks_on: bool
) -> dict[str, HostTool]:
    """Returns the host tools of a turn by name: of every turn, of this one, and of other servers.

    A requested tool takes the name and the place of one of every turn. A remote tool takes no name
    that is taken: what another server says of itself must not replace a tool of the deployment's
    own, and its approvals. That tool, and whichever requested or remote one has a name that is
    reserved or malformed, is left out with a warning; those of every turn were checked at start-up.
    Tools go by their own names, whatever the keys say.
    """
    own = dict(static)
    own.update((tool.name, tool) for tool in _named(requested, asks_on=asks_on))
    offered = dict(own)
    for tool in _named(remote, asks_on=asks_on):
        if tool.name in own:
            log.warning("tool_dropped", tool=quoted(tool.name), reason="taken name")
        else:
            offered[tool.name] = tool
    return offered


def _named(tools: ToolSet, *, asks_on: bool) -> Iterator[HostTool]:
    """Yields the tools whose names a tool may have; of the others it warns."""
    for tool in tools.values():
        if not is_tool_name(tool.name):
            log.warning("tool_dropped", tool=quoted(tool.name), reason="malformed name")
        elif asks_on and is_reserved(tool.name):
            log.warning("tool_dropped", tool=quoted(tool.name), reason="reserved name")
        else:
            yield tool


async def tools_of_turn(options: TurnOptions, context: TurnContext) -> dict[str, HostTool]:
    """Returns the host tools that a turn offers, by name, in the order they are offered.

    What `request_tools` raises passes through: a turn without the tools it should have does not run
    (spec turns 3.2, check 16). Of servers that can't be reached there are none.
    """
    requested: ToolSet = {}
    if options.request_tools:
        requested = await options.request_tools(context)
    remote: ToolSet = await options.remote_tools() if options.remote_tools else {}
    return offered_tools(options.tools, requested, remote, asks_on=bool(options.ask_kinds))

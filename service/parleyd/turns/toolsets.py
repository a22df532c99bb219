"""The host tools of a turn, and the names they may have (spec turns 9.1, 10.2, 10.4)."""

import re

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


def offered_tools(static: ToolSet, requested: ToolSet, *, asks_on: bool) -> dict[str, HostTool]:
    """Returns the host tools of a turn by name: those of every turn, then those made for this one.

    Of two with one name the later wins, in the place of the earlier. A tool made for this turn
    whose name is reserved or malformed is left out with a warning; those of every turn were checked
    at start-up. Tools go by their own names, whatever the keys of `requested` say.
    """
    offered = dict(static)
    for tool in requested.values():
        if not is_tool_name(tool.name):
            log.warning("request_tool_dropped", tool=quoted(tool.name), reason="malformed name")
        elif asks_on and is_reserved(tool.name):
            log.warning("request_tool_dropped", tool=quoted(tool.name), reason="reserved name")
        else:
            offered[tool.name] = tool
    return offered


async def tools_of_turn(options: TurnOptions, context: TurnContext) -> dict[str, HostTool]:
    """Returns the host tools that a turn offers, by name, in the order they are offered.

    What `request_tools` raises passes through: a turn without the tools it should have does not run
    (spec turns 3.2, check 16).
    """
    requested: ToolSet = {}
    if options.request_tools:
        requested = await options.request_tools(context)
    return offered_tools(options.tools, requested, asks_on=bool(options.ask_kinds))

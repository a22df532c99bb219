"""An MCP server for agents that write documents elsewhere: it says what is wrong with them."""

from importlib.metadata import version
from typing import Annotated, Final

from anyio import to_thread
from mcp.server import MCPServer
from mcp.types import ToolAnnotations
from pydantic import Field

from parleyd.app.blocks.report import report

_DESCRIPTION: Final = """\
Validates a block document: the YAML or JSON of a reply with `v`, perhaps `datasets`, and `blocks`.
Returns one line for each problem: path, code, message – fix. Of a document with errors it lists the
errors alone; correct them all and validate again. Otherwise it lists warnings, which may stay. An
empty result means that the document is valid. It is judged by default options: no html blocks, no
images from the web, callbacks of any name.
"""


def mcp_server() -> MCPServer:
    """Returns a server with the one tool `validate_ui_blocks`; it writes warnings to the log."""
    server = MCPServer("parley", version=version("parleyd"), log_level="WARNING")
    server.add_tool(
        validate_ui_blocks,
        title="Validate a block document",
        description=_DESCRIPTION,
        annotations=ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
        structured_output=False,
    )
    return server


async def validate_ui_blocks(
    document: Annotated[str, Field(description="The whole document, in YAML or JSON.")],
) -> str:
    """Returns the report of a document, made in another thread: a large one takes a second."""
    return (await to_thread.run_sync(report, document)).text

"""The tools of MCP servers (design D6): configured, connected, and offered as host tools."""

from parleyd.tools.mcp.config import McpServer
from parleyd.tools.mcp.servers import mcp_tools

__all__ = ["McpServer", "mcp_tools"]

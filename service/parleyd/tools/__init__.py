"""Host tools: Python functions of the deployment that the model may call (design D6).

This is what a deployment's own module imports:

    from parleyd.tools import ToolContext, ToolFailed, tool
"""

from parleyd.tools.approval_rules import ApprovalRule
from parleyd.tools.functions import FunctionTool, tool
from parleyd.tools.hooks import load_approval_wordings, load_prompt_hook, load_request_tools
from parleyd.tools.loading import load_tools
from parleyd.tools.mcp import McpServer, mcp_tools
from parleyd.tools.schemas import SchemaTool, host_tool
from parleyd.tools.unusable import ToolsUnusable
from parleyd.turns.tools import (
    ApprovalWording,
    HostTool,
    PromptHook,
    RequestTools,
    ToolContext,
    ToolFailed,
    ToolFile,
    TurnContext,
)

__all__ = [
    "ApprovalRule",
    "ApprovalWording",
    "FunctionTool",
    "HostTool",
    "McpServer",
    "PromptHook",
    "RequestTools",
    "SchemaTool",
    "ToolContext",
    "ToolFailed",
    "ToolFile",
    "ToolsUnusable",
    "TurnContext",
    "host_tool",
    "load_approval_wordings",
    "load_prompt_hook",
    "load_request_tools",
    "load_tools",
    "mcp_tools",
    "tool",
]

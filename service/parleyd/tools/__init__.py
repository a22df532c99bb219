"""Host tools: Python functions of the deployment that the model may call (design D6).

This is what a deployment's own module imports:

    from parleyd.tools import ToolContext, ToolFailed, tool
"""

from parleyd.tools.functions import FunctionTool, tool
from parleyd.tools.hooks import load_prompt_hook, load_request_tools
from parleyd.tools.loading import load_tools
from parleyd.tools.schemas import SchemaTool, host_tool
from parleyd.tools.unusable import ToolsUnusable
from parleyd.turns.tools import (
    HostTool,
    PromptHook,
    RequestTools,
    ToolContext,
    ToolFailed,
    TurnContext,
)

__all__ = [
    "FunctionTool",
    "HostTool",
    "PromptHook",
    "RequestTools",
    "SchemaTool",
    "ToolContext",
    "ToolFailed",
    "ToolsUnusable",
    "TurnContext",
    "host_tool",
    "load_prompt_hook",
    "load_request_tools",
    "load_tools",
    "tool",
]

"""Host tools: Python functions of the deployment that the model may call (design D6).

This is what a deployment's own module imports:

    from parleyd.tools import ToolContext, ToolFailed, tool
"""

from parleyd.contract.datasets.checks import DatasetRefused, DatasetTooLarge
from parleyd.contract.datasets.dataset import RegisteredDataset
from parleyd.tools.approval_rules import ApprovalRule
from parleyd.tools.functions import FunctionTool, tool
from parleyd.tools.hooks import load_approval_wordings, load_prompt_hook, load_request_tools
from parleyd.tools.host_actions import (
    DeclaredAction,
    FunctionAction,
    declared_action,
    host_action,
)
from parleyd.tools.loading import load_tools
from parleyd.tools.loading_actions import load_host_actions
from parleyd.tools.mcp import McpServer, mcp_tools
from parleyd.tools.schemas import SchemaTool, host_tool
from parleyd.tools.unusable import ToolsUnusable
from parleyd.turns.host_actions import ActionContext, ActionResult, HostAction
from parleyd.turns.tool_datasets import DatasetsOff, ToolDatasets
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
    "ActionContext",
    "ActionResult",
    "ApprovalRule",
    "ApprovalWording",
    "DatasetRefused",
    "DatasetTooLarge",
    "DatasetsOff",
    "DeclaredAction",
    "FunctionAction",
    "FunctionTool",
    "HostAction",
    "HostTool",
    "McpServer",
    "PromptHook",
    "RegisteredDataset",
    "RequestTools",
    "SchemaTool",
    "ToolContext",
    "ToolDatasets",
    "ToolFailed",
    "ToolFile",
    "ToolsUnusable",
    "TurnContext",
    "declared_action",
    "host_action",
    "host_tool",
    "load_approval_wordings",
    "load_host_actions",
    "load_prompt_hook",
    "load_request_tools",
    "load_tools",
    "mcp_tools",
    "tool",
]

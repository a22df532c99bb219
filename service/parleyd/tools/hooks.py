"""The functions of a deployment that a turn calls: for its tools, its prompt, its approvals."""

import inspect
from collections.abc import Callable, Mapping
from uuid import UUID

from pydantic import JsonValue

from parleyd.contract.json import storable_json
from parleyd.tools.bodies import called
from parleyd.tools.loading import tools_in
from parleyd.tools.named_objects import object_named
from parleyd.tools.unusable import ToolsUnusable
from parleyd.turns.tools import (
    ApprovalWording,
    HostTool,
    PromptHook,
    RequestTools,
    TurnContext,
)
from parleyd.turns.toolsets import is_tool_name


def load_request_tools(path: str) -> RequestTools:
    """Returns the function that `module:function` names, which makes the tools of one turn.

    It is given the `TurnContext` and returns tools in a list, a tuple or a mapping by name, or
    None for none: on the event loop if it is a coroutine function, in a thread otherwise. What it
    raises passes through, and so does a `ToolsUnusable` where it returns anything else.

    Raises:
        ToolsUnusable: The path names no such function.
    """
    function = _function_named(path, ("context",))

    async def request_tools(context: TurnContext) -> dict[str, HostTool]:
        made = await called(function, context)
        tools = () if made is None else tools_in(path, made)
        return {tool.name: tool for tool in tools}

    return request_tools


def load_prompt_hook(path: str) -> PromptHook:
    """Returns the function that `module:function` names, which makes the system prompt of one turn.

    It is given the owner, the conversation's id and its project, and returns a text, or None for
    none. It is called like that of `load_request_tools`.

    Raises:
        ToolsUnusable: The path names no such function.
    """
    function = _function_named(path, ("owner", "conversation_id", "project"))

    async def prompt_hook(owner: str, conversation_id: UUID, project: str | None) -> str | None:
        text = await called(function, owner, conversation_id, project)
        if text is None or isinstance(text, str):
            return text
        raise ToolsUnusable(
            f"`{path}` returned a {type(text).__qualname__}: return a text or None."
        )

    return prompt_hook


def load_approval_wordings(paths: Mapping[str, str]) -> dict[str, ApprovalWording]:
    """Returns the functions that word approvals, by the names of the tools they speak of.

    `paths` names each as `module:function`. It is given the arguments of a call, as the model sent
    them, and returns the input of the confirm that asks for it; what it does to the arguments
    changes nothing. It is called like that of `load_request_tools`. What it raises passes through,
    and what it returns is not looked at here: a confirm that will not do is never shown.

    Raises:
        ToolsUnusable: A path names no such function, or no tool can have the name.
    """
    return {tool: _wording(tool, path) for tool, path in paths.items()}


def _wording(tool: str, path: str) -> ApprovalWording:
    if not is_tool_name(tool):
        raise ToolsUnusable(
            f"`{path}` is to word the approvals of {tool!r}, and no tool can be called so: "
            "write the name of a tool."
        )
    function = _function_named(path, ("args",))

    async def wording(args: JsonValue) -> object:
        return await called(function, storable_json(args))

    return wording


def _function_named(path: str, arguments: tuple[str, ...]) -> Callable[..., object]:
    function = object_named(path)
    if not callable(function):
        raise ToolsUnusable(
            f"`{path}` is a {type(function).__qualname__}: name a function instead."
        )
    try:
        inspect.signature(function).bind(*arguments)
    except (TypeError, ValueError) as error:
        raise ToolsUnusable(
            f"`{path}` can't be called with {', '.join(arguments)}, in this order: {error}. "
            "Mend its parameters."
        ) from error
    return function

"""The functions of a deployment that make the tools and the system prompt of one turn."""

import inspect
from collections.abc import Callable
from uuid import UUID

from parleyd.tools.bodies import called
from parleyd.tools.loading import tools_in
from parleyd.tools.named_objects import object_named
from parleyd.tools.unusable import ToolsUnusable
from parleyd.turns.tools import HostTool, PromptHook, RequestTools, TurnContext


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

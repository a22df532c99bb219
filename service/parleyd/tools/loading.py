"""The tools that the settings name."""

from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import TypeGuard, cast

from parleyd.tools.named_objects import module_named, object_named
from parleyd.tools.unusable import ToolsUnusable
from parleyd.turns.tools import HostTool
from parleyd.turns.toolsets import is_reserved, is_tool_name

_FORM = "letters, digits, `_`, `.` and `-`, at most 64, beginning with a letter or `_`"


def load_tools(paths: Sequence[str], *, asks_on: bool) -> dict[str, HostTool]:
    """Returns the tools that import paths name, by name, in the order they are named.

    `module:attribute` names a tool, or several in a list, a tuple or a mapping by name. A bare
    `module` names every tool that it exports: those in its `__all__`, else those of its globals
    that do not begin with `_`. A tool that is named twice counts once. The folder the process
    started in is on the path.

    Raises:
        ToolsUnusable: A path names no tool, two tools have one name, or a name will not do:
            `ask_…` is for asks, where they are on.
    """
    tools: dict[str, HostTool] = {}
    named_by: dict[str, str] = {}
    for path in paths:
        for tool in _tools_named(path):
            _check_name(path, tool.name, asks_on=asks_on)
            if tools.setdefault(tool.name, tool) is not tool:
                raise ToolsUnusable(
                    f"Two tools are called `{tool.name}`: one of `{named_by[tool.name]}` and one "
                    f"of `{path}`. Rename one with @tool(name=…), or leave it out."
                )
            named_by.setdefault(tool.name, path)
    return tools


def tools_in(path: str, value: object) -> tuple[HostTool, ...]:
    """Returns the tools that `value` is or holds; `path` says where it comes from.

    Raises:
        ToolsUnusable: It is, or holds, something else.
    """
    if _is_tool(value):
        return (value,)
    match value:
        case Mapping():
            return tuple(_tools_by_name(path, cast("Mapping[object, object]", value)))
        case list() | tuple() | set() | frozenset():
            items = cast("Iterable[object]", value)
            return tuple(tool for item in items for tool in tools_in(path, item))
        case ModuleType():
            raise ToolsUnusable(
                f"`{path}` is a module: write `{value.__name__}` for all its tools."
            )
        case _ if callable(value):
            raise ToolsUnusable(
                f"`{path}` has a plain function or class, {_called(value)}: "
                "decorate the function with @tool."
            )
        case _:
            raise ToolsUnusable(
                f"`{path}` has a {type(value).__qualname__}, which is no tool: name a function "
                "decorated with @tool, or a list of them."
            )


def _tools_named(path: str) -> tuple[HostTool, ...]:
    if ":" in path:
        return tools_in(path, object_named(path))
    module = module_named(path, path)
    exported = cast("Sequence[str] | None", getattr(module, "__all__", None))
    names = exported or [name for name in vars(module) if not name.startswith("_")]
    found = [value for name in names if _is_tool(value := getattr(module, name, None))]
    if not found:
        raise ToolsUnusable(
            f"`{path}` has no tools: decorate a function in it with @tool, or leave it out."
        )
    return tuple(found)


def _tools_by_name(path: str, tools: Mapping[object, object]) -> Iterable[HostTool]:
    for name, value in tools.items():
        (*others, tool) = tools_in(path, value)
        if others or tool.name != name:
            raise ToolsUnusable(
                f"`{path}` has the tool `{tool.name}` under the key {name!r}: make them the same."
            )
        yield tool


def _check_name(path: str, name: str, *, asks_on: bool) -> None:
    if not is_tool_name(name):
        raise ToolsUnusable(
            f"`{path}` has a tool called {name!r}, and no tool may be called so: use {_FORM}, "
            "with @tool(name=…)."
        )
    if asks_on and is_reserved(name):
        raise ToolsUnusable(
            f"`{path}` has a tool called `{name}`, and while the agent may ask, names that begin "
            "with `ask_` belong to its questions: rename it with @tool(name=…)."
        )


def _is_tool(value: object) -> TypeGuard[HostTool]:
    """Tells whether a value is a `HostTool`, of ours or of anybody's own making."""
    return (
        not isinstance(value, type)
        and isinstance(getattr(value, "name", None), str)
        and isinstance(getattr(value, "description", None), str)
        and isinstance(getattr(value, "schema", None), dict)
        and isinstance(getattr(value, "replay_safe", None), bool)
        and hasattr(value, "seconds")
        and callable(getattr(value, "faults", None))
        and callable(getattr(value, "needs_approval", None))
        and callable(getattr(value, "run", None))
    )


def _called(value: object) -> str:
    return f"`{getattr(value, '__qualname__', type(value).__qualname__)}`"

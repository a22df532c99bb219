"""The host actions that the settings name."""

from collections.abc import Iterator, Sequence
from typing import TypeGuard, cast

from parleyd.tools.host_actions import DeclaredAction, FunctionAction
from parleyd.tools.named_objects import module_named, object_named
from parleyd.tools.unusable import ToolsUnusable
from parleyd.turns.host_actions import HostAction


def load_host_actions(paths: Sequence[str]) -> dict[str, HostAction]:
    """Returns the actions that import paths name, by name, in the order they are named.

    `module:attribute` names an action, or several in a list or a tuple; a bare `module` every
    action that it exports, as with `load_tools`. One that is named twice counts once.

    Raises:
        ToolsUnusable: A path names no action, or two actions have one name.
    """
    actions: dict[str, HostAction] = {}
    for path in paths:
        for action in _actions_named(path):
            if actions.setdefault(action.name, action) is not action:
                raise ToolsUnusable(
                    f"Two actions are called `{action.name}`, the second one of `{path}`. Rename "
                    "one with @host_action(name=…), or leave it out."
                )
    return actions


def _actions_named(path: str) -> Iterator[HostAction]:
    if ":" in path:
        yield from _actions_in(path, object_named(path))
        return
    module = module_named(path, path)
    exported = cast("Sequence[str] | None", getattr(module, "__all__", None))
    names = exported or [name for name in vars(module) if not name.startswith("_")]
    found = [value for name in names if _is_action(value := getattr(module, name, None))]
    if not found:
        raise ToolsUnusable(
            f"`{path}` has no actions: decorate a function in it with @host_action, or leave it "
            "out."
        )
    yield from found


def _actions_in(path: str, value: object) -> Iterator[HostAction]:
    if _is_action(value):
        yield value
        return
    if not isinstance(value, list | tuple):
        raise ToolsUnusable(
            f"`{path}` is a {type(value).__qualname__}, which is no action: name a function "
            "decorated with @host_action, or a list of them."
        )
    for item in cast("Sequence[object]", value):
        yield from _actions_in(path, item)


def _is_action(value: object) -> TypeGuard[HostAction]:
    return isinstance(value, FunctionAction | DeclaredAction)

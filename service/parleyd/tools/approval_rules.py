"""Rules that tell which calls of a tool need an approval (spec turns 9.2)."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

import structlog
from pydantic import JsonValue

from parleyd.contract.json import storable_json
from parleyd.tools.bodies import called
from parleyd.tools.unusable import ToolsUnusable
from parleyd.turns.tools import ToolContext

ApprovalRule: TypeAlias = (
    Callable[[dict[str, JsonValue]], bool | Awaitable[bool]]
    | Callable[[dict[str, JsonValue], ToolContext], bool | Awaitable[bool]]
)
"""Tells of one call whether it needs an approval: from its arguments as the model sent them, an
object of JSON, and from its context, where the rule has a second parameter. It is a coroutine
function, which runs on the event loop, or any other, which runs in a thread."""

ApprovalCheck: TypeAlias = Callable[[JsonValue, ToolContext], Awaitable[bool]]
"""Tells of one call of a tool whether it needs an approval."""

_ADVICE: Final = "write True, False, or a function of the arguments that returns one of them"

log = structlog.stdlib.get_logger()


def approval_check(tool: str, *, needed: bool | ApprovalRule) -> ApprovalCheck:
    """Returns what tells whether a call of `tool` needs an approval: always, never, or by a rule.

    A rule is given a copy of the arguments: what it does to them changes nothing. Where it returns
    anything but True or False, the call needs an approval and the log says so. What it raises
    passes through.

    Raises:
        ToolsUnusable: It is no rule, or can't be called as one.
    """
    if isinstance(needed, bool):
        return _always(needed=needed)
    rule, takes_context = _rule(tool, needed)

    async def check(args: JsonValue, context: ToolContext) -> bool:
        copy = storable_json(args)
        answer = await (called(rule, copy, context) if takes_context else called(rule, copy))
        if isinstance(answer, bool):
            return answer
        log.warning("approval_rule_unusable", tool=tool, returned=type(answer).__qualname__)
        return True

    return check


def _always(*, needed: bool) -> ApprovalCheck:
    async def check(args: JsonValue, context: ToolContext) -> bool:
        del args, context
        return needed

    return check


def _rule(tool: str, given: object) -> tuple[Callable[..., object], bool]:
    """Returns a rule, and whether it takes the context."""
    if not callable(given) or isinstance(given, type):
        what = f"the class {given.__qualname__}" if isinstance(given, type) else _type_of(given)
        raise ToolsUnusable(f"needs_approval of the tool `{tool}` is {what}: {_ADVICE}.")
    if inspect.isgeneratorfunction(given) or inspect.isasyncgenfunction(given):
        raise ToolsUnusable(f"The rule needs_approval of the tool `{tool}` yields: {_ADVICE}.")
    try:
        signature = inspect.signature(given)
    except (TypeError, ValueError) as error:
        raise ToolsUnusable(
            f"The signature of needs_approval of the tool `{tool}` can't be read: {error}. "
            "Write it as a function in Python."
        ) from error
    if _takes(signature, "args", "context"):
        return given, True
    if _takes(signature, "args"):
        return given, False
    raise ToolsUnusable(
        f"needs_approval of the tool `{tool}` has the parameters {signature}, and is called with "
        "the arguments of the call, or with these and the context, by position. Mend its "
        "parameters."
    )


def _takes(signature: inspect.Signature, *arguments: str) -> bool:
    try:
        signature.bind(*arguments)
    except TypeError:
        return False
    return True


def _type_of(value: object) -> str:
    return "None" if value is None else f"a {type(value).__qualname__}"

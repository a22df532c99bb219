"""`@tool`: a function of the deployment as a host tool."""

import inspect
from collections.abc import Callable
from functools import update_wrapper
from typing import Generic, ParamSpec, TypeVar, overload

from parleyd.tools.approval_rules import ApprovalRule
from parleyd.tools.bodies import called
from parleyd.tools.hosted import HostedTool, Profile
from parleyd.tools.signatures import arguments_of_signature
from parleyd.tools.unusable import ToolsUnusable
from parleyd.turns.tools import ToolContext

_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")


class FunctionTool(HostedTool[dict[str, object]], Generic[_Params, _Result]):
    """A function that the model may call, and that can still be called as one."""

    def __init__(self, function: Callable[_Params, _Result], profile: Profile) -> None:
        arguments = arguments_of_signature(function, profile.name)

        async def body(read: dict[str, object], context: ToolContext) -> object:
            return await called(function, **read, **dict.fromkeys(arguments.contexts, context))

        super().__init__(profile, arguments, body)
        self._function = function
        update_wrapper(self, function)

    def __call__(self, *args: _Params.args, **kwargs: _Params.kwargs) -> _Result:
        """Calls the function itself: nothing is checked or changed."""
        return self._function(*args, **kwargs)


@overload
def tool(
    function: Callable[_Params, _Result],
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    replay_safe: bool = False,
    seconds: float | None = None,
    needs_approval: bool | ApprovalRule = False,
) -> FunctionTool[_Params, _Result]: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    replay_safe: bool = False,
    seconds: float | None = None,
    needs_approval: bool | ApprovalRule = False,
) -> Callable[[Callable[_Params, _Result]], FunctionTool[_Params, _Result]]: ...


def tool(
    function: Callable[_Params, _Result] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    replay_safe: bool = False,
    seconds: float | None = None,
    needs_approval: bool | ApprovalRule = False,
) -> (
    FunctionTool[_Params, _Result]
    | Callable[[Callable[_Params, _Result]], FunctionTool[_Params, _Result]]
):
    """Makes a host tool of a function, written `@tool` or `@tool(replay_safe=True)`.

    Its name, its docstring and its annotations are what the model is told, unless `name` and
    `description` say otherwise. Arguments are checked strictly, as JSON. A parameter annotated
    `ToolContext` is filled here and never by the model. A coroutine function runs on the event
    loop, any other in a thread.

    `replay_safe` says that a run may be repeated with the same arguments and idempotency key, as
    after a crash. `seconds` limits a run, None means as the deployment does.

    `needs_approval` says which calls run only once the person has approved them: with True all,
    with a rule those for which it returns True. The rule is called once for each call, before
    anything of it runs, with the arguments as the model sent them (a dict of JSON, which fits, but
    without defaults) and, if it has a second parameter, with the `ToolContext`. It has 2 seconds;
    where it fails, comes too late or returns no bool, the call needs an approval.

    Raises:
        ToolsUnusable: The function can't be told to a model, or the rule can't be called so.
    """

    def make(function: Callable[_Params, _Result]) -> FunctionTool[_Params, _Result]:
        return _made(
            function,
            name,
            description,
            replay_safe=replay_safe,
            seconds=seconds,
            needs_approval=needs_approval,
        )

    return make if function is None else make(function)


def _made(
    function: Callable[_Params, _Result],
    name: str | None,
    description: str | None,
    *,
    replay_safe: bool,
    seconds: float | None,
    needs_approval: bool | ApprovalRule,
) -> FunctionTool[_Params, _Result]:
    if not inspect.isroutine(function):
        raise ToolsUnusable(
            f"@tool was given {_described(function)}: give it a function or a bound method."
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ToolsUnusable(
            f"The tool `{function.__name__}` yields: return the whole result instead, as a list."
        )
    profile = Profile(
        name=name or function.__name__,
        description=inspect.getdoc(function) or "" if description is None else description,
        replay_safe=replay_safe,
        seconds=seconds,
        needs_approval=needs_approval,
    )
    return FunctionTool(function, profile)


def _described(value: object) -> str:
    if isinstance(value, HostedTool):
        return f"the tool `{value.name}` again"
    return f"a {type(value).__qualname__}"

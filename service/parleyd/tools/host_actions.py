"""`@host_action`: a function of the deployment that buttons of documents call (spec blocks 22)."""

import inspect
from collections.abc import Callable, Mapping
from functools import update_wrapper
from typing import Generic, ParamSpec, TypeVar, get_origin, get_type_hints, overload

from pydantic import BaseModel

from parleyd.contract.blocks.catalog import CALLBACK
from parleyd.contract.field_errors import FieldError
from parleyd.contract.json import JsonObject
from parleyd.tools.bodies import called_to_its_end
from parleyd.tools.payloads import Payload, PayloadMisfit
from parleyd.tools.unusable import ToolsUnusable
from parleyd.turns.host_actions import ActionContext, ActionResult

_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")


class DeclaredAction:
    """An action that documents may name and that nothing runs here; fulfils `HostAction`."""

    runs_here = False
    log_response = True

    def __init__(self, name: str) -> None:
        self.name = _action_name(name)

    def faults(self, payload: JsonObject) -> tuple[FieldError, ...]:
        """See `HostAction`."""
        del payload
        return ()

    async def run(self, payload: JsonObject, context: ActionContext) -> ActionResult | None:
        """Does nothing: no call gets here."""
        del payload, context


class FunctionAction(Generic[_Params, _Result]):
    """A function that buttons may call, and that can still be called as one.

    Fulfils `HostAction`.
    """

    runs_here = True

    def __init__(
        self, function: Callable[_Params, _Result], name: str, *, log_response: bool
    ) -> None:
        self.name = _action_name(name)
        self.log_response = log_response
        self._function = function
        self._payload: tuple[str, Payload] | None = None
        self._contexts: list[str] = []
        for parameter, annotation in _parameters(function, name).items():
            if annotation is ActionContext:
                self._contexts.append(parameter)
            elif (payload := _payload_of(annotation)) and self._payload is None:
                self._payload = (parameter, payload)
            else:
                raise ToolsUnusable(
                    f"The action `{name}` has a parameter `{parameter}` that nothing fills: an "
                    "action takes an ActionContext and one payload, a pydantic model or "
                    "dict[str, JsonValue]."
                )
        update_wrapper(self, function)

    def __call__(self, *args: _Params.args, **kwargs: _Params.kwargs) -> _Result:
        """Calls the function itself: nothing is checked or changed."""
        return self._function(*args, **kwargs)

    def faults(self, payload: JsonObject) -> tuple[FieldError, ...]:
        """See `HostAction`."""
        if self._payload:
            try:
                self._payload[1].read(payload)
            except PayloadMisfit as misfit:
                return misfit.faults
        return ()

    async def run(self, payload: JsonObject, context: ActionContext) -> ActionResult | None:
        """See `HostAction`.

        Raises:
            TypeError: The function returned something else.
        """
        named: dict[str, object] = dict.fromkeys(self._contexts, context)
        if self._payload:
            parameter, form = self._payload
            named[parameter] = form.read(payload)
        result = await called_to_its_end(self._function, **named)
        if result is None or isinstance(result, ActionResult):
            return result
        raise TypeError(
            f"The action {self.name} returned a {type(result).__qualname__}: return an "
            "ActionResult or None."
        )


@overload
def host_action(
    function: Callable[_Params, _Result],
    /,
    *,
    name: str | None = None,
    log_response: bool = True,
) -> FunctionAction[_Params, _Result]: ...


@overload
def host_action(
    *, name: str | None = None, log_response: bool = True
) -> Callable[[Callable[_Params, _Result]], FunctionAction[_Params, _Result]]: ...


def host_action(
    function: Callable[_Params, _Result] | None = None,
    /,
    *,
    name: str | None = None,
    log_response: bool = True,
) -> (
    FunctionAction[_Params, _Result]
    | Callable[[Callable[_Params, _Result]], FunctionAction[_Params, _Result]]
):
    """Makes a host action of a function, written `@host_action` or `@host_action(name=…)`.

    Callbacks of documents call it by its name. A parameter that is annotated with a pydantic model
    is given the payload, once it fits, strictly, as JSON; one annotated `dict[str, JsonValue]` any
    payload. A parameter annotated `ActionContext` is told where the call comes from. The function
    returns an `ActionResult` or None. A coroutine function runs on the event loop, any other in a
    thread.

    With `log_response` off the request log holds neither what it returns nor what it says of a
    failure; of the payload it then holds `value`, if that is a number.

    Raises:
        ToolsUnusable: The function can't be called so, or callbacks can't have the name.
    """

    def make(function: Callable[_Params, _Result]) -> FunctionAction[_Params, _Result]:
        if not inspect.isroutine(function):
            raise ToolsUnusable(
                f"@host_action was given a {type(function).__qualname__}: give it a function or a "
                "bound method."
            )
        return FunctionAction(function, name or function.__name__, log_response=log_response)

    return make if function is None else make(function)


def declared_action(name: str) -> DeclaredAction:
    """Returns an action that documents may name, for clients that run it themselves.

    Raises:
        ToolsUnusable: Callbacks can't have the name.
    """
    return DeclaredAction(name)


def _action_name(name: str) -> str:
    if not CALLBACK.matches(name):
        raise ToolsUnusable(
            f"No action can be called {name!r}: write {CALLBACK.says}, with @host_action(name=…)."
        )
    return name


def _parameters(function: Callable[..., object], action: str) -> dict[str, object]:
    """Returns the types of the parameters by their names."""
    try:
        hints = get_type_hints(function)
        parameters = inspect.signature(function).parameters.values()
    except (NameError, TypeError, ValueError, AttributeError, SyntaxError) as error:
        raise ToolsUnusable(
            f"The signature of the action `{action}` can't be read: {error}. Annotate it with "
            "types that its module imports when it runs, not for checkers alone."
        ) from error
    types: dict[str, object] = {}
    for each in parameters:
        if each.kind not in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            raise ToolsUnusable(
                f"The action `{action}` takes `{each}`, which has no name to be called by: "
                "give it a parameter of its own."
            )
        if each.name not in hints:
            raise ToolsUnusable(
                f"The parameter `{each.name}` of the action `{action}` has no type: annotate it."
            )
        types[each.name] = hints[each.name]
    return types


def _payload_of(annotation: object) -> Payload | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return Payload(annotation)
    if (get_origin(annotation) or annotation) in (dict, Mapping):
        return Payload(None)
    return None

"""The arguments of a tool as its function's signature tells them.

The annotations become a pydantic model: it checks strictly, as JSON, and writes the schema.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, create_model
from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError
from pydantic.fields import FieldInfo

from parleyd.contract.json import compact
from parleyd.tools.misfits import Misfit, arguments_of
from parleyd.tools.signature_faults import misfit_of
from parleyd.tools.signature_schemas import lets_keys_through, written_schema
from parleyd.tools.unusable import ToolsUnusable
from parleyd.turns.tools import ToolContext


@dataclass(frozen=True)
class SignatureArguments:
    """Arguments that a function takes, but for its `ToolContext`.

    What is read are the function's keyword arguments, as the values of its annotations.
    """

    schema: dict[str, JsonValue]
    contexts: frozenset[str]
    """The parameters that are given the context."""
    _model: type[BaseModel]
    _names: Mapping[str, str]
    """Of each field of the model the parameter."""
    _closed: bool
    """Whether unknown keys are refused below the root too."""

    def read(self, args: JsonValue) -> dict[str, object]:
        """Returns arguments as keyword arguments of the function.

        Raises:
            Misfit: They don't fit.
        """
        arguments = arguments_of(args)
        try:
            text = compact(arguments)
        except ValueError as error:
            raise Misfit(["A number has too many digits. Send a shorter one."]) from error
        try:
            read = self._model.model_validate_json(
                text, strict=True, extra="forbid" if self._closed else None
            )
        except ValidationError as error:
            known = tuple(self._names.values())
            raise misfit_of(error, arguments, known) from error
        return {name: getattr(read, field) for field, name in self._names.items()}


def arguments_of_signature(function: Callable[..., object], name: str) -> SignatureArguments:
    """Returns the arguments of the tool `name` that a function is the body of.

    Raises:
        ToolsUnusable: The signature can't be told to a model.
    """
    parameters = _parameters(function, name)
    contexts = frozenset(each.name for each in parameters if _is_context(each, name))
    told = [each for each in parameters if each.name not in contexts]
    # The fields have names of their own: a model has no room for a parameter `schema` or `_id`.
    names = {f"argument_{index}": each.name for index, each in enumerate(told)}
    fields: dict[str, Any] = {
        field: _definition(each) for field, each in zip(names, told, strict=True)
    }
    try:
        model: type[BaseModel] = create_model(
            name, __config__=ConfigDict(extra="forbid", strict=True), **fields
        )
        closed = not lets_keys_through(model)
        schema = written_schema(model, closed=closed)
    except (PydanticUserError, PydanticUndefinedAnnotation, TypeError) as error:
        raise ToolsUnusable(
            f"The arguments of the tool `{name}` can't be told to a model: {_reason(error)}. "
            "Annotate them with types that JSON can carry."
        ) from error
    return SignatureArguments(schema, contexts, model, names, closed)


def _parameters(function: Callable[..., object], tool: str) -> list[inspect.Parameter]:
    """Returns the parameters with their annotations as types."""
    try:
        hints = get_type_hints(function, include_extras=True)
        signature = inspect.signature(function)
    except (NameError, TypeError, ValueError, AttributeError, SyntaxError) as error:
        raise ToolsUnusable(
            f"The signature of the tool `{tool}` can't be read: {_reason(error)}. "
            "Annotate it with types that its module imports when it runs, not for checkers alone."
        ) from error
    parameters: list[inspect.Parameter] = []
    for each in signature.parameters.values():
        if each.kind not in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            raise ToolsUnusable(
                f"The tool `{tool}` takes `{each}`, which has no name to be called by: "
                "give each argument a parameter of its own."
            )
        if each.name not in hints:
            raise ToolsUnusable(
                f"The parameter `{each.name}` of the tool `{tool}` has no type: annotate it, so "
                "that the model is told what to send."
            )
        if isinstance(each.default, FieldInfo):
            raise ToolsUnusable(
                f"The parameter `{each.name}` of the tool `{tool}` has a Field as its default: "
                f"write `{each.name}: Annotated[…, Field(…)]`, so that the function can still be "
                "called as one."
            )
        parameters.append(each.replace(annotation=hints[each.name]))
    return parameters


def _is_context(parameter: inspect.Parameter, tool: str) -> bool:
    """Tells whether a parameter is filled with the context, never by the model."""
    if not _names_context(parameter.annotation):
        return False
    if all(form is ToolContext or form is NoneType for form in _forms(parameter.annotation)):
        return True
    raise ToolsUnusable(
        f"The parameter `{parameter.name}` of the tool `{tool}` has a ToolContext among other "
        "things: give the context a parameter of its own."
    )


def _names_context(annotation: object) -> bool:
    """Tells whether `ToolContext` is anywhere in an annotation."""
    return annotation is ToolContext or any(map(_names_context, get_args(annotation)))


def _forms(annotation: object) -> Iterator[object]:
    """Yields the members of a union, and any other type itself."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from _forms(parts[0])
    elif origin is Union or origin is UnionType:
        for part in parts:
            yield from _forms(part)
    else:
        yield annotation


def _definition(parameter: inspect.Parameter) -> tuple[object, object]:
    """Returns a parameter as a field of a model: its type, and its name and default."""
    if parameter.default is parameter.empty:
        return parameter.annotation, Field(alias=parameter.name)
    return parameter.annotation, Field(default=parameter.default, alias=parameter.name)


def _reason(error: Exception) -> str:
    return str(error).split("\n", 1)[0].rstrip(".")

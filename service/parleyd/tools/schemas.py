"""Tools whose arguments are described by a JSON Schema, not by a signature."""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

import jsonschema_rs
from jsonschema_rs import ValidationErrorKind as Kind
from pydantic import JsonValue

from parleyd.contract.field_errors import named
from parleyd.contract.json import compact, storable_object
from parleyd.tools.approval_rules import ApprovalRule
from parleyd.tools.bodies import called
from parleyd.tools.hosted import HostedTool, Profile
from parleyd.tools.misfits import Misfit, arguments_of, missing, unknown, wrong
from parleyd.tools.unusable import ToolsUnusable
from parleyd.turns.tools import ToolContext

FORMS_TOLD: Final = 5
"""Of the forms that a value could have had the faults of the first of these are told."""


class SchemaArguments:
    """Arguments that fit a JSON Schema; what is read is the object that was sent.

    Draft 2020-12, unless `$schema` names another. Nothing is fetched: `$ref` stays inside.
    """

    def __init__(self, schema: Mapping[str, JsonValue], tool: str) -> None:
        self._schema = _copied(schema, tool)
        if self._schema.get("type") != "object":
            raise ToolsUnusable(
                f"The schema of the tool `{tool}` describes no object: write "
                '"type": "object" at its root, with the arguments as its properties.'
            )
        try:
            # The values are masked in the messages: they may be of any size.
            self._validator = jsonschema_rs.validator_for(self._schema, mask="it", offline=True)
        except ValueError as error:
            raise ToolsUnusable(
                f"The schema of the tool `{tool}` is no JSON Schema: "
                f"{_first_line(error)}. Mend it there."
            ) from error

    @property
    def schema(self) -> dict[str, JsonValue]:
        """Is the schema."""
        return self._schema

    def read(self, args: JsonValue) -> dict[str, JsonValue]:
        """Returns arguments that fit.

        Raises:
            Misfit: They don't.
        """
        arguments = arguments_of(args)
        try:
            errors = [*self._validator.iter_errors(arguments)]
        except ValueError as error:
            raise Misfit(["The arguments can't be read. Send simpler ones."]) from error
        if errors:
            raise Misfit([line for error in errors for line in _lines(error)])
        return arguments


class SchemaTool(HostedTool[dict[str, JsonValue]]):
    """A callable that the model may call with arguments that fit a JSON Schema."""


def host_tool(
    *,
    name: str,
    description: str,
    schema: Mapping[str, JsonValue],
    run: Callable[[dict[str, JsonValue], ToolContext], object | Awaitable[object]],
    replay_safe: bool = False,
    seconds: float | None = None,
    needs_approval: bool | ApprovalRule = False,
) -> SchemaTool:
    """Makes a host tool of a callable and a JSON Schema of its arguments.

    `run` is called with the arguments, which fit the schema, and the context: on the event loop if
    it is a coroutine function, in a thread otherwise. The rest is as in `tool`.

    Raises:
        ToolsUnusable: The schema is none, there is no description, or `needs_approval` can't be
            called.
    """
    profile = Profile(
        name,
        description,
        replay_safe=replay_safe,
        seconds=seconds,
        needs_approval=needs_approval,
    )

    async def body(read: dict[str, JsonValue], context: ToolContext) -> object:
        return await called(run, read, context)

    return SchemaTool(profile, SchemaArguments(schema, name), body)


def _copied(schema: Mapping[str, JsonValue], tool: str) -> dict[str, JsonValue]:
    """Returns a copy of a schema that nobody else can change."""
    try:
        copy = json.loads(compact(dict(schema)))
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolsUnusable(
            f"The schema of the tool `{tool}` is no JSON: {error}. Write it in plain values."
        ) from error
    return storable_object(copy)


def _lines(error: jsonschema_rs.ValidationError) -> Iterator[str]:
    """Yields what one error means."""
    at = tuple(error.instance_path)
    match error.kind:
        case Kind.Required(property=name):
            yield missing((*at, name))
        case (
            Kind.AdditionalProperties(unexpected=keys) | Kind.UnevaluatedProperties(unexpected=keys)
        ):
            for key in keys:
                yield unknown((*at, key), ())
        case Kind.AnyOf(context=forms) | Kind.OneOfNotValid(context=forms):
            yield f"{named(at)} has none of the forms it may have. {_alternatives(forms)}"
        case Kind.FalseSchema() if error.schema_path[-1] == "additionalProperties":
            # Of an object without properties the validator tells no more than this.
            yield f"{named(at)} takes no keys. Leave them out."
        case Kind.FalseSchema():
            yield f"{named(at)} is not allowed. Leave it out."
        case _:
            yield wrong(at, error.message, error.instance)


def _alternatives(forms: Sequence[Sequence[jsonschema_rs.ValidationError]]) -> str:
    """Returns what keeps a value from each of its forms, the first fault of each."""
    return " ".join(
        f"Form {number}: {line}"
        for number, errors in enumerate(forms[:FORMS_TOLD], start=1)
        for line in islice((line for error in errors for line in _lines(error)), 1)
    )


def _first_line(error: ValueError) -> str:
    return str(error).split("\n", 1)[0].rstrip(".")

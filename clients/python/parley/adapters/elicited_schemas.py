"""What an MCP server asks for in an elicitation: a flat JSON Schema, read strictly.

A keyword that binds the answer, and that no form can hold the person to, is a fault here: nobody is
asked for what the server would then refuse.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Self, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.alias_generators import to_camel

_TELLS_NOTHING: Final = frozenset({"$schema", "$id", "$comment", "deprecated", "examples"})
"""Keywords that bind no answer and that nobody shows."""


class Unaskable(ValueError):
    """A server asks for what a person can't be asked. The text says for what."""


class _Part(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, alias_generator=to_camel, validate_by_name=False
    )


class _Property(_Part):
    title: str = ""
    description: str = ""


class TextProperty(_Property):
    """A string: any, or one of a format."""

    type: Literal["string"]
    format: Literal["email", "uri", "date", "date-time"] | None = None
    min_length: int = 0
    max_length: int | None = None
    default: str | None = None

    @model_validator(mode="after")
    def _is_bounded_in_one_way(self) -> Self:
        if self.format and (self.min_length > 1 or self.max_length is not None):
            raise ValueError("a format and a length can't be asked for together")
        return self


class NumberProperty(_Property):
    """A number, or a whole one."""

    type: Literal["number", "integer"]
    minimum: int | float | None = None
    maximum: int | float | None = None
    exclusive_minimum: int | None = None
    exclusive_maximum: int | None = None
    default: int | float | None = None

    @model_validator(mode="after")
    def _has_bounds_that_are_numbers_to_enter(self) -> Self:
        exclusive = (self.exclusive_minimum, self.exclusive_maximum)
        if self.type == "number" and exclusive != (None, None):
            raise ValueError("only a whole number can have an exclusive bound")
        return self

    @property
    def lower_bounds(self) -> list[float]:
        """What the number must not be below, all of it."""
        exclusive = [] if self.exclusive_minimum is None else [self.exclusive_minimum + 1]
        return [*exclusive, *([] if self.minimum is None else [self.minimum])]

    @property
    def upper_bounds(self) -> list[float]:
        """What the number must not be above, all of it."""
        exclusive = [] if self.exclusive_maximum is None else [self.exclusive_maximum - 1]
        return [*exclusive, *([] if self.maximum is None else [self.maximum])]


class BooleanProperty(_Property):
    """Yes or no."""

    type: Literal["boolean"]
    default: bool | None = None


class _Titled(_Part):
    const: str
    title: str


class ChoiceProperty(_Property):
    """One of some strings."""

    type: Literal["string"]
    enum: list[str] | None = None
    enum_names: list[str] | None = None
    one_of: list[_Titled] | None = None
    default: str | None = None

    @model_validator(mode="after")
    def _lists_its_values_once(self) -> Self:
        if self.enum is not None and self.one_of is not None:
            raise ValueError("`enum` and `oneOf` can't be asked for together")
        if self.enum_names is not None and len(self.enum_names) != len(self.enum or ()):
            raise ValueError("`enumNames` has to name each value of `enum`")
        return self

    @property
    def titles(self) -> list[tuple[str, str]]:
        """The values in order, each with what the person sees of it."""
        if self.one_of is not None:
            return [(each.const, each.title) for each in self.one_of]
        values = self.enum or []
        return list(zip(values, self.enum_names or values, strict=True))


class _Items(_Part):
    type: Literal["string"] = "string"
    enum: list[str] | None = None
    any_of: list[_Titled] | None = None


class ManyProperty(_Property):
    """Any of some strings, each once at most."""

    type: Literal["array"]
    items: _Items
    min_items: int = 0
    max_items: int | None = None
    unique_items: bool = True
    default: list[str] | None = None

    @model_validator(mode="after")
    def _lists_its_values_once(self) -> Self:
        if (self.items.enum is None) == (self.items.any_of is None):
            raise ValueError("`items` has to list its values, in `enum` or in `anyOf`")
        return self

    @property
    def titles(self) -> list[tuple[str, str]]:
        """The values in order, each with what the person sees of it."""
        if self.items.any_of is not None:
            return [(each.const, each.title) for each in self.items.any_of]
        return [(value, value) for value in self.items.enum or []]


Property: TypeAlias = (
    TextProperty | NumberProperty | BooleanProperty | ChoiceProperty | ManyProperty
)


class _Root(_Part):
    type: Literal["object"]
    title: str = ""
    description: str = ""
    properties: dict[str, dict[str, Any]]
    required: list[str] = []
    additional_properties: bool = True


@dataclass(frozen=True)
class RequestedSchema:
    """The properties of what a server asks for, in order, and which of them it must get."""

    properties: dict[str, Property]
    required: frozenset[str]


def requested_schema(schema: Mapping[str, Any]) -> RequestedSchema:
    """Returns what a server asks for.

    Raises:
        Unaskable: The schema is none of an elicitation, or has a keyword that no form can hold a
            person to.
    """
    root = _read(_Root, schema, "The schema")
    properties = {
        name: _read(_type_of(name, each), each, f"The property {name!r}")
        for name, each in root.properties.items()
    }
    if unknown := set(root.required) - set(properties):
        raise Unaskable(f"The schema requires {sorted(unknown)[0]!r}, which it does not describe.")
    return RequestedSchema(properties, frozenset(root.required))


def _type_of(name: str, schema: Mapping[str, Any]) -> type[Property]:
    match schema.get("type"):
        case "string" if "enum" in schema or "oneOf" in schema:
            return ChoiceProperty
        case "string":
            return TextProperty
        case "number" | "integer":
            return NumberProperty
        case "boolean":
            return BooleanProperty
        case "array":
            return ManyProperty
        case _:
            raise Unaskable(
                f"The property {name!r} can't be asked for: its `type` has to be string, number, "
                "integer, boolean, or array of strings to pick from."
            )


Part = TypeVar("Part", bound=_Part)


def _read(part: type[Part], schema: Mapping[str, Any], whose: str) -> Part:
    binding = {key: value for key, value in schema.items() if key not in _TELLS_NOTHING}
    try:
        return part.model_validate(binding)
    except ValidationError as invalid:
        fault = invalid.errors(include_url=False)[0]
        where = ".".join(str(step) for step in fault["loc"])
        said = "no form has that" if fault["type"] == "extra_forbidden" else fault["msg"]
        raise Unaskable(
            f"{whose} can't be asked for: {f'`{where}`: ' if where else ''}{said}."
        ) from invalid

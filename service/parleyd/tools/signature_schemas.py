"""The JSON Schema of a signature, in what providers take and without noise."""

from typing import Any, Final

from pydantic import BaseModel, JsonValue
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

from parleyd.contract.json import storable_json

_MAPS: Final = frozenset({"properties", "$defs", "patternProperties", "dependentSchemas"})
"""Keywords whose values are schemas by name."""
_LISTS: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SINGLE: Final = frozenset(
    {"items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"}
)
_VALUES: Final = frozenset({"default", "expected", "members", "metadata", "serialization"})
"""Entries of pydantic's own schema that are no schemas: values of any kind, even in a circle."""
_NOISE: Final = frozenset({"title", "discriminator"})


class _Generator(GenerateJsonSchema):
    """Writes schemas without a word about defaults that are no JSON: they are left out."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {  # noqa: RUF012 - as pydantic declares it
        "non-serializable-default",
        "skipped-choice",
    }


def written_schema(model: type[BaseModel], *, closed: bool) -> dict[str, JsonValue]:
    """Returns the schema of a model: an object at its root, types of its own under `$defs`.

    Titles, which only repeat the names, are left out. `closed` says that objects take no keys but
    their own.

    Raises:
        PydanticUserError: A type has no JSON form.
    """
    schema = _cleaned(model.model_json_schema(schema_generator=_Generator), closed=closed)
    stored = storable_json(schema)
    assert isinstance(stored, dict)
    return stored


def lets_keys_through(model: type[BaseModel]) -> bool:
    """Tells whether a type inside `model` says itself that it takes keys it does not know.

    It does with `extra` `allow` or `ignore` in its configuration; most say nothing.
    """
    unread: list[Any] = [model.__pydantic_core_schema__]
    while unread:
        match unread.pop():
            case {"config": {"extra_fields_behavior": "allow" | "ignore"}}:
                return True
            case {**entries}:
                unread += [part for key, part in entries.items() if key not in _VALUES]
            case [*parts]:
                unread += parts
            case _:
                pass
    return False


def _cleaned(schema: JsonValue, *, closed: bool) -> JsonValue:
    if not isinstance(schema, dict):
        return schema
    cleaned: dict[str, JsonValue] = {}
    for keyword, value in schema.items():
        if keyword in _NOISE:
            continue
        if keyword in _MAPS and isinstance(value, dict):
            cleaned[keyword] = {name: _cleaned(each, closed=closed) for name, each in value.items()}
        elif keyword in _LISTS and isinstance(value, list):
            cleaned[keyword] = [_cleaned(each, closed=closed) for each in value]
        elif keyword in _SINGLE:
            cleaned[keyword] = _cleaned(value, closed=closed)
        elif keyword == "const":
            cleaned["enum"] = [value]
        else:
            cleaned[keyword] = value
    if closed and "properties" in cleaned:
        cleaned.setdefault("additionalProperties", False)
    return cleaned

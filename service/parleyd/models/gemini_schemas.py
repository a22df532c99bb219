"""JSON Schema of draft 7 in the keywords that Gemini knows for answers (spec turns 5.5)."""

from collections.abc import Iterator, Mapping
from typing import Final

from pydantic import JsonValue

from parleyd.contract.json import JsonObject, object_at

KEYWORDS: Final = frozenset(
    {
        *("$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum"),
        *("items", "prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf"),
        *("properties", "additionalProperties", "required"),
    }
)
"""What Gemini's reference lists for `responseJsonSchema`."""

_KEPT: Final = ("type", "format", "title", "description", "required")
"""What is taken over as it is.

Sizes and ranges are left out although Gemini knows them: it turns a schema into an automaton, and
refuses one with too many states, which long lists make.
"""

_DRAFT_7: Final = "#/definitions/"
_DEFINED: Final = "#/$defs/"
_LISTED: Final[Mapping[type, str]] = {str: "string", int: "number", float: "number"}
"""The types of what Gemini takes in a list of values."""


def gemini_schema(schema: JsonObject) -> dict[str, JsonValue]:
    """Returns a schema that takes whatever `schema` takes, and more where Gemini can't say it.

    Recursion becomes one level: a definition that refers to itself does so to those of its
    alternatives that don't, for Gemini knows no recursion through what is required. What is nested
    deeper is not taken any more. The caller's checks decide on everything that is left out.

    Raises:
        ValueError: A definition that refers to itself has no such alternatives.
    """
    definitions: dict[str, JsonValue] = {}
    for name in object_at(schema, "definitions"):
        body = object_at(object_at(schema, "definitions"), name)
        if name in _reached(body):
            definitions[_inner(name)] = _reduced({"anyOf": _flat_alternatives(name, body)}, "")
        definitions[name] = _reduced(body, name)
    reduced = _reduced(schema, "")
    return {**reduced, "$defs": definitions} if definitions else reduced


def _reduced(schema: JsonObject, within: str) -> dict[str, JsonValue]:
    """Returns a schema that stands within the definition of that name."""
    reference = schema.get("$ref")
    if isinstance(reference, str):
        name = reference.removeprefix(_DRAFT_7)
        # Nothing may stand beside a reference.
        return {"$ref": f"{_DEFINED}{_inner(name) if name == within else name}"}
    reduced: dict[str, JsonValue] = {key: schema[key] for key in _KEPT if key in schema}
    if "enum" in schema or "const" in schema:
        reduced |= _enumerated(schema)
    types = schema.get("type")
    if isinstance(types, list):
        del reduced["type"]
        reduced["anyOf"] = [{"type": each} for each in types]
    for alternatives in (schema.get("anyOf"), schema.get("oneOf")):
        if isinstance(alternatives, list):
            # Less told apart, two alternatives may take one value.
            reduced["anyOf"] = [_reduced(each, within) for each in _objects(alternatives)]
    items = schema.get("items")
    if isinstance(items, dict):
        reduced["items"] = _reduced(items, within)
    if "properties" in schema:
        properties = object_at(schema, "properties")
        reduced["properties"] = {
            name: _reduced(object_at(properties, name), within) for name in properties
        }
    match schema.get("additionalProperties"):
        case bool() as allowed:
            reduced["additionalProperties"] = allowed
        case dict() as others:
            reduced["additionalProperties"] = _reduced(others, within)
        case _:
            pass
    return reduced


def _enumerated(schema: JsonObject) -> dict[str, JsonValue]:
    """Returns the values that may be and the type that they share; nothing where there is none."""
    listed = schema.get("enum")
    values: list[JsonValue] = listed if isinstance(listed, list) else [schema.get("const")]
    match [*{_LISTED.get(type(value)) for value in values}]:
        case [str() as shared]:
            return {"type": shared, "enum": values}
        case _:
            return {}


def _flat_alternatives(name: str, body: JsonObject) -> list[JsonValue]:
    """Returns the alternatives of a definition that don't refer to it."""
    alternatives = body.get("oneOf") or body.get("anyOf")
    found: list[JsonValue] = []
    if isinstance(alternatives, list):
        found += [each for each in _objects(alternatives) if name not in _reached(each)]
    if not found:
        raise ValueError(f"The definition {name} refers to itself in every way.")
    return found


def _reached(schema: JsonValue | JsonObject) -> Iterator[str]:
    """Yields the names of the definitions that a schema refers to."""
    match schema:
        case {"$ref": str() as reference}:
            yield reference.removeprefix(_DRAFT_7)
        case Mapping():
            for inner in schema.values():
                yield from _reached(inner)
        case list():
            for inner in schema:
                yield from _reached(inner)
        case _:
            pass


def _objects(values: list[JsonValue]) -> Iterator[dict[str, JsonValue]]:
    return (value for value in values if isinstance(value, dict))


def _inner(name: str) -> str:
    return f"{name}_inside"

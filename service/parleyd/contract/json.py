"""JSON values as the contract sees them, and the form in which they are stored."""

import json
from collections.abc import Mapping
from typing import TypeAlias

from pydantic import JsonValue

from parleyd.contract.text import storable

JsonObject: TypeAlias = Mapping[str, JsonValue]


def storable_json(value: JsonValue) -> JsonValue:
    """Returns `value` with every string, keys included, in the form of `storable` (spec turns 3.4.3, 4.2)."""
    match value:
        case str():
            return storable(value)
        case list():
            return [storable_json(item) for item in value]
        case dict():
            return {storable(key): storable_json(item) for key, item in value.items()}
        case _:
            return value


def storable_object(value: JsonObject) -> dict[str, JsonValue]:
    """Returns `storable_json` of an object."""
    return {storable(key): storable_json(item) for key, item in value.items()}


def compact(value: JsonValue | JsonObject) -> str:
    """Returns `value` as JSON text without spaces, characters as they are, whole numbers to the digit."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)

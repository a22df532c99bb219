"""JSON values: how the contract reads them, and the form in which they are stored."""

import json
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import TypeAlias

from pydantic import JsonValue

from parleyd.contract.text import storable

JsonObject: TypeAlias = Mapping[str, JsonValue]


def storable_json(value: JsonValue) -> JsonValue:
    """Returns a copy of `value` with every string, keys included, in the form of `storable`.

    NaN and the infinities, which are no JSON but which Python reads as such, become null. See spec
    turns 3.4.3, 4.2 and spec asks W2. Nesting may be of any depth.
    """
    holder: list[JsonValue] = [value]
    unfinished: list[list[JsonValue] | dict[str, JsonValue]] = [holder]
    while unfinished:
        match unfinished.pop():
            case list() as items:
                for index, item in enumerate(items):
                    items[index] = _storable_copy(item, unfinished)
            case dict() as entries:
                for key, item in entries.items():
                    entries[key] = _storable_copy(item, unfinished)
    return holder[0]


def storable_object(value: JsonObject) -> dict[str, JsonValue]:
    """Returns `storable_json` of an object."""
    return {storable(key): storable_json(item) for key, item in value.items()}


def _storable_copy(
    value: JsonValue, unfinished: list[list[JsonValue] | dict[str, JsonValue]]
) -> JsonValue:
    """Returns `value` with its own strings replaced; a copied container joins the unfinished."""
    match value:
        case str():
            return storable(value)
        case list():
            items = list(value)
            unfinished.append(items)
            return items
        case dict():
            entries = {storable(key): item for key, item in value.items()}
            unfinished.append(entries)
            return entries
        case float() if not isfinite(value):
            return None
        case _:
            return value


def nests_deeper(value: JsonValue, levels: int) -> bool:
    """Tells whether `value` has containers in more than `levels` levels; a plain value has none."""
    layer: list[JsonValue] = [value]
    for _ in range(levels + 1):
        layer = [item for container in layer for item in _items(container)]
        if not layer:
            return False
    return True


def _items(value: JsonValue) -> Iterable[JsonValue]:
    match value:
        case list():
            return value
        case dict():
            return value.values()
        case _:
            return ()


def compact(value: JsonValue | JsonObject) -> str:
    """Returns `value` as JSON text without spaces, characters as they are, whole numbers whole.

    Raises:
        ValueError: A NaN or an infinity, which JSON has no word for.
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def whole_number(value: JsonValue) -> int | None:
    """Returns `value` if it is a whole number, written `3` or `3.0`, else None (spec asks G6).

    What a 64-bit float can't reach is no number.
    """
    match value:
        case bool():
            return None
        case int():
            try:
                float(value)
            except OverflowError:
                return None
            return value
        case float() if value.is_integer():
            return int(value)
        case _:
            return None


def finite_number(value: JsonValue) -> int | float | None:
    """Returns `value` if it is a number, whole or not, else None (spec asks G6).

    NaN, infinities, booleans, and what a 64-bit float can't reach are no numbers.
    """
    if isinstance(value, float):
        return value if isfinite(value) else None
    return whole_number(value)


def string_at(record: JsonObject, key: str) -> str | None:
    """Returns the string at `key`, or None where there is none."""
    value = record.get(key)
    return value if isinstance(value, str) else None


def flag_at(record: JsonObject, key: str) -> bool | None:
    """Returns the boolean at `key`, or None where there is none."""
    value = record.get(key)
    return value if isinstance(value, bool) else None


def whole_at(record: JsonObject, key: str) -> int | None:
    """Returns the whole number at `key`, or None where there is none."""
    return whole_number(record.get(key))


def number_at(record: JsonObject, key: str) -> int | float | None:
    """Returns the number at `key`, or None where there is none."""
    return finite_number(record.get(key))


def strings_at(record: JsonObject, key: str) -> tuple[str, ...]:
    """Returns the strings of the list at `key`, none where there is no list."""
    value = record.get(key)
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, list) else ()


def object_at(record: JsonObject, key: str) -> JsonObject:
    """Returns the object at `key`, an empty one where there is none."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def objects_at(record: JsonObject, key: str) -> tuple[JsonObject, ...]:
    """Returns the objects of the list at `key`, none where there is no list."""
    value = record.get(key)
    return tuple(v for v in value if isinstance(v, dict)) if isinstance(value, list) else ()

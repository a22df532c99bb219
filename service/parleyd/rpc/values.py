"""Protobuf's values as JSON, and JSON as `google.protobuf.Value` (spec asks W2)."""

import math
from collections.abc import Callable, Sequence
from typing import Final, TypeVar, assert_never

from google.protobuf.message import Message
from google.protobuf.struct_pb2 import NULL_VALUE, ListValue, Struct, Value
from pydantic import JsonValue

_Item = TypeVar("_Item")

ITEMS_READ: Final = 100
"""Of a longer list of messages so many are read: no check looks at an item of one that long."""


def scalars_from_proto(message: Message) -> dict[str, JsonValue]:
    """Returns the texts, numbers and booleans that are set, by their names in JSON.

    What is unset is no key. A field that can't be unset is none either while it has its default.
    """
    return {
        field.json_name: number_from_proto(value) if isinstance(value, float) else value
        for field, value in message.ListFields()
        if field.enum_type is None and isinstance(value, str | bool | int | float)
    }


def number_from_proto(number: float) -> JsonValue:
    """Returns a double as a number, whole if it is, and null for NaN and the infinities."""
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() else number


def items_from_proto(
    items: Sequence[_Item], read: Callable[[_Item], JsonValue], most: int = ITEMS_READ
) -> list[JsonValue]:
    """Returns a list of messages as JSON, as long as it was sent.

    Only the first `most` items are read, for a hostile list has millions; null stands for the rest.
    `most` is therefore what a check looks at, or more.
    """
    unread: list[JsonValue] = [None] * (len(items) - most)
    return [*map(read, items[:most]), *unread]


def value_from_proto(value: Value) -> JsonValue:
    """Returns the JSON of a value, null if it has no kind."""
    kind = value.WhichOneof("kind")
    match kind:
        case "number_value":
            return number_from_proto(value.number_value)
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
        case "struct_value":
            fields = value.struct_value.fields
            return {key: value_from_proto(item) for key, item in fields.items()}
        case "list_value":
            return [value_from_proto(item) for item in value.list_value.values]
        case "null_value" | None:
            return None
        case _:
            assert_never(kind)


def value_to_proto(value: JsonValue) -> Value:
    """Returns JSON as a value; its numbers become doubles."""
    match value:
        case None:
            return Value(null_value=NULL_VALUE)
        case bool():
            return Value(bool_value=value)
        case int() | float():
            return Value(number_value=value)
        case str():
            return Value(string_value=value)
        case list():
            return Value(list_value=ListValue(values=map(value_to_proto, value)))
        case dict():
            fields = {key: value_to_proto(item) for key, item in value.items()}
            return Value(struct_value=Struct(fields=fields))
        case _:
            assert_never(value)

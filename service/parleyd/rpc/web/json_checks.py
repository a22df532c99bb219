"""Whether JSON is the JSON of a message. Nothing unknown is dropped in silence.

What protobuf's own reader refuses too is found here first, for the sake of the words: it names the
place in Python's terms and stops at the first fault.
"""

import re
from collections.abc import Iterator
from typing import Final, cast

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import Message
from pydantic import JsonValue

from parley.v1 import conversations_pb2, turns_pb2
from parleyd.contract import limits
from parleyd.contract.errors import (
    InvalidRating,
    InvalidRequest,
    Malformed,
    OneInputOnly,
    UnknownSurface,
)
from parleyd.contract.field_errors import Code, Fault, Path, in_order, listed, named, quoted
from parleyd.contract.json import JsonObject
from parleyd.contract.text import clip
from parleyd.rpc import fields
from parleyd.rpc.web.json_names import field_named, has_own_json, is_map

LEVELS: Final = 90
"""How deep messages may be nested; protobuf's reader takes a hundred."""

INPUT: Final = "input"
"""The `oneof` of a request of which JSON may wrongly have several."""

_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
_INTEGER: Final = re.compile(r"-?[0-9]{1,20}")
_NUMBER: Final = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][-+]?[0-9]{1,4})?")
_NO_NUMBERS: Final = {"NaN", "Infinity", "-Infinity"}
_RANGES: Final = {
    FieldDescriptor.CPPTYPE_INT32: range(-(2**31), 2**31),
    FieldDescriptor.CPPTYPE_INT64: range(-(2**63), 2**63),
    FieldDescriptor.CPPTYPE_UINT32: range(2**32),
    FieldDescriptor.CPPTYPE_UINT64: range(2**64),
    FieldDescriptor.CPPTYPE_ENUM: range(-(2**31), 2**31),
}
_DOUBLES: Final = {FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT}
_REASONS: Final[dict[str, type[Malformed]]] = {
    turns_pb2.Surface.DESCRIPTOR.full_name: UnknownSurface,
    conversations_pb2.Rating.DESCRIPTOR.full_name: InvalidRating,
}
"""What an unknown word of these enums is; of others it is an invalid request."""


def check_json(message: Descriptor, content: JsonObject, at: Path = ()) -> None:
    """Lets pass the JSON of a message.

    Raises:
        OneInputOnly: A turn with several inputs.
        UnknownSurface, InvalidRating: The one fault is such a word.
        InvalidRequest: Unknown keys, values of the wrong type, or two of a kind that excludes.
    """
    inputs = _inputs(message, content)
    if len(inputs) > 1:
        one = Fault((*at, inputs[1]), Code.TOO_MANY, *_several(inputs))
        raise OneInputOnly(f"{one.message} {one.fix}", in_order([one]))
    faults = in_order(_faults(message, content, at, LEVELS))
    if not faults:
        return
    first = faults[0]
    kind = InvalidRequest
    if len(faults) == 1 and first.code is Code.INVALID_ENUM:
        kind = _enum_fault(message, first.path)
    raise kind(f"{first.message} {first.fix}", faults)


def read_json(message: Message, content: dict[str, JsonValue]) -> None:
    """Reads the JSON of a message into it, beside what it holds already.

    Raises:
        Malformed: It is none, as `check_json` finds it, or as only protobuf's own reader does.
    """
    # Two classes of one kind, says its stub.
    check_json(cast("Descriptor", message.DESCRIPTOR), content)
    try:
        ParseDict(content, message)
    except (ParseError, ValueError, TypeError, OverflowError, RecursionError) as error:
        why = clip(" ".join(str(error).split()), 200)
        raise fields.malformed(
            InvalidRequest,
            "",
            Code.INVALID_FORMAT,
            f"The request can't be read: {why}.",
            "Mend it.",
        ) from error


def _enum_fault(message: Descriptor, path: str) -> type[Malformed]:
    field = field_named(message, path)
    enum = field.enum_type if field else None
    return _REASONS.get(enum.full_name, InvalidRequest) if enum else InvalidRequest


def _inputs(message: Descriptor, content: JsonObject) -> list[str]:
    oneof = message.oneofs_by_name.get(INPUT)
    if oneof is None:
        return []
    names = {name for field in oneof.fields for name in (field.json_name, field.name)}
    return [key for key, value in content.items() if key in names and value is not None]


def _several(keys: list[str]) -> tuple[str, str]:
    return f"Only one of {listed(keys)} may be there.", "Send one of them, and leave out the rest."


def _faults(message: Descriptor, content: JsonObject, at: Path, levels: int) -> Iterator[Fault]:
    if not levels:
        yield Fault(at, Code.TOO_LONG, f"{named(at)} is nested too deep.", "Send fewer levels.")
        return
    known: dict[str, str] = {}
    unknown: list[str] = []
    chosen: dict[str, list[str]] = {}
    for key, value in content.items():
        field = field_named(message, key)
        if field is None:
            if len(unknown) < limits.UNKNOWN_KEYS_REPORTED:
                unknown.append(key)
            continue
        if field.name in known:
            yield Fault(
                (*at, key),
                Code.TOO_MANY,
                f"{named((*at, key))} is there under both of its names.",
                f"Leave out {quoted(known[field.name])} or {quoted(key)}.",
            )
        known[field.name] = key
        if value is None:
            continue
        if field.containing_oneof:
            chosen.setdefault(field.containing_oneof.name, []).append(key)
        yield from _field_faults(field, value, (*at, key), levels)
    for keys in chosen.values():
        if len(keys) > 1:
            yield Fault((*at, keys[1]), Code.TOO_MANY, *_several(keys))
    for key in unknown:
        yield unknown_key(message, (*at, key))


def unknown_key(message: Descriptor, at: Path) -> Fault:
    """Returns the fault of a key that a message does not have."""
    names = [field.json_name for field in message.fields]
    fix = f"Leave it out; there are {', '.join(names)}." if names else "Leave it out."
    return Fault(at, Code.UNKNOWN_KEY, f"{named(at)} is not known.", fix)


def _field_faults(
    field: FieldDescriptor, value: JsonValue, at: Path, levels: int
) -> Iterator[Fault]:
    if is_map(field):
        if not isinstance(value, dict):
            yield _type_fault(at, "an object")
            return
        inside = field.message_type
        assert inside is not None
        for key, item in value.items():
            yield from _item_faults(inside.fields_by_name["value"], item, (*at, key), levels)
    elif field.is_repeated:
        if not isinstance(value, list):
            yield _type_fault(at, "a list")
            return
        for index, item in enumerate(value):
            yield from _item_faults(field, item, (*at, index), levels)
    else:
        yield from _item_faults(field, value, at, levels)


def _item_faults(
    field: FieldDescriptor, value: JsonValue, at: Path, levels: int
) -> Iterator[Fault]:
    inside = field.message_type
    if inside is None:
        if fault := _scalar_fault(field, value, at):
            yield fault
    elif has_own_json(field):
        if fault := _own_json_fault(inside.name, value, at):
            yield fault
    elif isinstance(value, dict):
        yield from _faults(inside, value, at, levels - 1)
    else:
        yield _type_fault(at, "an object")


def _own_json_fault(name: str, value: JsonValue, at: Path) -> Fault | None:
    match name:
        case "Value" | "NullValue":
            return None
        case "Struct" | "Any" | "Empty":
            return None if isinstance(value, dict) else _type_fault(at, "an object")
        case "ListValue":
            return None if isinstance(value, list) else _type_fault(at, "a list")
        case "Timestamp" | "Duration" | "FieldMask":
            return None if isinstance(value, str) else _type_fault(at, "a text")
        case _:
            return None


def _scalar_fault(field: FieldDescriptor, value: JsonValue, at: Path) -> Fault | None:
    enum = field.enum_type
    if enum is not None:
        return _enum_value_fault(enum, value, at)
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return None if isinstance(value, bool) else _type_fault(at, "true or false")
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        if not isinstance(value, str):
            return _type_fault(at, "a text")
        if field.type == FieldDescriptor.TYPE_BYTES and not _is_base64(value):
            return Fault(at, Code.INVALID_FORMAT, f"{named(at)} is no base64.", "Encode the bytes.")
        return None
    if field.cpp_type in _DOUBLES:
        return None if _is_double(value) else _type_fault(at, "a number")
    number = _whole(value)
    if number is None:
        return _type_fault(at, "a whole number")
    if number not in _RANGES[field.cpp_type]:
        return Fault(at, Code.OUT_OF_RANGE, f"{named(at)} is out of range.", "Send a smaller one.")
    return None


def _enum_value_fault(enum: EnumDescriptor, value: JsonValue, at: Path) -> Fault | None:
    if isinstance(value, str) and value in enum.values_by_name:
        return None
    number = _whole(value)
    if number is not None and number in _RANGES[FieldDescriptor.CPPTYPE_ENUM]:
        return None  # proto3 lets every number through: the server says what it knows
    words = ", ".join(each.name for each in enum.values)
    said = f"is {quoted(value)}, which" if isinstance(value, str) else "holds something that"
    return Fault(
        at, Code.INVALID_ENUM, f"{named(at)} {said} is none of its words.", f"Send one of {words}."
    )


def _is_base64(text: str) -> bool:
    return _BASE64.fullmatch(text) is not None and len(text.rstrip("=")) % 4 != 1


def _is_double(value: JsonValue) -> bool:
    if isinstance(value, str):
        return value in _NO_NUMBERS or _NUMBER.fullmatch(value) is not None
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return abs(value) < 2**1023
    return isinstance(value, float) and abs(value) != float("inf")


def _whole(value: JsonValue) -> int | None:
    match value:
        case bool():
            return None
        case int():
            return value
        case float() if value.is_integer():
            return int(value)
        case str() if _INTEGER.fullmatch(value):
            return int(value)
        case _:
            return None


def _type_fault(at: Path, wanted: str) -> Fault:
    return Fault(at, Code.INVALID_TYPE, f"{named(at)} is not {wanted}.", f"Send {wanted}.")

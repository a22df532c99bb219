"""The names of fields in JSON: camelCase, or as the protos spell them."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, TypeAlias

from google.protobuf.descriptor import Descriptor, FieldDescriptor

FieldPath: TypeAlias = tuple[FieldDescriptor, ...]
"""A field of a message, of the message in it, and so on."""

_OWN_JSON: Final = "google.protobuf."
"""The package of the messages that JSON writes in a way of their own, as times and masks."""


def field_named(message: Descriptor, name: str) -> FieldDescriptor | None:
    """Returns a field by either of its names, or None."""
    return _fields(message).get(name)


@cache
def _fields(message: Descriptor) -> Mapping[str, FieldDescriptor]:
    return {name: field for field in message.fields for name in (field.json_name, field.name)}


def field_path(message: Descriptor, names: Sequence[str]) -> FieldPath | None:
    """Returns the fields that the names lead through, or None where one leads nowhere.

    Nothing leads into a list, a map, or a message that has a JSON of its own.
    """
    found: list[FieldDescriptor] = []
    inside: Descriptor | None = message
    for name in names:
        field = field_named(inside, name) if inside else None
        if field is None:
            return None
        found.append(field)
        inside = None if field.is_repeated or has_own_json(field) else field.message_type
    return tuple(found)


def has_own_json(field: FieldDescriptor) -> bool:
    """Tells whether a field holds one of Google's messages, such as a time, a mask or a value."""
    return field.message_type is not None and field.message_type.full_name.startswith(_OWN_JSON)


def is_map(field: FieldDescriptor) -> bool:
    """Tells whether a field is a map."""
    inside = field.message_type
    return inside is not None and inside.GetOptions().map_entry


def dotted_name(path: Sequence[FieldDescriptor]) -> str:
    """Returns the path as errors name it, `conversation.conversationId`."""
    return ".".join(field.json_name for field in path)

"""Messages as JSON Schema, in the JSON that protobuf defines for them (ProtoJSON)."""

from collections.abc import Iterable, Mapping
from typing import Final

from google.api import field_behavior_pb2  # pyright: ignore[reportMissingTypeStubs] - it has none
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from openapi_comments import Comments
from pydantic import JsonValue

Schema = dict[str, JsonValue]

PACKAGE: Final = ".parley.v1."
_TYPES: Final[Mapping[int, Schema]] = {
    FieldDescriptorProto.TYPE_STRING: {"type": "string"},
    FieldDescriptorProto.TYPE_BYTES: {"type": "string", "contentEncoding": "base64"},
    FieldDescriptorProto.TYPE_BOOL: {"type": "boolean"},
    FieldDescriptorProto.TYPE_INT32: {"type": "integer", "format": "int32"},
    # JSON numbers are doubles to most readers: so whole ones of 64 bits are sent as strings.
    FieldDescriptorProto.TYPE_INT64: {"type": "string", "format": "int64"},
    FieldDescriptorProto.TYPE_DOUBLE: {"type": "number", "format": "double"},
}
_WELL_KNOWN: Final[Mapping[str, Schema]] = {
    ".google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    ".google.protobuf.FieldMask": {"type": "string"},
    ".google.protobuf.Value": {},
}


class Schemas:
    """The schemas of messages and enums, written once each, when they are first referred to."""

    def __init__(self, files: Iterable[FileDescriptorProto], comments: Comments) -> None:
        self.written: dict[str, JsonValue] = {}
        self._comments = comments
        self._messages: dict[str, DescriptorProto] = {}
        self._enums: dict[str, EnumDescriptorProto] = {}
        for file in files:
            scope = f".{file.package}"
            self._enums |= {f"{scope}.{one.name}": one for one in file.enum_type}
            for message in file.message_type:
                self._add(scope, message)

    def message(self, type_name: str) -> DescriptorProto:
        """Returns a message by its name with a leading dot."""
        return self._messages[type_name]

    def reference(self, type_name: str) -> Schema:
        """Returns a reference to the schema of a message or an enum."""
        if type_name in _WELL_KNOWN:
            return dict(_WELL_KNOWN[type_name])
        name = type_name.removeprefix(PACKAGE)
        if name not in self.written:
            self.written[name] = None  # it may refer to itself
            if type_name in self._enums:
                self.written[name] = self._enum(type_name)
            else:
                self.written[name] = self.object_of(type_name)
        return {"$ref": f"#/components/schemas/{name}"}

    def object_of(self, type_name: str, without: frozenset[str] = frozenset()) -> Schema:
        """Returns the schema of a message, less the fields that are named elsewhere."""
        message = self._messages[type_name]
        fields = [field for field in message.field if field.name not in without]
        properties: Schema = {field.json_name: self.field(type_name, field) for field in fields}
        schema: Schema = {"type": "object"}
        if comment := self._comments.of(type_name[1:]):
            schema["description"] = comment
        schema["properties"] = properties
        if required := [field.json_name for field in fields if _behaves(field, "REQUIRED")]:
            schema["required"] = list[JsonValue](required)
        if choices := self._choices(message, without):
            schema["allOf"] = list[JsonValue](choices)
        schema["additionalProperties"] = False
        return schema

    def field(self, type_name: str, field: FieldDescriptorProto) -> Schema:
        """Returns the schema of a field, with its comment."""
        entry = self._messages.get(field.type_name)
        if entry is not None and entry.options.map_entry:
            schema: Schema = {"type": "object", "additionalProperties": self._one(entry.field[1])}
        elif field.label == FieldDescriptorProto.LABEL_REPEATED:
            schema = {"type": "array", "items": self._one(field)}
        else:
            schema = self._one(field)
        if comment := self._comments.of(f"{type_name[1:]}.{field.name}"):
            schema["description"] = comment
        if _behaves(field, "OUTPUT_ONLY"):
            schema["readOnly"] = True
        return schema

    def _one(self, field: FieldDescriptorProto) -> Schema:
        if field.type_name:
            return self.reference(field.type_name)
        return dict(_TYPES[field.type])

    def _enum(self, type_name: str) -> Schema:
        values = [value.name for value in self._enums[type_name].value]
        meanings = [
            f"- `{value}`: {self._comments.of(f'{type_name[1:]}.{value}')}" for value in values
        ]
        comment = self._comments.of(type_name[1:])
        return {
            "type": "string",
            "description": "\n".join([comment, "", *meanings]),
            "enum": list[JsonValue](values),
        }

    def _choices(self, message: DescriptorProto, without: frozenset[str]) -> list[Schema]:
        """Returns what says that of each `oneof` at most one field is there."""
        choices: list[Schema] = []
        for at, _ in enumerate(message.oneof_decl):
            members = [
                field.json_name
                for field in message.field
                if field.HasField("oneof_index")
                and field.oneof_index == at
                and not field.proto3_optional
                and field.name not in without
            ]
            if len(members) > 1:
                alone: list[JsonValue] = [{"required": [name]} for name in members]
                none: JsonValue = {"not": {"anyOf": list(alone)}}
                choices.append({"oneOf": [*alone, none]})
        return choices

    def _add(self, scope: str, message: DescriptorProto) -> None:
        name = f"{scope}.{message.name}"
        self._messages[name] = message
        self._enums |= {f"{name}.{one.name}": one for one in message.enum_type}
        for nested in message.nested_type:
            self._add(name, nested)


def _behaves(field: FieldDescriptorProto, behavior: str) -> bool:
    said = field.options.Extensions[field_behavior_pb2.field_behavior]
    return field_behavior_pb2.FieldBehavior.Value(behavior) in said

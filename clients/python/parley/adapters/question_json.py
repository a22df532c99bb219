"""Questions as JSON: the form that agents write them in, with their `kind` among the keys."""

from collections.abc import Mapping
from typing import Final, TypeAlias, TypeVar, cast

from google.protobuf.descriptor import Descriptor
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from google.protobuf.message import Message

from parley.v1 import asks_pb2 as pb

JsonValue: TypeAlias = "dict[str, JsonValue] | list[JsonValue] | str | int | float | bool | None"
JsonObject: TypeAlias = dict[str, JsonValue]


_Parsed = TypeVar("_Parsed", bound=Message)


class Malformed(ValueError):
    """A value is no question, or no answer. The text says why."""


def _names(message: Descriptor, oneof: str) -> tuple[str, ...]:
    return tuple(field.name for field in message.oneofs_by_name[oneof].fields)


def _keys(message: Descriptor, *but: str) -> frozenset[str]:
    return frozenset(field.json_name for field in message.fields if field.name not in but)


ASK_KINDS: Final = _names(pb.AskInput.DESCRIPTOR, "kind")
"""The kinds of questions: choice, confirm, markdown, form, files."""

_FIELD_TYPES: Final = _names(pb.FormField.DESCRIPTOR, "type")
_EVERY_KIND: Final = _keys(pb.AskInput.DESCRIPTOR, *ASK_KINDS)
_EVERY_FIELD: Final = _keys(pb.FormField.DESCRIPTOR, *_FIELD_TYPES)
_OF_KIND: Final = {
    "choice": _keys(pb.ChoiceInput.DESCRIPTOR),
    "confirm": _keys(pb.ConfirmInput.DESCRIPTOR),
    "markdown": _keys(pb.MarkdownInput.DESCRIPTOR),
    "form": _keys(pb.FormInput.DESCRIPTOR),
    "files": _keys(pb.FilesInput.DESCRIPTOR),
}
_SELECTS: Final = {"one": "SELECT_ONE", "many": "SELECT_MANY"}
_SELECT_NAMES: Final = {name: select for select, name in _SELECTS.items()}


def question_from_json(value: object) -> pb.AskInput:
    """Returns a question in the form that the service takes, which checks what it says.

    Raises:
        Malformed: The value is no object with a `kind`, has a key that no such question has, or a
            value of a wrong type.
    """
    keys = object_of(value)
    if keys is None:
        raise Malformed("A question is a JSON object.")
    kind = keys.pop("kind", None)
    if not isinstance(kind, str) or kind not in _OF_KIND:
        raise Malformed(f"`kind` is missing, or none of {', '.join(ASK_KINDS)}.")
    of_kind = _OF_KIND[kind]
    for key in keys:
        if key not in _EVERY_KIND | of_kind:
            raise Malformed(f"A {kind} has no key {key!r}.")
    own = {key: _own(key, value) for key, value in keys.items() if key in of_kind}
    every = {key: value for key, value in keys.items() if key not in of_kind}
    return parsed({**every, kind: own}, pb.AskInput(), f"The {kind} is malformed")


def question_to_json(question: pb.AskInput) -> JsonObject:
    """Returns a question as JSON, from which `question_from_json` makes the same one.

    Raises:
        Malformed: It is of no kind.
    """
    kind = question.WhichOneof("kind")
    if kind is None:
        raise Malformed("The question has no kind.")
    keys = cast("JsonObject", MessageToDict(question))
    own = _object(keys.pop(kind, {}))
    match own:
        case {"select": str(name)} if name in _SELECT_NAMES:
            own["select"] = _SELECT_NAMES[name]
        case {"fields": list() as fields}:
            own["fields"] = [_flat(_object(field)) for field in fields]
        case _:
            pass
    return {"kind": kind, **keys, **own}


def parsed(value: Mapping[str, object], message: _Parsed, what: str) -> _Parsed:
    """Returns a message with what JSON of protobuf says.

    Raises:
        Malformed: It says something that such a message can't. The text begins with `what`.
    """
    try:
        return ParseDict(dict(value), message)
    except ParseError as fault:
        raise Malformed(f"{what}: {str(fault).splitlines()[0]}") from fault


def object_of(value: object) -> dict[str, object] | None:
    """Returns a copy of a JSON object; None where the value is something else."""
    return dict(cast("Mapping[str, object]", value)) if isinstance(value, Mapping) else None


def _own(key: str, value: object) -> object:
    match key, value:
        case "select", str():
            return _SELECTS.get(value, value)
        case "fields", list():
            return [_nested(field) for field in cast("list[object]", value)]
        case _:
            return value


def _nested(field: object) -> object:
    """Returns a field in whose message what its type has of its own is a message by itself."""
    keys = object_of(field)
    if keys is None:
        return field
    type_ = keys.pop("type", None)
    if not isinstance(type_, str) or type_ not in _FIELD_TYPES:
        raise Malformed(f"The `type` of a field is missing, or none of {', '.join(_FIELD_TYPES)}.")
    own = {key: value for key, value in keys.items() if key not in _EVERY_FIELD}
    if type_ == "multiselect" and isinstance(own.get("default"), list):
        own["default"] = {"values": own["default"]}
    return {**{key: value for key, value in keys.items() if key in _EVERY_FIELD}, type_: own}


def _flat(field: JsonObject) -> JsonObject:
    type_ = next((name for name in _FIELD_TYPES if name in field), None)
    if type_ is None:
        return field
    own = _object(field.pop(type_))
    if type_ == "multiselect" and "default" in own:
        own["default"] = _object(own["default"]).get("values", [])
    return {"type": type_, **field, **own}


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}

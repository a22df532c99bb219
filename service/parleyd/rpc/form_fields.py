"""The fields of forms on the wire: twelve types in one `oneof` (spec asks FO2, W3)."""

from typing import assert_never

from pydantic import JsonValue

from parley.v1 import asks_pb2
from parleyd.contract.json import (
    JsonObject,
    flag_at,
    number_at,
    string_at,
    strings_at,
    whole_at,
)
from parleyd.rpc.options import options_from_proto, options_to_proto
from parleyd.rpc.values import scalars_from_proto


def field_from_proto(field: asks_pb2.FormField) -> dict[str, JsonValue]:
    """Returns a field as it was sent; one whose `oneof` is unset has no type."""
    content: dict[str, JsonValue] = {"id": field.id, "label": field.label}
    content |= scalars_from_proto(field)
    type_ = field.WhichOneof("type")
    match type_:
        case "text" | "textarea":
            own = scalars_from_proto(getattr(field, type_))
        case "email" | "url" | "phone" | "date" | "time" | "datetime":
            own = scalars_from_proto(getattr(field, type_))
        case "number":
            own = scalars_from_proto(field.number)
        case "boolean":
            own = scalars_from_proto(field.boolean)
        case "select":
            own = _select_from_proto(field.select)
        case "multiselect":
            own = _multiselect_from_proto(field.multiselect)
        case None:
            return content
        case _:
            assert_never(type_)
    return {"type": type_, **content, **own}


def field_to_proto(field: JsonObject) -> asks_pb2.FormField:
    """Returns a field of a valid form. One without a type has none on the wire.

    Raises:
        ValueError: There is no such type.
    """
    message = asks_pb2.FormField(
        id=string_at(field, "id") or "",
        label=string_at(field, "label") or "",
        helper_text=string_at(field, "helperText"),
        required=flag_at(field, "required"),
    )
    match string_at(field, "type"):
        case "text":
            message.text.CopyFrom(_text_to_proto(field))
        case "textarea":
            message.textarea.CopyFrom(_text_to_proto(field))
        case "email":
            message.email.CopyFrom(_string_to_proto(field))
        case "url":
            message.url.CopyFrom(_string_to_proto(field))
        case "phone":
            message.phone.CopyFrom(_string_to_proto(field))
        case "number":
            message.number.CopyFrom(_number_to_proto(field))
        case "date":
            message.date.CopyFrom(_string_to_proto(field))
        case "time":
            message.time.CopyFrom(_string_to_proto(field))
        case "datetime":
            message.datetime.CopyFrom(_string_to_proto(field))
        case "boolean":
            message.boolean.CopyFrom(asks_pb2.BooleanField(default=flag_at(field, "default")))
        case "select":
            message.select.CopyFrom(_select_to_proto(field))
        case "multiselect":
            message.multiselect.CopyFrom(_multiselect_to_proto(field))
        case None:
            pass
        case unknown:
            raise ValueError(f"There is no type of field named {unknown!r}.")
    return message


def _text_to_proto(field: JsonObject) -> asks_pb2.TextField:
    return asks_pb2.TextField(
        default=string_at(field, "default"),
        min_length=whole_at(field, "minLength"),
        max_length=whole_at(field, "maxLength"),
    )


def _string_to_proto(field: JsonObject) -> asks_pb2.StringField:
    return asks_pb2.StringField(default=string_at(field, "default"))


def _number_to_proto(field: JsonObject) -> asks_pb2.NumberField:
    return asks_pb2.NumberField(
        default=number_at(field, "default"),
        min=number_at(field, "min"),
        max=number_at(field, "max"),
        integer=flag_at(field, "integer"),
    )


def _select_from_proto(select: asks_pb2.SelectField) -> dict[str, JsonValue]:
    return {"options": options_from_proto(select.options), **scalars_from_proto(select)}


def _select_to_proto(field: JsonObject) -> asks_pb2.SelectField:
    return asks_pb2.SelectField(
        options=options_to_proto(field), default=string_at(field, "default")
    )


def _multiselect_from_proto(multiselect: asks_pb2.MultiselectField) -> dict[str, JsonValue]:
    content: dict[str, JsonValue] = {"options": options_from_proto(multiselect.options)}
    if multiselect.HasField("default"):
        content["default"] = [*multiselect.default.values]
    return content


def _multiselect_to_proto(field: JsonObject) -> asks_pb2.MultiselectField:
    """Returns the wrapped default even if it is empty: that differs from none."""
    default = asks_pb2.StringList(values=strings_at(field, "default"))
    return asks_pb2.MultiselectField(
        options=options_to_proto(field),
        default=default if isinstance(field.get("default"), list) else None,
    )

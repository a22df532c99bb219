"""Properties that an MCP server asks for as fields of a form, and the values as the server's."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

from google.protobuf.struct_pb2 import Value

from parley.adapters.elicited_schemas import (
    BooleanProperty,
    ChoiceProperty,
    ManyProperty,
    NumberProperty,
    Property,
    TextProperty,
    Unaskable,
)
from parley.v1 import asks_pb2 as pb

Plain: TypeAlias = str | int | float | bool | list[str] | None
"""A value of a property; None where the person gave none."""

_ID: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_TEXT_UNITS: Final = 2000
_TEXTAREA_UNITS: Final = 10_000
_EXACT: Final = 2**53 - 1
"""Whole numbers beyond it would change on their way: answers carry doubles."""
_NO_SECONDS: Final = re.compile(r"(T\d\d:\d\d)(?=Z|[+-])")


@dataclass(frozen=True)
class ElicitedField:
    """The field for a property, and how its value is read."""

    input: pb.FormField
    value: Callable[[Value | None], Plain]


class Offered:
    """Values to pick from, which may be any strings, as options with ids."""

    def __init__(self, name: str, prop: ChoiceProperty | ManyProperty) -> None:
        self._name = name
        self._ids = ask_ids((value for value, _ in prop.titles), "option")
        self._values = {id_: value for value, id_ in self._ids.items()}
        self.options = [pb.Option(id=self._ids[value], label=each) for value, each in prop.titles]

    def id(self, value: str) -> str:
        """Returns the option's id.

        Raises:
            Unaskable: The value is none to pick.
        """
        if value not in self._ids:
            raise Unaskable(
                f"The property {self._name!r} can't be asked for: the default {value!r} is none of "
                "its values."
            )
        return self._ids[value]

    def value(self, id_: str) -> str:
        """Returns the value of a picked option."""
        return self._values[id_]


def ask_ids(names: Iterable[str], word: str) -> dict[str, str]:
    """Returns ids for names: the names themselves where all of them are such, else numbered ones.

    Numbering all or none keeps an id from meeting another one's name.
    """
    listed = list(dict.fromkeys(names))
    if all(_ID.fullmatch(name) for name in listed):
        return {name: name for name in listed}
    return {name: f"{word}-{number}" for number, name in enumerate(listed, 1)}


def elicited_field(id_: str, name: str, prop: Property, *, required: bool) -> ElicitedField:
    """Returns the field for a property.

    Raises:
        Unaskable: No field can hold the person to it.
    """
    field = pb.FormField(id=id_, label=prop.title or name, required=required or None)
    if prop.description:
        field.helper_text = prop.description
    match prop:
        case TextProperty():
            return _text(field, prop)
        case NumberProperty():
            return _number(field, prop)
        case BooleanProperty():
            field.boolean.CopyFrom(pb.BooleanField(default=prop.default))
            return ElicitedField(field, lambda value: None if value is None else value.bool_value)
        case ChoiceProperty():
            return _choice(field, prop, Offered(name, prop))
        case ManyProperty():
            return _many(field, prop, Offered(name, prop))
        case _:
            assert_never(prop)


def _text(field: pb.FormField, prop: TextProperty) -> ElicitedField:
    # A blank text is no answer in a form, so there is none to fill in beforehand either.
    default = prop.default if prop.default and prop.default.strip() else None
    match prop.format:
        case "email":
            field.email.CopyFrom(pb.StringField(default=default))
        case "date":
            field.date.CopyFrom(pb.StringField(default=default))
        case "uri":
            field.url.CopyFrom(pb.StringField(default=default))
            return ElicitedField(field, lambda value: _string(value, str.strip))
        case "date-time":
            field.datetime.CopyFrom(pb.StringField(default=default))
            return ElicitedField(field, lambda value: _string(value, _with_seconds))
        case None:
            _free_text(field, prop, default)
    return ElicitedField(field, _string)


def _free_text(field: pb.FormField, prop: TextProperty, default: str | None) -> None:
    least, most = prop.min_length or None, prop.max_length
    if max(least or 0, most or 0) <= _TEXT_UNITS:
        field.text.CopyFrom(pb.TextField(default=default, min_length=least, max_length=most))
        return
    longest = None if most is None else min(most, _TEXTAREA_UNITS)
    field.textarea.CopyFrom(pb.TextField(default=default, min_length=least, max_length=longest))


def _string(value: Value | None, mended: Callable[[str], str] = str) -> str | None:
    if value is None or not value.string_value.strip():
        return None
    return mended(value.string_value)


def _with_seconds(datetime: str) -> str:
    """Returns a date and time as RFC 3339 has it: people may leave its seconds out."""
    return _NO_SECONDS.sub(r"\1:00", datetime)


def _number(field: pb.FormField, prop: NumberProperty) -> ElicitedField:
    if prop.type == "number":
        field.number.CopyFrom(
            pb.NumberField(default=prop.default, min=prop.minimum, max=prop.maximum)
        )
        return ElicitedField(field, lambda value: None if value is None else value.number_value)
    field.number.CopyFrom(
        pb.NumberField(
            default=prop.default,
            min=max([-_EXACT, *prop.lower_bounds]),
            max=min([_EXACT, *prop.upper_bounds]),
            integer=True,
        )
    )
    return ElicitedField(field, lambda value: None if value is None else int(value.number_value))


def _choice(field: pb.FormField, prop: ChoiceProperty, offered: Offered) -> ElicitedField:
    default = None if prop.default is None else offered.id(prop.default)
    field.select.CopyFrom(pb.SelectField(default=default, options=offered.options))

    def picked(value: Value | None) -> str | None:
        return offered.value(value.string_value) if value and value.string_value.strip() else None

    return ElicitedField(field, picked)


def _many(field: pb.FormField, prop: ManyProperty, offered: Offered) -> ElicitedField:
    most = len(offered.options) if prop.max_items is None else prop.max_items
    if prop.min_items > 1 or most < len(offered.options):
        raise Unaskable(
            f"The property {field.label!r} can't be asked for: in a form with more than it, people "
            "pick as many as they like. Ask for it alone, without `minItems` and `maxItems`, or as "
            "required."
        )
    required = field.required
    if prop.min_items == 0:
        # A form takes no empty list for an answer; it is one here.
        field.ClearField("required")
    default = None if prop.default is None else [offered.id(each) for each in prop.default]
    field.multiselect.CopyFrom(
        pb.MultiselectField(
            default=None if default is None else pb.StringList(values=default),
            options=offered.options,
        )
    )

    def picked(value: Value | None) -> list[str] | None:
        ids = [each.string_value for each in value.list_value.values] if value else []
        return [offered.value(each) for each in ids] if ids or required else None

    return ElicitedField(field, picked)

"""The twelve types of field, and what a field may look like (spec asks FO1, FO2)."""

from collections.abc import Mapping
from itertools import groupby
from typing import Final

from parleyd.contract import limits
from parleyd.contract.asks.fields.field_type import FieldType
from parleyd.contract.asks.fields.picks import MULTISELECT, SELECT
from parleyd.contract.asks.fields.scalars import BOOLEAN, NUMBER
from parleyd.contract.asks.fields.strings import (
    DATE_FIELD,
    DATETIME_FIELD,
    EMAIL_FIELD,
    PHONE_FIELD,
    TEXT,
    TEXTAREA,
    TIME_FIELD,
    URL_FIELD,
)
from parleyd.contract.json import JsonObject, string_at
from parleyd.contract.records import Key
from parleyd.contract.shapes import BooleanShape, IdShape, TextShape
from parleyd.contract.variants import Variant, VariantShape

_TYPES: Final[tuple[FieldType, ...]] = (
    TEXT,
    TEXTAREA,
    EMAIL_FIELD,
    URL_FIELD,
    PHONE_FIELD,
    NUMBER,
    DATE_FIELD,
    TIME_FIELD,
    DATETIME_FIELD,
    BOOLEAN,
    SELECT,
    MULTISELECT,
)

FIELD_TYPES: Final[Mapping[str, FieldType]] = {type_.name: type_ for type_ in _TYPES}
"""The types by name, in the order of the contract."""

_EVERY_FIELD = (
    Key("id", IdShape(), "Names the field's value in the answer; unique.", required=True),
    Key("label", TextShape(limits.FIELD_LABEL), "What the person reads above it.", required=True),
    Key("helperText", TextShape(limits.HELPER_TEXT), "Explains the field."),
    Key("required", BooleanShape(), "Whether it must be answered; false when absent."),
)

FIELD_SHAPE: Final = VariantShape(
    tag="type",
    says="What the field takes.",
    variants=tuple(
        Variant(tuple(type_.name for type_ in alike), (*_EVERY_FIELD, *keys))
        for keys, alike in groupby(_TYPES, key=lambda type_: type_.keys)
    ),
)
"""A field. The types with the same keys, which stand together, are one variant."""


def type_of(field: JsonObject) -> FieldType:
    """Returns the type of a field whose shape has no blocking fault.

    Raises:
        KeyError: The field names no type.
    """
    return FIELD_TYPES[string_at(field, "type") or ""]

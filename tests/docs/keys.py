"""What the page on asks must say of the keys of an object."""

from collections.abc import Iterable

from parleyd.contract.asks.fields.picks import DefaultPicksShape
from parleyd.contract.asks.fields.strings import DefaultStringShape
from parleyd.contract.asks.files import FileShape
from parleyd.contract.records import Key, ObjectShape, RecordShape
from parleyd.contract.shapes import (
    BooleanShape,
    EnumShape,
    IdShape,
    ListShape,
    NumberShape,
    Shape,
    StringShape,
    TextShape,
    WholeShape,
)
from parleyd.contract.variants import VariantShape
from tests.docs.pages import Row


def span(least: int, most: int | None) -> str:
    """Returns bounds as the page writes them."""
    if most is None:
        return f"≥ {least}" if least else ""
    return f"{least}–{most}" if least else f"≤ {most}"


def takes(shape: Shape, item: str = "") -> str:
    """Returns what the page says that a key takes; `item` names the objects of a list."""
    match shape:
        case TextShape():
            return f"text ≤ {shape.most}"
        case StringShape():
            return f"string {span(shape.least, shape.most)}".rstrip()
        case IdShape():
            return "id"
        case EnumShape():
            return ", ".join(f"`{value}`" for value in shape.values)
        case WholeShape(least, None):
            return f"whole number ≥ {least}"
        case WholeShape():
            return f"whole number {shape.least}–{shape.most}"
        case NumberShape():
            return "number"
        case BooleanShape():
            return "boolean"
        case ListShape(RecordShape() | VariantShape() | FileShape()):
            return f"{span(shape.least, shape.most) or 'any number'} × {item}"
        case ListShape():
            return f"{span(shape.least, shape.most)} × {takes(shape.item)}"
        case ObjectShape():
            return "object"
        case DefaultStringShape():
            return "string"
        case DefaultPicksShape():
            return "list of strings"
        case _:
            raise AssertionError(shape)


def said(keys: Iterable[Key]) -> list[tuple[str, str, bool]]:
    """Returns what a table must say of keys: name, what it takes, whether it is required."""
    return [(key.name, takes(key.shape, key.name.removesuffix("s")), key.required) for key in keys]


def listed(rows: Iterable[Row]) -> list[tuple[str, str, bool]]:
    """Returns what a table says of keys."""
    return [(row[0].strip("`"), row[1], row[2] == "required") for row in rows]


def item_of(shape: RecordShape, name: str) -> Shape:
    """Returns the items of the list at a key."""
    (found,) = [key.shape for key in shape.keys if key.name == name]
    assert isinstance(found, ListShape)
    return found.item

"""What a JSON value may look like: one description, from which its check and its schema follow.

The check is the shape phase of spec asks 2 (V5, V8, V9): it reports every fault at once, at every
depth, and never raises. The schema is JSON Schema in keywords that providers accept in the
parameters of a tool; it says as much of the same limits as it can, so a limit is written down once.
Objects are in `records.py`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Protocol

from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.field_errors import Code, Fault, Path, named, quoted
from parleyd.contract.json import finite_number, whole_number
from parleyd.contract.text import clip, is_blank, units

ID_PATTERN: Final = f"[a-z0-9][a-z0-9_-]{{0,{limits.ID - 1}}}"
"""What option ids and field ids look like, as a whole (G5)."""

BLOCKING: Final = frozenset(
    {Code.INVALID_TYPE, Code.MISSING_REQUIRED, Code.INVALID_ENUM, Code.TOO_MANY}
)
"""Shape faults that stop every rule across fields (V6)."""

_ID = re.compile(ID_PATTERN)


def lets_rules_run(faults: Sequence[Fault]) -> bool:
    """Tells whether a shape with these faults is sound enough for rules across fields (V6).

    It is not if they are as many as are reported, for what comes after them was not looked at.
    """
    blocked = any(fault.code in BLOCKING for fault in faults)
    return not blocked and len(faults) < limits.FAULTS_REPORTED


class Shape(Protocol):
    """The form of a JSON value."""

    @property
    def noun(self) -> str:
        """Says what such a value is, as an error's text puts it after "as"."""
        ...

    def check(self, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields every fault of a value that sits at `at`."""
        ...

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema."""
        ...


@dataclass(frozen=True)
class TextShape:
    """A string with at least one visible character, of at most `most` units (G4)."""

    most: int

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return f"a text of at most {self.most} UTF-16 units"

    def check(self, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields `TOO_SHORT` for a blank text and `TOO_LONG` for a long one; both can apply."""
        if not isinstance(value, str):
            yield wrong_type(value, at, self.noun)
            return
        if is_blank(value):
            yield Fault(
                at,
                Code.TOO_SHORT,
                f"{named(at)} has no visible character.",
                f"Write {self.noun} into {named(at)}.",
            )
        if units(value) > self.most:
            yield too_long(value, at, self.most)

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema, whose `maxLength` is looser: it counts code points."""
        return {"type": "string", "minLength": 1, "maxLength": self.most}


@dataclass(frozen=True)
class StringShape:
    """A string, blank or not, of `least` to `most` units.

    To a longer one than `most` an error suggests `advised` units, where that is given.
    """

    least: int = 0
    most: int | None = None
    advised: int | None = None

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        floor = "" if self.least == 0 else f"at least {self.least}"
        ceiling = "" if self.most is None else f"at most {self.most}"
        bounds = " and ".join(filter(None, (floor, ceiling)))
        return f"a string of {bounds} UTF-16 units" if bounds else "a string"

    def check(self, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields `TOO_SHORT` or `TOO_LONG` out of bounds, `INVALID_TYPE` for anything else."""
        if not isinstance(value, str):
            yield wrong_type(value, at, self.noun)
        elif self.least and units(value) < self.least:
            yield Fault(
                at,
                Code.TOO_SHORT,
                f"{named(at)} has {units(value)} UTF-16 units, too few.",
                f"Send {named(at)} as {self.noun}.",
            )
        elif self.most is not None and units(value) > self.most:
            yield too_long(value, at, self.most if self.advised is None else self.advised)

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema, whose bounds count code points."""
        floor: dict[str, JsonValue] = {"minLength": self.least} if self.least else {}
        ceiling: dict[str, JsonValue] = {} if self.most is None else {"maxLength": self.most}
        return {"type": "string", **floor, **ceiling}


@dataclass(frozen=True)
class IdShape:
    """An id of the model's making (G5)."""

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return (
            f"an id of at most {limits.ID} lower-case letters, digits, `_` and `-`, "
            "beginning with a letter or digit"
        )

    def check(self, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields `INVALID_FORMAT` for any string that is no id, the empty one too."""
        if not isinstance(value, str):
            yield wrong_type(value, at, self.noun)
        elif not _ID.fullmatch(value):
            yield Fault(
                at,
                Code.INVALID_FORMAT,
                f"{named(at)} is {quoted(value)}, which is no id.",
                f"Write {named(at)} as {self.noun}.",
            )

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema."""
        return {"type": "string", "pattern": f"^{ID_PATTERN}$"}


@dataclass(frozen=True)
class EnumShape:
    """One of a few strings."""

    values: tuple[str, ...]

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return " or ".join(quoted(value) for value in self.values)

    def check(self, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields `INVALID_ENUM` for any other value of any type, null included."""
        if not (isinstance(value, str) and value in self.values):
            found = quoted(value) if isinstance(value, str) else _type_name(value)
            yield Fault(
                at,
                Code.INVALID_ENUM,
                f"{named(at)} is {found}, which is none of its values.",
                f"Set {named(at)} to {self.noun}.",
            )

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema."""
        return {"type": "string", "enum": [*self.values]}


@dataclass(frozen=True)
class WholeShape:
    """A whole number from `least` to `most`, written `3` or `3.0` (G6)."""

    least: int
    most: int | None = None

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        ending = f" to {self.most}" if self.most is not None else " upwards"
        return f"a whole number from {self.least}{ending}"

    def check(self, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields `RANGE_INVALID` for a whole number out of range, `INVALID_TYPE` for the rest."""
        number = whole_number(value)
        if number is None:
            yield wrong_type(value, at, self.noun)
        elif number < self.least or (self.most is not None and number > self.most):
            yield Fault(
                at,
                Code.RANGE_INVALID,
                f"{named(at)} is {clip(str(number), limits.QUOTE)}, out of its range.",
                f"Set {named(at)} to {self.noun}.",
            )

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema."""
        ceiling: dict[str, JsonValue] = {} if self.most is None else {"maximum": self.most}
        return {"type": "integer", "minimum": self.least, **ceiling}


@dataclass(frozen=True)
class NumberShape:
    """Any number of a 64-bit float's range (G6)."""

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return "a number"

    def check(self, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields `INVALID_TYPE` for anything else, booleans and infinities too."""
        if finite_number(value) is None:
            yield wrong_type(value, at, self.noun)

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema."""
        return {"type": "number"}


@dataclass(frozen=True)
class BooleanShape:
    """True or false."""

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return "true or false"

    def check(self, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields `INVALID_TYPE` for anything else, `1` and `"true"` too."""
        if not isinstance(value, bool):
            yield wrong_type(value, at, self.noun)

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema."""
        return {"type": "boolean"}


@dataclass(frozen=True)
class ListShape:
    """A list of `least` to `most` items; of any size if there is no `most`.

    Of a list of any size only the first `ITEMS_LOOKED_AT` items are looked at, and it is up to the
    rules to refuse a longer one. That bound is ours, against hostile input.
    """

    item: Shape
    most: int | None
    least: int = 0

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        if self.most is None:
            return "a list"
        start = f"{self.least} to" if self.least else "at most"
        return f"a list of {start} {self.most} items"

    def check(self, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields the faults of every item; the items of too long a list are not looked at (V8)."""
        if not isinstance(value, list):
            yield wrong_type(value, at, self.noun)
            return
        if self.most is not None and len(value) > self.most:
            yield self._wrong_size(Code.TOO_MANY, "too many", len(value), at)
            return
        if len(value) < self.least:
            yield self._wrong_size(Code.TOO_FEW, "too few", len(value), at)
        for index, item in enumerate(islice(value, limits.ITEMS_LOOKED_AT)):
            yield from self.item.check(item, (*at, index))

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema."""
        floor: dict[str, JsonValue] = {"minItems": self.least} if self.least else {}
        ceiling: dict[str, JsonValue] = {} if self.most is None else {"maxItems": self.most}
        return {"type": "array", "items": self.item.schema(), **floor, **ceiling}

    def _wrong_size(self, code: Code, fault: str, size: int, at: Path) -> Fault:
        return Fault(
            at,
            code,
            f"{named(at)} has {size} items, which is {fault}.",
            f"Send {named(at)} as {self.noun}.",
        )


def too_long(text: str, at: Path, most: int) -> Fault:
    """Returns the fault of a string of more than `most` units."""
    return Fault(
        at,
        Code.TOO_LONG,
        f"{named(at)} has {units(text)} UTF-16 units, too many: {quoted(text)}.",
        f"Shorten {named(at)} to {most} units; an emoji counts as two or more.",
    )


def wrong_type(value: JsonValue, at: Path, noun: str) -> Fault:
    """Returns the fault of a value of another JSON type, null included (G7)."""
    return Fault(
        at,
        Code.INVALID_TYPE,
        f"{named(at) if at else 'The value itself'} is {_type_name(value)}, a wrong type.",
        f"Send {named(at)} as {noun}.",
    )


def _type_name(value: JsonValue) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case dict():
            return "an object"

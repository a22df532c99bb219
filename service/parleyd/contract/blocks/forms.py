"""What a single value of a document may look like: its check and its JSON Schema (spec blocks 4).

The check of a form reports every fault and never raises. Lengths are in UTF-16 code units, which
texts for the model call characters. Lists and mappings are in `records.py`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from pydantic import JsonValue

from parleyd.contract.blocks.faults import either, not_among, too_long, too_short, wrong_type
from parleyd.contract.blocks.issues import BlockCode, Issue
from parleyd.contract.field_errors import Path, named, quoted
from parleyd.contract.json import finite_number, whole_number
from parleyd.contract.text import is_blank, units


class Form(Protocol):
    """The form of a value."""

    @property
    def noun(self) -> str:
        """Says what such a value is, as an error's text puts it after "as"."""
        ...

    def check(self, value: JsonValue, at: Path) -> Iterator[Issue]:
        """Yields every fault of a value that sits at `at`."""
        ...

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema, draft 7."""
        ...


@dataclass(frozen=True)
class TextForm:
    """A text that a person sees: not blank, of at most `most` units."""

    most: int

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return f"a text of 1 to {self.most} characters"

    def check(self, value: JsonValue, at: Path) -> Iterator[Issue]:
        """Yields `TOO_SHORT` for a blank text and `TOO_LONG` for a long one; both can apply."""
        if not isinstance(value, str):
            yield wrong_type(value, at, self.noun)
            return
        if is_blank(value):
            yield too_short(at, self.noun)
        if _exceeds(value, self.most):
            yield too_long(value, at, self.most)

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema, which takes blank texts and counts code points."""
        return {"type": "string", "minLength": 1, "maxLength": self.most}


@dataclass(frozen=True)
class StringForm:
    """A string that is not empty but may be blank, of at most `most` units where that is given."""

    most: int | None = None

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return "a string that is not empty" + (
            f" and has at most {self.most} characters" if self.most is not None else ""
        )

    def check(self, value: JsonValue, at: Path) -> Iterator[Issue]:
        """Yields `TOO_SHORT` for the empty string and `TOO_LONG` for a long one."""
        if not isinstance(value, str):
            yield wrong_type(value, at, self.noun)
        elif not value:
            yield too_short(at, self.noun)
        elif self.most is not None and _exceeds(value, self.most):
            yield too_long(value, at, self.most)

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema, which counts code points."""
        ceiling: dict[str, JsonValue] = {} if self.most is None else {"maxLength": self.most}
        return {"type": "string", "minLength": 1, **ceiling}


@dataclass(frozen=True)
class PatternForm:
    """A string that matches `pattern` as a whole; `says` describes it."""

    pattern: str
    says: str

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return self.says

    def matches(self, text: str) -> bool:
        """Tells whether a string has this form."""
        return self._compiled.fullmatch(text) is not None

    def check(self, value: JsonValue, at: Path) -> Iterator[Issue]:
        """Yields `INVALID_FORMAT` for any other string, the empty one too."""
        if not isinstance(value, str):
            yield wrong_type(value, at, self.noun)
        elif not self.matches(value):
            yield Issue(
                at,
                BlockCode.INVALID_FORMAT,
                f"{named(at)} is {quoted(value)}, which has a wrong form.",
                f"Write {named(at)} as {self.noun}.",
            )

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema."""
        return {"type": "string", "pattern": f"^{self.pattern}$"}

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)


@dataclass(frozen=True)
class EnumForm:
    """One of a few strings."""

    values: tuple[str, ...]

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return either(self.values)

    def check(self, value: JsonValue, at: Path) -> Iterator[Issue]:
        """Yields `INVALID_ENUM` for any other value of any type, null included."""
        if not (isinstance(value, str) and value in self.values):
            yield not_among(value, at, self.values)

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema; a single value is a constant."""
        if len(self.values) == 1:
            return {"const": self.values[0]}
        return {"enum": [*self.values]}


@dataclass(frozen=True)
class FlagForm:
    """True or false."""

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return "true or false"

    def check(self, value: JsonValue, at: Path) -> Iterator[Issue]:
        """Yields `INVALID_TYPE` for anything else, `1` and `"true"` too."""
        if not isinstance(value, bool):
            yield wrong_type(value, at, self.noun)

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema."""
        return {"type": "boolean"}


@dataclass(frozen=True)
class NumberForm:
    """A number of a 64-bit float's range."""

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return "a finite number"

    def check(self, value: JsonValue, at: Path) -> Iterator[Issue]:
        """Yields `INVALID_TYPE` for anything else, booleans and infinities too."""
        if finite_number(value) is None:
            yield wrong_type(value, at, self.noun)

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema."""
        return {"type": "number"}


@dataclass(frozen=True)
class CountForm:
    """A whole number of at least 1, written `5` or `5.0`.

    An error advises at most `advised`, which is not checked here.
    """

    advised: int

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return f"a whole number from 1 to {self.advised}"

    def check(self, value: JsonValue, at: Path) -> Iterator[Issue]:
        """Yields `INVALID_TYPE` for anything else, zero and fractions too."""
        number = whole_number(value)
        if number is None or number < 1:
            yield wrong_type(value, at, self.noun)

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema."""
        return {"type": "integer", "exclusiveMinimum": 0}


@dataclass(frozen=True)
class MappingForm:
    """Any mapping; its inside is someone else's to check."""

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return "a mapping"

    def check(self, value: JsonValue, at: Path) -> Iterator[Issue]:
        """Yields `INVALID_TYPE` for anything else."""
        if not isinstance(value, dict):
            yield wrong_type(value, at, self.noun)

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema."""
        return {"type": "object"}


def _exceeds(text: str, most: int) -> bool:
    """Tells whether a text has more than `most` units; a character has at most two."""
    return 2 * len(text) > most and units(text) > most

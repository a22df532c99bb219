"""Fields that hold a string: free text, addresses, dates and times."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.asks.fields.field_type import blank, default_key, misfit, shown
from parleyd.contract.field_errors import Code, Fault, Path, named, quoted
from parleyd.contract.formats import DATE, DATETIME, EMAIL, PHONE, TIME, URL, Format
from parleyd.contract.json import JsonObject, whole_at
from parleyd.contract.records import Key
from parleyd.contract.shapes import StringShape, WholeShape, too_long
from parleyd.contract.text import is_blank, trim, units


@dataclass(frozen=True)
class DefaultStringShape:
    """Any string. What its schema says besides are rules of the field, which come later (FO5)."""

    most: int | None = None

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return "a string"

    def check(self, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields `INVALID_TYPE` for anything else."""
        return StringShape().check(value, at)

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema, with the limits of the field's rules."""
        return StringShape(1, self.most).schema()


@dataclass(frozen=True)
class TextType:
    """Free text of at most `cap` units, or of as many as the field says."""

    name: str
    cap: int

    @property
    def keys(self) -> tuple[Key, ...]:
        """Lists the bounds and the default."""
        return (
            Key("minLength", WholeShape(0, self.cap), "The fewest characters."),
            Key("maxLength", WholeShape(1, self.cap), "The most characters."),
            default_key(DefaultStringShape(self.cap)),
        )

    def rules(self, field: JsonObject, at: Path) -> Iterator[Fault]:
        """Yields `RANGE_INVALID` for a minimum above the maximum (FO4)."""
        least, most = whole_at(field, "minLength"), self._most(field)
        if least is not None and least > most:
            here = (*at, "minLength")
            yield Fault(
                here,
                Code.RANGE_INVALID,
                f"{named(here)} is more than the {shown(most)} units a value has at most.",
                f"Set {named(here)} to {shown(max(most, 0))} or less, or leave it out.",
            )

    def check(self, field: JsonObject, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields `TOO_LONG` for the whole text, `TOO_SHORT` for it trimmed; both can apply."""
        if not isinstance(value, str):
            yield misfit(value, at, "a string")
            return
        most = self._most(field)
        if units(value) > most:
            yield too_long(value, at, max(most, 0))
        least = whole_at(field, "minLength") or 0
        # A character has one unit at least, so most texts need not be measured.
        if len(visible := trim(value)) < least and units(visible) < least:
            yield Fault(
                at,
                Code.TOO_SHORT,
                f"{named(at)} has {units(visible)} UTF-16 units between its outer spaces, too few.",
                f"Lengthen {named(at)} to at least {shown(least)} units.",
            )

    def check_default(self, field: JsonObject, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields as for an answer, and `TOO_SHORT` for every blank text."""
        if isinstance(value, str) and is_blank(value):
            yield blank(at, "a text")
        yield from self.check(field, value, at)

    def _most(self, field: JsonObject) -> int:
        """Returns how many units a value has at most, also if that is out of its own range."""
        most = whole_at(field, "maxLength")
        return self.cap if most is None else most


@dataclass(frozen=True)
class AddressType:
    """A string of a certain format and at most `TEXT_VALUE` units."""

    name: str
    format: Format

    @property
    def keys(self) -> tuple[Key, ...]:
        """Lists the default."""
        return (default_key(DefaultStringShape(limits.TEXT_VALUE)),)

    def rules(self, _field: JsonObject, _at: Path) -> Iterator[Fault]:
        """Yields nothing."""
        return iter(())

    def check(self, _field: JsonObject, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields `TOO_LONG`, or `FIELD_TYPE_MISMATCH` for another format."""
        if not isinstance(value, str):
            yield misfit(value, at, "a string")
        elif units(value) > limits.TEXT_VALUE:
            yield too_long(value, at, limits.TEXT_VALUE)
        elif not self.format.fits(value):
            yield _unformatted(Code.FIELD_TYPE_MISMATCH, value, at, self.format)

    def check_default(self, field: JsonObject, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields as for an answer, but `TOO_SHORT` for a blank string, which may be too long too.

        A blank string is measured as every text is (G4); its format is not looked at.
        """
        if isinstance(value, str) and is_blank(value):
            yield blank(at, self.format.noun)
            if units(value) > limits.TEXT_VALUE:
                yield too_long(value, at, limits.TEXT_VALUE)
        else:
            yield from self.check(field, value, at)


@dataclass(frozen=True)
class DateType:
    """A date, a time of day, or both."""

    name: str
    format: Format

    @property
    def keys(self) -> tuple[Key, ...]:
        """Lists the default."""
        return (default_key(DefaultStringShape()),)

    def rules(self, _field: JsonObject, _at: Path) -> Iterator[Fault]:
        """Yields nothing."""
        return iter(())

    def check(self, _field: JsonObject, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields `INVALID_DATE` for any string of another format."""
        if not isinstance(value, str):
            yield misfit(value, at, "a string")
        elif not self.format.fits(value):
            yield _unformatted(Code.INVALID_DATE, value, at, self.format)

    def check_default(self, field: JsonObject, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields as for an answer."""
        return self.check(field, value, at)


def _unformatted(code: Code, value: str, at: Path, due: Format) -> Fault:
    return Fault(
        at,
        code,
        f"{named(at)} is {quoted(value)}, which is not {due.noun}.",
        f"Write {named(at)} as {due.noun}, such as {due.example}.",
    )


TEXT: Final = TextType("text", limits.TEXT_VALUE)
TEXTAREA: Final = TextType("textarea", limits.TEXTAREA_VALUE)
EMAIL_FIELD: Final = AddressType("email", EMAIL)
URL_FIELD: Final = AddressType("url", URL)
PHONE_FIELD: Final = AddressType("phone", PHONE)
DATE_FIELD: Final = DateType("date", DATE)
TIME_FIELD: Final = DateType("time", TIME)
DATETIME_FIELD: Final = DateType("datetime", DATETIME)

"""Fields that hold a number, or yes or no."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from parleyd.contract.asks.fields.field_type import default_key, misfit, shown
from parleyd.contract.field_errors import Code, Fault, Path, named
from parleyd.contract.json import JsonObject, finite_number, flag_at, number_at, whole_number
from parleyd.contract.records import Key
from parleyd.contract.shapes import BooleanShape, NumberShape


@dataclass(frozen=True)
class NumberType:
    """A number, if wanted whole and within bounds."""

    name: str = "number"
    keys: tuple[Key, ...] = (
        Key("min", NumberShape(), "The least number."),
        Key("max", NumberShape(), "The greatest number."),
        Key("integer", BooleanShape(), "Whether the number must be whole; false when absent."),
        default_key(NumberShape()),
    )

    def rules(self, field: JsonObject, at: Path) -> Iterator[Fault]:
        """Yields `RANGE_INVALID` for a minimum above the maximum (FO4)."""
        least, most = number_at(field, "min"), number_at(field, "max")
        if least is not None and most is not None and least > most:
            here = (*at, "min")
            yield Fault(
                here,
                Code.RANGE_INVALID,
                f"{named(here)} is {shown(least)}, more than the `max` of {shown(most)}.",
                f"Set {named(here)} to {shown(most)} or less, or leave it out.",
            )

    def check(self, field: JsonObject, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields `FIELD_TYPE_MISMATCH` for a fraction that must be whole, then `OUT_OF_RANGE`."""
        number = finite_number(value)
        if number is None:
            yield misfit(value, at, "a number")
            return
        if flag_at(field, "integer") is True and whole_number(value) is None:
            yield Fault(
                at,
                Code.FIELD_TYPE_MISMATCH,
                f"{named(at)} is {shown(number)}, which is not whole.",
                f"Set {named(at)} to a whole number.",
            )
            return
        least, most = number_at(field, "min"), number_at(field, "max")
        if (least is not None and number < least) or (most is not None and number > most):
            yield Fault(
                at,
                Code.OUT_OF_RANGE,
                f"{named(at)} is {shown(number)}, out of its range.",
                f"Set {named(at)} to a number{_range(least, most)}.",
            )

    def check_default(self, field: JsonObject, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields as for an answer."""
        return self.check(field, value, at)


@dataclass(frozen=True)
class BooleanType:
    """Yes or no. `false` is an answer."""

    name: str = "boolean"
    keys: tuple[Key, ...] = (default_key(BooleanShape()),)

    def rules(self, _field: JsonObject, _at: Path) -> Iterator[Fault]:
        """Yields nothing."""
        return iter(())

    def check(self, _field: JsonObject, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields `FIELD_TYPE_MISMATCH` for anything but true and false."""
        if not isinstance(value, bool):
            yield misfit(value, at, "true or false")

    def check_default(self, field: JsonObject, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields nothing: both booleans fit."""
        return self.check(field, value, at)


def _range(least: float | None, most: float | None) -> str:
    start = "" if least is None else f" from {shown(least)}"
    return start if most is None else f"{start} up to {shown(most)}"


NUMBER: Final = NumberType()
BOOLEAN: Final = BooleanType()

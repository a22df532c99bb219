"""What makes a type of field."""

from collections.abc import Iterator
from typing import Protocol

from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.field_errors import Code, Fault, Path, named
from parleyd.contract.json import JsonObject
from parleyd.contract.records import Key
from parleyd.contract.shapes import Shape, wrong_type
from parleyd.contract.text import clip


class FieldType(Protocol):
    """A type of field: its own keys, and the values it takes.

    What the methods get as a field is one of this type, free of blocking faults, as sent.
    """

    @property
    def name(self) -> str:
        """Names the type in the field's `type`."""
        ...

    @property
    def keys(self) -> tuple[Key, ...]:
        """Lists the keys that not every field has, and `default`."""
        ...

    def rules(self, field: JsonObject, at: Path, /) -> Iterator[Fault]:
        """Yields what is wrong between the keys of the field at `at` (FO3, FO4)."""
        ...

    def check(self, field: JsonObject, value: JsonValue, at: Path, /) -> Iterator[Fault]:
        """Yields what is wrong with a value that answers the field (FO6).

        The value is any JSON but blank (FO7).
        """
        ...

    def check_default(self, field: JsonObject, value: JsonValue, at: Path, /) -> Iterator[Fault]:
        """Yields what is wrong with a value that fills in the field beforehand (FO5).

        The value has the type that the default's shape asks for, and may be blank.
        """
        ...


def default_key(shape: Shape) -> Key:
    """Returns the key that holds the default of a field."""
    return Key("default", shape, "What is filled in beforehand; a value the field accepts.")


def misfit(value: JsonValue, at: Path, noun: str) -> Fault:
    """Returns the fault of an answer that is of a wrong JSON type, null included (FO6, G7)."""
    return wrong_type(value, at, noun)._replace(code=Code.FIELD_TYPE_MISMATCH)


def blank(at: Path, noun: str) -> Fault:
    """Returns the fault of a default without a visible character (FO5)."""
    return Fault(
        at,
        Code.TOO_SHORT,
        f"{named(at)} has no visible character.",
        f"Write {noun} into {named(at)}, or leave it out.",
    )


def shown(number: float) -> str:
    """Returns a number as an error's text shows it."""
    return clip(str(number), limits.QUOTE)

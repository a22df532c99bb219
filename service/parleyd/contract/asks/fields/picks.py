"""Fields that hold picks from a list: of one option, or of several."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.asks.fields.field_type import default_key, misfit
from parleyd.contract.asks.repeats import repeats
from parleyd.contract.field_errors import Code, Fault, Path, listed, named, quoted
from parleyd.contract.json import JsonObject, objects_at, string_at
from parleyd.contract.records import Key, RecordShape
from parleyd.contract.shapes import IdShape, ListShape, StringShape, TextShape, wrong_type

_OPTION = RecordShape(
    (
        Key("id", IdShape(), "Names the option in the answer; unique.", required=True),
        Key("label", TextShape(limits.OPTION_LABEL), "What the person picks.", required=True),
    )
)
_OPTIONS = Key(
    "options",
    ListShape(_OPTION, limits.OPTIONS_MAX, limits.OPTIONS_MIN),
    "What the person picks from, in the order to show it.",
    required=True,
)


_PICKS = ListShape(StringShape(), limits.OPTIONS_MAX)


@dataclass(frozen=True)
class DefaultPicksShape:
    """A list of strings. How many there may be is a rule of the field, which comes later (FO5)."""

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return "a list of ids of options"

    def check(self, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields `INVALID_TYPE` for anything else, at an item where it is one.

        The items of too long a list are not looked at (V8).
        """
        if not isinstance(value, list):
            yield wrong_type(value, at, self.noun)
        elif len(value) <= limits.OPTIONS_MAX:
            yield from _PICKS.check(value, at)

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema, with the limit of the field's rules."""
        return _PICKS.schema()


@dataclass(frozen=True)
class SelectType:
    """A pick of one option."""

    name: str = "select"
    keys: tuple[Key, ...] = (_OPTIONS, default_key(StringShape()))

    def rules(self, field: JsonObject, at: Path) -> Iterator[Fault]:
        """Yields `DUPLICATE_ID` for every option with the id of one before (FO3)."""
        return _repeated_options(field, at)

    def check(self, field: JsonObject, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields `OPTION_NOT_OFFERED` for a string that is no option's id."""
        ids = _ids(field)
        if not isinstance(value, str):
            yield misfit(value, at, "the id of an option")
        elif value not in ids:
            yield _not_offered(value, at, ids)

    def check_default(self, field: JsonObject, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields as for an answer, but `DEFAULT_NOT_IN_OPTIONS`."""
        return map(_of_a_default, self.check(field, value, at))


@dataclass(frozen=True)
class MultiselectType:
    """Picks of several options."""

    name: str = "multiselect"
    keys: tuple[Key, ...] = (_OPTIONS, default_key(DefaultPicksShape()))

    def rules(self, field: JsonObject, at: Path) -> Iterator[Fault]:
        """Yields `DUPLICATE_ID` for every option with the id of one before (FO3)."""
        return _repeated_options(field, at)

    def check(self, field: JsonObject, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields `TOO_MANY`, or what is wrong with each pick: a repeat, or no option's id."""
        picks = [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
        if not isinstance(value, list) or len(picks) < len(value):
            yield misfit(value, at, "a list of ids of options")
        elif len(picks) > limits.OPTIONS_MAX:
            yield _too_many(len(picks), at)
        else:
            yield from _check_picks(field, picks, at)

    def check_default(self, field: JsonObject, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields as for an answer, but `DEFAULT_NOT_IN_OPTIONS`.

        Of too long a list nobody has looked at the items, so that alone is told.
        """
        if isinstance(value, list) and len(value) > limits.OPTIONS_MAX:
            yield _too_many(len(value), at)
        else:
            yield from map(_of_a_default, self.check(field, value, at))


def _ids(field: JsonObject) -> tuple[str, ...]:
    return tuple([string_at(option, "id") or "" for option in objects_at(field, "options")])


def _repeated_options(field: JsonObject, at: Path) -> Iterator[Fault]:
    ids = _ids(field)
    for index in repeats(ids):
        option = (*at, "options", index)
        here = (*option, "id")
        yield Fault(
            here,
            Code.DUPLICATE_ID,
            f"{named(here)} is {quoted(ids[index])}, like an option before it.",
            f"Give {named(option)} an id of its own.",
        )


def _check_picks(field: JsonObject, picks: Sequence[str], at: Path) -> Iterator[Fault]:
    ids = _ids(field)
    repeated = frozenset(repeats(picks))
    offered = frozenset(ids)
    for index, picked in enumerate(picks):
        here = (*at, index)
        if index in repeated:
            yield Fault(
                here,
                Code.DUPLICATE_ID,
                f"{named(here)} is {quoted(picked)} once more.",
                f"Remove {named(here)}.",
            )
        elif picked not in offered:
            yield _not_offered(picked, here, ids)


def _not_offered(picked: str, at: Path, ids: Sequence[str]) -> Fault:
    return Fault(
        at,
        Code.OPTION_NOT_OFFERED,
        f"{named(at)} is {quoted(picked)}, which is the id of no option.",
        f"Set {named(at)} to one of {listed(ids)}.",
    )


def _of_a_default(fault: Fault) -> Fault:
    """Returns a fault of an answer as a default has it (FO5)."""
    if fault.code != Code.OPTION_NOT_OFFERED:
        return fault
    return fault._replace(code=Code.DEFAULT_NOT_IN_OPTIONS)


def _too_many(size: int, at: Path) -> Fault:
    return Fault(
        at,
        Code.TOO_MANY,
        f"{named(at)} has {size} items, which is too many.",
        f"Send {named(at)} as {_PICKS.noun}.",
    )


SELECT: Final = SelectType()
MULTISELECT: Final = MultiselectType()

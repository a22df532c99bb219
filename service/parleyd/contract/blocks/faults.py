"""How the faults that many rules share are told: what is wrong, and what would mend it."""

from collections.abc import Iterable

from pydantic import JsonValue

from parleyd.contract.blocks.issues import BlockCode, Issue
from parleyd.contract.field_errors import Path, named, quoted
from parleyd.contract.text import units


def wrong_type(value: JsonValue, at: Path, noun: str) -> Issue:
    """Returns the fault of a value of another type than `noun` says, null included."""
    place = here(at)
    hint = ""
    if isinstance(value, bool | int | float) and noun.startswith(("a text", "a string")):
        hint = ", in quotes"
    return Issue(
        at,
        BlockCode.INVALID_TYPE,
        f"{place} is {described(value)}, which is a wrong value here.",
        f"Write {place} as {noun}{hint}.",
    )


def missing(at: Path, noun: str) -> Issue:
    """Returns the fault of a required field that is absent."""
    return Issue(
        at, BlockCode.MISSING_REQUIRED, f"{named(at)} is missing.", f"Add {named(at)}: {noun}."
    )


def unknown_key(at: Path, known: Iterable[str]) -> Issue:
    """Returns the fault of a key that no rule names; `known` are those that may stand there."""
    return Issue(
        at,
        BlockCode.UNKNOWN_KEY,
        f"{named(at)} is a key that does not exist here.",
        f"Remove {named(at)}; the keys here are {ticked(known)}.",
    )


def not_among(value: JsonValue, at: Path, values: Iterable[str]) -> Issue:
    """Returns the fault of a value outside a closed list."""
    found = quoted(value) if isinstance(value, str) else described(value)
    return Issue(
        at,
        BlockCode.INVALID_ENUM,
        f"{named(at)} is {found}, which is no value that it may have.",
        f"Set {named(at)} to {either(values)}.",
    )


def none_given(at: Path, values: Iterable[str]) -> Issue:
    """Returns the fault of an absent field that has a closed list of values."""
    return Issue(
        at,
        BlockCode.INVALID_ENUM,
        f"{named(at)} is missing.",
        f"Set {named(at)} to {either(values)}.",
    )


def too_short(at: Path, noun: str) -> Issue:
    """Returns the fault of a string that is empty, or blank where something must be visible."""
    return Issue(
        at,
        BlockCode.TOO_SHORT,
        f"{named(at)} has no visible character.",
        f"Write {noun} into {named(at)}.",
    )


def too_long(text: str, at: Path, most: int) -> Issue:
    """Returns the fault of a string of more than `most` units."""
    return Issue(
        at,
        BlockCode.TOO_LONG,
        f"{named(at)} has {units(text)} characters, too many: {quoted(text)}.",
        f"Shorten {named(at)} to at most {most} characters, of which an emoji counts as two.",
    )


def wrong_size(size: int, at: Path, code: BlockCode, noun: str) -> Issue:
    """Returns the fault of a list with too few or too many items."""
    return Issue(
        at,
        code,
        f"{named(at)} has {size} {'item' if size == 1 else 'items'}, "
        f"which is {'too few' if code is BlockCode.TOO_FEW else 'too many'}.",
        f"Make {named(at)} {noun}.",
    )


def here(at: Path) -> str:
    """Returns a path as a text names it; of the root, that it is the document."""
    return named(at) if at else "the document"


def either(values: Iterable[str]) -> str:
    """Returns the values of a closed list as an error's text names them, all of them."""
    shown = [f"`{value}`" for value in values]
    return " or ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def ticked(values: Iterable[str]) -> str:
    """Returns names as an error's text lists them, all of them."""
    return ", ".join(f"`{value}`" for value in values)


def described(value: JsonValue) -> str:
    """Returns what kind of value this is, in the words of YAML."""
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
            return "a mapping"

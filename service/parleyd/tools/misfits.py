"""Arguments that don't fit a tool, told to the model for it to mend them (spec turns 3.4.3)."""

import json
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.field_errors import Path, named
from parleyd.contract.field_errors import quoted as quoted_text
from parleyd.contract.json import nests_deeper, storable_json, whole_number
from parleyd.contract.text import clip, storable

MESSAGE: Final = 300
"""UTF-16 units of a validator's own words about one fault; some repeat what they were given."""
EXACT: Final = 2**53
"""Up to here a float that is whole is the number that was written."""


class Misfit(Exception):
    """Arguments that don't fit. The text goes to the model.

    `more` faults there are beside those told; of many told the first alone are.
    """

    def __init__(self, faults: Sequence[str], more: int = 0) -> None:
        lines = [f"- {fault}" for fault in faults[: limits.FAULTS_TOLD]]
        if more := more + len(faults) - len(lines):
            lines.append(f"- There are {more} more.")
        heading = (
            "The tool did not run: its arguments are wrong. Mend each fault and call it again."
        )
        super().__init__("\n".join([heading, *lines]))


def arguments_of(args: JsonValue) -> dict[str, JsonValue]:
    """Returns arguments in the form in which they are checked and handed on.

    It is the storable form, with `3.0` as `3`: some models write whole numbers so.

    Raises:
        Misfit: They are no object, or nested too deep.
    """
    if nests_deeper(args, limits.CALL_LEVELS):
        raise Misfit([f"The arguments have more than {limits.CALL_LEVELS} levels. Send fewer."])
    if not isinstance(args, dict):
        raise Misfit([f"The arguments are {shown(args)}. Send them as an object."])
    arguments = _with_whole_numbers(storable_json(args))
    assert isinstance(arguments, dict)
    return arguments


def missing(at: Path) -> str:
    """Returns the fault of a value that is not there."""
    return f"{named(at)} is missing. Send it."


def unknown(at: Path, known: Sequence[str]) -> str:
    """Returns the fault of a key that nobody knows; `known` are those of its object."""
    near = get_close_matches(clip(str(at[-1]), limits.ID), known, n=1)
    instead = f", or write {named((*at[:-1], near[0]))}" if near else ""
    return f"{named(at)} is not known. Leave it out{instead}."


def wrong(at: Path, message: str, value: object) -> str:
    """Returns the fault of a value, in a validator's words."""
    sentence = clip(storable(message), MESSAGE).rstrip(".")
    return f"{named(at)}: {sentence}. It is {shown(value)}."


def shown(value: object) -> str:
    """Returns a value as the text of a fault shows it: a plain one quoted, of others the type."""
    match value:
        case str():
            return quoted_text(value)
        case None | bool() | int() | float():
            return clip(json.dumps(value), limits.QUOTE)
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return "another value"


def _with_whole_numbers(value: JsonValue) -> JsonValue:
    match value:
        case list():
            return [_with_whole_numbers(item) for item in value]
        case dict():
            return {key: _with_whole_numbers(item) for key, item in value.items()}
        case float() if abs(value) <= EXACT and (whole := whole_number(value)) is not None:
            return whole
        case _:
            return value

"""Cases: an ask, an answer to one, or an ask whose card is wanted, as JSON (spec asks 17)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, Literal, TypeAlias, TypeVar, get_args

from pydantic import JsonValue

from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import ASK_KINDS
from parleyd.contract.field_errors import listed
from parleyd.contract.json import JsonObject
from parleyd.contract.json_text import is_json
from parleyd.contract.surfaces import Surface
from parleyd.contract.text import without_surrogates

Operation: TypeAlias = Literal["ask", "answer", "card"]

_Word = TypeVar("_Word", bound=str)

_OPERATIONS: Final[tuple[Operation, ...]] = get_args(Operation)
_SURFACES: Final[tuple[Surface, ...]] = get_args(Surface)
_DIGITS_MAX: Final = 309
"""A whole number of more digits is out of a 64-bit float's range (G6)."""


class UnreadableCase(Exception):
    """Where a case should be there is none that can be decided. The text says why, in sentences."""


@dataclass(frozen=True)
class Case:
    """What is to be checked or shown. Only an answer has a `response`."""

    name: str
    op: Operation
    kind: AskKind
    surface: Surface
    input: JsonValue
    response: JsonValue = None


def texts_in(data: bytes) -> list[tuple[str, str]]:
    """Returns the text of every case of a file, with where it stands: empty, or `, line 3`.

    A file holds one case, over as many lines as it likes, or one on each line; blank lines don't
    count. It is read line by line if it is no JSON as a whole, but one of its lines is, and begins
    with an object in the first column.

    Raises:
        UnreadableCase: The file is no UTF-8.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableCase("This is no UTF-8.") from error
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) > 1 and not is_json(text) and any(_is_object(line) for _, line in lines):
        return [(f", line {number}", line) for number, line in lines]
    return [("", text)]


def read_case(text: str) -> Case:
    """Returns the case that a JSON text says; keys that no case has don't count.

    Raises:
        UnreadableCase: It is no JSON, or no case.
    """
    value = read_json(text)
    if not isinstance(value, dict):
        raise UnreadableCase("A case is an object.")
    name = value.get("name")
    if not isinstance(name, str):
        raise UnreadableCase("`name` is no string.")
    op = _word(value, "op", _OPERATIONS)
    return Case(
        name=name,
        op=op,
        kind=_word(value, "kind", ASK_KINDS),
        surface=_word({"surface": "full", **value}, "surface", _SURFACES),
        input=_part(value, "input"),
        response=_part(value, "response") if op == "answer" else None,
    )


def read_json(text: str) -> JsonValue:
    """Returns what a JSON text says (RFC 8259), with U+FFFD for unpaired surrogates (spec asks W2).

    A whole number out of a 64-bit float's range may come back as an infinity, which is no number
    either. Of keys that repeat in an object the last counts.

    Raises:
        UnreadableCase: It is no JSON, or it is nested some hundreds of levels deep.
    """
    if not text.strip():
        raise UnreadableCase("There is nothing in it.")
    try:
        value: JsonValue = json.loads(text, parse_constant=_refuse, parse_int=_whole)
        return _sound(value)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if "\n" in text else ""
        place = f"{line}column {error.colno}"
        raise UnreadableCase(f"This is no JSON at {place}: {error.msg}.") from error
    except RecursionError as error:
        raise UnreadableCase("This is nested too deeply to be read.") from error


def _word(record: JsonObject, key: str, words: Sequence[_Word]) -> _Word:
    found = record.get(key)
    for word in words:
        if word == found:
            return word
    raise UnreadableCase(f"`{key}` is none of {listed(words)}.")


def _part(record: JsonObject, key: str) -> JsonValue:
    if key not in record:
        raise UnreadableCase(f"`{key}` is missing.")
    return record[key]


def _is_object(line: str) -> bool:
    return line.startswith("{") and is_json(line)


def _refuse(constant: str) -> None:
    raise UnreadableCase(f"{constant} is no JSON.")


def _whole(digits: str) -> int | float:
    if len(digits.removeprefix("-")) <= _DIGITS_MAX:
        return int(digits)
    return -inf if digits.startswith("-") else inf


def _sound(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return without_surrogates(value)
        case list():
            return [_sound(item) for item in value]
        case dict():
            return {without_surrogates(key): _sound(item) for key, item in value.items()}
        case _:
            return value

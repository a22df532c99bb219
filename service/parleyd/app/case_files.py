"""Files of cases: what `check` commands read, case by case, and say of each."""

import json
from collections.abc import Callable, Iterator
from math import inf
from typing import Final

import typer
from pydantic import JsonValue

from parleyd.app.sources import named, read_bytes
from parleyd.contract.json import JsonObject
from parleyd.contract.json_text import is_json
from parleyd.contract.text import without_surrogates

_DIGITS_MAX: Final = 309
"""A whole number of more digits is out of a 64-bit float's range (G6)."""


class UnreadableCase(Exception):
    """Where a case should be there is none that can be decided. The text says why, in sentences."""


def print_outcomes(files: list[str], decide: Callable[[JsonObject], JsonObject]) -> int:
    """Prints what `decide` returns for each case of the files: compact JSON in ASCII, a line each.

    What can't be read, or is no case by `decide`, is told on standard error; the others are
    printed all the same. The file `-` is standard input.

    Returns:
        The exit code: 0, or 2 if something could not be read.
    """
    code = 0
    for file in files:
        for outcome in _outcomes_in(file, decide):
            if isinstance(outcome, str):
                typer.echo(outcome)
            else:
                typer.echo(f"parleyd: {outcome}", err=True)
                code = 2
    return code


def _outcomes_in(
    file: str, decide: Callable[[JsonObject], JsonObject]
) -> Iterator[str | UnreadableCase]:
    source = named(file)
    try:
        texts = _texts_in(read_bytes(file))
    except OSError as error:
        yield UnreadableCase(f"{source}: {error.strerror}.")
        return
    except UnreadableCase as fault:
        yield UnreadableCase(f"{source}: {fault}")
        return
    for place, text in texts:
        try:
            outcome = decide(_read_object(text))
        except UnreadableCase as fault:
            yield UnreadableCase(f"{source}{place}: {fault}")
        else:
            yield json.dumps(outcome, separators=(",", ":"), allow_nan=False)


def _texts_in(data: bytes) -> list[tuple[str, str]]:
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


def _read_object(text: str) -> JsonObject:
    value = _read_json(text)
    if not isinstance(value, dict):
        raise UnreadableCase("A case is an object.")
    return value


def _read_json(text: str) -> JsonValue:
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

"""The JSON of a body, read strictly: one object, each key once (RFC 8259, I-JSON).

A body is read before anybody knows who sends it, so hostile ones must cost little: what Python's
parser takes of memory goes with the number of values, which is bounded here.
"""

import json
import re
from typing import Final, NoReturn

from pydantic import JsonValue

from parleyd.contract.errors import InvalidRequest
from parleyd.contract.field_errors import Code, quoted
from parleyd.contract.json import storable_object
from parleyd.rpc import fields

SEPARATORS: Final = {",": 1_000_000, "[": 250_000, "{": 250_000, ":": 200_000}
"""How often these may be in a body, in its texts too. A prompt may have 100,000 characters."""

_DIGITS: Final = 400
"""More than the largest double has before its point."""
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def json_object(data: bytes) -> dict[str, JsonValue]:
    """Returns the object that a body holds; an empty body holds an empty one.

    Unpaired surrogates, which protobuf can't carry, become U+FFFD. What the server does not store
    either is replaced with them.

    Raises:
        InvalidRequest: It is no JSON object in UTF-8, or has a key twice, or too many values.
    """
    if not data.strip():
        return {}
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise _refused(
            Code.INVALID_FORMAT,
            f"The body is no UTF-8: byte {error.start} does not fit.",
            "Send JSON encoded as UTF-8.",
        ) from error
    for separator, most in SEPARATORS.items():
        if text.count(separator) > most:
            raise _refused(
                Code.TOO_MANY,
                f"The body has {quoted(separator)} more than {most} times.",
                "Send fewer values.",
            )
    value = _value(text)
    if not isinstance(value, dict):
        raise _refused(
            Code.INVALID_TYPE, "The body is JSON, but no object.", "Send an object: `{…}`."
        )
    return storable_object(value) if _SURROGATE.search(text) else value


class _RepeatedKeyError(Exception):
    def __init__(self, key: str) -> None:
        self.key = key


def _value(text: str) -> JsonValue:
    try:
        return json.loads(
            text, object_pairs_hook=_once, parse_constant=_no_constant, parse_int=_whole
        )
    except _RepeatedKeyError as error:
        raise _refused(
            Code.DUPLICATE_ID,
            f"An object of the body has the key {quoted(error.key)} twice.",
            "Send every key once.",
        ) from error
    except RecursionError as error:
        raise _refused(
            Code.INVALID_FORMAT, "The body is nested too deep.", "Send at most 100 levels."
        ) from error
    except json.JSONDecodeError as error:
        raise _refused(
            Code.INVALID_FORMAT,
            f"The body is no JSON: line {error.lineno}, column {error.colno}: {error.msg}.",
            "Send a JSON object.",
        ) from error
    except ValueError as error:
        raise _refused(Code.INVALID_FORMAT, f"The body is no JSON: {error}.", "Mend it.") from error


def _once(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _RepeatedKeyError(key)
            seen.add(key)
    return entries


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise ValueError("a number has too many digits")
    return int(digits)


def _refused(code: Code, message: str, fix: str) -> InvalidRequest:
    return fields.malformed(InvalidRequest, "", code, message, fix)

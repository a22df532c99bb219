"""What unquoted YAML means: the core schema of YAML 1.2 alone (spec blocks 2.3)."""

import re
from math import inf, isfinite, nan
from typing import Final

from pydantic import JsonValue

DIGITS: Final = 4300
"""Of a whole number that is read as one.

Python writes and reads no longer number in decimal, for that takes quadratic time; a longer one is
infinite, as every number is that no float can reach.
"""

_WORDS: Final[dict[str, bool | float | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), nan),
}
_NUMBER_STARTS: Final = frozenset("+-.0123456789")
_WHOLE: Final = re.compile(r"[-+]?[0-9]+")
_OCTAL: Final = re.compile(r"0o([0-7]+)")
_HEXADECIMAL: Final = re.compile(r"0x([0-9a-fA-F]+)")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_MOST: Final = 10**DIGITS


def resolved(plain: str) -> bool | int | float | str | None:
    """Returns the value of a plain scalar; what is no null, boolean or number is a string."""
    if plain in _WORDS:
        return _WORDS[plain]
    if plain[0] not in _NUMBER_STARTS:
        return plain
    if _WHOLE.fullmatch(plain):
        return whole(plain)
    if octal := _OCTAL.fullmatch(plain):
        return _bounded(int(octal[1], 8))
    if hexadecimal := _HEXADECIMAL.fullmatch(plain):
        return _bounded(int(hexadecimal[1], 16))
    return float(plain) if _FLOAT.fullmatch(plain) else plain


def whole(decimal: str) -> int | float:
    """Returns a whole number written with decimal digits and perhaps a sign."""
    digits = decimal.lstrip("+-").lstrip("0")
    negative = decimal.startswith("-")
    if len(digits) > DIGITS:
        return -inf if negative else inf
    number = int(digits or "0")
    return -number if negative else number


def key_text(key: JsonValue) -> str:
    """Returns the string that a key is, of whatever type it was written (2.3)."""
    match key:
        case str():
            return key
        case None:
            return ""
        case bool():
            return "true" if key else "false"
        case int():
            return str(key)
        case float():
            return _float_text(key)
        case list():
            return f"[ {', '.join([key_text(item) for item in key])} ]"
        case dict():
            pairs = [f"{name}: {key_text(item)}" for name, item in key.items()]
            return f"{{ {', '.join(pairs)} }}"


def _float_text(number: float) -> str:
    if not isfinite(number):
        return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"
    return str(int(number)) if number.is_integer() and abs(number) < 1e21 else repr(number)


def _bounded(number: int) -> int | float:
    return number if number < _MOST else inf

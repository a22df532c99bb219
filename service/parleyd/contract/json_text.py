"""Whether a text is JSON (RFC 8259)."""

import re
from typing import Final

LEVELS: Final = 500
"""How deep arrays and objects may be nested that hold others; what is deeper counts as no JSON."""

_SPACE: Final = r"[ \t\n\r]*+"
_PLAIN: Final = r'[^"\\\x00-\x1f]*+'
_ESCAPED: Final = rf'(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{{4}}){_PLAIN}){{0,5000}}+'
_STRING: Final = rf'"{_PLAIN}{_ESCAPED}"'
_NUMBER: Final = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+"
_SCALAR: Final = rf"(?:{_STRING}|{_NUMBER}|true|false|null)"
_KEY: Final = rf"{_STRING}{_SPACE}:{_SPACE}"


def _several(item: str, most: int) -> str:
    return rf"(?:{_SPACE}{item}{_SPACE}(?:,{_SPACE}{item}{_SPACE}){{0,{most}}}+)"


# Most values are flat: they go by many in one step, but for large ones. A step is short: meanwhile
# no other thread runs.
_FLAT: Final = (
    rf"(?:{_SCALAR}|\[(?:{_several(_SCALAR, 50)}|{_SPACE})\]"
    rf"|\{{(?:{_several(_KEY + _SCALAR, 50)}|{_SPACE})\}})"
)
_VALUE = re.compile(_SPACE + _FLAT)
_ITEMS = re.compile(rf"(?:{_SPACE}{_FLAT}{_SPACE},){{0,1000}}+")
_MEMBERS = re.compile(rf"(?:{_SPACE}{_KEY}{_FLAT}{_SPACE},){{0,1000}}+")
_NAME = re.compile(_SPACE + _KEY)
_STRING_BEGIN = re.compile(_SPACE + '"' + _PLAIN)
_STRING_MORE = re.compile(_ESCAPED)
_COLON = re.compile(_SPACE + ":")
_OPENINGS = re.compile(rf"(?:{_SPACE}\[(?={_SPACE}\[)){{1,{LEVELS}}}+")
"""Of arrays whose first item is an array."""
_OPENING = re.compile(rf"{_SPACE}([\[{{])")
_CLOSINGS = re.compile(rf"(?:{_SPACE}[\]}}]){{1,{LEVELS}}}+")
_COMMA = re.compile(_SPACE + ",")
_END = re.compile(_SPACE)
_CLOSED_BY: Final = {"[": "]", "{": "}"}


def is_json(text: str) -> bool:
    """Tells whether `text` is exactly one JSON value, of any type.

    Nothing of it is built: Python's parser, which would, takes thirty times the memory of a hostile
    text, and stops all threads of the process for seconds. Here others run every few milliseconds.
    """
    closers = ""
    at: int | None = 0
    while at is not None:
        if closers:
            at = _before_the_last(text, at, closers[-1])
            if closers[-1] == "}" and (at := _end_of_name(text, at)) is None:
                return False
        if openings := _OPENINGS.match(text, at):
            closers += "]" * openings[0].count("[")
            at = openings.end()
        if len(closers) > LEVELS:
            return False
        if value := _VALUE.match(text, at):
            at = value.end()
        elif opening := _OPENING.match(text, at):
            closers += _CLOSED_BY[opening[1]]
            at = opening.end()
            continue
        elif (at := _end_of_string(text, at)) is None:
            return False
        if closings := _CLOSINGS.match(text, at):
            closed = "".join(closings[0].split())
            if not closers.endswith(closed[::-1]):
                return False
            closers, at = closers[: -len(closed)], closings.end()
        if not closers:
            return _END.fullmatch(text, at) is not None
        comma = _COMMA.match(text, at)
        at = comma.end() if comma else None
    return False


def _before_the_last(text: str, at: int, closer: str) -> int:
    """Returns where the flat values end that stand before another one, in an array or object."""
    run = _MEMBERS if closer == "}" else _ITEMS
    while (found := run.match(text, at)) and found.end() > at:
        at = found.end()
    return at


def _end_of_name(text: str, at: int) -> int | None:
    """Returns where the name of a member ends that begins here, and its colon, or None."""
    if name := _NAME.match(text, at):
        return name.end()
    end = _end_of_string(text, at)
    colon = None if end is None else _COLON.match(text, end)
    return colon.end() if colon else None


def _end_of_string(text: str, at: int) -> int | None:
    """Returns where a string of any length ends that begins here, or None."""
    if (begin := _STRING_BEGIN.match(text, at)) is None:
        return None
    end = begin.end()
    while (more := _STRING_MORE.match(text, end)) and more.end() > end:
        end = more.end()
    return end + 1 if text.startswith('"', end) else None

"""Text as a terminal may be given it."""

import re
from typing import Final

from parleyd.contract.guards import hides_something

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_BLANK: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0000-\U000e0fff]"
)
"""Characters that leave no mark, though Unicode counts them among the letters, marks or symbols."""
_ESCAPED_UP_TO: Final = 0xFFFF
"""A longer code has braces around it, as JSON has no escape for it."""


def printable(text: str) -> str:
    """Returns `text` without what could steer the terminal or turn the reading direction.

    What agents and services write is not trusted with the screen.
    """
    return _UNPRINTABLE.sub("", text)


def in_a_line(text: str) -> str:
    """Returns `text`, printable, in a single line: for what stands in a frame or beside others."""
    return " ".join(printable(text).split())


def visible(text: str) -> str:
    """Returns `text` with all that nobody sees as escapes like those of JSON, but for line breaks.

    White space other than a space counts as unseen. Of JSON, two that differ look different.
    """
    return "".join(map(_seen, text))


def plainly(text: str) -> str:
    """Returns a text that people decide by: as it is, or `visible` where it hides something."""
    return visible(text) if hides_something(text) else text


def _seen(character: str) -> str:
    if character == "\n" or (character.isprintable() and not _BLANK.match(character)):
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= _ESCAPED_UP_TO else f"\\u{{{code:x}}}"

"""Text as a terminal may be given it."""

import re

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Returns `text` without what could steer the terminal or turn the reading direction.

    What agents and services write is not trusted with the screen.
    """
    return _UNPRINTABLE.sub("", text)

"""How long the prompt of an ask may be."""

from typing import Final

PROMPT_UNITS: Final = 500
CARD_UNITS: Final = 140
"""A simple card cuts what is longer. Of a destructive confirm it leaves the approving button out
then, so that nobody says yes to what they do not see whole."""


def units(text: str) -> int:
    """Returns the length of a text as Parley counts it: in UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2

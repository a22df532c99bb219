"""How the demo agent quotes what a person said."""

from collections.abc import Sequence
from typing import Final

_WORDS: Final = 8
_CHARACTERS: Final = 80


def quoted(text: str) -> str:
    """Returns the first words of `text` in quotation marks."""
    words = text.split()
    whole = " ".join(words)
    short = " ".join(words[:_WORDS])[:_CHARACTERS]
    return f"“{short if short == whole else f'{short}…'}”"


def in_a_row(items: Sequence[str]) -> str:
    """Returns items as a sentence lists them: one, two and three."""
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last


def first_of(items: Sequence[str], most: int) -> str:
    """Returns the first of many items as a sentence lists them, and how many more there are."""
    shown = [*items[:most]]
    if rest := len(items) - len(shown):
        shown.append(f"{rest} more")
    return in_a_row(shown)


def counted(number: int, noun: str) -> str:
    """Returns how many there are of something: 1 row, 2 rows."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

"""Where the words of a block of Markdown stand in its text."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]
"""Where something begins in a text, and where it has ended."""


class UnreadableMarkdownError(Exception):
    """It can't be told where something stands."""


class Words:
    """The words of one block, without what marks the block on each of their lines.

    `cells` tells how far a line has been read: one of a table holds the words of several blocks.
    """

    def __init__(
        self,
        words: str,
        lines: Sequence[str],
        starts: Sequence[int],
        first: int,
        cells: dict[int, int],
    ) -> None:
        self.text = words
        own = words.split("\n")
        self._begins = [0, *accumulate(len(line) + 1 for line in own)][: len(own)]
        self._shifts: list[int | None] = []
        for number, (begin, line) in enumerate(zip(self._begins, own, strict=True), first):
            bare = line.strip()
            at = lines[number].find(bare, cells.get(number, 0))
            cells[number] = at + len(bare)
            shift = starts[number] + at - (len(line) - len(line.lstrip())) - begin
            self._shifts.append(None if at < 0 else shift)

    def place(self, begin: int, end: int) -> Span:
        """Returns where a part of the words, which is not empty, stands in the text."""
        return self._place(begin), self._place(end - 1) + 1

    def _place(self, at: int) -> int:
        shift = self._shifts[bisect_right(self._begins, at) - 1]
        if shift is None:
            raise UnreadableMarkdownError
        return at + shift

"""Where the blocks of a document begin while its text is still coming in (spec blocks 13)."""

import re
from dataclasses import dataclass
from typing import Final

_KEY: Final = "blocks:"
_FIRST_ITEM: Final = re.compile(r"(?: *(?:#[^\n]*)?\n)*+( *)- ")
_INDENT: Final = 2
"""Of the items, unless the first line below `blocks:` is an item of another indent.

Then lists in blocks may have this one if it is deeper; if it is less deep, no list can.
"""
_ITEM: Final = re.compile(f"^{' ' * _INDENT}- ", re.MULTILINE)


@dataclass(frozen=True)
class Outline:
    """The lines of a text up to `blocks:`, that line, and the items below it.

    `regular` tells that below it there is nothing but items, each deeper than its dash. Then the
    text is one document exactly if its head and each of its items is well formed on its own, for
    where an item ends, the reader of YAML is where it was when that item began.
    """

    head: str
    line: str
    indent: int
    items: tuple[str, ...]
    regular: bool
    settled: str
    """The text up to its last item; what follows it changes nothing about the items before."""
    settled_regular: bool


def outline(text: str, before: Outline | None = None) -> Outline | None:
    """Returns the outline of a text that has a line `blocks:`, else None.

    With the outline of an earlier text, of which this one may be the continuation, only the new
    lines are looked at; the result is the same.
    """
    if (
        before is not None
        and before.items
        and text.startswith(before.settled)
        and (before.indent in (0, _INDENT) or not _ITEM.search(text, len(before.settled)))
    ):
        return _outlined(text, before)
    start = _blocks_line(text)
    if start is None:
        return None
    body = text.find("\n", start) + 1 or len(text)
    line = text[start:body].strip()
    first = _FIRST_ITEM.match(text, body)
    indent = _INDENT if first is None else len(first[1])
    if indent and _ITEM.search(text, body):
        indent = _INDENT
    regular = first is not None and len(first[1]) == indent and line == _KEY
    return _outlined(text, Outline(text[:start], line, indent, (), regular, text[:body], regular))


def _outlined(text: str, before: Outline) -> Outline:
    """Returns the outline of a text from that of its beginning."""
    start, indent = len(before.settled), before.indent
    items = re.compile(f"^{' ' * indent}- ", re.MULTILINE)
    starts = [item.start() for item in items.finditer(text, start)]
    ends = [*starts[1:], len(text)]
    last = starts[-1] if starts else start
    stray = re.compile(f"^(?! *$|{' ' * indent}- |{' ' * (indent + 1)})", re.MULTILINE)
    settled_regular = before.settled_regular and not stray.search(text, start, last)
    return Outline(
        head=before.head,
        line=before.line,
        indent=indent,
        items=(
            *before.items[:-1],
            *(text[a:b].removesuffix("\n") for a, b in zip(starts, ends, strict=False)),
        ),
        regular=settled_regular and not stray.search(text, last),
        settled=text[:last],
        settled_regular=settled_regular,
    )


def _blocks_line(text: str) -> int | None:
    """Returns where the first line begins that is `blocks:`, alone or with a space after it."""
    at = 0
    while not (text.startswith(_KEY, at) and text[at + len(_KEY) :][:1] in ("", "\n", " ")):
        at = text.find(f"\n{_KEY}", at) + 1
        if at == 0:
            return None
    return at

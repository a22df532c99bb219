"""How much text a document holds in all, and how large its html is (spec blocks 9.1, 9.3)."""

from collections.abc import Iterator, Sequence
from typing import Final

from parleyd.contract.blocks import limits
from parleyd.contract.blocks.issues import BlockCode, Issue
from parleyd.contract.blocks.placed import Placed
from parleyd.contract.field_errors import named
from parleyd.contract.json import string_at
from parleyd.contract.text import units

PROSE_FIELDS: Final = {
    "heading": "text",
    "text": "markdown",
    "badge": "text",
    "context": "text",
    "callout": "text",
    "details": "text",
}
"""The fields that count as prose, by the types of their blocks."""


def prose_issues(blocks: Sequence[Placed]) -> Iterator[Issue]:
    """Yields `TOO_LONG` where the prose of all blocks together is too long (V8)."""
    total = sum(
        units(string_at(block.it, field) or "")
        for block in blocks
        if (field := PROSE_FIELDS.get(block.type)) is not None
    )
    if total > limits.PROSE_TOTAL:
        yield Issue(
            ("blocks",),
            BlockCode.TOO_LONG,
            f"The texts of all blocks together have {total} characters, too many.",
            f"Shorten them to at most {limits.PROSE_TOTAL} characters in all.",
        )


def html_issues(blocks: Sequence[Placed], *, allowed: bool) -> Iterator[Issue]:
    """Yields `HTML_DISABLED` for html where it is off, and `HTML_TOO_LARGE` for too much of it."""
    for block in blocks:
        if block.type != "html":
            continue
        if not allowed:
            yield Issue(
                block.at,
                BlockCode.HTML_DISABLED,
                f"{named(block.at)} is an html block, and those are off here.",
                f"Say it with other blocks and remove {named(block.at)}.",
            )
        size = len((string_at(block.it, "html") or "").encode("utf-8", "surrogatepass"))
        if size > limits.HTML_BYTES:
            at = (*block.at, "html")
            yield Issue(
                at,
                BlockCode.HTML_TOO_LARGE,
                f"{named(at)} has {size} bytes in UTF-8, too many.",
                f"Shorten {named(at)} to at most {limits.HTML_BYTES} bytes.",
            )

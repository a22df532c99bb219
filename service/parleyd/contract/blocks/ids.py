"""The ids of a document: blocks and elements share one set of names (spec blocks 8.3)."""

from collections.abc import Iterator, Sequence

from parleyd.contract.blocks.issues import BlockCode, Issue
from parleyd.contract.blocks.placed import Placed, placed_elements
from parleyd.contract.field_errors import Path, named, quoted
from parleyd.contract.json import string_at


def id_issues(blocks: Sequence[Placed]) -> Iterator[Issue]:
    """Yields `DUPLICATE_ID` for every id that an earlier block or element has."""
    first: dict[str, Path] = {}
    for owner in _owners(blocks):
        its_id = string_at(owner.it, "id")
        if its_id is None:
            continue
        if its_id in first:
            at = (*owner.at, "id")
            yield Issue(
                at,
                BlockCode.DUPLICATE_ID,
                f"{named(at)} is {quoted(its_id)}, the id of {named(first[its_id])}.",
                f"Give {named(owner.at)} an id that no other block or element has.",
            )
        else:
            first[its_id] = owner.at


def _owners(blocks: Sequence[Placed]) -> Iterator[Placed]:
    for block in blocks:
        yield block
        yield from placed_elements(block)

"""The blocks of a well-formed document, each with its place."""

from collections.abc import Iterator
from typing import NamedTuple

from pydantic import JsonValue

from parleyd.contract.blocks.catalog import LAYOUT_TYPES
from parleyd.contract.field_errors import Path
from parleyd.contract.json import JsonObject, string_at


class Placed(NamedTuple):
    """A block or an element of one, and where it stands."""

    type: str
    it: JsonObject
    at: Path


def placed_blocks(document: JsonObject) -> tuple[Placed, ...]:
    """Returns all blocks in document order, each before its children."""
    return tuple(_walk(document.get("blocks"), ("blocks",)))


def placed_elements(block: Placed) -> tuple[Placed, ...]:
    """Returns the elements of a block; only an actions block has some."""
    if block.type != "actions":
        return ()
    return tuple(_items(block.it.get("elements"), (*block.at, "elements")))


def _walk(blocks: JsonValue, at: Path) -> Iterator[Placed]:
    for block in _items(blocks, at):
        yield block
        if block.type in LAYOUT_TYPES:
            yield from _items(block.it.get("children"), (*block.at, "children"))


def _items(items: JsonValue, at: Path) -> Iterator[Placed]:
    if isinstance(items, list):
        for index, item in enumerate(items):
            if isinstance(item, dict):
                yield Placed(string_at(item, "type") or "", item, (*at, index))

"""The ids that actions blocks need and models forget (spec blocks 19)."""

from collections.abc import Iterator
from itertools import count
from typing import Final

from pydantic import JsonValue

from parleyd.contract.blocks.catalog import ID
from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.blocks.nested import nested_blocks
from parleyd.contract.blocks.parsing import parse
from parleyd.contract.blocks.written import as_json_line

_BASE: Final = "actions"


def fill_missing_action_ids(text: str) -> str | None:
    """Returns a document with an id in every actions block, or None where that changes nothing.

    Also None where the text is no document of version 1 with a list of blocks. An id that is a
    string stays as it is, for the validator to judge; elements get none. Never raises.
    """
    document = parse(text)
    if isinstance(document, BlockIssue):
        return None
    version = document["v"]
    if isinstance(version, bool) or version != 1 or not isinstance(document.get("blocks"), list):
        return None
    blocks = [*nested_blocks(document)]
    used = {id_ for block in blocks for id_ in _ids(block)}
    nameless = [
        block
        for block in blocks
        if block.get("type") == "actions" and not isinstance(block.get("id"), str)
    ]
    for block in nameless:
        block["id"] = _free(used)
    return as_json_line(document) if nameless else None


def _ids(block: dict[str, JsonValue]) -> Iterator[str]:
    """Yields the ids of a block and of its elements, as far as they are well formed."""
    elements = block.get("elements") if block.get("type") == "actions" else None
    for holder in (block, *(elements if isinstance(elements, list) else ())):
        id_ = holder.get("id") if isinstance(holder, dict) else None
        if isinstance(id_, str) and ID.matches(id_):
            yield id_


def _free(used: set[str]) -> str:
    """Returns the first free id, which is used from now on."""
    names = (_BASE if number == 1 else f"{_BASE}_{number}" for number in count(1))
    name = next(name for name in names if name not in used)
    used.add(name)
    return name

"""The structural phase: every fault of form in a document, at once (spec blocks 4)."""

from collections import deque
from collections.abc import Iterator
from typing import Final

from pydantic import JsonValue

from parleyd.contract.blocks import limits
from parleyd.contract.blocks.catalog import BLOCK, LAYOUT_TYPES
from parleyd.contract.blocks.datasets import dataset_form_issues
from parleyd.contract.blocks.faults import (
    described,
    missing,
    ticked,
    unknown_key,
    wrong_size,
    wrong_type,
)
from parleyd.contract.blocks.issues import BlockCode, Issue
from parleyd.contract.blocks.records import sized
from parleyd.contract.field_errors import Path, named, quoted
from parleyd.contract.json import JsonObject, finite_number, string_at

ROOT_KEYS: Final = ("v", "datasets", "blocks")
"""The keys of a document, in the order that they must have."""

_BLOCK_LIST: Final = f"a list of 1 to {limits.BLOCKS} blocks"


def structural_issues(value: JsonValue) -> Iterator[Issue]:
    """Yields every fault of form, in no particular order."""
    if not isinstance(value, dict):
        yield wrong_type(value, (), f"a mapping with the keys {ticked(ROOT_KEYS)}")
        return
    for key in value:
        if key not in ROOT_KEYS:
            yield unknown_key((key,), ROOT_KEYS)
    yield from _order_issues(value)
    yield from _version_issues(value)
    if "datasets" in value:
        yield from dataset_form_issues(value["datasets"], ("datasets",))
    if "blocks" not in value:
        yield missing(("blocks",), _BLOCK_LIST)
    elif isinstance(blocks := value["blocks"], list):
        yield from _blocks_issues(blocks, ("blocks",))
    else:
        yield wrong_type(blocks, ("blocks",), _BLOCK_LIST)


def _order_issues(document: JsonObject) -> Iterator[Issue]:
    present = [key for key in document if key in ROOT_KEYS]
    expected = [key for key in ROOT_KEYS if key in document]
    for key, wanted in zip(present, expected, strict=True):
        if key != wanted:
            yield Issue(
                (key,),
                BlockCode.KEY_ORDER,
                f"{named((key,))} stands where {named((wanted,))} belongs.",
                f"Write the keys in the order {ticked(expected)}.",
            )
            return


def _version_issues(document: JsonObject) -> Iterator[Issue]:
    fix = "Set `v` to the number 1, without quotes."
    if "v" not in document:
        yield Issue(("v",), BlockCode.INVALID_ENUM, "`v` is missing.", fix)
        return
    version = document["v"]
    # A boolean is no number, but equals 1.
    if finite_number(version) != 1:
        found = quoted(version) if isinstance(version, str) else described(version)
        yield Issue(
            ("v",),
            BlockCode.UNSUPPORTED_VERSION,
            f"`v` is {found}, which is not the version 1.",
            fix,
        )


def _blocks_issues(blocks: list[JsonValue], at: Path) -> Iterator[Issue]:
    if not blocks:
        yield wrong_size(0, at, BlockCode.TOO_FEW, sized(1, limits.BLOCKS))
    if len(blocks) > limits.BLOCKS or _count(blocks) > limits.BLOCKS:
        yield Issue(
            at,
            BlockCode.TOO_MANY_BLOCKS,
            f"The document has more than {limits.BLOCKS} blocks.",
            f"Keep at most {limits.BLOCKS} blocks, those in `card` and `columns` included.",
        )
    too_deep = _first_too_deep(blocks, at)
    if too_deep is not None:
        yield Issue(
            too_deep,
            BlockCode.DEPTH_EXCEEDED,
            f"{named(too_deep)} is a layout block inside another one.",
            f"Move it into the top-level `blocks`: blocks nest to a depth of {limits.DEPTH}.",
        )
    # A queue, not recursion: nothing says how deep a value from elsewhere is nested.
    waiting: deque[tuple[JsonValue, Path]] = deque(_placed(blocks, at))
    while waiting:
        block, place = waiting.popleft()
        yield from BLOCK.check(block, place)
        if isinstance(block, dict) and string_at(block, "type") in LAYOUT_TYPES:
            waiting.extend(_children(block, place))


def _count(blocks: list[JsonValue]) -> int:
    """Returns how many blocks there are at any depth: mappings whose type is a string."""
    count = 0
    waiting: list[JsonValue] = [*blocks]
    while waiting:
        block = waiting.pop()
        if isinstance(block, dict) and isinstance(block.get("type"), str):
            count += 1
            children = block.get("children")
            if isinstance(children, list):
                waiting.extend(children)
    return count


def _first_too_deep(blocks: list[JsonValue], at: Path) -> Path | None:
    """Returns where the first layout block inside a layout block is, in document order.

    Children of leaf blocks are looked at too, though they may have none; a leaf adds no depth.
    """
    waiting = [(block, place, 1) for block, place in reversed(_placed(blocks, at))]
    while waiting:
        block, place, depth = waiting.pop()
        if not isinstance(block, dict):
            continue
        is_layout = string_at(block, "type") in LAYOUT_TYPES
        if is_layout and depth >= limits.DEPTH:
            return place
        waiting.extend(
            (child, its_place, depth + is_layout)
            for child, its_place in reversed(_children(block, place))
        )
    return None


def _children(block: JsonObject, at: Path) -> list[tuple[JsonValue, Path]]:
    """Returns what stands in the `children` of a block, if that is a list, and where.

    Below as many levels as a text can have nothing is looked at; what is nested so deep has faults
    enough above.
    """
    children = block.get("children")
    if not isinstance(children, list) or len(at) > limits.LEVELS:
        return []
    return _placed(children, (*at, "children"))


def _placed(items: list[JsonValue], at: Path) -> list[tuple[JsonValue, Path]]:
    return [(item, (*at, index)) for index, item in enumerate(items)]

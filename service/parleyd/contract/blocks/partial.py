"""What can be shown of a document while its text is still coming in (spec blocks 13)."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, NamedTuple

from pydantic import JsonValue

from parleyd.contract.blocks.fences import unfenced
from parleyd.contract.blocks.issues import BlockCode
from parleyd.contract.blocks.limits import PROSE, PROSE_TOTAL
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.outlines import Outline, outline
from parleyd.contract.blocks.parsing import Refusal, read, too_large
from parleyd.contract.blocks.validation import validate
from parleyd.contract.json import JsonObject
from parleyd.contract.text import is_blank, trim, units

_TOP: Final = "v: 1\nblocks:\n"
_DUMMY: Final = "blocks:\n  - type: divider"
_CLOSING: Final = {"{": "}", "[": "]"}
_CURABLE: Final = frozenset({BlockCode.DATASET_NOT_FOUND, BlockCode.SELECT_TARGET_INVALID})
"""What may be wrong with a block alone and right in its document."""


@dataclass(frozen=True)
class PartialDocument:
    """The finished blocks of a document so far, and its datasets once they are finished.

    While `pending` the blocks are not validated; who shows them validates each. Without it the
    text so far is a valid document, and its last block is shown too; that one may be half written,
    and be gone for a moment when the text goes on. Whether a text is at its end is known from its
    stream alone.
    """

    blocks: tuple[JsonValue, ...] = ()
    datasets: JsonObject | None = None
    pending: bool = True


def parse_partial(text: str, options: BlockOptions) -> PartialDocument:
    """Returns what can be shown of the text of a document so far. Never raises."""
    return PartialParser(options).read(text)


class _Item(NamedTuple):
    """An item on its own. `hopeless` tells that no document with its blocks is valid."""

    text: str
    blocks: list[JsonValue]
    refusal: Refusal | None
    hopeless: bool


class _Head(NamedTuple):
    """What comes before the blocks, with one block in their place.

    `light` is the same without rows, which matter to the datasets alone: those are already checked.
    """

    text: str
    document: dict[str, JsonValue] | Refusal
    light: dict[str, JsonValue]
    hopeless: bool


class _Proof(NamedTuple):
    """What a document was made of that was found valid, but for the prose of its last block.

    Of that prose only its length matters: so whatever is as short, and has the same proof, is valid
    as well. Mostly that is the same text a few words later.
    """

    head: str
    items: tuple[str, ...]
    last: list[JsonValue]


class _Standing(Enum):
    """What is known of a text that is not known to be a document."""

    PENDING = auto()
    """It is none yet."""
    LOST = auto()
    """Nothing that begins with it is valid."""
    UNKNOWN = auto()


class PartialParser:
    """`parse_partial` for a text that grows: what was read of it earlier is not read again.

    The results are those of `parse_partial`, whatever texts come in whatever order. They share
    their blocks, which are not to be changed.
    """

    def __init__(self, options: BlockOptions) -> None:
        self._options = options
        self._outline: Outline | None = None
        self._head: _Head | None = None
        self._finished: list[_Item] = []
        self._proof: _Proof | None = None
        self._lost: str | None = None
        """The beginning of nothing valid."""

    def read(self, text: str) -> PartialDocument:
        """Returns what can be shown of the text so far. Never raises."""
        try:
            return self._read(unfenced(text))
        except Exception:  # noqa: BLE001 (13: a stream goes on, whatever goes wrong in here)
            return PartialDocument()

    def _read(self, text: str) -> PartialDocument:
        self._outline = lines = outline(text, self._outline)
        document = self._valid(text, lines)
        if document is not None:
            return _shown(document.get("blocks"), document, pending=False)
        if lines is None:
            return PartialDocument()
        finished = [block for item in self._read_items(lines) for block in item.blocks]
        head = self._read_head(lines.head).document if "datasets:" in lines.head else None
        return _shown(finished, head, pending=True)

    def _valid(self, text: str, lines: Outline | None) -> dict[str, JsonValue] | None:
        """Returns the valid document that the text is, if it is one."""
        if (self._lost is not None and text.startswith(self._lost)) or too_large(text):
            return None
        found = self._assembled(lines) if lines and lines.regular else _Standing.UNKNOWN
        if found is _Standing.UNKNOWN:
            found = _whole(text, lines, self._options)
        if found is _Standing.LOST:
            self._lost = text
        return found if isinstance(found, dict) else None

    def _assembled(self, lines: Outline) -> dict[str, JsonValue] | _Standing:
        """Returns the valid document that a text is by its head and its items."""
        head = self._read_head(lines.head)
        if isinstance(head.document, Refusal):
            return _Standing.UNKNOWN
        items = self._read_items(lines)
        for item in items:
            if item.refusal is not None and not item.refusal.lasting:
                return _Standing.UNKNOWN  # perhaps its end is no end: a quote may go on
            if item.refusal is not None or item.hopeless:
                return _Standing.LOST
        if head.hopeless:
            return _Standing.LOST
        last = _item_blocks(lines.items[-1])
        if isinstance(last, Refusal):
            return _Standing.PENDING
        blocks: list[JsonValue] = [block for item in items for block in item.blocks]
        blocks += last
        proof = _Proof(lines.head, lines.items[:-1], [_without_prose(block) for block in last])
        if proof != self._proof or not _is_short(lines):
            if _are_hopeless(last, self._options):
                return _Standing.PENDING
            if not validate({**head.light, "blocks": blocks}, self._options).ok:
                return _Standing.PENDING
            self._proof = proof
        return {**head.document, "blocks": blocks}

    def _read_items(self, lines: Outline) -> list[_Item]:
        """Returns the finished items, each read once."""
        finished = self._finished
        for index, text in enumerate(lines.items[:-1]):
            if index == len(finished) or finished[index].text != text:
                finished[index:] = [_read_item(text, self._options)]
        return finished[: max(len(lines.items) - 1, 0)]

    def _read_head(self, text: str) -> _Head:
        """Returns what comes before the blocks, read once."""
        if self._head is None or self._head.text != text:
            self._head = _read_head(text, self._options)
        return self._head


def _read_head(text: str, options: BlockOptions) -> _Head:
    document = read(text + _DUMMY)
    if isinstance(document, Refusal):
        return _Head(text, document, light={}, hopeless=False)
    datasets = document.get("datasets")
    light: dict[str, JsonValue] = {**document}
    if isinstance(datasets, dict):
        light["datasets"] = {name: _without_rows(dataset) for name, dataset in datasets.items()}
    return _Head(text, document, light, hopeless=not validate(document, options).ok)


def _without_rows(dataset: JsonValue) -> JsonValue:
    return {**dataset, "rows": []} if isinstance(dataset, dict) and "rows" in dataset else dataset


def _without_prose(block: JsonValue) -> JsonValue:
    """Returns a block; one of text without that, unless it is blank."""
    if isinstance(block, dict) and block.get("type") == "text":
        prose = block.get("markdown")
        if isinstance(prose, str) and not is_blank(prose):
            return {**block, "markdown": ""}
    return block


def _is_short(lines: Outline) -> bool:
    """Tells whether prose can't be too long, as it is never longer than how it is written."""
    last = units(lines.items[-1])
    return last <= PROSE and units(lines.settled) + last <= PROSE_TOTAL


def _read_item(text: str, options: BlockOptions) -> _Item:
    blocks = _item_blocks(text)
    if isinstance(blocks, Refusal):
        return _Item(text, [], blocks, hopeless=False)
    return _Item(text, blocks, None, _are_hopeless(blocks, options))


def _item_blocks(text: str) -> list[JsonValue] | Refusal:
    """Returns what an item is as the only one of a minimal document."""
    document = read(_TOP + text)
    if isinstance(document, Refusal):
        return document
    blocks = document.get("blocks")
    return blocks if isinstance(blocks, list) else []


def _are_hopeless(blocks: list[JsonValue], options: BlockOptions) -> bool:
    """Tells whether no document with these blocks is valid."""
    errors = validate({"v": 1, "blocks": [*blocks]}, options).errors
    return any(error.code not in _CURABLE for error in errors)


def _whole(
    text: str, lines: Outline | None, options: BlockOptions
) -> dict[str, JsonValue] | _Standing:
    """Returns the valid document that a text is when it is read from end to end."""
    if not _may_be_complete(trim(text), lines):
        return _Standing.PENDING
    document = read(text)
    if isinstance(document, Refusal):
        return _Standing.LOST if document.lasting else _Standing.PENDING
    return document if validate(document, options).ok else _Standing.PENDING


def _may_be_complete(text: str, lines: Outline | None) -> bool:
    """Tells whether it is worth while to read a text: it is not if it lacks its last bracket."""
    opening = text[:1] if lines is None else lines.line.removeprefix("blocks:").strip()[:1]
    closing = _CLOSING.get(opening)
    if closing is not None:
        last_line = text.rpartition("\n")[2]
        return text.endswith(closing) or "#" in last_line or last_line.startswith("...")
    return lines is not None or "blocks" in text or "\\" in text


def _shown(
    blocks: JsonValue, document: dict[str, JsonValue] | Refusal | None, *, pending: bool
) -> PartialDocument:
    datasets = document.get("datasets") if isinstance(document, dict) else None
    return PartialDocument(
        tuple(blocks) if isinstance(blocks, list) else (),
        datasets if isinstance(datasets, dict) else None,
        pending,
    )

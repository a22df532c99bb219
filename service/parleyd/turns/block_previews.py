"""What is shown of a document while it is being written (spec turns 6.5, blocks 13)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.blocks.autofill import fill_missing_action_ids
from parleyd.contract.blocks.fences import unfenced
from parleyd.contract.blocks.issues import BlockCode, BlockIssue
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.parsing import parse
from parleyd.contract.blocks.partial import PartialDocument, PartialParser
from parleyd.contract.blocks.shown_texts import document_without_remote_images
from parleyd.contract.blocks.validation import validate
from parleyd.contract.json import compact, storable_object
from parleyd.contract.text import trim

_CURABLE: Final = frozenset({BlockCode.DATASET_NOT_FOUND, BlockCode.SELECT_TARGET_INVALID})
"""What is wrong with a block alone and may be right in its document."""


@dataclass(frozen=True)
class BlockPreview:
    """The finished blocks of a document and its datasets so far; `pending` says more is to come."""

    document: dict[str, JsonValue]
    pending: bool


class GrowingDocument:
    """The blocks of a step that are finished, as its text grows; it never takes one back.

    `shown` is None before the first, and `count` says how often there was something new. A block
    that breaks a rule by itself is left out: a client can't tell, and would load an image from
    wherever the model has it. So is HTML, which has yet to be cleaned. Texts are clean already.
    """

    def __init__(self, options: BlockOptions) -> None:
        self.shown: BlockPreview | None = None
        self.count = 0
        self._options = options
        self._parser = PartialParser(options)
        self._seen = 0
        self._blocks: list[JsonValue] = []

    def read(self, text: str) -> None:
        """Looks for blocks that have been finished since; not in a text that is very long."""
        if len(text) > limits.BLOCKS_PREVIEW_CHARACTERS:
            return
        found = self._parser.read(text)
        # A mapping in brackets is at its end once it can be read.
        whole = not found.pending and trim(unfenced(text)).startswith("{")
        finished = _finished(found, whole=whole)
        if len(finished) <= self._seen:
            return
        new = self._showable(finished[self._seen :])
        self._seen = len(finished)
        if not new:
            return
        document: dict[str, JsonValue] = {"v": 1}
        if found.datasets:
            document["datasets"] = dict(found.datasets)
        hosts = self._options.image_hosts
        document = document_without_remote_images({**document, "blocks": new}, hosts)
        clean = document["blocks"]
        self._blocks += clean if isinstance(clean, list) else ()
        document["blocks"] = list(self._blocks)
        self.shown = BlockPreview(storable_object(document), pending=not whole)
        self.count += 1

    def _showable(self, blocks: Iterable[JsonValue]) -> list[JsonValue]:
        whole = [block for block in blocks if _is_sound(block, self._options)]
        return _without_html(whole)


def _finished(found: PartialDocument, *, whole: bool) -> Sequence[JsonValue]:
    """Returns the blocks that surely won't change.

    The last block of a text in YAML that happens to be valid may be half written.
    """
    return found.blocks if found.pending or whole else found.blocks[:-1]


def _is_sound(block: JsonValue, options: BlockOptions) -> bool:
    """Tells whether a block breaks no rule by itself, once it has the ids that it will be given."""
    document: dict[str, JsonValue] = {"v": 1, "blocks": [block]}
    if filled := fill_missing_action_ids(compact(document)):
        read = parse(filled)
        document = document if isinstance(read, BlockIssue) else read
    return all(error.code in _CURABLE for error in validate(document, options).errors)


def _without_html(blocks: Iterable[JsonValue]) -> list[JsonValue]:
    shown: list[JsonValue] = []
    for block in blocks:
        if isinstance(block, dict):
            if block.get("type") == "html":
                continue
            children = block.get("children")
            if isinstance(children, list):
                shown.append({**block, "children": _without_html(children)})
                continue
        shown.append(block)
    return shown

"""A document that the demo agent says (spec blocks 1)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from pydantic import JsonValue

from parleyd.contract.text import is_blank

Block: TypeAlias = dict[str, JsonValue]

_CHARACTERS: Final = 2000
"""Fits any block of text, whatever the characters."""
_NOTHING: Final = "–"


@dataclass(frozen=True)
class Document:
    """Blocks, and the data of those that have some."""

    blocks: tuple[Block, ...]
    datasets: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])

    def written(self) -> str:
        """Returns the document as YAML, a line for each block: it is shown while it is written."""
        lines = ["v: 1"]
        if self.datasets:
            lines += [
                "datasets:",
                *(f"  {name}: {_flow(it)}" for name, it in self.datasets.items()),
            ]
        lines += ["blocks:", *(f"  - {_flow(block)}" for block in self.blocks)]
        return "\n".join(lines)

    def as_json(self) -> str:
        """Returns the document as JSON."""
        datasets: dict[str, JsonValue] = {"datasets": {**self.datasets}} if self.datasets else {}
        return json.dumps({"v": 1, **datasets, "blocks": [*self.blocks]}, allow_nan=False)

    def after(self, *blocks: Block) -> "Document":
        """Returns the document with other blocks before its own."""
        return Document((*blocks, *self.blocks), self.datasets)


def spoken(text: str) -> Block:
    """Returns a block that says something; of a very long text the beginning."""
    cut = text if len(text) <= _CHARACTERS else f"{text[: _CHARACTERS - 1]}…"
    return {"type": "text", "markdown": cell(cut)}


def suggestions(*texts: str) -> Block:
    """Returns buttons that say something for the person."""
    return {
        "type": "actions",
        "id": "suggestions",
        "elements": [
            {
                "type": "button",
                "id": f"suggestion_{number}",
                "text": text,
                "action": {"kind": "reply", "text": text},
            }
            for number, text in enumerate(texts, start=1)
        ],
    }


def dataset(columns: Mapping[str, str], rows: Sequence[Sequence[JsonValue]]) -> JsonValue:
    """Returns a dataset: its columns are types by names."""
    return {
        "columns": [{"name": name, "type": type_} for name, type_ in columns.items()],
        "rows": [[*row] for row in rows],
    }


def cell(text: str) -> str:
    """Returns a text as a document may hold it: a blank one is a dash."""
    return _NOTHING if is_blank(text) else text


def _flow(value: JsonValue) -> str:
    """Returns a value in a line of JSON that reads the same as YAML, whoever reads it.

    JSON writes a character beyond U+FFFF as two escapes, which YAML reads as two characters; and
    YAML has no place for a character that can't be printed.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in text)

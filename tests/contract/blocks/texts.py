"""Documents as text, as a model writes them."""

import json
from typing import Any, Final

from hypothesis import strategies as st

from tests.contract.blocks.documents import valid_documents

TOP: Final = "v: 1\nblocks:\n"


def as_yaml(document: dict[str, Any]) -> str:
    """Returns a document in block style, its items two spaces deep, its values on one line."""
    lines = [f"v: {document['v']}"]
    if "datasets" in document:
        lines.append(f"datasets: {_flow(document['datasets'])}")
    lines.append("blocks:")
    for block in document["blocks"]:
        fields = [f"{key}: {_flow(value)}" for key, value in block.items()]
        lines += [f"  - {fields[0]}", *[f"    {field}" for field in fields[1:]]]
    return "\n".join(lines) + "\n"


def _flow(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def pieces(text: str, count: int) -> list[str]:
    """Returns the text so far after each of `count` pieces of it."""
    return [text[: len(text) * piece // count] for piece in range(1, count + 1)]


STREAMED: Final = st.one_of(
    valid_documents().map(as_yaml),
    valid_documents().map(json.dumps),
    valid_documents().map(lambda document: f"```yaml\n{as_yaml(document)}```"),
)
"""Texts of valid documents."""

_LINES: Final = st.sampled_from(
    [
        "v: 1",
        "datasets:",
        "datasets: {a: {columns: [{name: a, type: string}], rows: []}}",
        "blocks:",
        "blocks: ",
        "blocks: [",
        "blocks: # these",
        "  - type: divider",
        "  - type: text",
        "    markdown: plain words",
        "    markdown: |",
        "      a line",
        "      - type: divider",
        '    markdown: "open',
        '      shut"',
        "    markdown: 'it''s'",
        "    text: Loans: overdue",
        "    text: **bold**",
        "  - {type: badge, text: Late}",
        "  - {type: badge,",
        "    text: Late}",
        "  - type: card",
        "    children:",
        "      - type: divider",
        "  -",
        "  - ",
        "- type: divider",
        "    - type: divider",
        "  # a comment",
        "# another",
        "",
        "   ",
        "---",
        "...",
        "```",
        "```yaml",
        "\ttext: x",
        "  - &a x",
        "  - table",
        "]",
        "extra: 1",
    ]
)
MISWRITTEN: Final = st.lists(_LINES, max_size=14).map("\n".join)
"""Texts that look like documents and mostly are none."""

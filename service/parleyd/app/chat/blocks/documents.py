"""A document as rich draws it: blocks below each other, each as what a terminal can show of it."""

from collections.abc import Sequence
from typing import assert_never

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from parley.v1.blocks_pb2 import Block, BlockDocument
from parleyd.app.chat.blocks import leaves
from parleyd.app.chat.blocks.buttons import drawn_actions
from parleyd.app.chat.blocks.charts import drawn_chart
from parleyd.app.chat.blocks.rows import Datasets, named_in
from parleyd.app.chat.blocks.tables import drawn_table


def drawn_document(document: BlockDocument) -> RenderableType:
    """Returns a document, with an empty line between its blocks, without rows of the server.

    All its texts are made printable; none of them is read as markup of rich.
    """
    return drawn_blocks(document.blocks, Datasets(named_in(document)))


def drawn_blocks(blocks: Sequence[Block], datasets: Datasets) -> RenderableType:
    """Returns blocks of a document with the rows that were fetched for them, in the same way."""
    parts: list[RenderableType] = []
    for block in blocks:
        if parts:
            parts.append(Text())
        parts.append(_drawn(block, datasets))
    return Group(*parts)


def _drawn(block: Block, datasets: Datasets) -> RenderableType:
    kind = block.WhichOneof("block")
    match kind:
        case "heading":
            return leaves.drawn_heading(block.heading)
        case "text":
            return leaves.drawn_text(block.text)
        case "metric":
            return leaves.drawn_metric(block.metric)
        case "badge":
            return leaves.drawn_badge(block.badge)
        case "divider":
            return leaves.drawn_divider()
        case "context":
            return leaves.drawn_context(block.context)
        case "chart":
            return drawn_chart(block.chart, datasets)
        case "table":
            return drawn_table(block.table, datasets)
        case "actions":
            return drawn_actions(block.actions)
        case "columns":
            return _side_by_side(block.columns.children, datasets)
        case "card":
            children = [_drawn(child, datasets) for child in block.card.children]
            return leaves.framed(Group(*children), block.card.title)
        case "html":
            return leaves.drawn_html(block.html)
        case "callout":
            return leaves.drawn_callout(block.callout)
        case "image":
            return leaves.drawn_image(block.image)
        case "details":
            return leaves.drawn_details(block.details)
        case None:
            return Text("(A block that this version does not know.)", style="dim")
        case _:
            assert_never(kind)


def _side_by_side(children: Sequence[Block], datasets: Datasets) -> RenderableType:
    grid = Table.grid(padding=(0, 2), expand=True)
    for _ in children:
        grid.add_column(ratio=1)
    grid.add_row(*(_drawn(child, datasets) for child in children))
    return grid

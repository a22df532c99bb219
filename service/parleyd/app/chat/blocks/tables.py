"""Tables of a dataset's rows."""

from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from parley.v1.blocks_pb2 import DatasetColumn, InlineDataset, TableBlock
from parleyd.app.chat.blocks.rows import Datasets, Elsewhere, rows_of, shown_cell
from parleyd.app.chat.printable import in_a_line

ROWS_SHOWN: Final = 50


def drawn_table(table: TableBlock, datasets: Datasets) -> RenderableType:
    """Returns a table; where its rows are not here, why they are not."""
    dataset = rows_of(datasets, table.data)
    title = [Text(in_a_line(table.title), style="bold")] if table.title else []
    if isinstance(dataset, Elsewhere):
        return Group(*title, Text(f"({dataset.reason})", style="dim"))
    if not dataset.rows:
        return Group(*title, Text("There are no rows.", style="dim"))
    shown = Table()
    places = _places(table, dataset)
    for place in places:
        column = dataset.columns[place]
        is_number = column.type == DatasetColumn.TYPE_NUMBER
        shown.add_column(
            Text(in_a_line(column.name)), justify="right" if is_number else "left", overflow="fold"
        )
    for row in dataset.rows[:ROWS_SHOWN]:
        shown.add_row(
            *(
                Text(shown_cell(row.cells[place]) if place < len(row.cells) else "")
                for place in places
            )
        )
    parts: list[RenderableType] = [*title, shown]
    if (rest := len(dataset.rows) - ROWS_SHOWN) > 0:
        parts.append(Text(f"… and {rest} more rows", style="dim"))
    return Group(*parts)


def _places(table: TableBlock, dataset: InlineDataset) -> Sequence[int]:
    """Returns where the columns to show stand in a row."""
    names = [column.name for column in dataset.columns]
    wanted = [name for name in table.columns if name in names]
    return [names.index(name) for name in wanted] or range(len(names))

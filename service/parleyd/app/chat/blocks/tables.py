"""Tables of a dataset's rows."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from parley.v1.blocks_pb2 import DatasetColumn, TableBlock
from parleyd.app.chat.blocks.rows import Datasets, NoRows, Rows, shown_cell
from parleyd.app.chat.printable import in_a_line


def drawn_table(table: TableBlock, datasets: Datasets) -> RenderableType:
    """Returns a page of a table; where its rows are not here, why they are not."""
    page = datasets.page(table.data)
    title = [Text(in_a_line(table.title), style="bold")] if table.title else []
    if isinstance(page, NoRows):
        return Group(*title, Text(f"({page.reason})", style="dim"))
    if not page.rows:
        return Group(*title, Text("There are no rows.", style="dim"))
    shown = Table()
    places = _places(table, page.columns)
    for place in places:
        column = page.columns[place]
        is_number = column.type == DatasetColumn.TYPE_NUMBER
        shown.add_column(
            Text(in_a_line(column.name)), justify="right" if is_number else "left", overflow="fold"
        )
    for row in page.rows:
        shown.add_row(
            *(
                Text(shown_cell(row.cells[place]) if place < len(row.cells) else "")
                for place in places
            )
        )
    parts: list[RenderableType] = [*title, shown]
    if page.before or page.more:
        parts.append(Text(f"{told_rows(page)} of {page.count}", style="dim"))
    return Group(*parts)


def told_rows(page: Rows) -> str:
    """Returns which rows a page holds."""
    return f"Rows {page.before + 1} to {page.before + len(page.rows)}"


def _places(table: TableBlock, columns: Sequence[DatasetColumn]) -> Sequence[int]:
    """Returns where the columns to show stand in a row."""
    names = [column.name for column in columns]
    wanted = [name for name in table.columns if name in names]
    return [names.index(name) for name in wanted] or range(len(names))

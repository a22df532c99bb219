"""The rows of a document's datasets, as charts and tables read them.

Those that the server keeps are fetched before anything is drawn (`fetching.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from parley.v1.blocks_pb2 import (
    BlockDocument,
    Dataset,
    DatasetCell,
    DatasetColumn,
    DatasetRow,
    RefDataset,
)
from parleyd.app.chat.printable import in_a_line

ROWS_SHOWN: Final = 50
"""How many rows a page of a table has at most."""

_MIDNIGHT: Final = "T00:00:00.000Z"


@dataclass(frozen=True)
class NoRows:
    """Why there are no rows here. `reason` is a sentence for the person."""

    reason: str


@dataclass(frozen=True)
class Rows:
    """Rows of a dataset: all that are to be drawn, or one page of them.

    `before` counts those of earlier pages, `count` all that there are; `more` says that there is
    another page.
    """

    columns: Sequence[DatasetColumn]
    rows: Sequence[DatasetRow]
    count: int
    before: int = 0
    more: bool = False


@dataclass(frozen=True)
class RowsWanted:
    """Which rows of a dataset on the server are to be fetched; those of one page, unless it is 0.

    `limit` 0 leaves it to the server how many.
    """

    dataset_id: str
    grain: RefDataset.Grain.ValueType
    limit: int
    page: int


Fetched: TypeAlias = Mapping[RowsWanted, Rows | NoRows]
Pages: TypeAlias = Mapping[str, int]
"""Which page a dataset's tables show, by its name; the first, unless said."""


@dataclass(frozen=True)
class Datasets:
    """The datasets of a document, by their names, and what was fetched of those on the server."""

    named: Mapping[str, Dataset]
    fetched: Fetched = field(default_factory=dict[RowsWanted, Rows | NoRows])
    pages: Pages = field(default_factory=dict[str, int])

    def whole(self, name: str) -> Rows | NoRows:
        """Returns what a chart draws of a dataset, or why there is nothing."""
        dataset = self.named.get(name)
        match dataset.WhichOneof("source") if dataset is not None else None:
            case "inline" if dataset is not None:
                rows = dataset.inline.rows
                return Rows(dataset.inline.columns, rows, len(rows))
            case "ref" if dataset is not None:
                return self._fetched(name, chart_rows(dataset.ref))
            case _:
                return _missing(name)

    def page(self, name: str) -> Rows | NoRows:
        """Returns the page that a table shows of a dataset, or why there is none."""
        dataset, page = self.named.get(name), self.pages.get(name, 1)
        if dataset is not None and dataset.HasField("ref"):
            return self._fetched(name, table_rows(dataset.ref, page))
        rows = self.whole(name)
        if isinstance(rows, NoRows):
            return rows
        start = (page - 1) * ROWS_SHOWN
        end = start + ROWS_SHOWN
        shown = rows.rows[start:end]
        return Rows(rows.columns, shown, rows.count, start, more=end < rows.count)

    def _fetched(self, name: str, wanted: RowsWanted) -> Rows | NoRows:
        on_server = NoRows(f"The rows of “{in_a_line(name)}” are on the server.")
        return self.fetched.get(wanted, on_server)


def named_in(document: BlockDocument) -> dict[str, Dataset]:
    """Returns the datasets of a document by their names."""
    return {dataset.name: dataset for dataset in document.datasets}


def chart_rows(ref: RefDataset) -> RowsWanted:
    """Returns which rows a chart of a dataset on the server takes: as many as the document says."""
    return RowsWanted(ref.id, ref.grain, ref.limit, page=0)


def table_rows(ref: RefDataset, page: int) -> RowsWanted:
    """Returns which rows a page of a table takes: as many as the document says, within limits."""
    return RowsWanted(ref.id, ref.grain, min(ref.limit or ROWS_SHOWN, ROWS_SHOWN), page)


def shown_cell(cell: DatasetCell) -> str:
    """Returns a cell as it is shown, numbers as they were written.

    The beginning of a day, as the server writes it where it puts rows together, is that day.
    """
    if cell.HasField("number"):
        return shown_number(cell.number, cell.exact)
    return in_a_line(cell.text.removesuffix(_MIDNIGHT))


def shown_number(number: float, exact: str) -> str:
    """Returns a number: `exact` where the double is not how it was written."""
    if exact:
        return in_a_line(exact)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _missing(name: str) -> NoRows:
    return NoRows(f"There are no rows of “{in_a_line(name)}”.")

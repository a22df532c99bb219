"""What is read of a stored dataset: some of its rows, put together or not (spec blocks 21.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from parleyd.contract.blocks.options import KnownColumn
from parleyd.contract.datasets.buckets import bucketed
from parleyd.contract.datasets.dataset import Dataset, Grain, Row
from parleyd.contract.datasets.thinning import thinned

ROWS_READ: Final = 500
"""How many rows are read where nobody says how many."""
PAGES: Final = 10_000
"""The last page that can be asked for."""


@dataclass(frozen=True)
class DatasetQuery:
    """Which rows are asked for: at most `limit`, of one page or, without `page`, of all rows."""

    grain: Grain | None = None
    limit: int = ROWS_READ
    page: int | None = None


@dataclass(frozen=True)
class DatasetRows:
    """The rows that were asked for. `row_count` is of all of them, before they are cut down."""

    columns: tuple[KnownColumn, ...]
    rows: Sequence[Row]
    row_count: int
    page: int
    more: bool


def rows_of(dataset: Dataset, query: DatasetQuery) -> DatasetRows:
    """Returns what a query asks for; a page past the end is empty.

    Raises:
        NoDates: Rows are to be put together by their time, and there is no column of dates.
    """
    source = bucketed(dataset, query.grain) if query.grain else dataset
    count = len(source.rows)
    if query.page is None:
        rows = thinned(source, query.limit)
        return DatasetRows(source.columns, rows, count, page=1, more=False)
    start = (query.page - 1) * query.limit
    end = start + query.limit
    return DatasetRows(
        source.columns, source.rows[start:end], count, page=query.page, more=end < count
    )

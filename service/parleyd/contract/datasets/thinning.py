"""Fewer rows that show the shape of many: largest triangle three buckets (spec blocks 21.5)."""

from collections.abc import Sequence
from typing import Final

from parleyd.contract.datasets.dataset import Cell, Dataset, Row, column_of_type, number_of
from parleyd.contract.datasets.times import milliseconds, moment

TRIANGLE: Final = 3
"""Of fewer points none is between two others."""


def thinned(dataset: Dataset, most: int) -> Sequence[Row]:
    """Returns at most `most` rows in their order; of more rows the first and the last stay.

    The first column of numbers is what is drawn, over the first column of dates or else over the
    rows' places. Without numbers these are the first rows.
    """
    rows = dataset.rows
    if len(rows) <= most:
        return rows
    number, date = column_of_type(dataset, "number"), column_of_type(dataset, "date")
    if number is None:
        return rows[:most]
    ys = [number_of(row[number]) for row in rows]
    xs = [float(i if date is None else _x(row[date], i)) for i, row in enumerate(rows)]
    return [rows[index] for index in chosen(xs, ys, most)]


def chosen(xs: Sequence[float], ys: Sequence[float], most: int) -> list[int]:
    """Returns the places of the points to draw: at most `most`, at least 1, in their order."""
    count = len(ys)
    if count <= most:
        return [*range(count)]
    if most < TRIANGLE:
        return [0, count - 1][:most]
    indexes, last, width = [0], 0, (count - 2) / (most - 2)
    for bucket in range(most - 2):
        first, following = int(bucket * width) + 1, int((bucket + 1) * width) + 1
        after = range(following, min(int((bucket + 2) * width) + 1, count))
        mean_x = sum(xs[i] for i in after) / len(after)
        mean_y = sum(ys[i] for i in after) / len(after)
        x, y = xs[last], ys[last]
        # Of equal areas `max` takes the first; of no comparable ones, too.
        last = max(
            range(first, min(following, count - 1)),
            key=lambda i: abs((x - mean_x) * (ys[i] - y) - (x - xs[i]) * (mean_y - y)),
        )
        indexes.append(last)
    return [*indexes, count - 1]


def _x(cell: Cell, index: int) -> int:
    at = moment(cell) if isinstance(cell, str) else None
    return index if at is None else milliseconds(at)

"""Rows put together by the time they are of (spec blocks 21.4)."""

from collections.abc import Sequence

from parleyd.contract.datasets.dataset import Cell, Dataset, Grain, column_of_type, number_of
from parleyd.contract.datasets.times import beginning, moment, written


class NoDates(ValueError):
    """A dataset without a column of dates, so that its rows are of no time."""


def bucketed(dataset: Dataset, grain: Grain) -> Dataset:
    """Returns one row for each hour, day, week or month, in the order of their times.

    The first column of dates says when a row is; its cell becomes the beginning of that time, a
    text that is no date stays as it is, and null becomes the empty text. Numbers are summed up;
    what other columns hold is the first row's.

    Raises:
        NoDates: There is no column of dates.
    """
    place = column_of_type(dataset, "date")
    if place is None:
        raise NoDates
    numbers = [i for i, column in enumerate(dataset.columns) if column.type == "number"]
    buckets: dict[str, list[Cell]] = {}
    for row in dataset.rows:
        key = _key(row[place], grain)
        bucket = buckets.get(key)
        if bucket is None:
            buckets[key] = bucket = [*row]
            bucket[place] = key
        else:
            _add(bucket, row, numbers)
    return Dataset(dataset.columns, [buckets[key] for key in sorted(buckets)])


def _key(cell: Cell, grain: Grain) -> str:
    if not isinstance(cell, str):
        return ""
    at = moment(cell)
    return cell if at is None else written(beginning(at, grain))


def _add(bucket: list[Cell], row: Sequence[Cell], numbers: Sequence[int]) -> None:
    for place in numbers:
        mine, other = bucket[place], row[place]
        if isinstance(other, int | float):
            bucket[place] = _sum(mine, other) if isinstance(mine, int | float) else other


def _sum(one: float, other: float) -> int | float:
    """Returns a sum: exact of whole numbers, infinite of what a double can't hold."""
    try:
        return one + other
    except OverflowError:
        return number_of(one) + number_of(other)

"""Rows put together by the time they are of."""

from math import inf

import pytest

from parleyd.contract.datasets.buckets import NoDates, bucketed
from parleyd.contract.datasets.checks import checked
from parleyd.contract.datasets.dataset import Dataset

COLUMNS = [
    {"name": "shop", "type": "string"},
    {"name": "sold", "type": "number"},
    {"name": "day", "type": "date"},
    {"name": "paid", "type": "date"},
    {"name": "back", "type": "number"},
]


def test_numbers_are_summed_up_and_the_rest_is_the_first_rows() -> None:
    rows = [
        ["Faro", 3, "2026-03-05T08:00Z", "2026-04-01", None],
        ["Evora", 4, "2026-03-04T23:30:00-05:00", "2026-05-01", None],
        ["Lagos", 1, "2026-03-04", None, 2],
        ["Tavira", None, "2026-03-05", "2026-06-01", 1.5],
        [None, 0.5, "2026-03-04T12:00", "2026-06-01", None],
    ]
    days = bucketed(checked(COLUMNS, rows), "day")
    assert [[*row] for row in days.rows] == [
        ["Lagos", 1.5, "2026-03-04T00:00:00.000Z", None, 2],
        ["Faro", 7, "2026-03-05T00:00:00.000Z", "2026-04-01", 1.5],
    ]
    assert days.columns == checked(COLUMNS, []).columns


def test_a_single_null_counts_as_zero_and_nulls_alone_stay_null() -> None:
    columns = [{"name": "day", "type": "date"}, {"name": "n", "type": "number"}]
    rows = [["2026-03-04", None], ["2026-03-04", None], ["2026-04-01", None], ["2026-04-02", 2]]
    months = bucketed(checked(columns, rows), "month")
    assert [row[1] for row in months.rows] == [None, 2]


def test_null_is_the_empty_key_and_a_text_that_is_no_date_its_own() -> None:
    columns = checked([{"name": "day", "type": "date"}, {"name": "n", "type": "number"}], [])
    rows = [["soon", 1], [None, 2], ["2026-03-04", 4], ["soon", 8], [None, 16]]
    weeks = bucketed(Dataset(columns.columns, rows), "week")
    assert [[*row] for row in weeks.rows] == [
        ["", 18],
        ["2026-03-02T00:00:00.000Z", 4],
        ["soon", 9],
    ]


def test_the_rows_that_are_put_together_stay_as_they_are() -> None:
    columns = [{"name": "day", "type": "date"}, {"name": "n", "type": "number"}]
    dataset = checked(columns, [["2026-03-04", 1], ["2026-03-04", 2]])
    bucketed(dataset, "day")
    assert [[*row] for row in dataset.rows] == [["2026-03-04", 1], ["2026-03-04", 2]]


def test_what_no_double_holds_is_infinite() -> None:
    columns = [{"name": "day", "type": "date"}, {"name": "n", "type": "number"}]
    large = int(1.7e308)
    rows = [["2026-03-04", large], ["2026-03-04", large], ["2026-03-04", 0.5]]
    [[_, total]] = bucketed(checked(columns, rows), "day").rows
    assert total == inf


def test_rows_without_dates_are_of_no_time() -> None:
    with pytest.raises(NoDates):
        bucketed(checked([{"name": "n", "type": "number"}], [[1]]), "day")

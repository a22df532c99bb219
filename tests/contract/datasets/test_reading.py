"""Which rows of a dataset are read."""

import pytest

from parleyd.contract.datasets.buckets import NoDates
from parleyd.contract.datasets.checks import checked
from parleyd.contract.datasets.reading import DatasetQuery, rows_of

DATASET = checked(
    [{"name": "day", "type": "date"}, {"name": "n", "type": "number"}],
    [[f"2026-03-{1 + i // 2:02}", i] for i in range(20)],
)


@pytest.mark.parametrize(
    ("page", "limit", "expected", "more"),
    [
        (1, 8, [*range(8)], True),
        (2, 8, [*range(8, 16)], True),
        (3, 8, [16, 17, 18, 19], False),
        (4, 8, [], False),
        (10_000, 1000, [], False),
        (2, 10, [*range(10, 20)], False),
        (1, 20, [*range(20)], False),
    ],
)
def test_a_page_has_its_rows(page: int, limit: int, expected: list[int], more: int) -> None:
    read = rows_of(DATASET, DatasetQuery(limit=limit, page=page))
    assert [row[1] for row in read.rows] == expected
    assert (read.row_count, read.page, read.more) == (20, page, more)
    assert read.columns == DATASET.columns


def test_without_a_page_rows_are_thinned_out() -> None:
    read = rows_of(DATASET, DatasetQuery(limit=3))
    assert [read.rows[0][1], read.rows[-1][1], len(read.rows)] == [0, 19, 3]
    assert (read.row_count, read.page, read.more) == (20, 1, False)


def test_rows_are_put_together_before_they_are_counted_and_paged() -> None:
    read = rows_of(DATASET, DatasetQuery("day", limit=4, page=3))
    assert [[*row] for row in read.rows] == [
        ["2026-03-09T00:00:00.000Z", 33],
        ["2026-03-10T00:00:00.000Z", 37],
    ]
    assert (read.row_count, read.page, read.more) == (10, 3, False)


def test_without_dates_nothing_is_put_together() -> None:
    with pytest.raises(NoDates):
        rows_of(checked([{"name": "n", "type": "number"}], []), DatasetQuery("day"))

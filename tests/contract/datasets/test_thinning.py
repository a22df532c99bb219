"""Fewer rows that show the shape of many."""

import pytest

from parleyd.contract.datasets.checks import checked
from parleyd.contract.datasets.dataset import Cell, Dataset
from parleyd.contract.datasets.thinning import chosen, thinned

PEAKS = [0, 10, 0, 0, 50, 0, 0, 5, 0, 20, 1, 1]
SQUARES = [(7 * i * i) % 13 for i in range(24)]
DAY = {"name": "day", "type": "date"}
N = {"name": "n", "type": "number"}
NOTE = {"name": "note", "type": "string"}


@pytest.mark.parametrize(
    ("ys", "most", "places"),
    [
        (PEAKS, 1, [0]),
        (PEAKS, 2, [0, 11]),
        (PEAKS, 3, [0, 4, 11]),
        (PEAKS, 4, [0, 4, 6, 11]),
        (PEAKS, 5, [0, 3, 4, 7, 11]),
        (PEAKS, 6, [0, 2, 4, 6, 9, 11]),
        (PEAKS, 12, [*range(12)]),
        (PEAKS, 13, [*range(12)]),
        (SQUARES, 5, [0, 3, 13, 16, 23]),
        (SQUARES, 8, [0, 3, 6, 10, 13, 16, 19, 23]),
        ([], 3, []),
        ([1, 1, 1, 1, 1], 3, [0, 1, 4]),
    ],
)
def test_the_points_that_make_the_largest_triangles_are_chosen(
    ys: list[int], most: int, places: list[int]
) -> None:
    assert chosen([*range(len(ys))], ys, most) == places


@pytest.mark.parametrize("count", [4, 7, 100, 501, 2000])
@pytest.mark.parametrize("most", [1, 2, 3, 50, 499, 500])
def test_there_are_as_many_as_asked_for_and_none_twice(count: int, most: int) -> None:
    places = chosen([*range(count)], [(i * 37) % 11 for i in range(count)], most)
    assert len(places) == min(count, most)
    assert places == sorted(set(places))


def of(columns: list[dict[str, str]], rows: list[list[Cell]]) -> Dataset:
    return Dataset(checked(columns, []).columns, rows)


def test_rows_are_thinned_by_their_first_numbers() -> None:
    rows: list[list[Cell]] = [["x", y or None, 99 - y] for y in PEAKS]
    dataset = of([NOTE, N, {"name": "m", "type": "number"}], rows)
    assert thinned(dataset, 4) == [rows[i] for i in (0, 4, 6, 11)]
    assert thinned(dataset, 12) == rows


def test_rows_without_numbers_are_the_first_ones() -> None:
    rows: list[list[Cell]] = [["2026-03-04", str(i)] for i in range(9)]
    assert thinned(of([DAY, NOTE], rows), 4) == rows[:4]


def test_rows_are_as_far_apart_as_their_dates() -> None:
    def thin(*dates: str) -> Cell:
        rows: list[list[Cell]] = [[at, y] for at, y in zip(dates, [0, 4, 0, 9], strict=True)]
        return thinned(of([DAY, N], rows), 3)[1][0]

    days = ("2026-01-01", "2026-01-02", "2026-01-03")
    assert thin(*days, "2026-01-04") == "2026-01-03"
    assert thin(*days, "2026-04-10") == "2026-01-02"


def test_a_date_that_can_not_be_read_counts_as_the_rows_place() -> None:
    rows: list[list[Cell]] = [[None if i % 2 else "soon", y] for i, y in enumerate(PEAKS)]
    assert thinned(of([DAY, N], rows), 5) == [rows[i] for i in (0, 3, 4, 7, 11)]


def test_numbers_that_no_double_holds_are_no_obstacle() -> None:
    rows: list[list[Cell]] = [[y] for y in (0, 10**400, -(10**400), float("inf"), 1, 2)]
    assert len(thinned(of([N], rows), 4)) == 4

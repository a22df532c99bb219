"""What charts and tables are bound to (spec blocks 7)."""

from typing import Any

import pytest

from parleyd.contract.blocks.options import BlockOptions, KnownColumn
from tests.contract.blocks.documents import document, errors, inline, warnings

LOANS = inline("branch:string", "total:number", "day:date", rows=[["Harbour", 1, "2026-02-01"]])
FAR: Any = {"source": "ref", "id": "far-1"}
KNOWN = BlockOptions(
    datasets={"far-1": (KnownColumn("at", "date"), KnownColumn("level", "number"))}
)


def _chart(**fields: Any) -> dict[str, Any]:
    return {"type": "chart", "kind": "area", **fields}


CHARTS: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "bound to a dataset": ({"data": "loans", "x": "branch", "y": "total"}, []),
    "bound to a date": ({"data": "loans", "x": "day", "y": "total"}, []),
    "points": ({"points": []}, []),
    "nothing": ({}, [("data", "MISSING_REQUIRED")]),
    "x alone": ({"x": "branch"}, [("data", "MISSING_REQUIRED")]),
    "no x": ({"data": "loans", "y": "total"}, [("data", "MISSING_REQUIRED")]),
    "no y and no such dataset": (
        {"data": "nowhere", "x": "branch"},
        [("data", "DATASET_NOT_FOUND"), ("data", "MISSING_REQUIRED")],
    ),
    "points and all": (
        {"points": [], "data": "loans", "x": "nope", "y": "branch"},
        [
            ("points", "INVALID_TYPE"),
            ("x", "COLUMN_NOT_FOUND"),
            ("y", "COLUMN_TYPE_MISMATCH"),
        ],
    ),
    "points and no such dataset": (
        {"points": [], "data": "nowhere"},
        [("data", "DATASET_NOT_FOUND"), ("points", "INVALID_TYPE")],
    ),
    "points and half of it": (
        {"points": [], "data": "loans", "x": "nope"},
        [("points", "INVALID_TYPE")],
    ),
    "axes of wrong types": (
        {"data": "loans", "x": "total", "y": "day"},
        [("x", "COLUMN_TYPE_MISMATCH"), ("y", "COLUMN_TYPE_MISMATCH")],
    ),
    "an inherited name": (
        {"data": "constructor", "x": "branch", "y": "total"},
        [("data", "DATASET_NOT_FOUND")],
    ),
    "an inherited column": (
        {"data": "loans", "x": "constructor", "y": "__proto__"},
        [("x", "COLUMN_NOT_FOUND"), ("y", "COLUMN_NOT_FOUND")],
    ),
    "a dataset in another case": (
        {"data": "Loans", "x": "branch", "y": "total"},
        [("data", "DATASET_NOT_FOUND")],
    ),
    "a ref of unknown columns": ({"data": "far", "x": "any", "y": "any"}, []),
}


@pytest.mark.parametrize(("fields", "expected"), CHARTS.values(), ids=CHARTS)
def test_charts(fields: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    value = document({"type": "card", "children": [_chart(**fields)]}, loans=LOANS, far=FAR)
    assert errors(value) == [(f"blocks[0].children[0].{at}", code) for at, code in expected]


def test_columns_of_a_ref_are_checked_where_the_server_knows_them() -> None:
    right = _chart(data="far", x="at", y="level")
    assert errors(document(right, far=FAR), KNOWN) == []
    wrong = _chart(data="far", x="level", y="at")
    assert errors(document(wrong, far=FAR), KNOWN) == [
        ("blocks[0].x", "COLUMN_TYPE_MISMATCH"),
        ("blocks[0].y", "COLUMN_TYPE_MISMATCH"),
    ]
    table = {"type": "table", "data": "far", "columns": ["at", "depth"]}
    assert errors(document(table, far=FAR), KNOWN) == [("blocks[0].columns[1]", "COLUMN_NOT_FOUND")]


def test_of_columns_of_one_name_the_first_counts() -> None:
    value = document(
        _chart(data="d", x="a", y="b"), d=inline("a:string", "b:number", "a:number", "b:string")
    )
    assert errors(value) == [
        ("datasets.d.columns[2].name", "DUPLICATE_ID"),
        ("datasets.d.columns[3].name", "DUPLICATE_ID"),
    ]


def test_what_is_known_goes_by_the_id_and_not_by_the_name() -> None:
    elsewhere: Any = {"source": "ref", "id": "far-2"}
    value = document(_chart(data="far_1", x="any", y="any"), far_1=elsewhere)
    assert errors(value, BlockOptions(datasets={"far_1": ()})) == []


def test_a_table_lists_columns_that_exist_as_often_as_it_likes() -> None:
    table: Any = {"type": "table", "data": "loans", "columns": ["day", "day", "Day"]}
    assert errors(document(table, loans=LOANS)) == [("blocks[0].columns[2]", "COLUMN_NOT_FOUND")]


def test_a_table_without_a_dataset_is_not_looked_at_further() -> None:
    table: Any = {"type": "table", "data": "nowhere", "columns": ["a"] * 13}
    assert errors(document(table, loans=LOANS)) == [("blocks[0].data", "DATASET_NOT_FOUND")]


def test_a_table_shows_12_columns_listed_or_not() -> None:
    wide = inline(*[f"c{i}:number" for i in range(13)])
    shown: Any = {"type": "table", "data": "wide", "columns": [f"c{i}" for i in range(12)]}
    too_large = ("datasets.wide.columns", "DATASET_TOO_LARGE")
    assert errors(document(shown, wide=wide)) == [too_large]
    whole: Any = {"type": "table", "data": "wide"}
    assert errors(document(whole, wide=wide)) == [
        ("blocks[0].columns", "TABLE_TOO_WIDE"),
        too_large,
    ]
    stored = BlockOptions(
        datasets={"far-1": tuple(KnownColumn(f"c{i}", "date") for i in range(13))}
    )
    assert errors(document({"type": "table", "data": "far"}, far=FAR), stored) == [
        ("blocks[0].columns", "TABLE_TOO_WIDE")
    ]


def _points(count: int) -> list[Any]:
    return [{"label": "p", "value": 1}] * count


def _numbers(count: int) -> Any:
    return inline("k:string", "n:number", rows=[["a", 1]] * count)


@pytest.mark.parametrize(
    ("kind", "silent", "loud", "code"),
    [
        ("bar", 60, 61, "BAR_TOO_MANY_CATEGORIES"),
        ("donut", 8, 9, "DONUT_TOO_MANY_SLICES"),
        ("line", 2, 1, "LINE_SINGLE_POINT"),
        ("line", 0, 1, "LINE_SINGLE_POINT"),
    ],
)
def test_a_chart_of_an_odd_size_draws_a_warning(
    kind: str, silent: int, loud: int, code: str
) -> None:
    for count, expected in ((silent, []), (loud, [("blocks[0]", code)])):
        by_points = {"type": "chart", "kind": kind, "points": _points(count)}
        assert warnings(document(by_points)) == expected
        bound = {"type": "chart", "kind": kind, "data": "d", "x": "k", "y": "n"}
        assert warnings(document(bound, d=_numbers(count))) == expected
        if count:
            ref: Any = {"source": "ref", "id": "x", "limit": float(count)}
            assert warnings(document(bound, d=ref)) == expected


def test_of_a_size_that_nothing_says_there_is_no_warning() -> None:
    chart: Any = {"type": "chart", "kind": "bar", "data": "far", "x": "k", "y": "n"}
    assert warnings(document(chart, far=FAR)) == []


def test_points_say_the_size_where_a_dataset_is_named_too() -> None:
    both: Any = {"type": "chart", "kind": "line", "points": _points(1), "data": "d"}
    assert warnings(document(both, d=_numbers(2))) == [("blocks[0]", "LINE_SINGLE_POINT")]

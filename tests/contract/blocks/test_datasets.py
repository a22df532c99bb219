"""Datasets: kinds, cells, sizes (spec blocks 6)."""

from typing import Any

import pytest

from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.validation import validate
from tests.contract.blocks.documents import document, errors, inline

DIVIDER: Any = {"type": "divider"}


def _errors(dataset: Any, name: str = "d") -> list[tuple[str, str]]:
    return errors(document(DIVIDER, **{name: dataset}))


FORMS: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "null": (None, [("", "INVALID_TYPE")]),
    "a list": ([], [("", "INVALID_TYPE")]),
    "nothing": ({}, [(".columns", "MISSING_REQUIRED"), (".rows", "MISSING_REQUIRED")]),
    "another source": ({"source": "url", "zeta": 1}, [(".source", "INVALID_ENUM")]),
    "a source that is null": ({"source": None}, [(".source", "INVALID_ENUM")]),
    "a source that is a list": ({"source": ["ref"]}, [(".source", "INVALID_ENUM")]),
    "a source in another case": ({"source": "Ref"}, [(".source", "INVALID_ENUM")]),
    "inline with an id": (
        {**inline("a:string"), "source": "inline", "id": "x"},
        [(".id", "UNKNOWN_KEY")],
    ),
    "a ref without an id": ({"source": "ref"}, [(".id", "MISSING_REQUIRED")]),
    "a ref with rows": ({"source": "ref", "id": "x", "rows": []}, [(".rows", "UNKNOWN_KEY")]),
    "a ref with a line break": ({"source": "ref", "id": "x\n"}, [(".id", "INVALID_FORMAT")]),
    "a ref of 80": ({"source": "ref", "id": "-" * 80}, []),
    "no columns": ({"columns": [], "rows": []}, [(".columns", "TOO_FEW")]),
    "columns of many forms": (
        {"columns": [None, {}, {"name": "A", "type": "Number"}, {"name": 1, "x": 1}], "rows": []},
        [
            (".columns[0]", "INVALID_TYPE"),
            (".columns[1].name", "MISSING_REQUIRED"),
            (".columns[1].type", "INVALID_ENUM"),
            (".columns[2].name", "INVALID_FORMAT"),
            (".columns[2].type", "INVALID_ENUM"),
            (".columns[3].name", "INVALID_TYPE"),
            (".columns[3].type", "INVALID_ENUM"),
            (".columns[3].x", "UNKNOWN_KEY"),
        ],
    ),
    "rows that are no list": ({**inline("a:string"), "rows": {}}, [(".rows", "INVALID_TYPE")]),
    "a row that is a mapping": (
        inline("a:string", rows=[{"a": "x"}, None]),
        [(".rows[0]", "INVALID_TYPE"), (".rows[1]", "INVALID_TYPE")],
    ),
    "cells of wrong types": (
        inline("a:string", rows=[[True], [[]], [{}], [float("nan")], [10**400]]),
        [(f".rows[{i}][0]", "INVALID_TYPE") for i in range(5)],
    ),
    "cells that do not fit": (
        inline(
            "a:string",
            "b:number",
            "c:date",
            rows=[
                ["x", 1, "soon"],
                [" ", None, "\ufeff"],
                [None, "1", None],
                [1, "", 2026],
            ],
        ),
        [(f".rows[{i}][{j}]", "COLUMN_TYPE_MISMATCH") for i in (1, 2, 3) for j in (0, 1, 2)],
    ),
    "rows of wrong lengths": (
        inline("a:string", rows=[[], ["x", None], ["x"]]),
        [(".rows[0]", "ROW_ARITY_MISMATCH"), (".rows[1]", "ROW_ARITY_MISMATCH")],
    ),
    "a name thrice": (
        inline("a:string", "b:string", "a:number", "a:date"),
        [(".columns[2].name", "DUPLICATE_ID"), (".columns[3].name", "DUPLICATE_ID")],
    ),
}


@pytest.mark.parametrize(("dataset", "expected"), FORMS.values(), ids=FORMS)
def test_datasets(dataset: Any, expected: list[tuple[str, str]]) -> None:
    assert _errors(dataset) == [(f"datasets.d{at}", code) for at, code in expected]


@pytest.mark.parametrize("limit", [1, 5.0, 1000, 1000.0])
def test_a_limit_is_a_whole_number(limit: Any) -> None:
    assert _errors({"source": "ref", "id": "x", "limit": limit}) == []


WRONG_LIMITS: list[Any] = [0, -1, 1.5, True, "5", None, [], float("inf"), 10**5000]
"""The last is more than Python writes in decimals."""


@pytest.mark.parametrize("limit", WRONG_LIMITS, ids=map(str, range(len(WRONG_LIMITS))))
def test_another_limit_is_of_the_wrong_type(limit: Any) -> None:
    dataset = {"source": "ref", "id": "x", "limit": limit}
    assert _errors(dataset) == [("datasets.d.limit", "INVALID_TYPE")]


@pytest.mark.parametrize("limit", [1001, 1e300, 10**300])
def test_a_limit_above_1000_is_too_many_points(limit: Any) -> None:
    dataset = {"source": "ref", "id": "x", "limit": limit}
    (error,) = validate(document(DIVIDER, d=dataset), BlockOptions()).errors
    assert (error.path, error.code) == ("datasets.d.limit", "TOO_MANY_POINTS")
    assert "1000" in error.fix
    assert "`grain`" in error.fix


@pytest.mark.parametrize("name", ["Loans", "", "__proto__", "a-b", "a\n", "a" * 65, "1", "ä"])
def test_a_bad_name_is_of_the_wrong_type_and_all_that_is_told(name: str) -> None:
    assert _errors({"nothing": "right"}, name) == [(f"datasets.{name}", "INVALID_TYPE")]


@pytest.mark.parametrize("name", ["constructor", "a" * 64])
def test_any_id_is_a_name(name: str) -> None:
    assert _errors({"source": "ref", "id": "x"}, name) == []


def test_12_columns_500_rows_and_8_datasets_are_allowed() -> None:
    columns = [f"c{i}:number" for i in range(12)]
    full = inline(*columns, rows=[[1] * 12] * 500)
    assert errors(document(DIVIDER, **{f"d{i}": full for i in range(8)})) == []


def test_one_more_of_each_is_too_much() -> None:
    columns = [f"c{i}:number" for i in range(13)]
    large = inline(*columns, rows=[[1] * 13] * 501)
    small = inline("a:number")
    value = document(DIVIDER, large=large, **{f"d{i}": small for i in range(8)})
    assert errors(value) == [
        ("datasets", "TOO_MANY"),
        ("datasets.large.columns", "DATASET_TOO_LARGE"),
        ("datasets.large.rows", "DATASET_TOO_LARGE"),
    ]

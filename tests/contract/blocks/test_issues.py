"""Codes, paths and the order of issues (spec blocks 10, 11)."""

import random
from functools import cmp_to_key

import pytest

from parleyd.contract.blocks.issues import WARNING_CODES, BlockCode, Issue, in_order
from parleyd.contract.field_errors import Path
from tests.contract.blocks.orders import compared

ERROR_CODES = {
    "COLUMN_NOT_FOUND",
    "COLUMN_TYPE_MISMATCH",
    "DATASET_NOT_FOUND",
    "DATASET_TOO_LARGE",
    "DEPTH_EXCEEDED",
    "DUPLICATE_ID",
    "HTML_DISABLED",
    "HTML_TOO_LARGE",
    "IMAGE_HOST_NOT_ALLOWED",
    "INVALID_ENUM",
    "INVALID_FORMAT",
    "INVALID_TYPE",
    "KEY_ORDER",
    "MISSING_REQUIRED",
    "NOT_A_DOCUMENT",
    "ROW_ARITY_MISMATCH",
    "SELECT_TARGET_INVALID",
    "TABLE_TOO_WIDE",
    "TOO_FEW",
    "TOO_LONG",
    "TOO_MANY",
    "TOO_MANY_BLOCKS",
    "TOO_MANY_POINTS",
    "TOO_SHORT",
    "UNKNOWN_HOST_ACTION",
    "UNKNOWN_KEY",
    "UNSUPPORTED_VERSION",
    "YAML_FEATURE_DISALLOWED",
}


def _issue(*at: str | int, code: BlockCode = BlockCode.TOO_LONG, message: str = "") -> Issue:
    return Issue(at, code, message, "")


def test_there_are_28_errors_and_3_warnings() -> None:
    assert len(ERROR_CODES) == 28
    assert {str(code) for code in BlockCode} - WARNING_CODES == ERROR_CODES
    assert len(WARNING_CODES) == 3


IN_ORDER: list[Path] = [
    (),
    ("blocks",),
    ("blocks", 2),
    ("blocks", 2, "text"),
    ("blocks", 10),
    ("blocks", 10, "children", 9),
    ("blocks", 10, "children", 10),
    ("blocks", "text"),
    ("datasets", "a"),
    ("datasets", "a", "rows", 3, 11),
    ("datasets", "a", "rows", 12, 0),
    ("v",),
    ("\U0001f6a2",),
    ("\uffee",),
]


def test_issues_are_in_order_of_their_paths() -> None:
    shuffled = [_issue(*at) for at in IN_ORDER]
    random.Random(1).shuffle(shuffled)
    assert [issue.path for issue in in_order(shuffled)] == [
        issue.path for at in IN_ORDER for issue in in_order([_issue(*at)])
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("blocks", 2), ("blocks", "10x")),
        (("blocks", "1x"), ("blocks", 2)),
        (("blocks", "$"), ("blocks", 0)),
        (("blocks", 9), ("blocks", "a")),
        (("blocks[9]",), ("blocks[10]",)),
        (("[" + "8" * 6000 + "]",), ("[1" + "0" * 6000 + "]",)),
    ],
    ids=str,
)
def test_a_number_and_a_name_compare_as_texts(first: Path, second: Path) -> None:
    if "x" not in str(first) + str(second):
        expected = [first, second]
    else:
        pairs = [(in_order([_issue(*at)])[0].path, "") for at in (first, second)]
        expected = [first, second] if compared(pairs[0], pairs[1]) < 0 else [second, first]
    for given in ([first, second], [second, first]):
        got = [issue.path for issue in in_order(_issue(*at) for at in given)]
        assert got == [in_order([_issue(*at)])[0].path for at in expected]


def test_equal_paths_are_in_order_of_their_codes() -> None:
    issues = [_issue("v", code=code) for code in reversed(BlockCode)]
    assert [issue.code for issue in in_order(issues)] == sorted(BlockCode)


def test_of_equal_path_and_code_the_first_alone_is_told() -> None:
    issues = in_order([_issue("v", message="one"), _issue("v", message="two")])
    assert [issue.message for issue in issues] == ["one"]


def test_two_ways_to_write_a_character_are_two_paths() -> None:
    assert len(in_order([_issue("\U0001f6a2"), _issue("\ud83d\udea2")])) == 2


def test_an_order_in_a_circle_still_gives_one_result() -> None:
    issues = [_issue("b", 2), _issue("b", 10), _issue("b", "1x"), _issue("b", "10")]
    results: set[tuple[str, ...]] = set()
    for seed in range(20):
        random.Random(seed).shuffle(issues)
        results.add(tuple(issue.path for issue in in_order(issues)))
    assert len(results) == 1


def test_the_order_is_that_of_the_comparison_where_no_name_begins_with_a_digit() -> None:
    rng = random.Random(7)
    pieces: list[str | int] = ["a", "b", "Z", "_", "$", "ä", 0, 1, 2, 9, 10, 11, 100]
    for _ in range(200):
        paths = [("r", *rng.choices(pieces, k=rng.randint(0, 3))) for _ in range(12)]
        got = [(issue.path, str(issue.code)) for issue in in_order(_issue(*at) for at in paths)]
        assert got == sorted(got, key=cmp_to_key(compared))

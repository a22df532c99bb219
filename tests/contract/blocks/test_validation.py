"""The validator as a whole: the cases, the two phases, any value whatever (spec blocks 3)."""

from functools import cmp_to_key
from typing import Any

import pytest
from hypothesis import given

from parleyd.contract.blocks import limits
from parleyd.contract.blocks.issues import WARNING_CODES, BlockCode, BlockIssue
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.validation import check, validate
from tests.contract.blocks.cases import cases, needs_cases, options_of, told
from tests.contract.blocks.documents import (
    ANYTHING,
    LENIENT,
    document,
    errors,
    spoilt_documents,
    valid_documents,
    warnings,
)
from tests.contract.blocks.orders import compared


@needs_cases
@pytest.mark.parametrize("case", cases("validate"), ids=lambda case: case["name"])
def test_a_conformance_case_passes(case: dict[str, Any]) -> None:
    verdict = check(case["document"], options_of(case))
    got = {"errors": told(verdict.errors), "warnings": told(verdict.warnings)}
    assert got == case["expect"]
    assert verdict.ok is (not case["expect"]["errors"])


def test_a_text_that_is_no_document_has_the_one_error_of_the_parser() -> None:
    verdict = check("Just prose.", BlockOptions())
    assert [(error.path, error.code) for error in verdict.errors] == [
        ("", BlockCode.NOT_A_DOCUMENT)
    ]
    assert not verdict.ok


def test_faults_of_form_hide_those_of_meaning_and_the_warnings() -> None:
    lonely = {"type": "chart", "kind": "line", "points": [{"label": "a", "value": 1}]}
    lost = {"type": "table", "data": "nowhere"}
    assert errors(document(lonely, lost)) == [("blocks[1].data", "DATASET_NOT_FOUND")]
    assert warnings(document(lonely, lost)) == [("blocks[0]", "LINE_SINGLE_POINT")]
    broken = document(lonely, lost, {"type": "divider", "text": "x"})
    assert errors(broken) == [("blocks[2].text", "UNKNOWN_KEY")]
    assert warnings(broken) == []


def test_of_very_many_errors_the_first_are_told() -> None:
    many = document({"type": "divider", **{f"k{i}": 1 for i in range(limits.ISSUES_REPORTED + 9)}})
    assert len(errors(many)) == limits.ISSUES_REPORTED


def test_a_value_nested_deeper_than_any_text_is_refused_without_recursion() -> None:
    inner: dict[str, Any] = {"type": "divider", "unseen": 1}
    for _ in range(50_000):
        inner = {"type": "card", "children": [inner]}
    assert errors(document(inner)) == [
        ("blocks", "TOO_MANY_BLOCKS"),
        ("blocks[0].children[0]", "DEPTH_EXCEEDED"),
    ]
    while inner:  # Python frees what is nested so deep by recursion, if it is left to do it.
        inner = inner.pop("children", [{}])[0]


@given(valid_documents())
def test_a_valid_document_has_no_errors_and_its_check_changes_nothing(value: Any) -> None:
    before = repr(value)
    verdict = validate(value, LENIENT)
    assert verdict.errors == ()
    assert repr(value) == before


def _assert_sound(issues: tuple[BlockIssue, ...]) -> None:
    pairs = [(issue.path, issue.code) for issue in issues]
    assert len({*pairs}) == len(pairs)
    assert all(issue.message.endswith(".") and issue.fix.endswith(".") for issue in issues)
    assert all(len(issue.message) < 500 and len(issue.fix) < 500 for issue in issues)
    # Keys that begin with a digit or hold brackets can make the order go in a circle.
    if not any(piece in path for path, _ in pairs for piece in ("12", "[3]", "[9")):
        assert pairs == sorted(pairs, key=cmp_to_key(compared))


@given(ANYTHING)
def test_any_value_whatever_gets_a_verdict(value: Any) -> None:
    verdict = validate(value, LENIENT)
    _assert_sound(verdict.errors)
    _assert_sound(verdict.warnings)


@given(spoilt_documents())
def test_issues_are_unique_and_in_order(value: Any) -> None:
    verdict = validate(value, BlockOptions(host_actions=("other",)))
    _assert_sound(verdict.errors)
    _assert_sound(verdict.warnings)
    assert not WARNING_CODES & {error.code for error in verdict.errors}
    assert {issue.code for issue in verdict.warnings} <= WARNING_CODES
    assert validate(value, BlockOptions(host_actions=("other",))) == verdict

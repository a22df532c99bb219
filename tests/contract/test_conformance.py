"""The conformance cases by way of the functions (spec asks 17)."""

from typing import Any

import pytest

from parleyd.contract.answers import check_answer
from parleyd.contract.asks.kinds import ASK_KINDS, check_ask
from parleyd.contract.cards import to_simple_card
from parleyd.contract.field_errors import FieldError
from tests.conformance import CASES, needs_cases


def _errors(errors: tuple[FieldError, ...]) -> dict[str, object]:
    return {"errors": [{"path": error.path, "code": str(error.code)} for error in errors]}


def _run(case: dict[str, Any]) -> dict[str, object]:
    match case["op"]:
        case "ask":
            surface = case.get("surface", "full")
            return _errors(check_ask(case["kind"], case["input"], surface))
        case "answer":
            return _errors(check_answer(case["kind"], case["input"], case["response"]))
        case "card":
            card = to_simple_card(case["kind"], case["input"], "call_case")
            return {"card": card.model_dump(mode="json", by_alias=True, exclude_none=True)}
        case op:
            raise ValueError(op)


@needs_cases
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_conformance_case_passes(case: dict[str, Any]) -> None:
    assert _run(case) == case["expect"]


@needs_cases
def test_the_cases_cover_every_operation_on_every_kind() -> None:
    covered = {(case["kind"], case["op"]) for case in CASES}
    assert covered >= {(kind, op) for kind in ASK_KINDS for op in ("ask", "answer", "card")}


@needs_cases
def test_a_card_of_the_cases_belongs_to_a_valid_ask() -> None:
    for case in CASES:
        if case["op"] != "ask":
            surface = case.get("surface", "full")
            assert check_ask(case["kind"], case["input"], surface) == ()

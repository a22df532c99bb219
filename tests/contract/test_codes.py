"""Every code that the built kinds can give, given (spec asks 3)."""

from collections.abc import Callable, Sequence

import pytest
from pydantic import JsonValue

from parleyd.contract.answers import accepted, check_answer, declined
from parleyd.contract.asks.kinds import check_ask
from parleyd.contract.cards import look_up_button, to_simple_card
from parleyd.contract.field_errors import Code, FieldError
from parleyd.contract.text import units
from tests.contract.valid_asks import POST, SEEDS, TRIP, options


def _press(button_id: str) -> Sequence[FieldError]:
    found = look_up_button(to_simple_card("choice", TRIP, "call_1"), button_id)
    assert isinstance(found, FieldError)
    return (found,)


ON_ASKS: dict[Code, Callable[[], Sequence[FieldError]]] = {
    Code.DEFAULT_NOT_IN_OPTIONS: lambda: check_ask("choice", {**TRIP, "default": ["plane"]}),
    Code.DUPLICATE_ID: lambda: check_ask("choice", {**TRIP, "options": options("a", "a")}),
    Code.DUPLICATE_LABEL: lambda: check_ask("confirm", {**POST, "denyLabel": "Confirm"}),
    Code.INVALID_ENUM: lambda: check_ask("choice", {**TRIP, "select": "x" * 100}),
    Code.INVALID_FORMAT: lambda: check_ask("choice", {**TRIP, "options": options("a", "B")}),
    Code.INVALID_TYPE: lambda: check_ask("choice", {**TRIP, "prompt": []}),
    Code.MISSING_REQUIRED: lambda: check_ask("confirm", {}),
    Code.OTHER_NOT_ALLOWED: lambda: check_ask("choice", {**TRIP, "allowOther": True}),
    Code.RANGE_INVALID: lambda: check_ask("choice", {**SEEDS, "maxSelected": 10**200}),
    Code.SELECTION_COUNT: lambda: check_ask("choice", {**TRIP, "default": ["bus", "bus"]}),
    Code.TOO_FEW: lambda: check_ask("choice", {**TRIP, "options": options("a")}),
    Code.TOO_LONG: lambda: check_ask("confirm", {"prompt": "x" * 501}),
    Code.TOO_MANY: lambda: check_ask("choice", {**TRIP, "options": options("a") * 51}),
    Code.TOO_SHORT: lambda: check_ask("confirm", {"prompt": " "}),
    Code.UNKNOWN_KEY: lambda: check_ask("confirm", {**POST, "k" * 1000: 1}),
}

ON_ANSWERS: dict[Code, Callable[[], Sequence[FieldError]]] = {
    Code.DECLINE_NOT_ALLOWED: lambda: check_answer("confirm", POST, declined()),
    Code.DUPLICATE_ID: lambda: _answer(["kale", "kale"]),
    Code.INVALID_ENUM: lambda: check_answer("choice", TRIP, {"action": 1}),
    Code.INVALID_TYPE: lambda: _answer([1]),
    Code.MISSING_REQUIRED: lambda: check_answer("confirm", POST, accepted({})),
    Code.OPTION_NOT_OFFERED: lambda: _answer(["mint"]),
    Code.OTHER_NOT_ALLOWED: lambda: _answer(["kale"], other="x"),
    Code.SELECTION_COUNT: lambda: _answer([]),
    Code.TOO_LONG: lambda: _answer(["kale"], other="x" * 501),
    Code.TOO_MANY: lambda: _answer(["kale"] * 51),
    Code.TOO_SHORT: lambda: check_answer("choice", TRIP, {"action": "cancel", "reason": ""}),
    Code.UNKNOWN_BUTTON: lambda: _press("b" * 1000),
    Code.UNKNOWN_KEY: lambda: check_answer("choice", TRIP, {**declined(), "x": 1}),
}

OF_OTHER_KINDS = {
    Code.CHANGED_MISMATCH,
    Code.FIELD_TYPE_MISMATCH,
    Code.FILE_COUNT,
    Code.FILE_NOT_OWNED,
    Code.FILE_TOO_LARGE,
    Code.FILE_TYPE_NOT_ACCEPTED,
    Code.INVALID_DATE,
    Code.MIME_MISMATCH,
    Code.OUT_OF_RANGE,
    Code.REQUIRED_FIELD,
}
"""What only markdown, form and files asks can give."""


def _answer(selected: list[JsonValue], **content: JsonValue) -> Sequence[FieldError]:
    return check_answer("choice", SEEDS, accepted({"selected": selected, **content}))


CASES = [
    *((code, make) for code, make in ON_ASKS.items()),
    *((code, make) for code, make in ON_ANSWERS.items()),
]


@pytest.mark.parametrize(("code", "make"), CASES, ids=lambda value: str(value)[:30])
def test_a_code_is_given_with_a_message_and_a_fix_of_one_sentence_each(
    code: Code, make: Callable[[], Sequence[FieldError]]
) -> None:
    (error,) = [error for error in make() if error.code == code]
    for text in (error.message, error.fix):
        assert text.endswith(".")
        assert "\n" not in text
        assert units(text) < 400


def test_every_code_is_given_or_of_a_kind_to_come() -> None:
    assert {*ON_ASKS} | {*ON_ANSWERS} | OF_OTHER_KINDS == {*Code}
    assert not OF_OTHER_KINDS & ({*ON_ASKS} | {*ON_ANSWERS})

"""Every code that the built kinds can give, given (spec asks 3)."""

from collections.abc import Callable, Sequence

import pytest
from pydantic import JsonValue

from parleyd.contract.answers import accepted, check_answer, declined
from parleyd.contract.asks.kinds import check_ask
from parleyd.contract.cards import look_up_button, to_simple_card
from parleyd.contract.field_errors import Code, FieldError
from parleyd.contract.text import units
from tests.contract.faulty_files import ON_DRAFTS, ON_FILES
from tests.contract.faulty_forms import ON_FORMS
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

OF_THE_SERVER = {Code.FILE_NOT_OWNED}
"""What no pure check can tell (spec asks 3)."""


def _answer(selected: list[JsonValue], **content: JsonValue) -> Sequence[FieldError]:
    return check_answer("choice", SEEDS, accepted({"selected": selected, **content}))


CASES = [
    *((code, make) for code, make in ON_ASKS.items()),
    *((code, make) for code, make in ON_ANSWERS.items()),
    *ON_DRAFTS,
    *ON_FORMS,
    *ON_FILES,
]


@pytest.mark.parametrize(("code", "make"), CASES, ids=[code for code, _ in CASES])
def test_a_code_is_given_with_a_message_and_a_fix_of_one_sentence_each(
    code: Code, make: Callable[[], Sequence[FieldError]]
) -> None:
    (error,) = [error for error in make() if error.code == code]
    for text in (error.message, error.fix):
        assert text.endswith(".")
        assert "\n" not in text
        assert units(text) < 400


def test_every_code_is_given_but_those_of_the_server() -> None:
    given = {code for code, _ in CASES}
    assert given == {*Code} - OF_THE_SERVER

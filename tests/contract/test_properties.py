"""What holds for every ask there can be (spec asks SC12, CS4, V4)."""

import json
import random
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.answers import accepted, check_answer
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import ASK_KINDS, check_ask, offered_kinds
from parleyd.contract.cards import SimpleCard, look_up_button, to_simple_card
from parleyd.contract.field_errors import FieldError, as_tool_error
from parleyd.contract.surfaces import Surface
from parleyd.contract.text import cut, trim, units
from tests.contract.spoilt_values import ANY_ASK, ANYTHING, CONTENTS, spoilt, spoilt_asks
from tests.contract.valid_asks import TRIP, AskInput, asks
from tests.contract.valid_forms import forms


def shape_of(errors: tuple[FieldError, ...]) -> list[tuple[str, str]]:
    return [(error.path, error.code) for error in errors]


@given(asks("full"))
def test_generated_asks_are_valid(drawn: tuple[AskKind, AskInput]) -> None:
    kind, ask = drawn
    assert check_ask(kind, ask) == ()


@given(asks("compact"))
def test_a_compact_ask_is_a_valid_full_ask_and_its_card_shows_all(
    drawn: tuple[AskKind, AskInput],
) -> None:
    kind, ask = drawn
    assert check_ask(kind, ask, "compact") == ()
    assert check_ask(kind, ask, "full") == ()
    card = to_simple_card(kind, ask, "call_1")
    assert not card.handoff
    if kind == "choice":
        shown = {button.id: button.label for button in card.buttons}
        options: Any = ask["options"]
        for option in options:
            assert shown[f"option:{option['id']}"] == trim(option["label"])


@given(forms())
def test_a_form_offers_its_defaults_exactly_where_they_answer_it(ask: AskInput) -> None:
    fields: Any = ask["fields"]
    defaults = {field["id"]: field["default"] for field in fields if "default" in field}
    answers = not check_answer("form", ask, accepted({"values": defaults}))
    buttons = {button.id for button in to_simple_card("form", ask, "call_1").buttons}
    assert ("submit-defaults" in buttons) == (bool(defaults) and answers)


@given(ANY_ASK)
def test_a_card_keeps_the_invariants(drawn: tuple[AskKind, AskInput]) -> None:
    kind, ask = drawn
    card = to_simple_card(kind, ask, "call_1")
    assert to_simple_card(kind, json.loads(json.dumps(ask)), "call_1") == card

    dumped = card.model_dump_json(by_alias=True, exclude_none=True)
    assert SimpleCard.model_validate_json(dumped) == card
    assert len(card.buttons) <= limits.CARD_BUTTONS
    assert len({button.id for button in card.buttons}) == len(card.buttons)
    assert units(card.text) <= limits.CARD_TEXT
    assert units(card.title or "") <= limits.CARD_TITLE
    assert (card.title is None) == ("title" not in ask)

    for place, button in enumerate(card.buttons):
        assert 1 <= units(button.label) <= limits.CARD_LABEL
        assert check_answer(kind, ask, button.response) == ()
        assert look_up_button(card, button.id) == button.response
        if button.style in ("primary", "destructive"):
            assert place == 0
        if button.style == "cancel":
            assert place == len(card.buttons) - 1

    if kind == "confirm":
        assert not card.handoff
        destructive = ask.get("destructive") is True
        assert card.buttons[0].style == ("destructive" if destructive else "primary")
        first_safe = next(b for b in card.buttons if b.style != "destructive")
        assert first_safe.response == {
            "action": "accept",
            "content": {"confirmed": not destructive},
        }
    elif kind != "choice" or ask["select"] == "many":
        assert card.handoff


@given(spoilt_asks())
def test_checking_an_ask_never_raises_and_always_says_the_same(
    drawn: tuple[AskKind, JsonValue],
) -> None:
    kind, value = drawn
    for surface in get_args(Surface):
        if offered_kinds([kind], surface):
            errors = check_ask(kind, value, surface)
            assert check_ask(kind, value, surface) == errors
            assert all(error.message and error.fix for error in errors)
            as_tool_error(errors).encode()


@given(ANY_ASK, st.data())
def test_checking_an_answer_never_raises_and_always_says_the_same(
    drawn: tuple[AskKind, AskInput], data: st.DataObject
) -> None:
    kind, ask = drawn
    answer: JsonValue = {"action": "accept", "content": CONTENTS[kind](ask)}
    response = data.draw(st.one_of(ANYTHING, spoilt(answer)))
    errors = check_answer(kind, ask, response)
    assert check_answer(kind, ask, response) == errors
    assert all(error.message and error.fix for error in errors)


@given(spoilt_asks(), st.randoms(use_true_random=False))
def test_errors_are_sorted_whatever_the_order_of_keys(
    drawn: tuple[AskKind, JsonValue], order: random.Random
) -> None:
    kind, value = drawn
    errors = shape_of(check_ask(kind, value))
    assert shape_of(check_ask(kind, _shuffled(value, order))) == errors
    assert len(set(errors)) == len(errors)


def _shuffled(value: JsonValue, order: random.Random) -> JsonValue:
    if isinstance(value, dict):
        keys = [*value]
        order.shuffle(keys)
        return {key: _shuffled(value[key], order) for key in keys}
    if isinstance(value, list):
        return [_shuffled(item, order) for item in value]
    return value


@given(st.text(st.characters()), st.sampled_from([140, 40, 20, 14]))
def test_a_cut_fits_and_begins_as_the_text_does(text: str, limit: int) -> None:
    short = cut(text, limit)
    assert units(short) <= limit
    if units(text) <= limit:
        assert short == text
    else:
        assert short.endswith("…")
        # Halves of a pair that stand apart in the text may have joined on the way.
        assert _coded(text).startswith(_coded(short[:-1]))


def _coded(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


@pytest.mark.parametrize("kind", ASK_KINDS)
def test_depth_and_numbers_beyond_all_measure_are_only_errors(kind: AskKind) -> None:
    deep: JsonValue = 1
    for _ in range(50_000):
        deep = [deep]
    for junk in (deep, 10**5000, float("nan"), float("inf"), "\ud83d" * 3):
        for key in (
            "prompt",
            "options",
            "select",
            "minSelected",
            "destructive",
            "fields",
            "initial",
            "minLength",
            "accept",
            "maxFiles",
            "\ud83d",
        ):
            ask: dict[str, JsonValue] = {**TRIP, key: junk}
            as_tool_error(check_ask(kind, ask)).encode()
            check_answer(kind, TRIP, {"action": junk, "content": junk})
            check_answer(kind, TRIP, {"action": "accept", "content": {"selected": junk}})
            check_answer(kind, TRIP, {"action": "accept", "content": {"values": {key: junk}}})
            for content in ({"markdown": junk, "changed": junk}, {"files": [{"url": junk}, junk]}):
                check_answer(kind, TRIP, {"action": "accept", "content": content})

"""What holds for every ask there can be (spec asks SC12, CS4, V4)."""

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.answers import check_answer
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import ASK_KINDS, check_ask
from parleyd.contract.cards import SimpleCard, look_up_button, to_simple_card
from parleyd.contract.field_errors import FieldError, as_tool_error
from parleyd.contract.surfaces import Surface
from parleyd.contract.text import cut, trim, units
from tests.contract.valid_asks import TRIP, AskInput, asks

ANY_ASK = st.one_of(asks("full"), asks("compact"))

SCALARS: st.SearchStrategy[JsonValue] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**308, 10**309, 10**4000, -(10**4000)]),
    st.floats(),
    st.text(st.characters(), max_size=8),
    st.sampled_from(["", "one", "many", "accept", "a", "\ud83d", "x" * 600, "\U0001f6a2" * 90]),
)
KNOWN = [
    "prompt",
    "title",
    "select",
    "options",
    "default",
    "minSelected",
    "maxSelected",
    "allowOther",
    "otherLabel",
    "id",
    "label",
    "description",
    "submitLabel",
    "allowDecline",
    "confirmLabel",
    "denyLabel",
    "destructive",
    "action",
    "content",
    "reason",
    "selected",
    "other",
    "confirmed",
]
KEYS = st.one_of(
    st.text(st.characters(), max_size=4),
    st.sampled_from(KNOWN),
)
ANYTHING: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(KEYS, inner, max_size=8)),
    max_leaves=30,
)


@st.composite
def spoilt(draw: st.DrawFn, whole: JsonValue) -> JsonValue:
    """Draws a value like `whole` of which some parts are anything, gone, or new."""
    if draw(st.integers(0, 7)) == 0:
        return draw(ANYTHING)
    if isinstance(whole, dict):
        kept = {key: draw(spoilt(value)) for key, value in whole.items() if draw(st.integers(0, 9))}
        if draw(st.integers(0, 3)) == 0:
            kept[draw(KEYS)] = draw(SCALARS)
        return kept
    if isinstance(whole, list):
        return [draw(spoilt(item)) for item in whole] * draw(st.sampled_from([1, 1, 1, 2, 30]))
    return whole


@st.composite
def spoilt_asks(draw: st.DrawFn) -> tuple[AskKind, JsonValue]:
    """Draws asks that are mostly wrong somewhere."""
    kind, ask = draw(ANY_ASK)
    return kind, draw(st.one_of(ANYTHING, spoilt(ask)))


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
    elif ask["select"] == "many":
        assert card.handoff


@given(spoilt_asks(), st.sampled_from(["full", "compact"]))
def test_checking_an_ask_never_raises_and_always_says_the_same(
    drawn: tuple[AskKind, JsonValue], surface: Surface
) -> None:
    kind, value = drawn
    errors = check_ask(kind, value, surface)
    assert check_ask(kind, value, surface) == errors
    assert all(error.message and error.fix for error in errors)
    as_tool_error(errors).encode()


@given(ANY_ASK, st.data())
def test_checking_an_answer_never_raises_and_always_says_the_same(
    drawn: tuple[AskKind, AskInput], data: st.DataObject
) -> None:
    kind, ask = drawn
    answer: JsonValue = {
        "action": "accept",
        "content": {"selected": ["a", "a", "zz"], "other": "x"}
        if kind == "choice"
        else {"confirmed": True},
    }
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
        for key in ("prompt", "options", "select", "minSelected", "destructive", "\ud83d"):
            ask: dict[str, JsonValue] = {**TRIP, key: junk}
            as_tool_error(check_ask(kind, ask)).encode()
            check_answer(kind, TRIP, {"action": junk, "content": junk})
            check_answer(kind, TRIP, {"action": "accept", "content": {"selected": junk}})

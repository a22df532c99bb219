"""What may be approved on a card, and asked on a small screen: what is shown whole and plainly."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import JsonValue

from parleyd.contract.answers import accepted, check_answer
from parleyd.contract.asks.kinds import check_ask
from parleyd.contract.cards import SimpleCard, look_up_button, to_simple_card
from parleyd.contract.field_errors import FieldError
from parleyd.contract.guards import (
    check_on_small_screen,
    guard_card,
    guarded_card,
    hides_something,
    is_narrowed,
)
from tests.contract.valid_asks import POST, TRIP
from tests.contract.valid_texts import visible

BASE: dict[str, JsonValue] = {"prompt": "Delete them?", "destructive": True}

FITS: dict[str, dict[str, JsonValue]] = {
    "at both limits": {"prompt": "x" * 140, "title": "x" * 40},
    "a line break": {"prompt": "Delete\nthem?"},
    "beside the hidden ranges": {
        "prompt": "\x20\x7e\xa0\u200a\u2010\u2029\u202f\u205f\u2065\u206a"
    },
    "astral characters beside the tags": {"prompt": "\U000dffff\U000e1000"},
    "not destructive": {"destructive": False, "prompt": "x" * 141, "title": "\u202e"},
}

FAULTS: dict[str, tuple[dict[str, JsonValue], list[tuple[str, str]]]] = {
    "prompt too long": ({"prompt": "x" * 141}, [("prompt", "TOO_LONG")]),
    "emoji count two": ({"prompt": "\U0001f600" * 71}, [("prompt", "TOO_LONG")]),
    "title too long": ({"title": "x" * 41}, [("title", "TOO_LONG")]),
    "both faults of one text": (
        {"title": "\u202e" + "x" * 41},
        [("title", "INVALID_FORMAT"), ("title", "TOO_LONG")],
    ),
    "in order": (
        {"prompt": "\t", "denyLabel": "a\u200bb", "confirmLabel": "\ufeff", "title": "\x00"},
        [
            ("confirmLabel", "INVALID_FORMAT"),
            ("denyLabel", "INVALID_FORMAT"),
            ("prompt", "INVALID_FORMAT"),
            ("title", "INVALID_FORMAT"),
        ],
    ),
}

HIDDEN = (
    *"\x00\x09\x0b\x1f\x7f\x9f\u115f\u1160\u200b\u200f\u202a\u202e\u2060\u2064\u2066\u2069",
    *"\u3164\ufeff\U000e0000\U000e0fff",
)
"""The ends of each range."""
PLAIN = (
    *"\n\x20\x7e\xa0\u115e\u1161\u200a\u2010\u2029\u202f\u205f\u2065\u206a\u3163\u3165",
    *"\ufefe\uff00\U000dffff\U000e1000",
)
"""The neighbours of each range, and the line break."""


@pytest.mark.parametrize("more", FITS.values(), ids=[*FITS])
def test_what_is_whole_and_plain_may_be_asked(more: dict[str, JsonValue]) -> None:
    assert check_on_small_screen("confirm", BASE | more) == ()


@pytest.mark.parametrize(("more", "faults"), FAULTS.values(), ids=[*FAULTS])
def test_what_is_not_is_told(more: dict[str, JsonValue], faults: list[tuple[str, str]]) -> None:
    errors = check_on_small_screen("confirm", BASE | more)
    assert [(error.path, error.code) for error in errors] == faults


@pytest.mark.parametrize("key", ["prompt", "title", "confirmLabel", "denyLabel"])
@pytest.mark.parametrize("character", HIDDEN, ids=lambda character: f"U+{ord(character):04X}")
def test_a_hidden_character_is_told_wherever_it_stands(key: str, character: str) -> None:
    (error,) = check_on_small_screen("confirm", BASE | {key: f"a{character}b"})
    assert (error.path, error.code) == (key, "INVALID_FORMAT")
    assert f"U+{ord(character):04X}" in error.message


def test_another_kind_is_never_refused() -> None:
    assert check_on_small_screen("choice", {"prompt": "x" * 500, "destructive": True}) == ()


WHOLE = ["approve", "deny"]
NARROWED = ["deny"]

CARDS: dict[str, tuple[dict[str, JsonValue], bool, list[str]]] = {
    "an approval of 140 units": ({"prompt": "x" * 140}, True, WHOLE),
    "an approval of 141 units": ({"prompt": "x" * 141}, True, NARROWED),
    "an approval whose emoji count two": ({"prompt": "\U0001f6a2" * 71}, True, NARROWED),
    "an approval with a title of 40 units": ({"title": "x" * 40}, True, WHOLE),
    "an approval with a title of 41 units": ({"title": "x" * 41}, True, NARROWED),
    "a destructive confirm": ({"destructive": True}, False, WHOLE),
    "a destructive confirm of 141 units": (
        {"destructive": True, "prompt": "x" * 141},
        False,
        NARROWED,
    ),
    "a destructive confirm with a title of 41 units": (
        {"destructive": True, "title": "x" * 41},
        False,
        NARROWED,
    ),
    "an approval with U+202E": ({"prompt": "Pay \u202eeve?"}, True, NARROWED),
    "an approval with a tab": ({"prompt": "Pay\teve?"}, True, NARROWED),
    "an approval with a line break": ({"prompt": "Pay\neve?"}, True, WHOLE),
    "a confirm of 300 units": ({"prompt": "x" * 300}, False, WHOLE),
    "a confirm with U+202E": ({"prompt": "\u202e", "destructive": False}, False, WHOLE),
}


def buttons_of(card: SimpleCard) -> list[str]:
    return [button.id for button in card.buttons]


@pytest.mark.parametrize(("more", "approval", "buttons"), CARDS.values(), ids=[*CARDS])
def test_v19_a_card_approves_only_what_it_shows(
    more: dict[str, JsonValue], *, approval: bool, buttons: list[str]
) -> None:
    asked: dict[str, JsonValue] = {"prompt": "Post it?", **more}
    assert check_ask("confirm", asked) == ()
    card = guarded_card("confirm", asked, "call_1", approval=approval)
    unguarded = to_simple_card("confirm", asked, "call_1")
    assert buttons_of(card) == buttons
    assert card.handoff == (buttons == NARROWED)
    assert card.model_copy(update={"buttons": (), "handoff": False}) == unguarded.model_copy(
        update={"buttons": ()}
    )
    if buttons == WHOLE:
        assert card == unguarded
    assert check_answer("confirm", asked, accepted({"confirmed": True})) == ()


@pytest.mark.parametrize("key", ["prompt", "title", "confirmLabel", "denyLabel"])
@pytest.mark.parametrize("character", HIDDEN, ids=lambda character: f"U+{ord(character):04X}")
def test_v19_a_hidden_character_takes_the_approval_away(key: str, character: str) -> None:
    asked: dict[str, JsonValue] = {"prompt": "Delete them?", key: f"a{character}b"}
    assert check_ask("confirm", asked) == ()
    card = guarded_card("confirm", asked, "call_1", approval=True)
    assert buttons_of(card) == NARROWED
    assert card.handoff
    assert is_narrowed(asked)
    refused = look_up_button(card, "approve")
    assert isinstance(refused, FieldError)
    assert refused.code == "UNKNOWN_BUTTON"
    assert look_up_button(card, "deny") == accepted({"confirmed": False})
    assert check_answer("confirm", asked, accepted({"confirmed": True})) == ()
    assert guarded_card("confirm", asked, "call_1", approval=False).buttons != card.buttons


@pytest.mark.parametrize("key", ["prompt", "title", "confirmLabel", "denyLabel"])
@pytest.mark.parametrize("character", PLAIN, ids=lambda character: f"U+{ord(character):04X}")
def test_v19_its_neighbours_change_nothing(key: str, character: str) -> None:
    asked: dict[str, JsonValue] = {"prompt": "Delete them?", key: f"a{character}b"}
    card = guarded_card("confirm", asked, "call_1", approval=True)
    assert card == to_simple_card("confirm", asked, "call_1")
    assert not is_narrowed(asked)


def test_every_character_is_hidden_or_not_as_the_ranges_say() -> None:
    ranges = (
        (0x00, 0x09),
        (0x0B, 0x1F),
        (0x7F, 0x9F),
        (0x115F, 0x1160),
        (0x200B, 0x200F),
        (0x202A, 0x202E),
        (0x2060, 0x2064),
        (0x2066, 0x2069),
        (0x3164, 0x3164),
        (0xFEFF, 0xFEFF),
        (0xE0000, 0xE0FFF),
    )
    listed = {code for first, last in ranges for code in range(first, last + 1)}
    assert {code for code in range(0x110000) if hides_something(chr(code))} == listed


def test_a_guarded_card_that_may_be_skipped_has_no_approval_either() -> None:
    asked: dict[str, JsonValue] = {"prompt": "x" * 141, "allowDecline": True}
    whole = to_simple_card("confirm", asked, "call_1")
    kept = [button for button in whole.buttons if button.id != "approve"]
    assert [*guard_card(asked, whole).buttons] == kept


def test_the_card_of_another_kind_is_not_guarded() -> None:
    asked: dict[str, JsonValue] = {**TRIP, "prompt": "\u202e" + "x" * 300}
    card = guarded_card("choice", asked, "call_1", approval=False)
    assert card == to_simple_card("choice", asked, "call_1")


@st.composite
def confirms(draw: st.DrawFn) -> dict[str, JsonValue]:
    keys: dict[str, st.SearchStrategy[JsonValue]] = {
        "title": visible(80),
        "confirmLabel": visible(20),
        "denyLabel": visible(20),
        "destructive": st.booleans(),
        "allowDecline": st.booleans(),
    }
    more = {key: draw(values) for key, values in keys.items() if draw(st.booleans())}
    asked: dict[str, JsonValue] = {"prompt": draw(visible(300)), **more}
    assume(check_ask("confirm", asked) == ())
    return asked


@given(confirms())
def test_what_may_be_approved_is_shown_whole_and_plainly(asked: dict[str, JsonValue]) -> None:
    card = guarded_card("confirm", asked, "call_1", approval=True)
    shown = "".join(
        str(asked.get(key, "")) for key in (*POST, "title", "confirmLabel", "denyLabel")
    )
    plain = (card.text, card.title) == (asked["prompt"], asked.get("title"))
    assert (buttons_of(card)[0] == "approve") == (plain and not hides_something(shown))
    assert is_narrowed(asked) == ("approve" not in buttons_of(card)) == card.handoff
    assert "deny" in buttons_of(card)
    assert guard_card(asked, card) == card, "guarding twice changes nothing"


@given(confirms())
def test_a_small_screen_takes_what_no_card_narrows(asked: dict[str, JsonValue]) -> None:
    destructive = {**asked, "destructive": True}
    assert (check_on_small_screen("confirm", destructive) == ()) == (not is_narrowed(destructive))

"""Approvals: their default words, and what an answer to one means (spec turns 9.3, 9.5)."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.answers import accepted, cancelled, check_answer, declined
from parleyd.contract.approvals import default_wording, denial_reason, denied_result
from parleyd.contract.asks.kinds import check_ask
from parleyd.contract.cards import SimpleCard
from parleyd.contract.guards import guarded_card, is_narrowed
from parleyd.contract.text import storable, units

TOOL = "deleteCompletedTodos"
LONG_NAME = "x" * limits.TOOL_NAME_CHARACTERS
ALLOWED = f"Allow {TOOL}?"
SHIP = "\U0001f6a2"
PLAIN = "Deletes every todo that is done. " * 200
BC_051 = ("\u200b", "\u202e", "\u2066", "\U000e0100", "\u3164")

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}", fullmatch=True)
DESCRIPTIONS = st.one_of(
    st.text(max_size=300),
    st.text(string.printable, max_size=300),
    st.text(st.sampled_from(["\U0001f6a2", "\ud83d", " ", "\n", "a", "\u200b"]), max_size=300),
)


def card_of(wording: dict[str, JsonValue]) -> SimpleCard:
    return guarded_card("confirm", wording, "call_1", approval=True)


def buttons_of(wording: dict[str, JsonValue]) -> list[tuple[str, str, str]]:
    return [(button.id, button.label, button.style) for button in card_of(wording).buttons]


V18: dict[str, tuple[str, str, str]] = {
    "no description": (TOOL, "", ALLOWED),
    "a blank description": (TOOL, " \t\n", ALLOWED),
    "100 units": (TOOL, "d" * 100, f"{ALLOWED} {'d' * 100}"),
    "as many as fit": (LONG_NAME, "d" * 68, f"Allow {LONG_NAME}? {'d' * 68}"),
    "one more, cut at a word": (LONG_NAME, "d" * 69, f"Allow {LONG_NAME}?…"),
    "5000 units": (TOOL, "d" * 5000, f"{ALLOWED} {'d' * (140 - len(ALLOWED) - 2)}…"),
    "5000 units in words": (
        TOOL,
        PLAIN[:5000],
        f"{ALLOWED} {PLAIN[:106]}…",
    ),
    "tabs and line breaks": (
        TOOL,
        "\tDeletes \t todos.\r\n\nAll.\t",
        f"{ALLOWED} Deletes todos. All.",
    ),
    "U+200B": (TOOL, "Deletes\u200b todos.", ALLOWED),
    "U+202E": (TOOL, "\u202eDeletes todos.", ALLOWED),
    "a hidden character far behind": (TOOL, "d" * 5000 + "\u2066", ALLOWED),
    "a lone surrogate": (TOOL, "Deletes \ud800 todos.", f"{ALLOWED} Deletes \ufffd todos."),
    "emoji, which count two": (
        TOOL,
        SHIP * 80,
        f"{ALLOWED} {SHIP * 55}…",
    ),
    "a long name": (LONG_NAME, "", f"Allow {LONG_NAME}?"),
}


@pytest.mark.parametrize(("name", "description", "prompt"), V18.values(), ids=[*V18])
def test_v18_the_default_words_fit_their_card_whole(
    name: str, description: str, prompt: str
) -> None:
    wording = default_wording(name, description)
    assert wording == {"prompt": prompt, "confirmLabel": "Allow", "denyLabel": "Deny"}
    card = card_of(wording)
    assert card.text == prompt
    assert units(card.text) <= limits.CARD_TEXT
    assert (card.title, card.handoff) == (None, False)
    assert buttons_of(wording) == [("approve", "Allow", "primary"), ("deny", "Deny", "cancel")]


@given(NAMES, DESCRIPTIONS)
def test_the_default_words_are_a_confirm_that_nothing_narrows(name: str, description: str) -> None:
    wording = default_wording(name, description)
    for surface in ("full", "compact"):
        assert check_ask("confirm", wording, surface) == ()
    assert not is_narrowed(wording)
    assert card_of(wording).text == wording["prompt"]
    assert storable(card_of(wording).text) == card_of(wording).text
    assert str(wording["prompt"]).startswith(f"Allow {name}?")


@pytest.mark.parametrize("hidden", BC_051, ids=lambda one: f"U+{ord(one):04X}")
def test_bc_051_words_that_repeat_what_is_hidden_lose_their_approval_button(hidden: str) -> None:
    wording: dict[str, JsonValue] = {
        "prompt": f"Delete list{hidden}?",
        "confirmLabel": "Delete",
        "denyLabel": "Keep",
    }
    assert check_ask("confirm", wording) == ()
    assert buttons_of(wording) == [("deny", "Keep", "cancel")]
    assert card_of(wording).handoff
    assert card_of(default_wording(TOOL, f"Deletes{hidden}.")).text == ALLOWED


def test_bc_053_a_tail_that_the_card_cuts_off_can_not_be_approved_there() -> None:
    prompt = "Tidy up the list. " * 8 + "      DELETE EVERYTHING " + "x" * 32
    assert (units(prompt), prompt.index("DELETE EVERYTHING")) == (200, 150)
    wording: dict[str, JsonValue] = {"prompt": prompt}
    assert check_ask("confirm", wording) == ()
    assert "DELETE" not in card_of(wording).text
    assert card_of(wording).text.endswith("…")
    assert buttons_of(wording) == [("deny", "Cancel", "cancel")]
    assert card_of(wording).handoff


SKIPPABLE: dict[str, JsonValue] = {"prompt": "Delete?", "allowDecline": True}

ANSWERS: dict[str, tuple[dict[str, JsonValue], str | None]] = {
    "yes": (accepted({"confirmed": True}), None),
    "no": (accepted({"confirmed": False}), "user_denied"),
    "skipped": (declined(), "user_declined"),
    "dropped": ({"action": "cancel"}, "user_cancelled"),
    "dropped for a reason": (cancelled("later"), "later"),
    "a message instead": (cancelled("user_sent_message"), "user_sent_message"),
}


@pytest.mark.parametrize(("envelope", "reason"), ANSWERS.values(), ids=[*ANSWERS])
def test_an_answer_approves_or_says_why_not(
    envelope: dict[str, JsonValue], reason: str | None
) -> None:
    assert check_answer("confirm", SKIPPABLE, envelope) == ()
    assert denial_reason(envelope) == reason


@pytest.mark.parametrize(
    "content",
    [{}, {"confirmed": None}, {"confirmed": "true"}, {"confirmed": 1}, {"approved": True}],
    ids=str,
)
def test_what_is_not_exactly_a_yes_is_none(content: dict[str, JsonValue]) -> None:
    assert check_answer("confirm", SKIPPABLE, accepted(content)) != ()
    assert denial_reason(accepted(content)) == "user_denied"


def test_a_reason_that_is_empty_is_none() -> None:
    assert denial_reason({"action": "cancel", "reason": ""}) == "user_cancelled"


def test_a_call_that_was_denied_came_to_its_reason() -> None:
    assert denied_result("user_denied") == {"approved": False, "reason": "user_denied"}

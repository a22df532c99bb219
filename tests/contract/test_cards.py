"""Simple cards and their buttons (spec asks 10)."""

from typing import Any

import pytest
from pydantic import JsonValue, ValidationError

from parleyd.contract.answers import accepted, check_answer, declined
from parleyd.contract.asks.kinds import check_ask
from parleyd.contract.cards import SimpleCard, SimpleCardButton, look_up_button, to_simple_card
from parleyd.contract.field_errors import FieldError
from tests.contract.valid_asks import POST, SEEDS, TRIP, AskInput, options

SHIP = "\U0001f6a2"
SKIP = ("skip", "Skip", "cancel", {"action": "decline"})
Button = tuple[str, str, str, dict[str, JsonValue]]


def labelled(*labels: str) -> list[JsonValue]:
    return [{"id": f"o{index}", "label": label} for index, label in enumerate(labels)]


def picks(*ids: str) -> dict[str, JsonValue]:
    return accepted({"selected": [*ids]})


FOUR = options("a", "b", "c", "d")


@pytest.mark.parametrize(
    ("ask", "buttons", "handoff"),
    [
        pytest.param(
            TRIP,
            [
                ("option:train", "Night train", "default", picks("train")),
                ("option:ferry", "Ferry", "default", picks("ferry")),
                ("option:bus", "Coach bus", "default", picks("bus")),
            ],
            False,
            id="three options leave no room for Skip",
        ),
        pytest.param(
            {**TRIP, "default": ["bus"]},
            [
                ("option:bus", "Coach bus", "primary", picks("bus")),
                ("option:train", "Night train", "default", picks("train")),
                ("option:ferry", "Ferry", "default", picks("ferry")),
            ],
            False,
            id="the default comes first",
        ),
        pytest.param(
            {**TRIP, "options": labelled("\ufeffStay\n", "Go"), "default": []},
            [
                ("option:o0", "Stay", "default", picks("o0")),
                ("option:o1", "Go", "default", picks("o1")),
                SKIP,
            ],
            False,
            id="two options and Skip, labels trimmed",
        ),
        pytest.param(
            {**TRIP, "options": labelled("Skip", "Go"), "allowDecline": False},
            [
                ("option:o0", "Skip", "default", picks("o0")),
                ("option:o1", "Go", "default", picks("o1")),
            ],
            False,
            id="what must be answered has no Skip",
        ),
        pytest.param(
            {**TRIP, "options": labelled("Stay", " Stay")},
            [SKIP],
            True,
            id="labels that read alike",
        ),
        pytest.param(
            {**TRIP, "options": labelled("stay", "Stay"), "allowDecline": False},
            [
                ("option:o0", "stay", "default", picks("o0")),
                ("option:o1", "Stay", "default", picks("o1")),
            ],
            False,
            id="case makes labels different",
        ),
        pytest.param(
            {**TRIP, "options": labelled("x" * 20 + "a", "x" * 20 + "b"), "allowDecline": False},
            [],
            True,
            id="labels that read alike once cut",
        ),
        pytest.param({**TRIP, "options": FOUR}, [SKIP], True, id="four options without default"),
        pytest.param(
            {**TRIP, "options": FOUR, "default": ["b"]},
            [("use-default", 'Use "Option 1"', "primary", picks("b")), SKIP],
            True,
            id="four options with a default",
        ),
        pytest.param(
            {
                **TRIP,
                "options": labelled(SHIP * 7, SHIP * 8, "c", "c"),
                "default": ["o0"],
                "allowDecline": False,
            },
            [("use-default", f'Use "{SHIP * 7}"', "primary", picks("o0"))],
            True,
            id="a label of fourteen units is whole, two others may read alike",
        ),
        pytest.param(
            {**TRIP, "options": labelled("x" * 14 + "a", "x" * 15, "c", "d"), "default": ["o1"]},
            [SKIP],
            True,
            id="a shortcut that would read like another option",
        ),
        pytest.param(SEEDS, [SKIP], True, id="many without default"),
        pytest.param(
            {**SEEDS, "default": ["okra", "basil"]},
            [("use-default", "Use suggested", "primary", picks("okra", "basil")), SKIP],
            True,
            id="many with a default, in its order",
        ),
        pytest.param(
            {**SEEDS, "default": ["okra"], "minSelected": 2},
            [SKIP],
            True,
            id="a default that is no answer",
        ),
        pytest.param(
            {**SEEDS, "default": [], "minSelected": 0, "allowDecline": False},
            [],
            True,
            id="an empty default has no shortcut, though it is an answer",
        ),
    ],
)
def test_the_buttons_of_a_choice(ask: AskInput, buttons: list[Button], *, handoff: bool) -> None:
    assert check_ask("choice", ask) == ()
    card = to_simple_card("choice", ask, "call_1")
    assert [(b.id, b.label, b.style, b.response) for b in card.buttons] == buttons
    assert card.handoff == handoff


@pytest.mark.parametrize("destructive", [True, False])
@pytest.mark.parametrize("skippable", [True, False])
def test_the_buttons_of_a_confirm(*, destructive: bool, skippable: bool) -> None:
    ask: AskInput = {
        **POST,
        "confirmLabel": " Wipe it ",
        "destructive": destructive,
        "allowDecline": skippable,
    }
    card = to_simple_card("confirm", ask, "call_1")
    assert [(b.id, b.label, b.style, b.response) for b in card.buttons] == [
        (
            "approve",
            "Wipe it",
            "destructive" if destructive else "primary",
            accepted({"confirmed": True}),
        ),
        ("deny", "Cancel", "cancel", accepted({"confirmed": False})),
    ]
    assert not card.handoff


CANCEL = ("cancel", "Cancel", "cancel", {"action": "decline"})


@pytest.mark.parametrize(
    ("ask", "approved"),
    [
        pytest.param({}, "", id="no draft is approved as the empty text"),
        pytest.param({"initial": ""}, "", id="an empty draft"),
        pytest.param({"initial": " \ntext\n "}, " \ntext\n ", id="a draft as it is"),
        pytest.param({"initial": SHIP * 10_000}, SHIP * 10_000, id="the longest draft"),
        pytest.param({"initial": SHIP, "maxLength": 2}, SHIP, id="a draft at the maximum"),
        pytest.param({"initial": SHIP, "maxLength": 1}, None, id="a draft above it"),
        pytest.param({"initial": " a ", "minLength": 1}, " a ", id="a draft at the minimum"),
        pytest.param({"initial": " a ", "minLength": 2}, None, id="a draft below it"),
        pytest.param({"minLength": 1}, None, id="no draft where a text is due"),
    ],
)
@pytest.mark.parametrize("skippable", [True, False, None])
def test_a_draft_that_fits_can_be_approved(
    ask: AskInput, approved: str | None, *, skippable: bool | None
) -> None:
    ask = {"prompt": "Edit.", **ask}
    if skippable is not None:
        ask["allowDecline"] = skippable
    assert check_ask("markdown", ask) == ()
    card = to_simple_card("markdown", ask, "call_1")
    content: dict[str, JsonValue] = {"markdown": approved, "changed": False}
    approve = ("approve", "Approve draft", "primary", accepted(content))
    expected = ([] if approved is None else [approve]) + ([CANCEL] * (skippable is not False))
    assert [(b.id, b.label, b.style, b.response) for b in card.buttons] == expected
    assert card.handoff


@pytest.mark.parametrize("skippable", [True, False, None])
def test_the_card_of_a_files_ask_can_only_skip(*, skippable: bool | None) -> None:
    ask: AskInput = {"prompt": "Send.", "accept": ["image"]}
    if skippable is not None:
        ask["allowDecline"] = skippable
    card = to_simple_card("files", ask, "call_1")
    expected = [SKIP] * (skippable is not False)
    assert [(b.id, b.label, b.style, b.response) for b in card.buttons] == expected
    assert card.handoff


def test_title_and_text_are_cut_and_not_trimmed() -> None:
    ask: AskInput = {**POST, "title": " " + "t" * 41, "prompt": " " + SHIP * 80}
    card = to_simple_card("confirm", ask, "call_1")
    assert card.title == " " + "t" * 38 + "…"
    assert card.text == " " + SHIP * 69 + "…"
    assert to_simple_card("confirm", POST, "call_1").title is None


def test_a_card_dumps_to_the_contracts_json_and_back() -> None:
    card = to_simple_card("confirm", POST, "call_7")
    dumped = card.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert dumped == {
        "toolCallId": "call_7",
        "kind": "confirm",
        "text": "Post the rota?",
        "handoff": False,
        "buttons": [
            {
                "id": "approve",
                "label": "Confirm",
                "style": "primary",
                "response": {"action": "accept", "content": {"confirmed": True}},
            },
            {
                "id": "deny",
                "label": "Cancel",
                "style": "cancel",
                "response": {"action": "accept", "content": {"confirmed": False}},
            },
        ],
    }
    assert SimpleCard.model_validate_json(card.model_dump_json(by_alias=True)) == card


def test_an_unpaired_surrogate_does_not_stop_a_card() -> None:
    ask: AskInput = {**TRIP, "title": "\ud83d", "options": labelled("\ud83d", "\udc00")}
    labels = [button.label for button in to_simple_card("choice", ask, "call_1").buttons]
    assert labels == ["\ud83d", "\udc00", "Skip"]


BUTTON: dict[str, Any] = {"id": "a", "label": "A", "style": "default", "response": declined()}


def button(**changes: Any) -> SimpleCardButton:
    return SimpleCardButton(**{**BUTTON, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"id": ""}, id="an empty id"),
        pytest.param({"label": ""}, id="an empty label"),
        pytest.param({"label": SHIP * 10 + "a"}, id="a long label"),
        pytest.param({"style": "loud"}, id="an unknown style"),
        pytest.param({"icon": "x"}, id="an unknown field"),
    ],
)
def test_a_button_keeps_its_form(changes: dict[str, Any]) -> None:
    button()
    with pytest.raises(ValidationError):
        button(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"tool_call_id": ""}, id="no call id"),
        pytest.param({"buttons": (button(), button())}, id="ids that repeat"),
        pytest.param(
            {"buttons": tuple(button(id=id_) for id_ in "abcd")},
            id="four buttons",
        ),
    ],
)
def test_a_card_keeps_its_form(changes: dict[str, Any]) -> None:
    card: dict[str, Any] = {
        "tool_call_id": "c",
        "kind": "choice",
        "text": "t",
        "buttons": (),
        "handoff": False,
    }
    SimpleCard(**card)
    with pytest.raises(ValidationError):
        SimpleCard(**{**card, **changes})


def test_a_button_is_found_by_its_exact_id_and_answers_its_ask() -> None:
    card = to_simple_card("choice", TRIP, "call_1")
    response = look_up_button(card, "option:ferry")
    assert response == picks("ferry")
    assert isinstance(response, dict)
    assert check_answer("choice", TRIP, response) == ()


@pytest.mark.parametrize("button_id", ["ferry", "Option:ferry", "option:ferry ", "skip", ""])
def test_a_button_that_is_not_on_the_card_is_an_error_that_lists_those_that_are(
    button_id: str,
) -> None:
    error = look_up_button(to_simple_card("choice", TRIP, "call_1"), button_id)
    assert isinstance(error, FieldError)
    assert (error.path, error.code) == ("buttonId", "UNKNOWN_BUTTON")
    assert error.fix == ('Set `buttonId` to one of "option:train", "option:ferry", "option:bus".')


def test_a_card_without_buttons_asks_for_a_full_answer() -> None:
    card = to_simple_card("choice", {**SEEDS, "allowDecline": False}, "call_1")
    error = look_up_button(card, "skip")
    assert isinstance(error, FieldError)
    assert error.fix == "Send a full answer, for this card has no buttons."

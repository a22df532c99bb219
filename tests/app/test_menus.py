"""What a terminal offers for each kind of question."""

from dataclasses import dataclass

import pytest
from google.protobuf import text_format

from parley.v1.asks_pb2 import AskInput
from parley.v1.cards_pb2 import SimpleCard
from parley.v1.turns_pb2 import AnswerInput, ButtonInput
from parleyd.app.chat.menus import WRITE_INSTEAD, OpenQuestion, menu_of

CARD = """
  text: "Which?" handoff: true
  buttons { id: "option:a" label: "A" } buttons { id: "skip" label: "Skip" }
"""
OPTIONS = """
  options { id: "a" label: "A" description: "The first" } options { id: "b" label: "B" }
"""


@dataclass(frozen=True)
class Case:
    """A question in text form, and the menu expected for it."""

    name: str
    asked: str
    labels: list[str]
    preselected: int = 0


def open_question(asked: str) -> OpenQuestion:
    return OpenQuestion(
        "call_1",
        text_format.Parse(asked, AskInput()),
        text_format.Parse(CARD, SimpleCard()),
    )


CASES = [
    Case(
        "a choice",
        f'prompt: "Which?" choice {{ select: SELECT_ONE {OPTIONS} }}',
        ["A", "B", "Skip"],
    ),
    Case(
        "a choice with a default",
        f'choice {{ select: SELECT_ONE {OPTIONS} default: "b" }}',
        ["A", "B", "Skip"],
        preselected=1,
    ),
    Case(
        "a choice that must be made",
        f"allow_decline: false choice {{ select: SELECT_ONE {OPTIONS} }}",
        ["A", "B"],
    ),
    Case(
        "a choice that says it may be skipped",
        f"allow_decline: true choice {{ select: SELECT_ONE {OPTIONS} }}",
        ["A", "B", "Skip"],
    ),
    Case("a confirm", "confirm {}", ["Confirm", "Cancel"]),
    Case(
        "a confirm with labels",
        'confirm { confirm_label: "Send" deny_label: "Keep" }',
        ["Send", "Keep"],
    ),
    Case(
        "a confirm that can't be undone",
        'confirm { confirm_label: "Delete" deny_label: "Keep" destructive: true }',
        ["Delete", "Keep"],
        preselected=1,
    ),
    Case(
        "a confirm that may be skipped",
        "allow_decline: true confirm {}",
        ["Confirm", "Cancel", "Skip"],
    ),
    Case("several picks", f"choice {{ select: SELECT_MANY {OPTIONS} }}", ["A", "Skip"]),
    Case("a kind this terminal does not know", "markdown {}", ["A", "Skip"]),
    Case("a kind of a later version", "", ["A", "Skip"]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_question_has_its_menu(case: Case) -> None:
    menu = menu_of(open_question(case.asked))
    assert [item.label for item in menu.items] == [*case.labels, WRITE_INSTEAD.label]
    assert menu.preselected == case.preselected


def test_a_choice_answers_with_its_option() -> None:
    menu = menu_of(open_question(f"choice {{ select: SELECT_ONE {OPTIONS} }}"))
    assert menu.items[0].description == "The first"
    assert [item.input for item in menu.items] == [
        answer('accept { choice { selected: "a" } }'),
        answer('accept { choice { selected: "b" } }'),
        answer("decline {}"),
        None,
    ]


def test_a_confirm_answers_yes_or_no() -> None:
    menu = menu_of(open_question("confirm {}"))
    assert [item.input for item in menu.items] == [
        answer("accept { confirm { confirmed: true } }"),
        answer("accept { confirm { confirmed: false } }"),
        None,
    ]


def test_an_unknown_kind_is_answered_with_the_buttons_of_its_card() -> None:
    menu = menu_of(open_question("files {}"))
    assert menu.handoff
    assert [item.input for item in menu.items] == [
        ButtonInput(tool_call_id="call_1", button_id="option:a"),
        ButtonInput(tool_call_id="call_1", button_id="skip"),
        None,
    ]


def answer(text: str) -> AnswerInput:
    return text_format.Parse(f'tool_call_id: "call_1" answer {{ {text} }}', AnswerInput())

"""What a terminal offers for each kind of question, before anything is answered."""

from dataclasses import dataclass

import pytest
from google.protobuf import text_format

from parley.v1.asks_pb2 import AskInput
from parley.v1.cards_pb2 import SimpleCard
from parley.v1.turns_pb2 import AnswerInput, ButtonInput
from parleyd.app.chat.answering import WRITE_INSTEAD, whole_menu
from parleyd.app.chat.menus import Menu
from parleyd.app.chat.questions import OpenQuestion
from parleyd.app.chat.sheets import sheet_of

CARD = """
  text: "Which?" handoff: true
  buttons { id: "option:a" label: "A" } buttons { id: "skip" label: "Skip" }
"""
OPTIONS = """
  options { id: "a" label: "A" description: "The first" } options { id: "b" label: "B" }
"""
PICKS = 'options { id: "a" label: "A" } options { id: "b" label: "B" }'


@dataclass(frozen=True)
class Case:
    """A question in text form, and the menu expected for it."""

    name: str
    asked: str
    labels: list[str]
    preselected: int = 0


def menu_of(asked: str) -> Menu:
    question = OpenQuestion(
        "call_1",
        text_format.Parse(f'prompt: "Well?" {asked}', AskInput()),
        text_format.Parse(CARD, SimpleCard()),
    )
    return whole_menu(sheet_of(question))


CASES = [
    Case("a choice", f"choice {{ select: SELECT_ONE {OPTIONS} }}", ["A", "B", "Skip"]),
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
    Case(
        "several picks",
        f"choice {{ select: SELECT_MANY {OPTIONS} }}",
        ["Pick from the list", "Skip"],
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
    Case(
        "a draft",
        'submit_label: "Take it" markdown { initial: "A draft" }',
        ["Take it", "Edit the text", "Skip"],
        preselected=1,
    ),
    Case("a draft that is too short", "markdown { min_length: 3 }", ["Edit the text", "Skip"]),
    Case(
        "a form",
        """form {
          fields { id: "name" label: "Name" required: true text {} }
          fields { id: "dish" label: "Dish" select { """
        + PICKS
        + """ default: "b" } }
          fields { id: "sides" label: "Sides" multiselect { """
        + PICKS
        + """ default { values: ["b", "a"] } } }
          fields { id: "age" label: "Age" number { default: 34 } }
          fields { id: "size" label: "Size" number { default: 1.5 } }
          fields { id: "patio" label: "Outside" boolean { default: false } }
          fields { id: "bio" label: "About you" textarea { default: "one\\ntwo" } }
          fields { id: "none" label: "None" multiselect { """
        + PICKS
        + """ default {} } }
        }""",
        [
            "Fill it in",
            "Name: —",
            "Dish: B",
            "Sides: B, A",
            "Age: 34",
            "Size: 1.5",
            "Outside: No",
            "About you: one two",
            "None: —",
            "Skip",
        ],
    ),
    Case(
        "a form that may be sent as it is",
        'form { fields { id: "name" label: "Name" text {} } }',
        ["Fill it in", "Send it", "Name: —", "Skip"],
    ),
    Case("files", 'files { accept: "image" }', ["Add a file", "Skip"]),
    Case("a kind of a later version", "", ["A", "Skip"]),
    Case(
        "a type of field of a later version",
        'form { fields { id: "name" label: "Name" } }',
        ["A", "Skip"],
    ),
    Case("a sort of choice of a later version", f"choice {{ {OPTIONS} }}", ["A", "Skip"]),
    Case("files of a later version", 'files { accept: "video" }', ["A", "Skip"]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_question_has_its_menu(case: Case) -> None:
    menu = menu_of(case.asked)
    assert [item.label for item in menu.items] == [*case.labels, WRITE_INSTEAD.label]
    assert menu.preselected == case.preselected


def test_a_choice_answers_with_its_option() -> None:
    menu = menu_of(f"choice {{ select: SELECT_ONE {OPTIONS} }}")
    assert menu.items[0].description == "The first"
    assert [item.does for item in menu.items[:3]] == [
        answer('accept { choice { selected: "a" } }'),
        answer('accept { choice { selected: "b" } }'),
        answer("decline {}"),
    ]


def test_a_confirm_answers_yes_or_no() -> None:
    menu = menu_of("confirm {}")
    assert [item.does for item in menu.items[:2]] == [
        answer("accept { confirm { confirmed: true } }"),
        answer("accept { confirm { confirmed: false } }"),
    ]


def test_a_draft_as_it_is_has_not_changed() -> None:
    menu = menu_of('markdown { initial: "A draft" }')
    assert menu.items[0].does == answer(
        'accept { markdown { markdown: "A draft" changed: false } }'
    )


def test_a_form_is_sent_with_what_is_filled_in_beforehand() -> None:
    menu = menu_of(
        'form { fields { id: "name" label: "Name" text { default: "Zoë" } }'
        ' fields { id: "age" label: "Age" number { default: 34 } } }'
    )
    assert menu.items[1].does == answer(
        'accept { form { values { key: "age" value { number_value: 34 } }'
        ' values { key: "name" value { string_value: "Zoë" } } } }'
    )


def test_an_unknown_kind_is_answered_with_the_buttons_of_its_card() -> None:
    menu = menu_of("")
    assert menu.handoff
    assert [item.does for item in menu.items[:2]] == [
        ButtonInput(tool_call_id="call_1", button_id="option:a"),
        ButtonInput(tool_call_id="call_1", button_id="skip"),
    ]


def answer(text: str) -> AnswerInput:
    return text_format.Parse(f'tool_call_id: "call_1" answer {{ {text} }}', AnswerInput())

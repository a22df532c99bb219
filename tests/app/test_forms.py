"""Forms, filled in in a terminal."""

import pytest

from parley import FieldFault
from parley.v1.turns_pb2 import AnswerInput
from tests.app.desk import Desk, Keys, answer, asked
from tests.app.keyboard import BACK, CLEAR, CTRL_C, DOWN, ENTER, FINISH, SPACE, UP

FORM = """form {
  fields { id: "name" label: "Name" required: true text { max_length: 8 } }
  fields { id: "age" label: "Age" helper_text: "In years." number { min: 18 integer: true } }
  fields { id: "day" label: "Day" date { default: "2026-03-29" } }
  fields { id: "bio" label: "About you" textarea {} }
  fields { id: "patio" label: "Outside" boolean {} }
  fields { id: "dish" label: "Dish" required: true select {
    options { id: "soup" label: "Soup" } options { id: "pie" label: "Pie" } } }
  fields { id: "sides" label: "Sides" multiselect {
    options { id: "rice" label: "Rice" } options { id: "beans" label: "Beans" }
    default { values: "beans" } } }
}"""


def values(text: str) -> AnswerInput:
    """Returns an accepted form, from `id: value` pairs of protobuf's text form."""
    pairs = [pair.split("=") for pair in text.split("; ")]
    entries = " ".join(f'values {{ key: "{key}" value {{ {value} }} }}' for key, value in pairs)
    return answer(f"accept {{ form {{ {entries} }} }}")


BEANS = 'list_value { values { string_value: "beans" } }'
FORMS = [
    Keys(
        "every field",
        "".join(
            [
                ENTER,
                *("Zoë", ENTER),
                *("34", ENTER),
                *(CLEAR, "2026-10-25", ENTER),
                *("one", ENTER, "two", FINISH),
                *(DOWN, ENTER),
                *(DOWN, ENTER),
                *(SPACE, ENTER),
                ENTER,
            ]
        ),
        'name=string_value: "Zoë"; age=number_value: 34; day=string_value: "2026-10-25"; '
        'bio=string_value: "one\\ntwo"; patio=bool_value: true; dish=string_value: "pie"; '
        'sides=list_value { values { string_value: "rice" } values { string_value: "beans" } }',
        ("In years.",),
    ),
    Keys(
        "what has to be filled in",
        "".join(
            [
                ENTER,
                *("Zoë", ENTER),
                ENTER,
                *(CLEAR, ENTER),
                FINISH,
                ENTER,
                ENTER,
                *(DOWN, SPACE, ENTER),
                ENTER,
            ]
        ),
        'name=string_value: "Zoë"; dish=string_value: "soup"',
    ),
    Keys(
        "every field wrong at first",
        "".join(
            [
                ENTER,
                *(ENTER, "Zoë and Ines", ENTER, BACK * 9, ENTER),
                *("old", ENTER, CLEAR, "17", ENTER, CLEAR, "18.5", ENTER, CLEAR, " 34.0 ", ENTER),
                *("T00:00", ENTER, CLEAR, "2026-02-29", ENTER, BACK, "8", ENTER),
                FINISH,
                *(UP, ENTER),
                ENTER,
                ENTER,
                ENTER,
            ]
        ),
        'name=string_value: "Zoë"; age=number_value: 34; day=string_value: "2026-02-28"; '
        f'patio=bool_value: false; dish=string_value: "soup"; sides={BEANS}',
        (
            "✗ “Name” does not fit. “Name” is missing or blank, but the field must be answered.",
            "“Name” has 12 UTF-16 units, too many",
            "Shorten “Name” to 8 units",
            "“Age” is a string, a wrong type. Send “Age” as a number.",
            "“Age” is 17, out of its range. Set “Age” to a number from 18.",
            "“Age” is 18.5, which is not whole.",
            '“Day” is "2026-03-29T00:00", which is not a real day written YYYY-MM-DD',
            '“Day” is "2026-02-29", which is not a real day written YYYY-MM-DD',
        ),
    ),
    Keys(
        "in two goes",
        "".join(
            [
                *(ENTER, "Zoë", ENTER, "3", CTRL_C),
                *(ENTER, "34", ENTER, ENTER, FINISH, ENTER, ENTER, ENTER),
                ENTER,
            ]
        ),
        'name=string_value: "Zoë"; age=number_value: 34; day=string_value: "2026-03-29"; '
        f'dish=string_value: "soup"; sides={BEANS}',
    ),
    Keys(
        "one field once more",
        "".join(
            [
                *(ENTER, "Zo", ENTER, ENTER, ENTER, FINISH, ENTER, ENTER, ENTER),
                *(DOWN, ENTER, "ë", ENTER),
                ENTER,
            ]
        ),
        'name=string_value: "Zoë"; day=string_value: "2026-03-29"; '
        f'dish=string_value: "soup"; sides={BEANS}',
    ),
]


@pytest.mark.parametrize("case", FORMS, ids=lambda case: case.name)
async def test_a_form_is_filled_in_field_by_field(desk: Desk, case: Keys) -> None:
    assert await desk.answer(asked(FORM), case.typed) == values(case.said)
    assert [text for text in case.shown if text not in desk.shown] == []


async def test_a_form_may_be_skipped_in_the_middle(desk: Desk) -> None:
    said = await desk.answer(asked(FORM), ENTER, "Zoë", ENTER, CTRL_C, UP * 2, ENTER)
    assert said == answer("decline {}")


ONE_PICK = """form { fields { id: "x" label: "X" %s select {
  options { id: "a" label: "A" } options { id: "b" label: "B" } } } }"""


async def test_no_answer_is_an_answer_where_none_is_required(desk: Desk) -> None:
    said = await desk.answer(asked(ONE_PICK % ""), ENTER, ENTER, ENTER)
    assert said == answer("accept { form {} }")


async def test_where_one_is_required_there_is_no_such_line(desk: Desk) -> None:
    said = await desk.answer(asked(ONE_PICK % "required: true"), ENTER, UP, ENTER, ENTER)
    assert said == values('x=string_value: "b"')


async def test_fields_that_the_service_refuses_are_asked_for_again(desk: Desk) -> None:
    sheet = asked(FORM)
    typed = (ENTER, "Zoë", ENTER, ENTER, ENTER, FINISH, ENTER, ENTER, ENTER, ENTER)
    assert await desk.answer(sheet, *typed)
    sheet.refuse(
        [
            FieldFault("content.values.name", "TAKEN", "`content.values.name` is taken.", "Add."),
            FieldFault("content.values.sides[0]", "GONE", "None left.", ""),
        ]
    )
    said = await desk.answer(sheet, ENTER, " II", ENTER, SPACE, DOWN, SPACE, ENTER, ENTER)
    assert said == values(
        'name=string_value: "Zoë II"; day=string_value: "2026-03-29"; '
        'dish=string_value: "soup"; sides=list_value { values { string_value: "rice" } }'
    )
    assert "✗ “Name” does not fit. “Name” is taken. Add." in desk.shown
    assert "✗ “Sides” does not fit. None left." in desk.shown

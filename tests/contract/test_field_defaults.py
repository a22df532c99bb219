"""What the fields of a form are filled in with beforehand (spec asks FO5)."""

from math import inf, nan

import pytest
from pydantic import JsonValue

from parleyd.contract.asks.kinds import check_ask
from tests.contract.reported import Errors, errors_of_field, reported
from tests.contract.valid_forms import PETS, Field, field, form, needed

STRINGS = ("text", "textarea", "email", "url", "phone", "date", "time", "datetime", "select")


@pytest.mark.parametrize(
    ("keys", "errors"),
    [
        pytest.param({"min": -0.5, "max": 10**300, "integer": True}, [], id="any numbers"),
        pytest.param({"min": 2, "max": 2.0}, [], id="equal bounds"),
        pytest.param({"min": 2, "max": 1.5}, [("min", "RANGE_INVALID")], id="2>1.5"),
        pytest.param({"min": 2**53 + 1, "max": 2.0**53}, [("min", "RANGE_INVALID")], id="by one"),
        pytest.param({"min": "2"}, [("min", "INVALID_TYPE")], id="a string"),
        pytest.param({"max": True}, [("max", "INVALID_TYPE")], id="a boolean"),
        pytest.param({"max": None}, [("max", "INVALID_TYPE")], id="null"),
        pytest.param({"min": nan}, [("min", "INVALID_TYPE")], id="NaN"),
        pytest.param({"max": inf}, [("max", "INVALID_TYPE")], id="infinity"),
        pytest.param({"max": 10**309}, [("max", "INVALID_TYPE")], id="beyond a double"),
        pytest.param({"integer": 1}, [("integer", "INVALID_TYPE")], id="one is not true"),
        pytest.param({"default": 3.0, "integer": True}, [], id="whole with a point"),
        pytest.param({"default": 0}, [], id="zero"),
        pytest.param({"default": 10**308, "integer": True}, [], id="a great whole number"),
        pytest.param({"default": 10**309}, [("default", "INVALID_TYPE")], id="a greater one"),
        pytest.param({"default": nan}, [("default", "INVALID_TYPE")], id="NaN for a default"),
        pytest.param({"default": -inf}, [("default", "INVALID_TYPE")], id="infinity for one"),
        pytest.param({"default": True}, [("default", "INVALID_TYPE")], id="true for one"),
        pytest.param({"default": ""}, [("default", "INVALID_TYPE")], id="a blank string"),
        pytest.param({"default": []}, [("default", "INVALID_TYPE")], id="an empty list"),
        pytest.param(
            {"default": 2.5, "integer": True, "max": 1},
            [("default", "FIELD_TYPE_MISMATCH")],
            id="a fraction ends the check",
        ),
        pytest.param({"default": 4, "min": 5}, [("default", "OUT_OF_RANGE")], id="below"),
        pytest.param({"default": 4, "max": 3}, [("default", "OUT_OF_RANGE")], id="above"),
        pytest.param(
            {"default": 4, "min": 5, "max": 3},
            [("default", "OUT_OF_RANGE"), ("min", "RANGE_INVALID")],
            id="bounds that contradict each other are still used",
        ),
    ],
)
def test_a_number(keys: Field, errors: Errors) -> None:
    assert errors_of_field(field("number", **keys)) == errors


@pytest.mark.parametrize("type_", STRINGS)
@pytest.mark.parametrize("value", [1, True, ["x"], [], {"x": 1}], ids=str)
def test_a_default_of_another_type_blocks(type_: str, value: JsonValue) -> None:
    broken = form({**needed(type_), "default": value}, field("number", min=2, max=1))
    assert reported(check_ask("form", broken)) == [("fields[0].default", "INVALID_TYPE")]


@pytest.mark.parametrize(
    ("type_", "code"),
    [
        ("text", "TOO_SHORT"),
        ("textarea", "TOO_SHORT"),
        ("email", "TOO_SHORT"),
        ("url", "TOO_SHORT"),
        ("phone", "TOO_SHORT"),
        ("date", "INVALID_DATE"),
        ("time", "INVALID_DATE"),
        ("datetime", "INVALID_DATE"),
        ("select", "DEFAULT_NOT_IN_OPTIONS"),
    ],
)
@pytest.mark.parametrize("blank", ["", " ", "\n\ufeff\u3000"], ids=["empty", "a space", "wide"])
def test_a_blank_default_is_wrong(type_: str, code: str, blank: str) -> None:
    assert errors_of_field({**needed(type_), "default": blank}) == [("default", code)]
    assert errors_of_field({**needed(type_), "default": blank, "required": True}) == [
        ("default", code)
    ]


@pytest.mark.parametrize("type_", ["text", "email", "url", "phone"])
def test_a_blank_default_can_be_too_long_too(type_: str) -> None:
    assert errors_of_field(field(type_, default=" " * 2001)) == [
        ("default", "TOO_LONG"),
        ("default", "TOO_SHORT"),
    ]


@pytest.mark.parametrize(
    ("keys", "errors"),
    [
        pytest.param({"default": "ab", "minLength": 2, "maxLength": 2}, [], id="it fits"),
        pytest.param({"default": "abc", "maxLength": 2}, [("default", "TOO_LONG")], id="too long"),
        pytest.param({"default": " a ", "minLength": 2}, [("default", "TOO_SHORT")], id="trimmed"),
        pytest.param(
            {"default": "  a", "minLength": 2, "maxLength": 2},
            [("default", "TOO_LONG"), ("default", "TOO_SHORT")],
            id="both",
        ),
        pytest.param(
            {"default": "ab", "maxLength": 0},
            [("default", "TOO_LONG"), ("maxLength", "RANGE_INVALID")],
            id="a bound out of its range is still used",
        ),
        pytest.param(
            {"default": "d" * 2001, "maxLength": 3000},
            [("maxLength", "RANGE_INVALID")],
            id="in place of the cap",
        ),
        pytest.param(
            {"default": "ab", "minLength": 4, "maxLength": 1},
            [("default", "TOO_LONG"), ("default", "TOO_SHORT"), ("minLength", "RANGE_INVALID")],
            id="bounds that contradict each other are still used",
        ),
        pytest.param({"default": "a\nb"}, [], id="a line break in a line"),
        pytest.param({"default": "\u200b"}, [], id="a zero-width space is visible"),
    ],
)
def test_the_default_of_a_text(keys: Field, errors: Errors) -> None:
    assert errors_of_field(field("text", **keys)) == errors


@pytest.mark.parametrize(
    ("type_", "good", "bad", "code"),
    [
        ("email", "ines@example.org", "ines@localhost", "FIELD_TYPE_MISMATCH"),
        ("email", "ines@example.org", " ines@example.org", "FIELD_TYPE_MISMATCH"),
        ("url", " https://example.org ", "example.org", "FIELD_TYPE_MISMATCH"),
        ("phone", "+351 21 555 0100", "555", "FIELD_TYPE_MISMATCH"),
        ("date", "2028-02-29", "2026-02-30", "INVALID_DATE"),
        ("time", "23:59", "24:00", "INVALID_DATE"),
        ("datetime", "2027-06-30T10:00Z", "2027-06-30T10:00", "INVALID_DATE"),
        ("url", "https://a/" + "x" * 1990, "https://a/" + "x" * 1991, "TOO_LONG"),
        ("email", "ines@example.org", "x" * 2001, "TOO_LONG"),
        ("phone", "5550100" + " " * 1993, "5550100" + " " * 1994, "TOO_LONG"),
    ],
)
def test_the_default_of_a_string_with_a_format(type_: str, good: str, bad: str, code: str) -> None:
    assert errors_of_field(field(type_, default=good)) == []
    assert errors_of_field(field(type_, default=bad)) == [("default", code)]


@pytest.mark.parametrize("value", [1, 0, "true", "", [], {}], ids=repr)
def test_the_default_of_yes_or_no(value: JsonValue) -> None:
    assert errors_of_field(field("boolean", default=True)) == []
    assert errors_of_field(field("boolean", default=False)) == []
    assert errors_of_field(field("boolean", default=value)) == [("default", "INVALID_TYPE")]


@pytest.mark.parametrize(
    ("default", "errors"),
    [
        pytest.param("owl", [], id="an option"),
        pytest.param("Owl", [("default", "DEFAULT_NOT_IN_OPTIONS")], id="case matters"),
        pytest.param("owl ", [("default", "DEFAULT_NOT_IN_OPTIONS")], id="spaces matter"),
    ],
)
def test_the_default_of_a_select(default: str, errors: Errors) -> None:
    assert errors_of_field(field("select", options=PETS, default=default)) == errors


@pytest.mark.parametrize(
    ("default", "errors"),
    [
        pytest.param(["owl", "cat"], [], id="options in any order"),
        pytest.param([], [], id="an empty list"),
        pytest.param(
            ["fox", "cat", "cat", "fox"],
            [
                ("default[0]", "DEFAULT_NOT_IN_OPTIONS"),
                ("default[2]", "DUPLICATE_ID"),
                ("default[3]", "DUPLICATE_ID"),
            ],
            id="a repeat is a repeat alone",
        ),
        pytest.param([""], [("default[0]", "DEFAULT_NOT_IN_OPTIONS")], id="a blank item"),
        pytest.param(
            [1, "fox", None],
            [("default[0]", "INVALID_TYPE"), ("default[2]", "INVALID_TYPE")],
            id="items that are no strings",
        ),
        pytest.param("cat", [("default", "INVALID_TYPE")], id="a string"),
        pytest.param(
            ["cat"] * 50, [(f"default[{i}]", "DUPLICATE_ID") for i in range(1, 50)], id="50"
        ),
        pytest.param(["cat"] * 51, [("default", "TOO_MANY")], id="too many"),
        pytest.param([1] * 51, [("default", "TOO_MANY")], id="too many to look at"),
    ],
)
def test_the_default_of_a_multiselect(default: JsonValue, errors: Errors) -> None:
    assert errors_of_field(field("multiselect", options=PETS, default=default)) == errors


def test_a_default_with_too_many_picks_stops_no_rule() -> None:
    many: list[JsonValue] = ["cat"] * 51
    picks = field("multiselect", options=PETS, default=many)
    assert reported(check_ask("form", form(picks, field("date", id="f")))) == [
        ("fields[0].default", "TOO_MANY"),
        ("fields[1].id", "DUPLICATE_ID"),
    ]


def test_a_default_is_held_against_options_that_have_faults_of_their_own() -> None:
    one: list[JsonValue] = [{"id": "NO", "label": "No", "x": 1}]
    assert errors_of_field(field("select", options=one, default="NO")) == [
        ("options", "TOO_FEW"),
        ("options[0].id", "INVALID_FORMAT"),
        ("options[0].x", "UNKNOWN_KEY"),
    ]

"""The answers to a form (spec asks FO6, FO7)."""

from math import inf, nan

import pytest
from hypothesis import given
from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.answers import accepted, check_answer
from parleyd.contract.asks.fields.types import FIELD_TYPES
from parleyd.contract.asks.kinds import check_ask
from tests.contract.reported import Errors, reported
from tests.contract.valid_forms import (
    BOOKING,
    PETS,
    Field,
    Values,
    answered_forms,
    field,
    form,
    needed,
    pets,
)
from tests.contract.valid_texts import AskInput

SHIP = "\U0001f6a2"
TYPES = [*FIELD_TYPES]
STRINGS = [type_ for type_ in TYPES if type_ not in ("number", "boolean", "multiselect")]
MISMATCH: Errors = [("", "FIELD_TYPE_MISMATCH")]
UNDATED: Errors = [("", "INVALID_DATE")]


def errors_of_values(ask: AskInput, values: Values) -> Errors:
    """Returns the errors of an answer with these values, by their paths within the values."""
    assert check_ask("form", ask) == ()
    errors = reported(check_answer("form", ask, accepted({"values": values})))
    return [(path.removeprefix("content.values."), code) for path, code in errors]


def errors_of_value(field_: Field, value: JsonValue) -> Errors:
    """Returns the errors of a value for a field, by their paths within it."""
    errors = errors_of_values(form(field_), {"f": value})
    assert all(path.startswith("f") for path, _ in errors)
    return [(path.removeprefix("f"), code) for path, code in errors]


@given(answered_forms())
def test_generated_answers_are_valid(drawn: tuple[AskInput, Values]) -> None:
    ask, values = drawn
    assert errors_of_values(ask, values) == []


@pytest.mark.parametrize(
    ("content", "errors"),
    [
        pytest.param({}, [("content.values", "MISSING_REQUIRED")], id="no values"),
        pytest.param({"values": None}, [("content.values", "INVALID_TYPE")], id="null"),
        pytest.param({"values": []}, [("content.values", "INVALID_TYPE")], id="a list"),
        pytest.param(
            {"values": {"x": 1}, "name": "Ines"},
            [("content.name", "UNKNOWN_KEY")],
            id="a fault of the shape ends the check",
        ),
        pytest.param(
            {"selected": ["cat"]},
            [("content.selected", "UNKNOWN_KEY"), ("content.values", "MISSING_REQUIRED")],
            id="the content of another kind",
        ),
        pytest.param({"values": {}}, [("content.values.name", "REQUIRED_FIELD")], id="empty"),
        pytest.param({"values": {"name": "Ines"}}, [], id="what is required"),
    ],
)
def test_the_content_of_an_answer(content: dict[str, JsonValue], errors: Errors) -> None:
    assert reported(check_answer("form", BOOKING, accepted(content))) == errors


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("blank", ["", " ", "\n\ufeff\u3000", []], ids=repr)
def test_a_blank_value_is_no_answer_whatever_the_type(type_: str, blank: JsonValue) -> None:
    assert errors_of_value(needed(type_), blank) == []
    assert errors_of_value({**needed(type_), "required": False}, blank) == []
    assert errors_of_value({**needed(type_), "required": True}, blank) == [("", "REQUIRED_FIELD")]


@pytest.mark.parametrize("type_", TYPES)
def test_an_absent_value_is_no_answer(type_: str) -> None:
    assert errors_of_values(form(needed(type_)), {}) == []
    required = form({**needed(type_), "required": True})
    assert errors_of_values(required, {}) == [("f", "REQUIRED_FIELD")]


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize("value", [None, {}, {"a": 1}, [None], [[]]], ids=repr)
def test_what_no_field_takes_does_not_fit(type_: str, value: JsonValue, *, required: bool) -> None:
    assert errors_of_value({**needed(type_), "required": required}, value) == MISMATCH


@pytest.mark.parametrize("type_", STRINGS)
@pytest.mark.parametrize("value", [0, 1, 20270630, 1.5, True, False, ["x"]], ids=repr)
def test_a_string_is_due(type_: str, value: JsonValue) -> None:
    assert errors_of_value(needed(type_), value) == MISMATCH


def test_a_blank_value_of_a_required_field_has_no_other_error() -> None:
    strict = field("text", required=True, minLength=3, maxLength=4)
    assert errors_of_value(strict, " " * 9) == [("", "REQUIRED_FIELD")]


@pytest.mark.parametrize(
    ("keys", "value", "errors"),
    [
        pytest.param({}, "x", [], id="a character"),
        pytest.param({}, "a\r\nb", [], id="line breaks"),
        pytest.param({}, "\x85", [], id="U+0085 is visible"),
        pytest.param({}, "\u200b", [], id="a zero-width space is visible"),
        pytest.param({}, "\ud83d", [], id="an unpaired surrogate"),
        pytest.param({"maxLength": 4}, SHIP * 2, [], id="emoji at the maximum"),
        pytest.param({"maxLength": 4}, SHIP * 2 + "a", [("", "TOO_LONG")], id="beyond it"),
        pytest.param({"maxLength": 4}, "ab   ", [("", "TOO_LONG")], id="outer spaces count"),
        pytest.param({"maxLength": 4.0}, "abcde", [("", "TOO_LONG")], id="a maximum with a point"),
        pytest.param({"minLength": 4}, SHIP * 2, [], id="emoji at the minimum"),
        pytest.param({"minLength": 4}, "e\u0301e\u0301", [], id="combining marks count"),
        pytest.param(
            {"minLength": 4}, " abc\ufeff", [("", "TOO_SHORT")], id="but not outer spaces"
        ),
        pytest.param({"minLength": 4}, "\x85abc", [], id="U+0085 is no space"),
        pytest.param(
            {"minLength": 4, "maxLength": 5},
            "  a   ",
            [("", "TOO_LONG"), ("", "TOO_SHORT")],
            id="too long and too short",
        ),
        pytest.param({"minLength": 0}, "a", [], id="a minimum of nothing"),
    ],
)
@pytest.mark.parametrize("type_", ["text", "textarea"])
def test_a_text(type_: str, keys: Field, value: str, errors: Errors) -> None:
    assert errors_of_value(field(type_, **keys), value) == errors


@pytest.mark.parametrize(("type_", "cap"), [("text", 2000), ("textarea", 10_000)])
@pytest.mark.parametrize("unit", ["a", "é", "漢"])
def test_the_longest_text(type_: str, cap: int, unit: str) -> None:
    assert errors_of_value(field(type_), unit * cap) == []
    assert errors_of_value(field(type_), unit * (cap + 1)) == [("", "TOO_LONG")]
    assert errors_of_value(field(type_, minLength=cap), unit * cap) == []
    assert errors_of_value(field(type_, minLength=cap), unit * (cap - 1)) == [("", "TOO_SHORT")]


@pytest.mark.parametrize(
    ("type_", "value", "errors"),
    [
        ("email", "ines@example.org", []),
        ("email", "ines@localhost", MISMATCH),
        ("email", " ines@example.org", MISMATCH),
        ("email", "ines@example.org\n", MISMATCH),
        ("email", "i" * 1988 + "@example.org", []),
        ("email", "i" * 1989 + "@example.org", [("", "TOO_LONG")]),
        ("email", "i" * 2001, [("", "TOO_LONG")]),
        ("url", " https://example.org\n", []),
        ("url", "example.org", MISMATCH),
        ("url", "https://a/" + SHIP * 995, []),
        ("url", "https://a/" + SHIP * 996, [("", "TOO_LONG")]),
        ("url", " " * 1990 + "https://a.org", [("", "TOO_LONG")]),
        ("phone", "+351 21 555 0100", []),
        ("phone", "555-010", MISMATCH),
        ("phone", "５５５0100", MISMATCH),
        ("phone", "5550100" + " " * 1994, [("", "TOO_LONG")]),
        ("date", "2024-02-29", []),
        ("date", "2026-02-30", UNDATED),
        ("date", "2027-06-30 ", UNDATED),
        ("time", "23:59", []),
        ("time", "24:00", UNDATED),
        ("time", "x" * 5000, UNDATED),
        ("datetime", "2027-06-30T10:00:00.25-00:00", []),
        ("datetime", "2027-06-30T10:00", UNDATED),
        ("datetime", "2027-06-30t10:00Z", UNDATED),
        ("datetime", f"2027-06-30T10:00:00.{'5' * 5000}Z", []),
    ],
)
def test_a_string_with_a_format(type_: str, value: str, errors: Errors) -> None:
    assert errors_of_value(field(type_), value) == errors


@pytest.mark.parametrize(
    ("keys", "value", "errors"),
    [
        pytest.param({}, 0, [], id="zero is an answer"),
        pytest.param({"required": True}, 0, [], id="to a required field too"),
        pytest.param({}, -1.5, [], id="a fraction below zero"),
        pytest.param({}, 10**308, [], id="a great number"),
        pytest.param({}, 10**309, MISMATCH, id="beyond a double"),
        pytest.param({}, -(10**5000), MISMATCH, id="beyond all measure"),
        pytest.param({}, nan, MISMATCH, id="NaN"),
        pytest.param({}, inf, MISMATCH, id="infinity"),
        pytest.param({}, True, MISMATCH, id="true is no number"),
        pytest.param({}, False, MISMATCH, id="false neither"),
        pytest.param({}, "41", MISMATCH, id="digits are none"),
        pytest.param({}, [1], MISMATCH, id="a list is none"),
        pytest.param({"integer": True}, 12.0, [], id="whole with a point"),
        pytest.param({"integer": True}, 1e300, [], id="whole and great"),
        pytest.param({"integer": True}, 12.5, MISMATCH, id="a fraction"),
        pytest.param({"integer": True, "max": 3}, 12.5, MISMATCH, id="which ends the check"),
        pytest.param({"integer": False}, 12.5, [], id="a fraction that may be"),
        pytest.param({"min": 2}, 2.0, [], id="the least"),
        pytest.param({"min": 2}, 1.999, [("", "OUT_OF_RANGE")], id="less"),
        pytest.param({"max": 2.5}, 2.5, [], id="the most"),
        pytest.param({"max": 2.5}, 10**300, [("", "OUT_OF_RANGE")], id="more"),
        pytest.param({"max": 2.0**53}, 2**53 + 1, [("", "OUT_OF_RANGE")], id="more by one"),
        pytest.param({"min": -3, "max": -3}, -3, [], id="the only one"),
    ],
)
def test_a_number(keys: Field, value: JsonValue, errors: Errors) -> None:
    assert errors_of_value(field("number", **keys), value) == errors


@pytest.mark.parametrize(
    ("value", "errors"),
    [(True, []), (False, []), (1, MISMATCH), (0, MISMATCH), ("yes", MISMATCH), ("x", MISMATCH)],
    ids=repr,
)
def test_yes_or_no(value: JsonValue, errors: Errors) -> None:
    assert errors_of_value(field("boolean", required=True), value) == errors


NOT_OFFERED: Errors = [("", "OPTION_NOT_OFFERED")]


@pytest.mark.parametrize(
    ("value", "errors"),
    [
        pytest.param("owl", [], id="an option"),
        pytest.param("Owl", NOT_OFFERED, id="case matters"),
        pytest.param("owl ", NOT_OFFERED, id="spaces matter"),
        pytest.param("x" * 9000, NOT_OFFERED, id="a long string"),
        pytest.param(["owl"], MISMATCH, id="a list of one"),
        pytest.param(1, MISMATCH, id="a number"),
    ],
)
def test_a_pick(value: JsonValue, errors: Errors) -> None:
    assert errors_of_value(needed("select"), value) == errors


@pytest.mark.parametrize(
    ("value", "errors"),
    [
        pytest.param(["owl", "cat", "dog"], [], id="options in any order"),
        pytest.param("owl", MISMATCH, id="a string"),
        pytest.param(["owl", 1, "fox"], MISMATCH, id="one item that is no string"),
        pytest.param([None, None], MISMATCH, id="one error for the whole"),
        pytest.param([1] * 51, MISMATCH, id="the type comes before the count"),
        pytest.param(["owl"] * 51, [("", "TOO_MANY")], id="the count before the items"),
        pytest.param(
            ["fox", "fox", "owl", ""],
            [("[0]", "OPTION_NOT_OFFERED"), ("[1]", "DUPLICATE_ID"), ("[3]", "OPTION_NOT_OFFERED")],
            id="an item has one error",
        ),
        pytest.param(
            [*[f"p{i}" for i in range(11)], "cat"],
            [(f"[{i}]", "OPTION_NOT_OFFERED") for i in range(11)],
            id="ten comes after two",
        ),
    ],
)
def test_picks(value: JsonValue, errors: Errors) -> None:
    assert errors_of_value(needed("multiselect"), value) == errors


def test_as_many_picks_as_there_can_be() -> None:
    all_of_them: list[JsonValue] = [f"p{index}" for index in range(50)]
    assert errors_of_value(field("multiselect", options=pets(50)), all_of_them) == []


def test_keys_that_name_no_field_are_unknown_and_stop_nothing() -> None:
    values: Values = {"Name": "Ines", "": 1, "a.b": 2, "day": "x", "minLength": None}
    assert errors_of_values(BOOKING, values) == [
        ("", "UNKNOWN_KEY"),
        ("Name", "UNKNOWN_KEY"),
        ("a.b", "UNKNOWN_KEY"),
        ("day", "INVALID_DATE"),
        ("minLength", "UNKNOWN_KEY"),
        ("name", "REQUIRED_FIELD"),
    ]


def test_ids_that_look_like_keys_of_another_spelling_are_data() -> None:
    ask = form(field("number", id="seat_count"), field("number", id="seatcount"))
    assert errors_of_values(ask, {"seat_count": 1, "seatcount": 2}) == []
    assert errors_of_values(ask, {"seatCount": 1}) == [("seatCount", "UNKNOWN_KEY")]


def test_errors_are_sorted_by_id_and_not_by_field() -> None:
    fields: list[JsonValue] = [field("date", id=id_) for id_ in ("z", "a10", "a2", "a", "0", "a_")]
    errors = errors_of_values(form(*fields), dict.fromkeys(("a2", "z", "0", "a", "a_", "a10"), "x"))
    assert [path for path, _ in errors] == ["0", "a", "a10", "a2", "a_", "z"]


def test_of_very_many_unknown_keys_the_first_are_told_beside_everything_else() -> None:
    values: Values = {f"key {index:06}": index for index in range(50_000)}
    errors = errors_of_values(BOOKING, {**values, "day": 1})
    assert errors == [
        ("day", "FIELD_TYPE_MISMATCH"),
        *((f"key {index:06}", "UNKNOWN_KEY") for index in range(limits.UNKNOWN_KEYS_REPORTED)),
        ("name", "REQUIRED_FIELD"),
    ]


@pytest.mark.parametrize("type_", TYPES)
def test_a_value_of_any_depth_and_size_is_only_an_error(type_: str) -> None:
    deep: JsonValue = "x"
    for _ in range(50_000):
        deep = [deep]
    many: list[JsonValue] = [0] * 100_000
    hostile: list[JsonValue] = [deep, many, "9" * 100_000, {"x": deep}]
    for junk in hostile:
        codes = {code for _, code in errors_of_value(needed(type_), junk)}
        assert codes <= {
            "FIELD_TYPE_MISMATCH",
            "INVALID_DATE",
            "OPTION_NOT_OFFERED",
            "TOO_LONG",
        }
        assert codes


@pytest.mark.parametrize(
    ("field_", "value", "fix"),
    [
        (field("text"), 5, "Send `content.values.f` as a string."),
        (field("text", maxLength=3), "abcd", "Shorten `content.values.f` to 3 units"),
        (field("text", minLength=3), "ab", "Lengthen `content.values.f` to at least 3 units."),
        (
            field("email"),
            "ines",
            "Write `content.values.f` as an email address, such as ines@example.org.",
        ),
        (
            field("phone"),
            "1",
            "Write `content.values.f` as a phone number of 7 to 15 digits, such as",
        ),
        (
            field("date"),
            "30/6/2027",
            "Write `content.values.f` as a real day written YYYY-MM-DD, such as 2027-06-30.",
        ),
        (field("number"), "41", "Send `content.values.f` as a number."),
        (field("number", integer=True), 1.5, "Set `content.values.f` to a whole number."),
        (field("number", min=2), 1, "Set `content.values.f` to a number from 2."),
        (field("number", max=0.5), 1, "Set `content.values.f` to a number up to 0.5."),
        (field("number", min=2, max=3), 1, "Set `content.values.f` to a number from 2 up to 3."),
        (field("boolean"), "yes", "Send `content.values.f` as true or false."),
        (needed("select"), "fox", 'Set `content.values.f` to one of "cat", "dog", "owl".'),
        (needed("multiselect"), ["cat", "cat"], "Remove `content.values.f[1]`."),
        (needed("multiselect"), "cat", "Send `content.values.f` as a list of ids of options."),
        ({**needed("text"), "required": True}, " ", "Give `content.values.f` a value."),
    ],
)
def test_a_fix_says_what_is_due(field_: Field, value: JsonValue, fix: str) -> None:
    (error,) = check_answer("form", form(field_), accepted({"values": {"f": value}}))
    assert error.fix.startswith(fix)


def test_an_unknown_key_is_told_the_fields() -> None:
    (error,) = check_answer(
        "form", form(*[field("date", id=i) for i in "abc"]), accepted({"values": {"d": 1}})
    )
    assert error.fix == 'Remove `content.values.d`; the fields are "a", "b", "c".'


def test_two_fields_that_are_alike_each_have_their_error() -> None:
    ask = form(
        field("multiselect", id="a", options=PETS), field("multiselect", id="b", options=PETS)
    )
    assert errors_of_values(ask, {"b": ["fox"], "a": ["fox"]}) == [
        ("a[0]", "OPTION_NOT_OFFERED"),
        ("b[0]", "OPTION_NOT_OFFERED"),
    ]

"""What a JSON value may look like (spec asks G1, G4 to G7, V5, V8, V9)."""

from math import inf, nan

import pytest
from pydantic import JsonValue

from parleyd.contract.field_errors import in_order
from parleyd.contract.records import Key, ObjectShape, RecordShape
from parleyd.contract.shapes import (
    BooleanShape,
    EnumShape,
    IdShape,
    ListShape,
    NumberShape,
    Shape,
    StringShape,
    TextShape,
    WholeShape,
)
from tests.contract.reported import reported

SHIP = "\U0001f6a2"
TEXT = TextShape(20)
SHORT = StringShape(1, 4)
COLOUR = EnumShape(("red", "blue"))
FLOOR = WholeShape(0)
RANGE = WholeShape(1, 10)
PAIR = ListShape(StringShape(), 2, 2)
ANY_LIST = ListShape(BooleanShape(), None)
RECORD = RecordShape(
    (
        Key("name", TEXT, "A name.", required=True),
        Key("someFlag", BooleanShape(), "A flag."),
    )
)


@pytest.mark.parametrize(
    ("shape", "value"),
    [
        pytest.param(TEXT, "a" * 20, id="text at its limit"),
        pytest.param(TEXT, SHIP * 10, id="emoji at the limit"),
        pytest.param(TEXT, "\x85", id="U+0085 is visible"),
        pytest.param(TEXT, "\u200b", id="a zero-width space is visible"),
        pytest.param(TEXT, "\ud83d", id="an unpaired surrogate"),
        pytest.param(StringShape(), "", id="an empty string"),
        pytest.param(SHORT, " ", id="a blank string at its least"),
        pytest.param(SHORT, SHIP * 2, id="a string at its most"),
        pytest.param(IdShape(), "0_-z", id="an id"),
        pytest.param(IdShape(), "a" * 64, id="an id at its limit"),
        pytest.param(COLOUR, "blue", id="a listed string"),
        pytest.param(FLOOR, 0, id="the least"),
        pytest.param(FLOOR, 3.0, id="whole with a point"),
        pytest.param(FLOOR, 2**60, id="beyond a double's digits"),
        pytest.param(FLOOR, 1e300, id="very large"),
        pytest.param(RANGE, 10, id="the most"),
        pytest.param(NumberShape(), -1.5, id="a fraction"),
        pytest.param(NumberShape(), 10**308, id="a very large number"),
        pytest.param(BooleanShape(), False, id="a boolean"),
        pytest.param(PAIR, ["", ""], id="a list"),
        pytest.param(ANY_LIST, [True] * 500, id="a list of any size"),
        pytest.param(ObjectShape(), {"any": "thing"}, id="an object"),
        pytest.param(RECORD, {"name": "n", "someFlag": True}, id="a record"),
        pytest.param(RECORD, {"name": "n"}, id="a record without its optional key"),
    ],
)
def test_what_fits_has_no_fault(shape: Shape, value: JsonValue) -> None:
    assert list(shape.check(value, ())) == []


@pytest.mark.parametrize(
    ("shape", "value", "faults"),
    [
        pytest.param(TEXT, "a" * 21, [("", "TOO_LONG")], id="text above its limit"),
        pytest.param(TEXT, SHIP * 10 + "a", [("", "TOO_LONG")], id="emoji count twice"),
        pytest.param(TEXT, "", [("", "TOO_SHORT")], id="an empty text"),
        pytest.param(TEXT, "\ufeff\u3000\n", [("", "TOO_SHORT")], id="a blank text"),
        pytest.param(
            TEXT, " " * 21, [("", "TOO_LONG"), ("", "TOO_SHORT")], id="blank and too long"
        ),
        pytest.param(TEXT, None, [("", "INVALID_TYPE")], id="null is no absent text"),
        pytest.param(StringShape(), 1, [("", "INVALID_TYPE")], id="a number is no string"),
        pytest.param(SHORT, "", [("", "TOO_SHORT")], id="a string below its least"),
        pytest.param(SHORT, SHIP * 2 + "a", [("", "TOO_LONG")], id="a string above its most"),
        pytest.param(SHORT, None, [("", "INVALID_TYPE")], id="null is no string"),
        pytest.param(IdShape(), "", [("", "INVALID_FORMAT")], id="an empty id"),
        pytest.param(IdShape(), "a" * 65, [("", "INVALID_FORMAT")], id="a long id"),
        pytest.param(IdShape(), "a\n", [("", "INVALID_FORMAT")], id="a newline at the end"),
        pytest.param(IdShape(), "_a", [("", "INVALID_FORMAT")], id="a bad beginning"),
        pytest.param(IdShape(), "A", [("", "INVALID_FORMAT")], id="a capital"),
        pytest.param(IdShape(), "a\u0663", [("", "INVALID_FORMAT")], id="an Arabic digit"),
        pytest.param(IdShape(), ["a"], [("", "INVALID_TYPE")], id="a list is no id"),
        pytest.param(COLOUR, "Red", [("", "INVALID_ENUM")], id="case matters"),
        pytest.param(COLOUR, None, [("", "INVALID_ENUM")], id="null where strings are listed"),
        pytest.param(COLOUR, {"red": 1}, [("", "INVALID_ENUM")], id="an object there"),
        pytest.param(COLOUR, ["red"], [("", "INVALID_ENUM")], id="a list there"),
        pytest.param(FLOOR, -1, [("", "RANGE_INVALID")], id="below the least"),
        pytest.param(FLOOR, -(10**300), [("", "RANGE_INVALID")], id="far below it"),
        pytest.param(RANGE, 11.0, [("", "RANGE_INVALID")], id="above the most"),
        pytest.param(FLOOR, 0.5, [("", "INVALID_TYPE")], id="a fraction"),
        pytest.param(FLOOR, True, [("", "INVALID_TYPE")], id="true is no number"),
        pytest.param(FLOOR, "1", [("", "INVALID_TYPE")], id="a digit is no number"),
        pytest.param(FLOOR, nan, [("", "INVALID_TYPE")], id="NaN is no number"),
        pytest.param(FLOOR, -inf, [("", "INVALID_TYPE")], id="infinity is no number"),
        pytest.param(FLOOR, 10**5000, [("", "INVALID_TYPE")], id="beyond a double is no number"),
        pytest.param(NumberShape(), 10**309, [("", "INVALID_TYPE")], id="no number is so large"),
        pytest.param(NumberShape(), -inf, [("", "INVALID_TYPE")], id="nor so small"),
        pytest.param(NumberShape(), nan, [("", "INVALID_TYPE")], id="NaN is none either"),
        pytest.param(NumberShape(), False, [("", "INVALID_TYPE")], id="nor is false"),
        pytest.param(NumberShape(), None, [("", "INVALID_TYPE")], id="nor null"),
        pytest.param(BooleanShape(), 1, [("", "INVALID_TYPE")], id="one is not true"),
        pytest.param(BooleanShape(), None, [("", "INVALID_TYPE")], id="null is not false"),
        pytest.param(PAIR, ["a"], [("", "TOO_FEW")], id="a short list"),
        pytest.param(
            PAIR, [1], [("", "TOO_FEW"), ("[0]", "INVALID_TYPE")], id="its items are looked at"
        ),
        pytest.param(
            PAIR, [1, 2, 3], [("", "TOO_MANY")], id="the items of a long list are not looked at"
        ),
        pytest.param(PAIR, {"0": "a"}, [("", "INVALID_TYPE")], id="an object is no list"),
        pytest.param(
            ANY_LIST,
            [True] * 400 + [None],
            [("[400]", "INVALID_TYPE")],
            id="an item of a list of any size",
        ),
        pytest.param(ObjectShape(), [], [("", "INVALID_TYPE")], id="a list is no object"),
        pytest.param(RECORD, "name", [("", "INVALID_TYPE")], id="a string is no record"),
        pytest.param(
            RECORD,
            {"someFlag": None, "some_flag": True, "": 0, "name ": "n"},
            [
                ("", "UNKNOWN_KEY"),
                ("name", "MISSING_REQUIRED"),
                ("name ", "UNKNOWN_KEY"),
                ("someFlag", "INVALID_TYPE"),
                ("some_flag", "UNKNOWN_KEY"),
            ],
            id="a record reports everything at once",
        ),
        pytest.param(
            ListShape(RECORD, 50),
            [{"name": "n"}] * 2 + [7] + [{"name": "n"}] * 7 + [{}],
            [("[2]", "INVALID_TYPE"), ("[10].name", "MISSING_REQUIRED")],
            id="at every depth, in the order of positions",
        ),
    ],
)
def test_what_does_not_fit_is_reported(
    shape: Shape, value: JsonValue, faults: list[tuple[str, str]]
) -> None:
    assert reported(in_order(shape.check(value, ()))) == faults


def test_a_key_of_another_spelling_is_told_its_name() -> None:
    (fault,) = RECORD.check({"name": "n", "some_flag": True}, ())
    assert fault.fix == "Rename `some_flag` to `someFlag`."


@pytest.mark.parametrize(
    ("shape", "value", "fix"),
    [
        (TEXT, None, "Send `k` as a text of at most 20 UTF-16 units."),
        (TEXT, "", "Write a text of at most 20 UTF-16 units into `k`."),
        (COLOUR, 1, 'Set `k` to "red" or "blue".'),
        (FLOOR, -1, "Set `k` to a whole number from 0 upwards."),
        (RANGE, 0, "Set `k` to a whole number from 1 to 10."),
        (SHORT, "", "Send `k` as a string of at least 1 and at most 4 UTF-16 units."),
        (SHORT, "abcde", "Shorten `k` to 4 units; an emoji counts as two or more."),
        (
            StringShape(most=4, advised=2),
            "abcde",
            "Shorten `k` to 2 units; an emoji counts as two or more.",
        ),
        (StringShape(most=4), 1, "Send `k` as a string of at most 4 UTF-16 units."),
        (ANY_LIST, 1, "Send `k` as a list."),
        (PAIR, [], "Send `k` as a list of 2 to 2 items."),
        (ListShape(TEXT, 5), {}, "Send `k` as a list of at most 5 items."),
        (RECORD, None, "Send `k` as an object with the keys `name`, `someFlag`."),
    ],
    ids=str,
)
def test_a_fix_says_what_is_due(shape: Shape, value: JsonValue, fix: str) -> None:
    (fault,) = shape.check(value, ("k",))
    assert fault.fix == fix


def test_a_record_knows_its_keys_alone() -> None:
    assert RECORD.known({"name": 1, "other": 2}) == {"name": 1}


@pytest.mark.parametrize(
    ("shape", "schema"),
    [
        pytest.param(TEXT, {"type": "string", "minLength": 1, "maxLength": 20}, id="text"),
        pytest.param(StringShape(), {"type": "string"}, id="string"),
        pytest.param(
            IdShape(), {"type": "string", "pattern": "^[a-z0-9][a-z0-9_-]{0,63}$"}, id="id"
        ),
        pytest.param(
            SHORT, {"type": "string", "minLength": 1, "maxLength": 4}, id="string in bounds"
        ),
        pytest.param(
            ANY_LIST, {"type": "array", "items": {"type": "boolean"}}, id="list of any size"
        ),
        pytest.param(COLOUR, {"type": "string", "enum": ["red", "blue"]}, id="enum"),
        pytest.param(FLOOR, {"type": "integer", "minimum": 0}, id="whole upwards"),
        pytest.param(RANGE, {"type": "integer", "minimum": 1, "maximum": 10}, id="whole in range"),
        pytest.param(NumberShape(), {"type": "number"}, id="number"),
        pytest.param(BooleanShape(), {"type": "boolean"}, id="boolean"),
        pytest.param(ObjectShape(), {"type": "object"}, id="object"),
        pytest.param(
            PAIR,
            {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
            id="list",
        ),
        pytest.param(
            RECORD,
            {
                "type": "object",
                "properties": {
                    "name": {
                        "description": "A name.",
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 20,
                    },
                    "someFlag": {"description": "A flag.", "type": "boolean"},
                },
                "required": ["name"],
                "additionalProperties": False,
            },
            id="record",
        ),
    ],
)
def test_the_schema_says_what_the_check_checks(shape: Shape, schema: JsonValue) -> None:
    assert shape.schema() == schema

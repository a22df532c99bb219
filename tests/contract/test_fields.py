"""The fields of a form: their keys and bounds (spec asks FO1 to FO4)."""

import pytest
from pydantic import JsonValue

from parleyd.contract.asks.fields.types import FIELD_TYPES
from tests.contract.reported import Errors, errors_of_field
from tests.contract.valid_forms import PETS, Field, field, needed, pets

SHIP = "\U0001f6a2"
TYPES = [*FIELD_TYPES]
PICKS = ("select", "multiselect")


def test_there_are_twelve_types_in_the_order_of_the_contract() -> None:
    names = "text textarea email url phone number date time datetime boolean select multiselect"
    assert [*FIELD_TYPES] == names.split()


@pytest.mark.parametrize("type_", TYPES)
def test_a_field_of_each_type_is_valid(type_: str) -> None:
    assert errors_of_field(needed(type_)) == []
    assert errors_of_field({**needed(type_), "helperText": "h" * 280, "required": True}) == []


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        pytest.param({"label": "l" * 120}, [], id="a label at its limit"),
        pytest.param({"label": SHIP * 61}, [("label", "TOO_LONG")], id="a label beyond it"),
        pytest.param({"label": " \ufeff"}, [("label", "TOO_SHORT")], id="a blank label"),
        pytest.param({"id": "A"}, [("id", "INVALID_FORMAT")], id="no id"),
        pytest.param({"id": "a\n"}, [("id", "INVALID_FORMAT")], id="a newline behind an id"),
        pytest.param({"helperText": "h" * 281}, [("helperText", "TOO_LONG")], id="a long help"),
        pytest.param({"helperText": None}, [("helperText", "INVALID_TYPE")], id="a null"),
        pytest.param({"required": 1}, [("required", "INVALID_TYPE")], id="nothing is coerced"),
        pytest.param({"required": None}, [("required", "INVALID_TYPE")], id="null is not absent"),
        pytest.param({"default": None}, [("default", "INVALID_TYPE")], id="null is no default"),
        pytest.param({"default": {}}, [("default", "INVALID_TYPE")], id="an object neither"),
        pytest.param(
            {"helper_text": "h", "": 1, "description": "d"},
            [("", "UNKNOWN_KEY"), ("description", "UNKNOWN_KEY"), ("helper_text", "UNKNOWN_KEY")],
            id="unknown keys",
        ),
    ],
)
def test_the_keys_of_every_field(type_: str, changes: Field, errors: Errors) -> None:
    assert errors_of_field({**needed(type_), **changes}) == errors


@pytest.mark.parametrize("type_", TYPES)
def test_the_required_keys_of_every_field(type_: str) -> None:
    due = ["id", "label", "options"] if type_ in PICKS else ["id", "label"]
    assert errors_of_field({"type": type_}) == [(key, "MISSING_REQUIRED") for key in due]


@pytest.mark.parametrize("type_", TYPES)
def test_the_keys_of_another_type_are_unknown(type_: str) -> None:
    own: dict[str, tuple[str, ...]] = {
        "text": ("minLength", "maxLength"),
        "textarea": ("minLength", "maxLength"),
        "number": ("min", "max", "integer"),
        "select": ("options",),
        "multiselect": ("options",),
    }
    every: Field = {
        "minLength": 4,
        "maxLength": 2,
        "min": 4,
        "max": 2,
        "integer": False,
        "options": [*PETS, *PETS],
    }
    errors = errors_of_field({**field(type_), **every})
    assert [path for path, code in errors if code == "UNKNOWN_KEY"] == sorted(
        {*every} - {*own.get(type_, ())}
    )
    # No rule looks at them.
    assert {path.partition("[")[0] for path, code in errors if code != "UNKNOWN_KEY"} <= {
        *own.get(type_, ())
    }


@pytest.mark.parametrize(
    ("value", "errors"),
    [
        pytest.param(None, [("", "INVALID_TYPE")], id="null"),
        pytest.param("text", [("", "INVALID_TYPE")], id="a string"),
        pytest.param([], [("", "INVALID_TYPE")], id="a list"),
        pytest.param({"label": "", "id": 1}, [("type", "MISSING_REQUIRED")], id="no type"),
        pytest.param({"type": "secret", "x": 1}, [("type", "INVALID_ENUM")], id="an unknown one"),
        pytest.param({"type": "Text"}, [("type", "INVALID_ENUM")], id="case matters"),
        pytest.param({"type": "text "}, [("type", "INVALID_ENUM")], id="spaces matter"),
        pytest.param({"type": None}, [("type", "INVALID_ENUM")], id="null for a type"),
        pytest.param({"type": ["text"]}, [("type", "INVALID_ENUM")], id="a list for a type"),
        pytest.param({"type": 1}, [("type", "INVALID_ENUM")], id="a number for a type"),
    ],
)
def test_a_field_without_a_type_has_one_error(value: JsonValue, errors: Errors) -> None:
    assert errors_of_field(value) == errors


@pytest.mark.parametrize(
    ("keys", "errors"),
    [
        pytest.param({"minLength": 0, "maxLength": 1}, [], id="the least bounds"),
        pytest.param({"minLength": 3.0, "maxLength": 3}, [], id="equal bounds"),
        pytest.param({"minLength": -1}, [("minLength", "RANGE_INVALID")], id="below zero"),
        pytest.param({"maxLength": 0}, [("maxLength", "RANGE_INVALID")], id="no maximum"),
        pytest.param({"maxLength": -1}, [("maxLength", "RANGE_INVALID")], id="one below zero"),
        pytest.param({"minLength": 4, "maxLength": 3}, [("minLength", "RANGE_INVALID")], id="4>3"),
        pytest.param(
            {"minLength": 1, "maxLength": 0},
            [("maxLength", "RANGE_INVALID"), ("minLength", "RANGE_INVALID")],
            id="above a maximum that is out of range itself",
        ),
        pytest.param({"minLength": 1.5}, [("minLength", "INVALID_TYPE")], id="a fraction"),
        pytest.param({"maxLength": "9"}, [("maxLength", "INVALID_TYPE")], id="a string"),
        pytest.param({"maxLength": True}, [("maxLength", "INVALID_TYPE")], id="a boolean"),
        pytest.param(
            {"minLength": 10**300, "maxLength": 10**299},
            [("maxLength", "RANGE_INVALID"), ("minLength", "RANGE_INVALID")],
            id="beyond all measure",
        ),
    ],
)
@pytest.mark.parametrize("type_", ["text", "textarea"])
def test_the_bounds_of_a_text(type_: str, keys: Field, errors: Errors) -> None:
    assert errors_of_field(field(type_, **keys)) == errors


@pytest.mark.parametrize(("type_", "cap"), [("text", 2000), ("textarea", 10_000)])
def test_the_cap_of_a_text(type_: str, cap: int) -> None:
    assert errors_of_field(field(type_, minLength=cap, maxLength=cap)) == []
    assert errors_of_field(field(type_, minLength=cap)) == []
    assert errors_of_field(field(type_, minLength=cap + 1)) == [("minLength", "RANGE_INVALID")]
    assert errors_of_field(field(type_, maxLength=cap + 1)) == [("maxLength", "RANGE_INVALID")]
    assert errors_of_field(field(type_, minLength=cap + 1, maxLength=cap + 1)) == [
        ("maxLength", "RANGE_INVALID"),
        ("minLength", "RANGE_INVALID"),
    ]
    assert errors_of_field(field(type_, default="d" * cap)) == []
    assert errors_of_field(field(type_, default="d" * (cap + 1))) == [("default", "TOO_LONG")]
    assert errors_of_field(field(type_, default=SHIP * (cap // 2))) == []
    assert errors_of_field(field(type_, default=SHIP * (cap // 2) + "d")) == [
        ("default", "TOO_LONG")
    ]


@pytest.mark.parametrize("type_", PICKS)
@pytest.mark.parametrize(
    ("options", "errors"),
    [
        pytest.param(pets(2), [], id="the fewest"),
        pytest.param(pets(50), [], id="the most"),
        pytest.param(pets(1), [("options", "TOO_FEW")], id="too few"),
        pytest.param([None] * 51, [("options", "TOO_MANY")], id="too many, and not looked at"),
        pytest.param("cat", [("options", "INVALID_TYPE")], id="a string"),
        pytest.param(
            [{"id": "cat", "label": "Cat", "description": "d"}, {"id": "Dog"}, 7],
            [
                ("options[0].description", "UNKNOWN_KEY"),
                ("options[1].id", "INVALID_FORMAT"),
                ("options[1].label", "MISSING_REQUIRED"),
                ("options[2]", "INVALID_TYPE"),
            ],
            id="everything at once",
        ),
        pytest.param(
            [*PETS, {"id": "cat", "label": "l" * 121}, {"id": "cat", "label": "Lion"}],
            [
                ("options[3].id", "DUPLICATE_ID"),
                ("options[3].label", "TOO_LONG"),
                ("options[4].id", "DUPLICATE_ID"),
            ],
            id="every repeat of an id",
        ),
        pytest.param(
            [{"id": "", "label": "A"}, {"id": "", "label": "B"}],
            [
                ("options[0].id", "INVALID_FORMAT"),
                ("options[1].id", "DUPLICATE_ID"),
                ("options[1].id", "INVALID_FORMAT"),
            ],
            id="what is no id can be a repeat",
        ),
        pytest.param(
            [*pets(10), {"id": "p0", "label": "A"}, {"id": "p0"}],
            [("options[11].label", "MISSING_REQUIRED")],
            id="a blocking error hides the repeats",
        ),
    ],
)
def test_the_options_of_a_field(type_: str, options: JsonValue, errors: Errors) -> None:
    assert errors_of_field(field(type_, options=options)) == errors

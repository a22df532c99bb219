"""What an object may look like that names its form (spec asks FO2)."""

import pytest
from pydantic import JsonValue

from parleyd.contract.field_errors import in_order
from parleyd.contract.records import Key
from parleyd.contract.shapes import BooleanShape, TextShape
from parleyd.contract.variants import Variant, VariantShape
from tests.contract.reported import reported

NAME = Key("name", TextShape(5), "A name.", required=True)
LOUD = Key("loud", BooleanShape(), "A flag.")
ANIMAL = VariantShape(
    "kind", "What it is.", (Variant(("cat", "dog"), (NAME, LOUD)), Variant(("fish",), (NAME,)))
)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"kind": "cat", "name": "Tom", "loud": True}, id="the first form"),
        pytest.param({"kind": "dog", "name": "Rex"}, id="the first form by its other name"),
        pytest.param({"kind": "fish", "name": "Wanda"}, id="the second form"),
    ],
)
def test_what_fits_the_form_it_names_has_no_fault(value: JsonValue) -> None:
    assert list(ANIMAL.check(value, ())) == []


@pytest.mark.parametrize(
    ("value", "faults"),
    [
        pytest.param(
            {"kind": "fish", "name": "", "loud": 1},
            [("loud", "UNKNOWN_KEY"), ("name", "TOO_SHORT")],
            id="the keys of another form are unknown",
        ),
        pytest.param(
            {"kind": "cat", "loud": 1},
            [("loud", "INVALID_TYPE"), ("name", "MISSING_REQUIRED")],
            id="everything at once",
        ),
        pytest.param({"name": 1}, [("kind", "MISSING_REQUIRED")], id="no name, and nothing else"),
        pytest.param(
            {"kind": "owl", "x": 1}, [("kind", "INVALID_ENUM")], id="an unknown name alone"
        ),
        pytest.param({"kind": "Cat"}, [("kind", "INVALID_ENUM")], id="case matters"),
        pytest.param({"kind": ""}, [("kind", "INVALID_ENUM")], id="an empty name"),
        pytest.param({"kind": None}, [("kind", "INVALID_ENUM")], id="null for a name"),
        pytest.param({"kind": ["cat"]}, [("kind", "INVALID_ENUM")], id="a list for a name"),
        pytest.param({"kind": {"cat": 1}}, [("kind", "INVALID_ENUM")], id="an object for a name"),
        pytest.param("cat", [("", "INVALID_TYPE")], id="a string is no object"),
        pytest.param(None, [("", "INVALID_TYPE")], id="null is no object"),
        pytest.param([], [("", "INVALID_TYPE")], id="a list is no object"),
    ],
)
def test_what_does_not_fit_is_reported(value: JsonValue, faults: list[tuple[str, str]]) -> None:
    assert reported(in_order(ANIMAL.check(value, ()))) == faults


def test_an_unknown_name_is_told_all_there_are() -> None:
    (fault,) = ANIMAL.check({"kind": "owl"}, ("pets", 0))
    assert fault.fix == 'Set `pets[0].kind` to "cat" or "dog" or "fish".'


def test_a_value_of_a_wrong_type_is_told_what_is_due() -> None:
    (fault,) = ANIMAL.check(3, ("pets", 0))
    assert fault.fix == "Send `pets[0]` as an object with the key `kind`."


def test_the_schema_has_a_closed_object_for_each_form_and_nothing_beside() -> None:
    name = {"description": "A name.", **TextShape(5).schema()}
    assert ANIMAL.schema() == {
        "anyOf": [
            {
                "type": "object",
                "properties": {
                    "kind": {
                        "description": "What it is.",
                        "type": "string",
                        "enum": ["cat", "dog"],
                    },
                    "name": name,
                    "loud": {"description": "A flag.", "type": "boolean"},
                },
                "required": ["kind", "name"],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {
                    "kind": {"description": "What it is.", "type": "string", "enum": ["fish"]},
                    "name": name,
                },
                "required": ["kind", "name"],
                "additionalProperties": False,
            },
        ]
    }

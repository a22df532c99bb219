"""The rules of a form, its card and its schema (spec asks FO1 to FO5, SC10)."""

from typing import Any

import pytest
from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.answers import accepted, check_answer
from parleyd.contract.asks.fields.types import FIELD_TYPES
from parleyd.contract.asks.kinds import check_ask
from parleyd.contract.asks.tools import ask_tools
from parleyd.contract.cards import to_simple_card
from tests.contract.reported import Errors, reported
from tests.contract.valid_forms import PETS, field, form, needed, pets


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        pytest.param({"submitLabel": "s" * 24, "title": "t", "allowDecline": False}, [], id="all"),
        pytest.param({"fields": []}, [("fields", "TOO_FEW")], id="no fields"),
        pytest.param({"fields": {}}, [("fields", "INVALID_TYPE")], id="fields that are no list"),
        pytest.param({"fields": None}, [("fields", "INVALID_TYPE")], id="null"),
        pytest.param(
            {"fields": [field("text", id=f"f{i}") for i in range(8)]}, [], id="the most fields"
        ),
        pytest.param({"fields": [None] * 9}, [("fields", "TOO_MANY")], id="too many"),
        pytest.param({"options": PETS}, [("options", "UNKNOWN_KEY")], id="a key of another kind"),
        pytest.param(
            {"fields": [], "prompt": "", "title": 1},
            [("fields", "TOO_FEW"), ("prompt", "TOO_SHORT"), ("title", "INVALID_TYPE")],
            id="everything at once",
        ),
    ],
)
def test_the_keys_of_a_form(changes: dict[str, JsonValue], errors: Errors) -> None:
    assert reported(check_ask("form", {**form(field("text")), **changes})) == errors


def test_a_form_needs_a_prompt_and_fields() -> None:
    assert reported(check_ask("form", {})) == [
        ("fields", "MISSING_REQUIRED"),
        ("prompt", "MISSING_REQUIRED"),
    ]


def test_options_of_two_fields_may_have_the_same_ids() -> None:
    assert check_ask("form", form(needed("select"), {**needed("multiselect"), "id": "g"})) == ()


def test_field_ids_are_unique_and_every_repeat_is_told() -> None:
    repeated = form(
        field("text", id="a"), field("date", id="a"), field("time", id="B"), field("url", id="B")
    )
    assert reported(check_ask("form", repeated)) == [
        ("fields[1].id", "DUPLICATE_ID"),
        ("fields[2].id", "INVALID_FORMAT"),
        ("fields[3].id", "DUPLICATE_ID"),
        ("fields[3].id", "INVALID_FORMAT"),
    ]


@pytest.mark.parametrize(
    "blocking",
    [
        pytest.param({"type": "stars"}, id="an unknown type"),
        pytest.param({}, id="no type"),
        pytest.param(field("text", label=1), id="a label that is a number"),
        pytest.param({"type": "text", "id": "x"}, id="no label"),
        pytest.param(field("number", default="4"), id="a default of another type"),
        pytest.param(field("multiselect", options=PETS, default=[1]), id="an item of another type"),
        pytest.param(field("select", options=pets(51)), id="too many options"),
        pytest.param(None, id="no object"),
    ],
)
def test_one_blocking_error_in_a_field_stops_the_rules_of_all(blocking: JsonValue) -> None:
    wrong = [
        field("text", minLength=4, maxLength=2, default="toolong"),
        field("number", min=2, max=1, default=9),
        field("select", options=[*PETS, *PETS], default="fox"),
    ]
    codes = {
        "RANGE_INVALID",
        "TOO_LONG",
        "OUT_OF_RANGE",
        "DUPLICATE_ID",
        "DEFAULT_NOT_IN_OPTIONS",
    }
    assert {code for _, code in reported(check_ask("form", form(*wrong)))} == codes
    ((path, _),) = reported(check_ask("form", form(*wrong, blocking)))
    assert path.startswith("fields[3]")


def test_shape_errors_of_all_fields_come_together_with_what_does_not_block() -> None:
    ask = form(
        field("text", id="A", label="", x=1),
        field("number", helperText="h" * 281, default=3, max=2),
        submitLabel="s" * 25,
    )
    assert reported(check_ask("form", ask)) == [
        ("fields[0].id", "INVALID_FORMAT"),
        ("fields[0].label", "TOO_SHORT"),
        ("fields[0].x", "UNKNOWN_KEY"),
        ("fields[1].default", "OUT_OF_RANGE"),
        ("fields[1].helperText", "TOO_LONG"),
        ("submitLabel", "TOO_LONG"),
    ]


SKIP_ALL: tuple[str, str, str, dict[str, JsonValue]] = (
    "cancel",
    "Cancel",
    "cancel",
    {"action": "decline"},
)


@pytest.mark.parametrize(
    ("fields", "values"),
    [
        pytest.param([field("text")], None, id="no default"),
        pytest.param([field("text", default="x")], {"f": "x"}, id="a default"),
        pytest.param([field("boolean", default=False)], {"f": False}, id="no for a default"),
        pytest.param([field("number", default=0, required=True)], {"f": 0}, id="zero for one"),
        pytest.param(
            [field("text", default="x"), field("date", id="g", required=True)],
            None,
            id="a required field without one",
        ),
        pytest.param(
            [field("text", default="x"), field("date", id="g")],
            {"f": "x"},
            id="an optional field without one",
        ),
        pytest.param(
            [field("multiselect", options=PETS, default=[])],
            {"f": []},
            id="an empty list for an optional field",
        ),
        pytest.param(
            [field("multiselect", options=PETS, default=[], required=True)],
            None,
            id="an empty list for a required one",
        ),
        pytest.param(
            [field("multiselect", options=PETS, default=["owl", "cat"], required=True)],
            {"f": ["owl", "cat"]},
            id="picks in the order of the default",
        ),
    ],
)
@pytest.mark.parametrize("skippable", [True, False])
def test_the_card_of_a_form(
    fields: list[JsonValue], values: dict[str, JsonValue] | None, *, skippable: bool
) -> None:
    ask = form(*fields, allowDecline=skippable)
    assert check_ask("form", ask) == ()
    card = to_simple_card("form", ask, "call_1")
    submit = ("submit-defaults", "Submit defaults", "primary", accepted({"values": values}))
    assert [(b.id, b.label, b.style, b.response) for b in card.buttons] == [
        *([] if values is None else [submit]),
        *([SKIP_ALL] if skippable else []),
    ]
    assert card.handoff
    for button in card.buttons:
        assert check_answer("form", ask, button.response) == ()


def test_a_form_that_says_nothing_of_skipping_can_be_skipped() -> None:
    (button,) = to_simple_card("form", form(field("text")), "call_1").buttons
    assert button.id == "cancel"


def variants() -> dict[tuple[str, ...], dict[str, Any]]:
    """Returns the schema of a field's keys by the types that have them."""
    (tool,) = ask_tools(["form"], "full")
    schema: Any = tool.schema["properties"]
    fields = schema["fields"]
    assert (fields["type"], fields["minItems"], fields["maxItems"]) == ("array", 1, 8)
    assert [*fields["items"]] == ["anyOf"]
    return {
        tuple(variant["properties"]["type"]["enum"]): variant["properties"]
        for variant in fields["items"]["anyOf"]
    }


def test_the_schema_has_every_type_in_one_variant() -> None:
    assert [name for names in variants() for name in names] == [*FIELD_TYPES]
    assert [names for names in variants() if len(names) > 1] == [
        ("email", "url", "phone"),
        ("date", "time", "datetime"),
    ]


def test_the_schema_carries_the_limits() -> None:
    bounds = {
        names: {
            key: {name: limit for name, limit in schema.items() if name.startswith(("min", "max"))}
            for key, schema in keys.items()
            if key not in ("type", "id", "required")
        }
        for names, keys in variants().items()
    }
    every = {
        "label": {"minLength": 1, "maxLength": limits.FIELD_LABEL},
        "helperText": {"minLength": 1, "maxLength": limits.HELPER_TEXT},
    }
    options = {"options": {"minItems": limits.OPTIONS_MIN, "maxItems": limits.OPTIONS_MAX}}

    def text(cap: int) -> dict[str, Any]:
        return {
            "minLength": {"minimum": 0, "maximum": cap},
            "maxLength": {"minimum": 1, "maximum": cap},
            "default": {"minLength": 1, "maxLength": cap},
        }

    assert bounds == {
        ("text",): every | text(limits.TEXT_VALUE),
        ("textarea",): every | text(limits.TEXTAREA_VALUE),
        ("email", "url", "phone"): every
        | {"default": {"minLength": 1, "maxLength": limits.TEXT_VALUE}},
        ("number",): every | {"min": {}, "max": {}, "integer": {}, "default": {}},
        ("date", "time", "datetime"): every | {"default": {"minLength": 1}},
        ("boolean",): every | {"default": {}},
        ("select",): every | options | {"default": {}},
        ("multiselect",): every | options | {"default": {"maxItems": limits.OPTIONS_MAX}},
    }

"""What MCP servers ask for becomes asks that are valid, whose answers fit the servers' schemas."""

from dataclasses import dataclass
from typing import Any

import jsonschema
import pytest
from google.protobuf.json_format import ParseDict

from parley.adapters.elicited_asks import elicited_ask
from parley.adapters.elicited_schemas import Unaskable, requested_schema
from parley.v1 import ask_contract_pb2, asks_pb2
from parleyd.rpc.ask_contract import validate_answer, validate_ask

Schema = dict[str, Any]

MESSAGE = "What do you need?"


def an_object(*required: str, **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required)}


TEXT = {"type": "string"}
WHOLE = {"type": "integer", "title": "Guests", "minimum": 1, "maximum": 12, "default": 2}
PLANS = {"type": "string", "enum": ["solo", "team"]}
TITLED = {
    "type": "string",
    "oneOf": [{"const": "#FF0000", "title": "Red"}, {"const": "#00FF00", "title": "Green"}],
    "default": "#00FF00",
}
LEGACY = {"type": "string", "enum": ["A", "B"], "enumNames": ["First", "Second"]}
DAYS = {"type": "array", "items": {"type": "string", "enum": ["sat", "sun"]}, "default": ["sun"]}
TITLED_DAYS = {
    "type": "array",
    "items": {"anyOf": [{"const": "Sa", "title": "Saturday"}, {"const": "Su", "title": "Sunday"}]},
    "minItems": 1,
    "maxItems": 1,
}


@dataclass(frozen=True)
class Elicitation:
    """A schema, the kind of ask for it, an accepting answer as JSON, and the content of it."""

    schema: Schema
    kind: str
    answer: dict[str, Any]
    content: dict[str, Any] | None


def form(values: dict[str, Any]) -> dict[str, Any]:
    return {"form": {"values": values}}


def a_field(schema: Schema, value: Any, content: Any = None) -> Elicitation:
    """A property beside another one, and a value of it, which becomes the same unless said."""
    whole = an_object("it", "name", it=schema, name=TEXT)
    told = value if content is None else content
    return Elicitation(
        whole, "form", form({"it": value, "name": "Noor"}), {"it": told, "name": "Noor"}
    )


FIELDS = {
    "text": a_field(TEXT, "Any"),
    "bounded_text": a_field({"type": "string", "minLength": 2, "maxLength": 8}, "Anything"[:8]),
    "long_text": a_field({"type": "string", "maxLength": 50_000}, "long " * 1900),
    "email": a_field({"type": "string", "format": "email"}, "noor@example.org"),
    "uri": a_field(
        {"type": "string", "format": "uri"}, " https://example.org/a ", "https://example.org/a"
    ),
    "date": a_field({"type": "string", "format": "date"}, "2027-06-30"),
    "date_time": a_field({"type": "string", "format": "date-time"}, "2027-06-30T08:00:30.5+02:00"),
    "date_time_without_seconds": a_field(
        {"type": "string", "format": "date-time"}, "2027-06-30T08:00Z", "2027-06-30T08:00:00Z"
    ),
    "number": a_field({"type": "number", "minimum": 0.5, "maximum": 2, "default": 1}, 1.5),
    "whole_number": a_field(WHOLE, 4),
    "largest_whole_number": a_field({"type": "integer"}, 2**53 - 1),
    "whole_number_with_exclusive_bounds": a_field(
        {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 3}, 2
    ),
    "boolean": a_field({"type": "boolean", "default": True}, value=False),
    "choice": a_field(PLANS, "team"),
    "titled_choice": a_field(TITLED, "option-1", "#FF0000"),
    "legacy_choice": a_field(LEGACY, "option-2", "B"),
    "many": a_field(DAYS, ["sat", "sun"]),
}

WHOLES = {
    "nothing_but_a_message": Elicitation(
        an_object(), "confirm", {"confirm": {"confirmed": True}}, {}
    ),
    "nothing_but_a_message_denied": Elicitation(
        an_object(), "confirm", {"confirm": {"confirmed": False}}, None
    ),
    "one_boolean": Elicitation(
        an_object("ok", ok={"type": "boolean", "title": "Confirm"}),
        "confirm",
        {"confirm": {"confirmed": False}},
        {"ok": False},
    ),
    "one_boolean_with_a_default": Elicitation(
        an_object("ok", ok={"type": "boolean", "default": True}),
        "form",
        form({"ok": False}),
        {"ok": False},
    ),
    "one_boolean_that_may_be_left_out": Elicitation(
        an_object(ok={"type": "boolean"}), "form", form({}), {}
    ),
    "one_choice": Elicitation(
        an_object("plan", plan=PLANS),
        "choice",
        {"choice": {"selected": ["team"]}},
        {"plan": "team"},
    ),
    "one_titled_choice": Elicitation(
        an_object("Colour", Colour=TITLED),
        "choice",
        {"choice": {"selected": ["option-1"]}},
        {"Colour": "#FF0000"},
    ),
    "one_choice_that_may_be_left_out": Elicitation(an_object(plan=PLANS), "form", form({}), {}),
    "one_choice_with_a_long_description": Elicitation(
        an_object("plan", plan={**PLANS, "description": "d" * 280}),
        "choice",
        {"choice": {"selected": ["solo"]}},
        {"plan": "solo"},
    ),
    "one_many": Elicitation(
        an_object("days", days=TITLED_DAYS),
        "choice",
        {"choice": {"selected": ["option-2"]}},
        {"days": ["Su"]},
    ),
    "one_many_with_no_pick": Elicitation(
        an_object("days", days=DAYS), "choice", {"choice": {}}, {"days": []}
    ),
    "no_pick_of_many_that_are_required": Elicitation(
        an_object("days", "ok", days=DAYS, ok={"type": "boolean"}),
        "form",
        form({"ok": True}),
        {"days": [], "ok": True},
    ),
    "nothing_of_all_that_may_be_left_out": Elicitation(
        an_object(text=TEXT, number=WHOLE, ok={"type": "boolean"}, plan=PLANS, days=DAYS),
        "form",
        form({"text": "  ", "plan": "", "days": []}),
        {},
    ),
    "names_that_are_no_ids": Elicitation(
        an_object("firstName", **{"firstName": TEXT, "last name": TEXT, "field-1": TEXT}),
        "form",
        form({"field-1": "Noor", "field-3": "x"}),
        {"firstName": "Noor", "field-1": "x"},
    ),
    "what_tells_nothing": Elicitation(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Booking",
            "description": "Books a table.",
            "additionalProperties": False,
            **an_object("guests", guests={**WHOLE, "examples": [3], "description": "In all"}),
        },
        "form",
        form({"guests": 12}),
        {"guests": 12},
    ),
    "eight_properties": Elicitation(
        an_object(**{f"p{number}": TEXT for number in range(8)}),
        "form",
        form({"p7": "x"}),
        {"p7": "x"},
    ),
}

ALL = {**FIELDS, **WHOLES}


@pytest.mark.parametrize("case", ALL.values(), ids=ALL)
def test_what_a_server_asks_for_is_asked_and_answered_in_its_terms(case: Elicitation) -> None:
    elicited = elicited_ask(MESSAGE, requested_schema(case.schema))
    assert elicited.input.WhichOneof("kind") == case.kind
    assert faults_of(elicited.input) == []
    answer = ParseDict(case.answer, asks_pb2.AcceptAnswer())
    told = validate_answer(
        ask_contract_pb2.ValidateAnswerRequest(
            input=elicited.input, answer=asks_pb2.AskAnswer(accept=answer)
        )
    )
    assert list(told.errors) == []

    content = elicited.content(answer)

    assert content == case.content
    if content is not None:
        assert {name: type(value) for name, value in content.items()} == {
            name: type(value) for name, value in (case.content or {}).items()
        }
        jsonschema.validate(
            content, case.schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
        )


def faults_of(ask: asks_pb2.AskInput) -> list[tuple[str, str]]:
    told = validate_ask(ask_contract_pb2.ValidateAskRequest(input=ask))
    return [(fault.path, fault.code) for fault in told.errors]


def test_the_person_sees_titles_descriptions_and_defaults() -> None:
    schema = an_object(
        "guests",
        guests={**WHOLE, "description": "Including children"},
        colour=TITLED,
        days=DAYS,
        note=TEXT,
    )

    asked = elicited_ask(MESSAGE, requested_schema(schema)).input

    assert (asked.prompt, asked.allow_decline) == (MESSAGE, True)
    guests, colour, days, note = asked.form.fields
    assert (guests.label, guests.helper_text, guests.required) == (
        "Guests",
        "Including children",
        True,
    )
    assert (guests.number.min, guests.number.max, guests.number.default) == (1, 12, 2)
    assert guests.number.integer
    assert [option.label for option in colour.select.options] == ["Red", "Green"]
    assert colour.select.default == "option-2"
    assert list(days.multiselect.default.values) == ["sun"]
    assert (note.label, note.required) == ("note", False)


def test_a_description_beside_buttons_is_part_of_the_prompt() -> None:
    described = {"type": "boolean", "title": "Patio", "description": "It may rain."}

    asked = elicited_ask(MESSAGE, requested_schema(an_object("patio", patio=described))).input

    assert (asked.title, asked.prompt) == ("Patio", f"{MESSAGE}\n\nIt may rain.")
    labels = (asked.confirm.confirm_label, asked.confirm.deny_label)
    assert (labels, asked.allow_decline) == (("Yes", "No"), True)


def test_no_button_says_yes_to_a_message_that_a_card_would_cut() -> None:
    for length, kind, guarded in [(140, "confirm", False), (141, "form", True)]:
        boolean = an_object("sure", sure={"type": "boolean"})
        asked = elicited_ask("m" * length, requested_schema(boolean)).input
        assert asked.WhichOneof("kind") == kind
        consent = elicited_ask("m" * length, requested_schema(an_object())).input
        assert consent.confirm.destructive == guarded


def test_a_description_that_has_no_room_beside_buttons_is_told_in_a_form() -> None:
    message = "m" * 490

    described = {**PLANS, "description": "It may rain."}
    asked = elicited_ask(message, requested_schema(an_object("plan", plan=described))).input

    assert (asked.prompt, asked.form.fields[0].helper_text) == (message, "It may rain.")
    assert faults_of(asked) == []


UNASKABLE: dict[str, tuple[Schema, str]] = {
    "no_object": ({"type": "string"}, "`type`"),
    "no_properties": ({"type": "object"}, "`properties`"),
    "other_keywords": ({**an_object(a=TEXT), "allOf": []}, "`allOf`: no form has that"),
    "an_unknown_requirement": (an_object("b", a=TEXT), "requires 'b'"),
    "an_object_inside": (an_object(a={"type": "object"}), "'a'.*its `type` has to be"),
    "no_type": (an_object(a={"anyOf": [TEXT, {"type": "null"}]}), "'a'.*its `type` has to be"),
    "a_pattern": (an_object(a={**TEXT, "pattern": "^a"}), "'a'.*`pattern`: no form has that"),
    "an_unknown_format": (an_object(a={**TEXT, "format": "uuid"}), "'a'.*`format`"),
    "a_format_with_a_length": (
        an_object(a={**TEXT, "format": "email", "maxLength": 64}),
        "'a'.*a format and a length",
    ),
    "steps": (an_object(a={"type": "integer", "multipleOf": 5}), "'a'.*`multipleOf`"),
    "an_exclusive_bound_of_a_number": (
        an_object(a={"type": "number", "exclusiveMinimum": 0}),
        "'a'.*only a whole number",
    ),
    "a_default_of_another_type": (an_object(a={"type": "integer", "default": "2"}), "`default"),
    "values_and_titled_values": (an_object(a={**TITLED, **PLANS}), "`enum` and `oneOf`"),
    "too_few_names": (an_object(a={**LEGACY, "enumNames": ["First"]}), "`enumNames`"),
    "an_unknown_default": (an_object(a={**PLANS, "default": "trio"}), "default 'trio' is none"),
    "any_strings": (an_object(a={"type": "array", "items": TEXT}), "`items` has to list"),
    "numbers_to_pick": (
        an_object(a={"type": "array", "items": {"type": "integer", "enum": [1, 2]}}),
        "`items",
    ),
    "a_bounded_pick_of_many_among_others": (
        an_object(a=TITLED_DAYS, b=TEXT),
        "'a'.*pick as many as they like",
    ),
}


@pytest.mark.parametrize(("schema", "why"), UNASKABLE.values(), ids=UNASKABLE)
def test_what_no_form_can_hold_a_person_to_is_said(schema: Schema, why: str) -> None:
    with pytest.raises(Unaskable, match=why):
        elicited_ask(MESSAGE, requested_schema(schema))

import json
from typing import Any, get_args

import pytest
from pydantic import JsonValue

from parley.v1.asks_pb2 import (
    AskInput,
    BooleanField,
    ChoiceInput,
    ConfirmInput,
    FilesInput,
    FormField,
    FormInput,
    MarkdownInput,
    MultiselectField,
    NumberField,
    Option,
    SelectField,
    StringField,
    StringList,
    TextField,
)
from parleyd.contract.asks.fields.types import FIELD_TYPES
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import check_ask
from parleyd.contract.errors import InvalidRequest
from parleyd.contract.json import compact
from parleyd.rpc.ask_inputs import ask_input_from_proto, ask_input_to_proto
from parleyd.rpc.form_fields import field_to_proto
from tests.contract.reported import Errors, reported
from tests.rpc.every_kind import FIELDS, INPUTS, Json, field_of, form_of
from tests.rpc.json_values import exact, types_of

NAN, INF = float("nan"), float("inf")


def choice(**fields: Any) -> AskInput:
    return AskInput(prompt="Which?", choice=ChoiceInput(**fields))


def form(**fields: Any) -> AskInput:
    """Returns a form of one field."""
    field = FormField(id="f", label="F", **fields)
    return AskInput(prompt="Fill in.", form=FormInput(fields=[field]))


def chosen(**keys: JsonValue) -> Json:
    return {"prompt": "Which?", "options": [], **keys}


def filled(**keys: JsonValue) -> Json:
    return form_of({"id": "f", "label": "F", **keys})


TWO = [Option(id="a", label="A"), Option(id="b", label="B")]
PICKS: list[JsonValue] = [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]

READ: dict[str, tuple[AskInput, Json, Errors]] = {
    "nothing_but_a_kind": (
        AskInput(choice=ChoiceInput()),
        {"prompt": "", "options": []},
        [("options", "TOO_FEW"), ("prompt", "TOO_SHORT"), ("select", "MISSING_REQUIRED")],
    ),
    "empty_is_not_absent": (
        AskInput(prompt="P", title="", submit_label="", markdown=MarkdownInput(initial="")),
        {"prompt": "P", "title": "", "submitLabel": "", "initial": ""},
        [("submitLabel", "TOO_SHORT"), ("title", "TOO_SHORT")],
    ),
    "false_is_not_absent": (
        AskInput(prompt="P", allow_decline=False, confirm=ConfirmInput(destructive=False)),
        {"prompt": "P", "allowDecline": False, "destructive": False},
        [],
    ),
    "zero_is_not_absent": (
        AskInput(prompt="P", markdown=MarkdownInput(min_length=0, max_length=0)),
        {"prompt": "P", "minLength": 0, "maxLength": 0},
        [("maxLength", "RANGE_INVALID")],
    ),
    "bounds_far_out_of_range": (
        AskInput(prompt="P", markdown=MarkdownInput(min_length=-(2**31), max_length=2**31 - 1)),
        {"prompt": "P", "minLength": -(2**31), "maxLength": 2**31 - 1},
        [("maxLength", "RANGE_INVALID"), ("minLength", "RANGE_INVALID")],
    ),
    "a_confirm_has_no_submit_label": (
        AskInput(prompt="P", submit_label="Go", confirm=ConfirmInput()),
        {"prompt": "P", "submitLabel": "Go"},
        [("submitLabel", "UNKNOWN_KEY")],
    ),
    "select_unspecified_is_absent": (
        choice(options=TWO),
        chosen(options=PICKS),
        [("select", "MISSING_REQUIRED")],
    ),
    "select_of_a_number_unknown_here": (
        choice(options=TWO, select=7),
        chosen(options=PICKS, select=7),
        [("select", "INVALID_ENUM")],
    ),
    "an_empty_default_of_a_choice_is_none": (
        choice(options=TWO, select=ChoiceInput.SELECT_ONE, default=[]),
        chosen(options=PICKS, select="one"),
        [],
    ),
    "a_default_of_an_empty_id": (
        choice(options=TWO, select=ChoiceInput.SELECT_ONE, default=[""]),
        chosen(options=PICKS, select="one", default=[""]),
        [("default[0]", "DEFAULT_NOT_IN_OPTIONS")],
    ),
    "bounds_of_a_choice": (
        choice(options=TWO, select=ChoiceInput.SELECT_MANY, min_selected=0, max_selected=3),
        chosen(options=PICKS, select="many", minSelected=0, maxSelected=3),
        [("maxSelected", "RANGE_INVALID")],
    ),
    "other_is_not_on_offer": (
        choice(options=TWO, select=ChoiceInput.SELECT_MANY, allow_other=False, other_label="Else"),
        chosen(options=PICKS, select="many", allowOther=False, otherLabel="Else"),
        [("otherLabel", "OTHER_NOT_ALLOWED")],
    ),
    "options_without_anything": (
        choice(options=[Option(), Option(description="")], select=ChoiceInput.SELECT_ONE),
        chosen(
            options=[{"id": "", "label": ""}, {"id": "", "label": "", "description": ""}],
            select="one",
        ),
        [
            ("options[0].id", "INVALID_FORMAT"),
            ("options[0].label", "TOO_SHORT"),
            ("options[1].description", "TOO_SHORT"),
            ("options[1].id", "DUPLICATE_ID"),
            ("options[1].id", "INVALID_FORMAT"),
            ("options[1].label", "TOO_SHORT"),
        ],
    ),
    "a_form_without_fields": (
        AskInput(prompt="P", form=FormInput()),
        {"prompt": "P", "fields": []},
        [("fields", "TOO_FEW")],
    ),
    "a_field_without_a_type": (
        form(helper_text="", required=False),
        filled(helperText="", required=False),
        [("fields[0].type", "MISSING_REQUIRED")],
    ),
    "a_field_without_anything": (
        AskInput(prompt="P", form=FormInput(fields=[FormField(date=StringField())])),
        {"prompt": "P", "fields": [{"id": "", "label": "", "type": "date"}]},
        [("fields[0].id", "INVALID_FORMAT"), ("fields[0].label", "TOO_SHORT")],
    ),
    "an_empty_text_is_a_default": (
        form(text=TextField(default="", min_length=0)),
        filled(type="text", default="", minLength=0),
        [("fields[0].default", "TOO_SHORT")],
    ),
    "false_is_a_default": (
        form(boolean=BooleanField(default=False)),
        filled(type="boolean", default=False),
        [],
    ),
    "zero_is_a_default": (
        form(number=NumberField(default=0, min=-0.0, max=0, integer=False)),
        filled(type="number", default=0, min=0, max=0, integer=False),
        [],
    ),
    "whole_doubles_are_whole_numbers": (
        form(number=NumberField(default=3.0, min=-2.0, max=2.0**60, integer=True)),
        filled(type="number", default=3, min=-2, max=2**60, integer=True),
        [],
    ),
    "other_doubles_stay": (
        form(number=NumberField(default=2.5, min=-0.1)),
        filled(type="number", default=2.5, min=-0.1),
        [],
    ),
    "what_is_no_number_is_null": (
        form(number=NumberField(default=NAN, min=-INF, max=INF)),
        filled(type="number", default=None, min=None, max=None),
        [
            ("fields[0].default", "INVALID_TYPE"),
            ("fields[0].max", "INVALID_TYPE"),
            ("fields[0].min", "INVALID_TYPE"),
        ],
    ),
    "an_option_of_a_field_has_no_description": (
        form(select=SelectField(options=[*TWO, Option(id="c", label="C", description="")])),
        filled(type="select", options=[*PICKS, {"id": "c", "label": "C", "description": ""}]),
        [("fields[0].options[2].description", "UNKNOWN_KEY")],
    ),
    "a_select_without_anything": (
        form(select=SelectField(default="")),
        filled(type="select", options=[], default=""),
        [("fields[0].default", "DEFAULT_NOT_IN_OPTIONS"), ("fields[0].options", "TOO_FEW")],
    ),
    "an_absent_list_of_picks": (
        form(multiselect=MultiselectField(options=TWO)),
        filled(type="multiselect", options=PICKS),
        [],
    ),
    "an_empty_list_of_picks": (
        form(multiselect=MultiselectField(options=TWO, default=StringList())),
        filled(type="multiselect", options=PICKS, default=[]),
        [],
    ),
    "a_list_of_picks": (
        form(multiselect=MultiselectField(options=TWO, default=StringList(values=["b", ""]))),
        filled(type="multiselect", options=PICKS, default=["b", ""]),
        [("fields[0].default[1]", "DEFAULT_NOT_IN_OPTIONS")],
    ),
    "files_of_no_kind": (
        AskInput(prompt="P", files=FilesInput(min_files=0)),
        {"prompt": "P", "accept": [], "minFiles": 0},
        [("accept", "TOO_FEW"), ("minFiles", "RANGE_INVALID")],
    ),
    "files_of_a_kind_unknown_here": (
        AskInput(prompt="P", files=FilesInput(accept=["pdf", "PDF", ""])),
        {"prompt": "P", "accept": ["pdf", "PDF", ""]},
        [("accept[1]", "INVALID_ENUM"), ("accept[2]", "INVALID_ENUM")],
    ),
}


@pytest.mark.parametrize(("message", "ask_input", "errors"), READ.values(), ids=READ.keys())
def test_an_input_is_read_as_it_was_meant_and_its_faults_reach_the_check(
    message: AskInput, ask_input: Json, errors: Errors
) -> None:
    kind, read = ask_input_from_proto(AskInput.FromString(message.SerializeToString()))
    assert kind == message.WhichOneof("kind")
    assert json.loads(compact(read)) == read == ask_input
    assert types_of(read) == types_of(ask_input), "whole numbers are no floats, true is no number"
    assert reported(check_ask(kind, read)) == errors


def test_an_input_without_a_kind_is_no_question() -> None:
    with pytest.raises(InvalidRequest) as raised:
        ask_input_from_proto(AskInput(prompt="Which?", allow_decline=True))
    assert reported(raised.value.fields) == [("kind", "MISSING_REQUIRED")]


@pytest.mark.parametrize(("kind", "ask_input"), INPUTS.values(), ids=INPUTS.keys())
def test_a_stored_ask_arrives_whole(kind: AskKind, ask_input: Json) -> None:
    assert check_ask(kind, ask_input) == ()
    message = AskInput.FromString(ask_input_to_proto(kind, ask_input).SerializeToString())
    came_kind, came = ask_input_from_proto(message)
    assert (came_kind, exact(came)) == (kind, exact(ask_input))


@pytest.mark.parametrize("type_", FIELDS)
def test_a_field_arrives_with_all_that_its_type_has_and_with_the_least(type_: str) -> None:
    needed = {"options": own["options"]} if "options" in (own := FIELDS[type_]) else {}
    for keys in (own, needed):
        ask_input = form_of(field_of(type_, **keys))
        assert check_ask("form", ask_input) == ()
        message = ask_input_to_proto("form", ask_input)
        assert message.form.fields[0].WhichOneof("type") == type_
        assert exact(ask_input_from_proto(message)[1]) == exact(ask_input)


def test_what_a_type_has_is_in_these_tests() -> None:
    for type_, own in FIELDS.items():
        assert set(own) == {key.name for key in FIELD_TYPES[type_].keys}, type_


def test_every_kind_and_every_type_there_is_is_mapped_in_these_tests() -> None:
    kinds = AskInput.DESCRIPTOR.oneofs_by_name["kind"].fields
    types = FormField.DESCRIPTOR.oneofs_by_name["type"].fields
    assert {kind.name for kind in kinds} == set(get_args(AskKind))
    assert {kind for kind, _ in INPUTS.values()} == set(get_args(AskKind))
    assert {type_.name for type_ in types} == set(FIELD_TYPES) == set(FIELDS)


def test_each_select_has_its_own_enum_value() -> None:
    for name, number in ChoiceInput.Select.items():
        _, ask_input = ask_input_from_proto(choice(select=number))
        expected = None if number == 0 else name.removeprefix("SELECT_").lower()
        assert ask_input.get("select") == expected
        assert ask_input_to_proto("choice", ask_input).choice.select == number


def test_a_type_of_field_that_does_not_exist_is_refused_rather_than_sent_half() -> None:
    with pytest.raises(ValueError, match="stars"):
        field_to_proto(field_of("stars"))

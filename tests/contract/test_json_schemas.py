"""The contract as JSON Schema: what the schemas accept, refuse, and can't tell."""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, get_args

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import JsonValue

from parleyd.contract.answers import check_answer
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import check_ask, offered_kinds
from parleyd.contract.cards import to_simple_card
from parleyd.contract.field_errors import Code, FieldError
from parleyd.contract.json_schemas import DIALECT
from parleyd.contract.surfaces import Surface
from parleyd.contract.text import WHITESPACE, without_surrogates
from tests.conformance import CASES, needs_cases
from tests.contract.beyond_schemas import ON_ANSWERS, ON_ASKS, FaultyAnswer, FaultyAsk
from tests.contract.schema_validators import SCHEMAS, accepts, answer_schema, ask_schema
from tests.contract.spoilt_values import ANY_ASK, ANYTHING, CONTENTS, spoilt, spoilt_asks
from tests.contract.valid_asks import AskInput, asks


def subschemas(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yields a schema and those within."""
    yield schema
    for inner in (
        *schema.get("properties", {}).values(),
        *schema.get("anyOf", ()),
        *([schema["items"]] if "items" in schema else ()),
    ):
        yield from subschemas(inner)


def as_json(value: JsonValue) -> JsonValue:
    """Returns a value as JSON can hold it, which has no NaN, no infinity and no half a pair."""
    match value:
        case str():
            return without_surrogates(value)
        case float() if not isfinite(value):
            return None
        case list():
            return [as_json(item) for item in value]
        case dict():
            return {without_surrogates(key): as_json(item) for key, item in value.items()}
        case _:
            return value


def codes(errors: tuple[FieldError, ...]) -> set[Code]:
    return {error.code for error in errors}


# ---------------------------------------------------------------- the schemas themselves


def test_there_is_a_schema_for_everything_that_a_client_reads_or_writes() -> None:
    assert [*SCHEMAS] == [
        "ask-choice",
        "ask-choice-compact",
        "ask-confirm",
        "ask-confirm-compact",
        "ask-markdown",
        "ask-form",
        "ask-files",
        "answer-choice",
        "answer-confirm",
        "answer-markdown",
        "answer-form",
        "answer-files",
        "envelope",
        "card",
        "pending-asks",
    ]


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_a_document_of_draft_2020_12(name: str) -> None:
    schema = SCHEMAS[name]
    Draft202012Validator.check_schema(schema)
    assert jsonschema_rs.meta.is_valid(schema)
    assert schema["$schema"] == DIALECT
    assert schema["title"]
    assert str(schema["description"]).endswith(".")


def test_every_schema_has_an_id_of_its_own() -> None:
    ids = [str(schema["$id"]) for schema in SCHEMAS.values()]
    assert len({*ids}) == len(ids)
    assert all(id_.startswith("urn:parley:v1:") for id_ in ids)


@pytest.mark.parametrize("name", SCHEMAS)
def test_bc_060_every_value_keeps_its_type_and_its_description(name: str) -> None:
    for schema in subschemas(SCHEMAS[name]):
        assert schema["type"] in {"object", "array", "string", "integer", "number", "boolean"}
        for keyword in ("anyOf", "oneOf"):
            assert len(schema.get(keyword, (1, 2))) > 1
        for property_ in schema.get("properties", {}).values():
            assert property_["description"].endswith(".")


def test_bc_060_options_with_labels_keep_their_type() -> None:
    for name in ("ask-choice", "ask-choice-compact"):
        properties: Any = SCHEMAS[name]["properties"]
        option = properties["options"]["items"]
        assert option["type"] == "object"
        for key in ("id", "label", "description"):
            assert option["properties"][key]["type"] == "string"


def test_a_text_must_be_visible_in_every_dialect_of_patterns() -> None:
    for space in WHITESPACE:
        assert not accepts("ask-confirm", {"prompt": space * 3})
        assert accepts("ask-confirm", {"prompt": f"{space}a{space}"})
    for visible in "\x85\x1c\u180e\u200b\u2060\0":
        assert accepts("ask-confirm", {"prompt": visible})
        assert check_ask("confirm", {"prompt": visible}) == ()


# ---------------------------------------------------------------- what they accept and refuse


@needs_cases
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_schema_accepts_what_is_valid_and_refuses_the_rest_as_far_as_it_can(
    case: dict[str, Any],
) -> None:
    kind: AskKind = case["kind"]
    surface: Surface = case.get("surface", "full")
    found = {Code(error["code"]) for error in case["expect"].get("errors", ())}
    match case["op"]:
        case "ask":
            accepted, beyond = accepts(ask_schema(kind, surface), case["input"]), {*ON_ASKS}
        case "answer":
            assert accepts(ask_schema(kind), case["input"])
            accepted, beyond = accepts(answer_schema(kind), case["response"]), {*ON_ANSWERS}
        case _:
            assert accepts(ask_schema(kind, surface), case["input"])
            accepted, beyond = accepts("card", case["expect"]["card"]), set[Code]()
    if accepted:
        assert found <= beyond
    else:
        assert found


@pytest.mark.parametrize(("code", "ask"), ON_ASKS.items(), ids=lambda value: str(value)[:30])
def test_a_fault_of_an_ask_that_is_beyond_its_schema(code: Code, ask: FaultyAsk) -> None:
    assert accepts(ask_schema(ask.kind), ask.input)
    assert [error.code for error in check_ask(ask.kind, ask.input)] == [code]


@pytest.mark.parametrize(("code", "answer"), ON_ANSWERS.items(), ids=lambda value: str(value)[:30])
def test_a_fault_of_an_answer_that_is_beyond_its_schema(code: Code, answer: FaultyAnswer) -> None:
    assert check_ask(answer.kind, answer.input) == ()
    assert accepts(answer_schema(answer.kind), answer.response)
    errors = check_answer(answer.kind, answer.input, answer.response)
    assert codes(errors) == {code}


@given(spoilt_asks())
def test_a_schema_lets_no_other_fault_of_an_ask_pass_and_refuses_nothing_valid(
    drawn: tuple[AskKind, JsonValue],
) -> None:
    kind, value = drawn[0], as_json(drawn[1])
    for surface in get_args(Surface):
        if offered_kinds([kind], surface):
            found = codes(check_ask(kind, value, surface))
            if accepts(ask_schema(kind, surface), value):
                assert found <= {*ON_ASKS}
            else:
                assert found


@given(ANY_ASK, st.data())
def test_a_schema_lets_no_other_fault_of_an_answer_pass_and_refuses_nothing_valid(
    drawn: tuple[AskKind, AskInput], data: st.DataObject
) -> None:
    kind, ask = drawn
    answer: JsonValue = {"action": "accept", "content": CONTENTS[kind](ask)}
    response = as_json(data.draw(st.one_of(ANYTHING, spoilt(answer))))
    found = codes(check_answer(kind, ask, response))
    if accepts(answer_schema(kind), response):
        assert accepts("envelope", response)
        assert found <= {*ON_ANSWERS}
    else:
        assert found


@given(asks("full"))
def test_a_valid_ask_and_its_card_are_accepted(drawn: tuple[AskKind, AskInput]) -> None:
    kind, ask = drawn
    assert accepts(ask_schema(kind), ask)
    card = to_simple_card(kind, ask, "call_1")
    assert accepts("card", card.model_dump(mode="json", by_alias=True, exclude_none=True))
    for button in card.buttons:
        assert accepts(answer_schema(kind), button.response)


@given(asks("compact"))
def test_a_valid_compact_ask_is_accepted_on_both_surfaces(
    drawn: tuple[AskKind, AskInput],
) -> None:
    kind, ask = drawn
    assert accepts(ask_schema(kind, "compact"), ask)
    assert accepts(ask_schema(kind), ask)

"""The schema of documents as Gemini is sent it: weaker, in its own keywords, and never stronger."""

from collections.abc import Iterator
from math import isfinite
from typing import Any, Final

import jsonschema_rs
import pytest
from hypothesis import given
from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator
from pydantic import JsonValue

from parleyd.contract.blocks.catalog import BLOCK, LAYOUT_TYPES
from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.blocks.parsing import parse
from parleyd.contract.blocks.schema import json_schema
from parleyd.contract.blocks.validation import validate
from parleyd.contract.text import without_surrogates
from parleyd.models.gemini_schemas import KEYWORDS, gemini_schema
from tests.contract.blocks.cases import cases, needs_cases, options_of
from tests.contract.blocks.documents import document, valid_documents

SCHEMA: Final = gemini_schema(json_schema())


def _python_validator() -> Validator:
    return Draft202012Validator(SCHEMA)


_PYTHON: Final = _python_validator()
_RUST: Final = jsonschema_rs.Draft202012Validator(SCHEMA)
_DIVIDER: Final[Any] = {"type": "divider"}


def _accepts(value: Any) -> bool:
    accepted = _PYTHON.is_valid(value)
    assert _RUST.is_valid(value) is accepted, f"the validators differ: {value!r}"
    return accepted


def _schemas(schema: Any) -> Iterator[dict[str, Any]]:
    """Yields a schema and all within it; names of properties and definitions are no keywords."""
    if isinstance(schema, bool):
        return
    yield schema
    for key in ("properties", "$defs"):
        for inner in schema.get(key, {}).values():
            yield from _schemas(inner)
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield from _schemas(schema[key])
    for inner in schema.get("anyOf", ()):
        yield from _schemas(inner)


def _as_json(value: JsonValue) -> JsonValue:
    """Returns a value as JSON and the validators have it: numbers of a float, no half pair."""
    match value:
        case str():
            return without_surrogates(value)
        case bool():
            return value
        case int() | float():
            return value if isfinite(value) and abs(value) < 10**300 else 0
        case list():
            return [_as_json(item) for item in value]
        case dict():
            return {without_surrogates(key): _as_json(item) for key, item in value.items()}
        case _:
            return value


def test_it_has_the_keywords_of_gemini_alone() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    found = [*_schemas(SCHEMA)]
    assert len(found) > 100
    assert [schema for schema in found if not schema.keys() <= KEYWORDS] == []
    assert SCHEMA["type"] == "object"
    for schema in found:
        if "$ref" in schema:
            assert schema.keys() == {"$ref"}
        for value in schema.get("enum", ()):
            assert isinstance(value, str | int)
        assert isinstance(schema.get("type", ""), str)


def test_nothing_recurs_and_every_reference_leads_somewhere() -> None:
    definitions: Any = SCHEMA["$defs"]

    def depth(schema: Any, above: tuple[str, ...] = ()) -> int:
        names = [
            each["$ref"].removeprefix("#/$defs/") for each in _schemas(schema) if "$ref" in each
        ]
        assert not {*names} & {*above}
        return 1 + max((depth(definitions[name], (*above, name)) for name in names), default=0)

    assert depth({key: value for key, value in SCHEMA.items() if key != "$defs"}) == 3


@needs_cases
@pytest.mark.parametrize(
    "case",
    [*cases("validate"), *cases("parse")],
    ids=lambda case: case["name"],
)
def test_it_accepts_every_valid_document_of_the_conformance_cases(case: dict[str, Any]) -> None:
    value = parse(case["document"])
    if not isinstance(value, BlockIssue) and validate(value, options_of(case)).ok:
        assert _accepts(_as_json(value))


@given(valid_documents())
def test_it_accepts_valid_documents(value: Any) -> None:
    assert _accepts(_as_json(value))


@pytest.mark.parametrize("name", sorted(BLOCK.records))
def test_it_still_tells_every_block_by_its_fields(name: str) -> None:
    value: dict[str, Any] = {"type": name}
    required = [field for field in BLOCK.records[name].fields[1:] if field.required]
    assert _accepts(document(value)) is not bool(required)
    assert not _accepts(document({**value, "colour": "red"}))


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        {"v": 2, "blocks": [_DIVIDER]},
        {"v": 1, "blocks": [_DIVIDER], "title": "No."},
        document({"type": "poem"}),
        document({"type": "heading", "text": 7}),
        document({"type": "heading", "text": "A", "size": "huge"}),
        document({"type": "card", "children": [{"type": "poem"}]}),
        *(
            document({"type": "card", "children": [{"type": name, "children": [_DIVIDER] * 2}]})
            for name in sorted(LAYOUT_TYPES)
        ),
        document(_DIVIDER, sales={"source": "elsewhere"}),
        document(_DIVIDER, sales={"columns": [], "rows": [[True]]}),
    ],
    ids=str,
)
def test_it_refuses_what_has_another_form(value: Any) -> None:
    assert not _accepts(value)


WEAKER: dict[str, tuple[dict[str, JsonValue], dict[str, JsonValue]]] = {
    "a constant": ({"const": "a"}, {"type": "string", "enum": ["a"]}),
    "values of several types": ({"enum": ["a", 1]}, {}),
    "a value that can't be listed": ({"const": None}, {}),
    "one of two kinds that can't be listed": ({"enum": ["a", ["b"]]}, {}),
    "a boolean": ({"const": True}, {}),
    "several types": (
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
    ),
    "exactly one": ({"oneOf": [{"type": "null"}]}, {"anyOf": [{"type": "null"}]}),
    "sizes and ranges": (
        {"type": "array", "items": {"type": "integer", "exclusiveMinimum": 0}, "maxItems": 500},
        {"type": "array", "items": {"type": "integer"}},
    ),
    "what is unknown": ({"type": "object", "not": {"type": "null"}}, {"type": "object"}),
    "properties that are called like keywords": (
        {"properties": {"const": {"type": "string"}, "$ref": {"type": "null"}}},
        {"properties": {"const": {"type": "string"}, "$ref": {"type": "null"}}},
    ),
}


@pytest.mark.parametrize(("schema", "weaker"), WEAKER.values(), ids=WEAKER.keys())
def test_what_can_not_be_said_is_weakened(
    schema: dict[str, JsonValue], weaker: dict[str, JsonValue]
) -> None:
    assert gemini_schema(schema) == weaker


def test_a_definition_that_is_always_inside_itself_is_refused() -> None:
    schema: dict[str, JsonValue] = {
        "$ref": "#/definitions/box",
        "definitions": {"box": {"type": "array", "items": {"$ref": "#/definitions/box"}}},
    }
    with pytest.raises(ValueError, match="box refers to itself in every way"):
        gemini_schema(schema)

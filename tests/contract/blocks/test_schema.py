"""The JSON Schema of documents says what the structural phase says, as far as it can."""

from collections.abc import Iterator
from math import isfinite
from typing import Any, Final

import jsonschema_rs
import pytest
from hypothesis import assume, given
from jsonschema import Draft7Validator
from jsonschema.protocols import Validator
from pydantic import JsonValue

from parleyd.contract.blocks import limits
from parleyd.contract.blocks.issues import BlockCode, BlockIssue, Issue
from parleyd.contract.blocks.parsing import parse
from parleyd.contract.blocks.schema import json_schema
from parleyd.contract.blocks.structure import structural_issues
from parleyd.contract.field_errors import Path
from parleyd.contract.text import without_surrogates
from tests.contract.blocks.cases import cases, needs_cases
from tests.contract.blocks.documents import document, spoilt_documents, valid_documents


def _in_python(schema: JsonValue) -> Any:
    """Returns a schema whose patterns end at the very end; `$` of Python takes a line break."""
    match schema:
        case dict():
            return {
                key: rf"{value.removesuffix('$')}\Z"
                if key == "pattern" and isinstance(value, str)
                else _in_python(value)
                for key, value in schema.items()
            }
        case list():
            return [_in_python(value) for value in schema]
        case _:
            return schema


def _python_validator() -> Validator:
    return Draft7Validator(_in_python(json_schema()))


_PYTHON: Final = _python_validator()
_RUST: Final = jsonschema_rs.validator_for(json_schema())


def _accepts(value: Any) -> bool:
    """Tells whether the schema accepts a value; both validators must say the same."""
    accepted = _PYTHON.is_valid(value)
    assert _RUST.is_valid(value) is accepted, f"the validators differ: {value!r}"
    return accepted


def _mappings(schema: JsonValue) -> Iterator[dict[str, JsonValue]]:
    """Yields all mappings within a schema, itself first."""
    match schema:
        case dict():
            yield schema
            for inner in schema.values():
                yield from _mappings(inner)
        case list():
            for inner in schema:
                yield from _mappings(inner)
        case _:
            pass


def _at(value: Any, at: Path) -> Any:
    for piece in at:
        value = value[piece]
    return value


def _is_expressible(issue: Issue, value: Any) -> bool:
    """Tells whether a schema can see a fault (15)."""
    match issue.code:
        case BlockCode.KEY_ORDER | BlockCode.DEPTH_EXCEEDED:
            return False
        case BlockCode.TOO_MANY_BLOCKS:
            return len(value["blocks"]) > limits.BLOCKS
        case BlockCode.TOO_SHORT:
            return _at(value, issue.at) == ""
        case _:
            return True


def _as_json(value: JsonValue) -> JsonValue:
    """Returns a value as JSON has it: no NaN or infinity, nothing beyond a float, no half pair."""
    match value:
        case str():
            return without_surrogates(value)
        case int() if not isinstance(value, bool) and abs(value) > 10**308:
            return None
        case float() if not isfinite(value):
            return None
        case list():
            return [_as_json(item) for item in value]
        case dict():
            return {without_surrogates(key): _as_json(item) for key, item in value.items()}
        case _:
            return value


def test_the_schema_is_a_schema_of_draft_7() -> None:
    schema = json_schema()
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    Draft7Validator.check_schema(schema)


def test_every_object_of_the_schema_is_closed_but_for_payloads_and_datasets() -> None:
    found = [
        schema
        for schema in _mappings(json_schema())
        if schema.get("type") == "object" and schema.get("additionalProperties") is not False
    ]
    assert [("propertyNames" in schema, len(schema)) for schema in found] == [
        (True, 3),
        (False, 1),
    ]


@needs_cases
@pytest.mark.parametrize("case", cases("validate"), ids=lambda case: case["name"])
def test_schema_and_validator_agree_on_the_conformance_cases(case: dict[str, Any]) -> None:
    value = parse(case["document"])
    assert not isinstance(value, BlockIssue)
    issues = [*structural_issues(value)]
    assert _accepts(value) is not any(_is_expressible(issue, value) for issue in issues)


@given(valid_documents())
def test_the_schema_accepts_valid_documents(value: Any) -> None:
    assert _accepts(_as_json(value))


@given(spoilt_documents())
def test_schema_and_validator_agree_on_documents_that_are_spoilt_somewhere(drawn: Any) -> None:
    value = _as_json(drawn)
    issues = [*structural_issues(value)]
    # The two measure ships differently.
    assume(not any(issue.code is BlockCode.TOO_LONG for issue in issues))
    assert _accepts(value) is not any(_is_expressible(issue, value) for issue in issues)


def test_what_the_schema_cannot_tell_is_left_to_the_validator() -> None:
    divider: Any = {"type": "divider"}
    card: Any = {"type": "card", "children": [divider]}
    blank: Any = {"type": "heading", "text": " "}
    values: list[Any] = [
        {"blocks": [divider], "v": 1},
        document({"type": "card", "children": [card]}),
        document(*[{"type": "card", "children": [divider] * 30}] * 2),
        document(blank),
        document({"type": "heading", "text": "\U0001f6a2" * 101}),
    ]
    for value in values:
        assert _accepts(value)
        assert [*structural_issues(value)]

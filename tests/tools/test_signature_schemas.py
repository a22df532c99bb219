"""What the model is told of a signature."""

import json
from typing import Annotated

import jsonschema_rs
import pytest
from google.genai import types as genai
from pydantic import BaseModel, ConfigDict, Field

from parleyd.tools import tool
from parleyd.turns.tools import HostTool
from tests.tools.shop import find_order, pay, pay_tagged, place_order

TOOLS = [find_order, place_order, pay, pay_tagged]


def test_a_schema_is_an_object_with_the_arguments_as_its_properties() -> None:
    assert find_order.schema == {
        "type": "object",
        "properties": {"order_id": {"type": "string"}},
        "required": ["order_id"],
        "additionalProperties": False,
    }


def test_a_schema_tells_types_limits_defaults_and_descriptions() -> None:
    schema = place_order.schema
    assert schema["required"] == ["lines"]
    assert schema["properties"] == {
        "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
        "wanted": {
            "anyOf": [{"type": "string", "format": "date"}, {"type": "null"}],
            "default": None,
        },
        "most": {"anyOf": [{"type": "number"}, {"type": "string"}], "default": "9.50"},
        "size": {"$ref": "#/$defs/Size", "default": "small"},
        "how_many": {
            "type": "integer",
            "minimum": 1,
            "maximum": 9,
            "description": "How often",
            "default": 1,
        },
    }
    assert schema["$defs"] == {
        "Line": {
            "type": "object",
            "description": "One kind of goods.",
            "properties": {"goods": {"type": "string"}, "count": {"type": "integer", "minimum": 1}},
            "required": ["goods", "count"],
            "additionalProperties": False,
        },
        "Size": {"type": "string", "enum": ["small", "large"]},
    }


@pytest.mark.parametrize("each", TOOLS, ids=lambda each: each.name)
def test_a_schema_is_one_and_the_provider_takes_it(each: HostTool) -> None:
    assert jsonschema_rs.meta.is_valid(each.schema)
    declared = genai.FunctionDeclaration(name="it", parameters_json_schema=each.schema)
    assert declared.parameters_json_schema == json.loads(json.dumps(each.schema))
    assert "title" not in json.dumps(each.schema)
    assert "discriminator" not in json.dumps(each.schema)


def test_a_tag_is_told_as_an_enum() -> None:
    definitions = pay_tagged.schema["$defs"]
    assert isinstance(definitions, dict)
    assert "'kind': {'enum': ['card'], 'type': 'string'}" in str(definitions["Card"])


def test_an_argument_may_be_called_title_or_const() -> None:
    @tool
    def write(title: str, const: int, properties: Annotated[str, Field(title="Noise")]) -> None:
        """Writes."""

    assert write.schema["properties"] == {
        "title": {"type": "string"},
        "const": {"type": "integer"},
        "properties": {"type": "string"},
    }


def test_the_default_of_an_argument_may_look_like_a_schema() -> None:
    @tool
    def draw(it: dict[str, int] = {"title": 1, "const": 2}) -> None:  # noqa: B006
        """Draws."""

    assert draw.schema["properties"] == {
        "it": {
            "type": "object",
            "additionalProperties": {"type": "integer"},
            "default": {"title": 1, "const": 2},
        }
    }


def test_a_default_that_is_no_json_is_left_out() -> None:
    @tool
    def keep(it: object = object()) -> None:
        """Keeps."""

    assert keep.schema["properties"] == {"it": {}}


def test_a_function_without_parameters_takes_an_empty_object() -> None:
    @tool
    def look() -> None:
        """Looks."""

    assert look.schema == {"type": "object", "properties": {}, "additionalProperties": False}
    assert look.faults({}) is None
    assert look.faults({"x": 1}) is not None


class Tree(BaseModel):
    name: str
    parts: "list[Tree]" = []


def test_a_type_may_hold_itself() -> None:
    @tool
    def plant(tree: Tree) -> int:
        """Plants."""
        return len(tree.parts)

    assert jsonschema_rs.meta.is_valid(plant.schema)
    assert plant.faults({"tree": {"name": "a", "parts": [{"name": "b"}]}}) is None
    faults = plant.faults({"tree": {"name": "a", "parts": [{"nome": "b"}]}})
    assert faults
    assert "`tree.parts[0].name` is missing" in faults
    assert "`tree.parts[0].nome` is not known" in faults


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


def test_a_type_that_says_so_takes_keys_that_it_does_not_know() -> None:
    @tool
    def note(it: Open, other: "Tree | None" = None) -> None:
        """Notes."""

    assert note.faults({"it": {"name": "a", "more": 1}}) is None
    assert note.faults({"it": {"name": "a"}, "more": 1}) is not None
    definitions = note.schema["$defs"]
    assert isinstance(definitions, dict)
    assert isinstance(open_ := definitions["Open"], dict)
    assert open_["additionalProperties"] is True
    assert isinstance(tree := definitions["Tree"], dict)
    assert "additionalProperties" not in tree

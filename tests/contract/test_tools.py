"""The tools by which the model asks (spec asks 12)."""

from collections.abc import Iterator
from typing import Any, get_args

import pytest

from parleyd.contract import limits
from parleyd.contract.asks.kinds import ASK_KINDS
from parleyd.contract.asks.tools import AskTool, ask_tools
from parleyd.contract.surfaces import Surface

ACCEPTED_KEYWORDS = {
    "type",
    "title",
    "description",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "properties",
    "additionalProperties",
    "required",
    "propertyOrdering",
    "minLength",
    "maxLength",
    "pattern",
}
"""What providers take in the parameters of a tool."""

ALL = [tool for surface in get_args(Surface) for tool in ask_tools(ASK_KINDS, surface)]


def schemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields a schema and those within."""
    yield schema
    for inner in (*schema.get("properties", {}).values(), *schema.get("anyOf", ())):
        yield from schemas(inner)
    if "items" in schema:
        yield from schemas(schema["items"])


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.description[:40])
def test_a_schema_is_a_closed_object_in_keywords_that_providers_take(tool: AskTool) -> None:
    assert tool.schema["type"] == "object"
    for schema in schemas(tool.schema):
        assert {*schema} <= ACCEPTED_KEYWORDS
        if "anyOf" in schema:
            # Gemini refuses a schema in which anything stands beside it.
            assert {*schema} == {"anyOf"}
        elif schema["type"] == "object":
            assert schema["additionalProperties"] is False
            assert {*schema["required"]} <= {*schema["properties"]}


def limits_of(tool: AskTool) -> dict[str, Any]:
    """Returns all that a schema bounds, by path."""
    found: dict[str, Any] = {}

    def look(schema: dict[str, Any], path: str) -> None:
        bounds = {key: schema[key] for key in schema if key.startswith(("min", "max", "enum"))}
        if bounds:
            found[path] = bounds
        for name, inner in schema.get("properties", {}).items():
            look(inner, f"{path}.{name}".lstrip("."))
        if "items" in schema:
            look(schema["items"], f"{path}[]")

    look(tool.schema, "")
    return found


def text(most: int) -> dict[str, int]:
    return {"minLength": 1, "maxLength": most}


SHARED = {"prompt": text(limits.PROMPT), "title": text(limits.TITLE)}
CONFIRM = SHARED | {
    "confirmLabel": text(limits.CONFIRM_LABEL),
    "denyLabel": text(limits.CONFIRM_LABEL),
}


@pytest.mark.parametrize(
    ("surface", "choice"),
    [
        (
            "full",
            SHARED
            | {
                "submitLabel": text(limits.SUBMIT_LABEL),
                "select": {"enum": ["one", "many"]},
                "options": {"minItems": limits.OPTIONS_MIN, "maxItems": limits.OPTIONS_MAX},
                "options[].label": text(limits.OPTION_LABEL),
                "options[].description": text(limits.OPTION_DESCRIPTION),
                "default": {"maxItems": limits.OPTIONS_MAX},
                "minSelected": {"minimum": 0},
                "maxSelected": {"minimum": 1},
                "otherLabel": text(limits.OPTION_LABEL),
            },
        ),
        (
            "compact",
            SHARED
            | {
                "submitLabel": text(limits.SUBMIT_LABEL),
                "select": {"enum": ["one"]},
                "options": {"minItems": limits.OPTIONS_MIN, "maxItems": limits.COMPACT_OPTIONS_MAX},
                "options[].label": text(limits.COMPACT_LABEL),
                "options[].description": text(limits.OPTION_DESCRIPTION),
                "default": {"maxItems": limits.COMPACT_DEFAULT_MAX},
            },
        ),
    ],
)
def test_schemas_carry_the_limits(surface: Surface, choice: dict[str, Any]) -> None:
    tools = ask_tools(["choice", "confirm"], surface)
    assert [limits_of(tool) for tool in tools] == [choice, CONFIRM]


def test_the_schema_of_a_markdown_ask_carries_its_limits() -> None:
    (tool,) = ask_tools(["markdown"], "full")
    assert limits_of(tool) == SHARED | {
        "submitLabel": text(limits.SUBMIT_LABEL),
        "initial": {"maxLength": limits.MARKDOWN},
        "placeholder": text(limits.PLACEHOLDER),
        "minLength": {"minimum": 0, "maximum": limits.MARKDOWN},
        "maxLength": {"minimum": 1, "maximum": limits.MARKDOWN},
    }


def test_the_schema_of_a_files_ask_carries_its_limits() -> None:
    (tool,) = ask_tools(["files"], "full")
    count = {"minimum": limits.FILES_MIN, "maximum": limits.FILES_MAX}
    assert limits_of(tool) == SHARED | {
        "submitLabel": text(limits.SUBMIT_LABEL),
        "accept": {"minItems": 1, "maxItems": limits.ACCEPT_MAX},
        "accept[]": {"enum": ["image", "pdf", "text", "csv", "json"]},
        "minFiles": count,
        "maxFiles": count,
    }


def test_tools_stand_in_the_order_of_the_contract_each_once() -> None:
    tools = ask_tools(["confirm", "choice", "confirm"], "full")
    assert [tool.name for tool in tools] == ["ask_choice", "ask_confirm"]
    assert ask_tools([], "full") == ()


def test_the_compact_descriptions_speak_of_what_there_is() -> None:
    choice, confirm = ask_tools(["choice", "confirm"], "compact")
    for word in ("several", "many", "other", "own"):
        assert word not in choice.description.lower()
    assert "two short buttons" in confirm.description
    assert f"{limits.CARD_TEXT} characters" in confirm.description
    assert f"`title` of at most {limits.CARD_TITLE}." in confirm.description


def test_the_descriptions_say_when_to_ask_for_a_text_or_a_file() -> None:
    markdown, files = ask_tools(["markdown", "files"], "full")
    assert "review or rewrite a text" in markdown.description
    assert "what is in a file" in files.description


def test_the_confirm_descriptions_name_the_four_dangerous_kinds_of_action() -> None:
    for surface in get_args(Surface):
        (confirm,) = ask_tools(["confirm"], surface)
        for action in ("delete", "send", "money", "undone"):
            assert action in confirm.description

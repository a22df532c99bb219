"""A callable with a JSON Schema of its own."""

import threading
import time

import pytest
from pydantic import JsonValue

from parleyd.tools import SchemaTool, ToolContext, ToolsUnusable, host_tool
from parleyd.turns.tools import HostTool
from tests.tools.shop import CONTEXT


def tool_of(**properties: JsonValue) -> SchemaTool:
    return host_tool(
        name="it",
        description="Does it.",
        schema={"type": "object", "properties": properties},
        run=lambda args, _: args,
    )


def lines_of(each: HostTool, args: JsonValue) -> list[str]:
    told = each.faults(args)
    assert told is not None
    return told.split("\n")[1:]


async def test_the_callable_gets_arguments_and_context() -> None:
    seen: list[object] = []

    async def run(args: dict[str, JsonValue], context: ToolContext) -> JsonValue:
        seen.extend((args, context, threading.get_ident()))
        return {"done": True}

    each: HostTool = host_tool(
        name="do_it",
        description="Does it.",
        schema={"type": "object"},
        run=run,
        replay_safe=True,
        seconds=2,
    )
    assert await each.run({"a": 1}, CONTEXT) == {"done": True}
    assert seen == [{"a": 1}, CONTEXT, threading.get_ident()]
    assert (each.name, each.description) == ("do_it", "Does it.")
    assert (each.replay_safe, each.seconds) == (True, 2)


async def test_a_plain_callable_runs_in_a_thread() -> None:
    each = host_tool(
        name="it",
        description="Does it.",
        schema={"type": "object"},
        run=lambda _args, _context: threading.get_ident(),
    )
    assert await each.run({}, CONTEXT) != threading.get_ident()


def test_every_fault_is_told() -> None:
    each = tool_of(
        a={"type": "integer", "minimum": 1},
        b={"type": "array", "items": {"type": "string", "maxLength": 3}},
        c={"enum": ["x", "y"]},
        p={"type": "string", "pattern": "^(a+)+$"},
        n={
            "type": "object",
            "required": ["k"],
            "properties": {"k": True, "no": False},
            "additionalProperties": False,
        },
        none={"type": "object", "additionalProperties": False},
    )
    told = lines_of(
        each,
        {
            "a": 0.5,
            "b": ["abcdef", 1],
            "c": {"q": 1},
            "p": "b",
            "n": {"z": 1, "no": 1},
            "none": {"a": 1, "b": 2},
        },
    )
    assert sorted(told) == sorted(
        [
            '- `a`: it is not of type "integer". It is 0.5.',
            "- `a`: it is less than the minimum of 1. It is 0.5.",
            '- `b[0]`: it is longer than 3 characters. It is "abcdef".',
            '- `b[1]`: it is not of type "string". It is 1.',
            '- `c`: it is not one of "x" or "y". It is an object.',
            '- `p`: it does not match "^(a+)+$". It is "b".',
            "- `n.k` is missing. Send it.",
            "- `n.z` is not known. Leave it out.",
            "- `n.no` is not allowed. Leave it out.",
            "- `none` takes no keys. Leave them out.",
        ]
    )


def test_each_form_says_what_it_lacks() -> None:
    each = tool_of(
        u={"anyOf": [{"type": "integer"}, {"type": "object", "required": ["k"]}]},
        o={"oneOf": [{"type": "integer"}, {"type": "number"}]},
    )
    assert lines_of(each, {"u": {}}) == [
        (
            "- `u` has none of the forms it may have. "
            'Form 1: `u`: it is not of type "integer". It is an object. '
            "Form 2: `u.k` is missing. Send it."
        )
    ]
    (told,) = lines_of(each, {"o": 1})
    assert told.startswith("- `o`: it is valid under more than one of the schemas")


def test_a_pattern_can_not_be_made_to_take_for_ever() -> None:
    each = tool_of(p={"type": "string", "pattern": r"^(a+)+\1$"}, q={"pattern": "^(a|a)*$"})
    start = time.monotonic()
    assert each.faults({"p": "a" * 5000 + "!", "q": "a" * 5000 + "!"}) is not None
    assert time.monotonic() - start < 10


def test_a_whole_number_may_be_written_with_a_point() -> None:
    assert tool_of(a={"type": "integer"}).faults({"a": 3.0}) is None


def test_references_inside_are_followed() -> None:
    each = host_tool(
        name="it",
        description="Does it.",
        schema={
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/n"}},
            "$defs": {"n": {"type": "integer"}},
        },
        run=lambda args, _: args,
    )
    assert each.faults({"a": 1}) is None
    assert lines_of(each, {"a": "x"}) == ['- `a`: it is not of type "integer". It is "x".']


def test_an_older_draft_is_known_by_its_name() -> None:
    each = host_tool(
        name="it",
        description="Does it.",
        schema={
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {"a": {"items": [{"type": "integer"}]}},
        },
        run=lambda args, _: args,
    )
    assert lines_of(each, {"a": ["x"]}) == ['- `a[0]`: it is not of type "integer". It is "x".']


def test_nobody_changes_a_schema_afterwards() -> None:
    schema: dict[str, JsonValue] = {"type": "object", "properties": {}}
    each = host_tool(name="it", description="Does it.", schema=schema, run=lambda args, _: args)
    schema["type"] = "string"
    assert each.schema == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({}, "describes no object"),
        ({"type": "string"}, "describes no object"),
        ({"type": "object", "properties": 3}, "is no JSON Schema"),
        ({"type": "object", "properties": {"a": {"type": "objekt"}}}, "is no JSON Schema"),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}}, "does not exist"),
        ({"type": "object", "properties": {"a": {"pattern": "("}}}, 'is not a "regex"'),
        (
            {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/a"}}},
            "Retrieval is disabled",
        ),
        ({"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}}, "disabled"),
        ({"type": "object", "default": float("nan")}, "is no JSON"),
        ({"type": "object", "default": {1, 2}}, "is no JSON"),
    ],
    ids=str,
)
def test_a_schema_that_is_none_is_refused(schema: dict[str, JsonValue], told: str) -> None:
    with pytest.raises(ToolsUnusable, match="tool `it`") as raised:
        host_tool(name="it", description="Does it.", schema=schema, run=lambda args, _: args)
    assert told in str(raised.value)

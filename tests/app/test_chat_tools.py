"""What a person is told of the agent's tools."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from parley.v1.turns_pb2 import ToolResult
from parleyd.app.chat.tool_results import REASON_CHARACTERS, told_failure
from parleyd.contract.executions import UNKNOWN_RESULT
from parleyd.contract.json import compact
from parleyd.models.script import Call, Text
from parleyd.models.scripted import in_turn
from tests.app.keyboard import CTRL_D, ENTER
from tests.app.seat import Sit
from tests.standard_tools import StandardTools, look_up


@pytest.fixture
def tools(tmp_path: Path) -> StandardTools:
    return StandardTools(tmp_path / "runs.jsonl")


async def test_a_tool_is_named_when_it_is_used(sit: Sit, tools: StandardTools) -> None:
    seat = await sit(in_turn([look_up()], [Text("There are 3.")]), tools=tools.hosted)
    shown = await seat.chat(f"a{ENTER}", CTRL_D)
    assert shown.index("The agent uses lookup.") < shown.index("There are 3.")
    assert "failed" not in shown


async def test_a_tool_that_fails_says_why(sit: Sit, tools: StandardTools) -> None:
    steps = [look_up(fail="The shop is closed.")], [Text("I could not count.")]
    seat = await sit(in_turn(*steps), tools=tools.hosted)
    shown = await seat.chat(f"a{ENTER}", CTRL_D)
    places = [
        shown.index("The agent uses lookup."),
        shown.index("lookup failed: The shop is closed."),
        shown.index("I could not count."),
    ]
    assert places == sorted(places)


async def test_a_tool_that_is_none_says_so(sit: Sit) -> None:
    seat = await sit(in_turn([Call("fetch")], [Text("Never mind.")]))
    assert "fetch failed: There is no tool" in await seat.chat(f"a{ENTER}", CTRL_D)


FAILURES = [
    ({"error": "The shop is\nclosed."}, "lookup failed: The shop is closed."),
    (UNKNOWN_RESULT, "lookup was interrupted: nobody knows whether it did what it should."),
    ({"error": 5}, "lookup failed."),
    ("newer", "lookup failed."),
]


@pytest.mark.parametrize(
    ("result", "told"), FAILURES, ids=["a reason", "interrupted", "no text", "another form"]
)
def test_a_failure_is_told(result: JsonValue, told: str) -> None:
    failure = ToolResult(tool_name="lookup", result_json=compact(result), is_error=True)
    assert told_failure(failure) == told


def test_of_a_long_reason_the_beginning_is_told() -> None:
    failure = ToolResult(
        tool_name="lookup", result_json=compact({"error": "so " * 500}), is_error=True
    )
    told = told_failure(failure)
    assert told
    assert len(told) <= REASON_CHARACTERS + len("lookup failed: ")
    assert told.startswith("lookup failed: so so ")


def test_what_merely_looks_like_a_failure_is_none() -> None:
    assert told_failure(ToolResult(tool_name="lookup", result_json='{"error": "none"}')) is None

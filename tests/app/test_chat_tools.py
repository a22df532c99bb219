"""What a person is told of the agent's tools."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from parley.v1.turns_pb2 import ApprovalDenied, GeneratedFile, ToolResult
from parleyd.app.chat.tool_results import REASON_CHARACTERS, told_file, told_outcome
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
    assert shown.index("The agent calls lookup.") < shown.index("There are 3.")
    assert "failed" not in shown


async def test_a_tool_that_fails_says_why(sit: Sit, tools: StandardTools) -> None:
    steps = [look_up(fail="The shop is closed.")], [Text("I could not count.")]
    seat = await sit(in_turn(*steps), tools=tools.hosted)
    shown = await seat.chat(f"a{ENTER}", CTRL_D)
    places = [
        shown.index("The agent calls lookup."),
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
    assert told_outcome(failure) == told


def test_of_a_long_reason_the_beginning_is_told() -> None:
    failure = ToolResult(
        tool_name="lookup", result_json=compact({"error": "so " * 500}), is_error=True
    )
    told = told_outcome(failure)
    assert told
    assert len(told) <= REASON_CHARACTERS + len("lookup failed: ")
    assert told.startswith("lookup failed: so so ")


def test_what_merely_looks_like_a_failure_is_none() -> None:
    assert told_outcome(ToolResult(tool_name="lookup", result_json='{"error": "none"}')) is None


DENIALS = [
    ("user_denied", "you did not allow it."),
    ("user_declined", "you skipped the question."),
    ("user_cancelled", "the question was dropped."),
    ("one_ask_at_a_time", "the agent may ask one thing at a time."),
    ("not before\nFriday", "not before Friday"),
]


@pytest.mark.parametrize(("reason", "why"), DENIALS, ids=[reason for reason, _ in DENIALS])
def test_a_call_that_was_denied_is_told_apart(reason: str, why: str) -> None:
    denied = ToolResult(
        tool_name="lookup",
        result_json=compact({"approved": False, "reason": reason}),
        denied=ApprovalDenied(reason=reason),
    )
    assert told_outcome(denied) == f"lookup did not run: {why}"


def test_what_merely_looks_like_a_denial_is_none() -> None:
    result_json = compact({"approved": False, "reason": "user_denied"})
    assert told_outcome(ToolResult(tool_name="lookup", result_json=result_json)) is None


def test_a_file_is_told() -> None:
    kept = GeneratedFile(filename="a.csv", mime_type="text/csv", file_id="7")
    assert told_file(kept) == "A file came back: a.csv (text/csv)."
    lost = GeneratedFile(filename="a.csv", mime_type="text/csv")
    assert told_file(lost) == "A file came back: a.csv (text/csv). It is not kept."

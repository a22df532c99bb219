"""What becomes of a turn whose process is gone."""

from dataclasses import replace
from uuid import UUID

import pytest

from parleyd.contract.executions import UNKNOWN_OUTCOME, Execution
from parleyd.turns.lease_store import Verdict
from parleyd.turns.takeovers import FoundTurn, judge, not_repeatable, unknown_event

TURN_SECONDS = 300.0
FOUND = FoundTurn(committed=False, attempts=2, caller_key=False, deleted=False, age_seconds=9)
OLD = TURN_SECONDS


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        pytest.param(FOUND, "go_on", id="its process died"),
        pytest.param(replace(FOUND, attempts=1), "go_on", id="it was released"),
        pytest.param(replace(FOUND, attempts=3), "go_on", id="two processes died"),
        pytest.param(replace(FOUND, attempts=4), "interrupted", id="three processes died"),
        pytest.param(replace(FOUND, caller_key=True), "interrupted", id="its key is gone"),
        pytest.param(replace(FOUND, deleted=True), "interrupted", id="its conversation is gone"),
        pytest.param(replace(FOUND, age_seconds=OLD - 1), "go_on", id="just in time"),
        pytest.param(replace(FOUND, age_seconds=OLD), "timed_out", id="too old"),
        pytest.param(
            replace(FOUND, age_seconds=OLD, deleted=True), "interrupted", id="too old and deleted"
        ),
        pytest.param(replace(FOUND, committed=True), "close", id="its rows are stored"),
        pytest.param(
            FoundTurn(committed=True, attempts=9, caller_key=True, deleted=True, age_seconds=OLD),
            "close",
            id="its rows are stored, whatever else",
        ),
    ],
)
def test_a_turn_goes_on_or_ends_as_it_is_found(found: FoundTurn, verdict: Verdict) -> None:
    assert judge(found, TURN_SECONDS) == verdict


def _unfinished(index: int, tool_name: str) -> Execution:
    return Execution(
        step_no=1,
        call_index=index,
        tool_call_id=f"call_{index}",
        tool_name=tool_name,
        args={},
        turn_id=UUID(int=1),
        state="started",
    )


def test_what_may_run_again_is_left_as_it_is() -> None:
    lookup, upsert, other = (
        _unfinished(index, name) for index, name in enumerate(("lookup", "upsert", "lookup"))
    )

    assert not_repeatable((lookup, upsert, other), {"upsert", "read"}) == (lookup, other)
    assert not_repeatable((lookup, upsert), ()) == (lookup, upsert)


def test_an_unknown_outcome_is_told_as_an_error() -> None:
    event = unknown_event(_unfinished(3, "lookup"))

    assert (event.tool_call_id, event.tool_name, event.is_error) == ("call_3", "lookup", True)
    assert event.result == {"error": UNKNOWN_OUTCOME, "outcome": "unknown"}

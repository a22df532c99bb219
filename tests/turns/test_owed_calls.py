"""What the last step of a chain still owes (spec turns 3.6.2, 9.5, 9.8)."""

from uuid import UUID

import pytest
from pydantic import JsonValue

from parleyd.contract.answers import cancelled, declined
from parleyd.contract.executions import Execution, ExecutionState, ToolStart
from parleyd.contract.steps import Step, StepCall
from parleyd.turns.owed_calls import claimed_calls, given_up, owed_calls
from parleyd.turns.ports import ChainAsk
from parleyd.turns.tool_runs import DueCall
from tests.turns.ports_in_memory import PlainTool
from tests.turns.turn_values import (
    APPROVED,
    DELETE_ARGS,
    DENIED,
    TURN,
    guarded_call,
    invalid,
    pausing,
)

ASKED, EARLIER = UUID(int=31), UUID(int=41)
ONCE, SAFE = PlainTool("delete"), PlainTool("delete", replay_safe=True)


def step(*calls: StepCall) -> Step:
    made = pausing().step
    assert made
    return made.model_copy(update={"calls": calls})


def host_call(call_id: str = "call_delete") -> StepCall:
    return guarded_call(call_id, None).model_copy(update={"role": "host"})


def ran(state: ExecutionState, turn_id: UUID = TURN, index: int = 0) -> dict[int, Execution]:
    execution = Execution(
        step_no=1,
        call_index=index,
        tool_call_id="call_delete",
        tool_name="delete",
        args=DELETE_ARGS,
        turn_id=turn_id,
        state=state,
    )
    return {index: execution}


def owed(
    call: StepCall,
    tool: PlainTool | None = ONCE,
    done: dict[int, Execution] | None = None,
    answer: JsonValue = None,
) -> list[DueCall]:
    asks = [ChainAsk(ASKED, "apr_1", answer)]
    return owed_calls(step(call), done or {}, asks, {"delete": tool} if tool else {}, TURN)


def test_c5_an_approved_call_is_owed_once_with_its_approval() -> None:
    assert owed(guarded_call("call_delete", ASKED), answer=APPROVED) == [
        DueCall(
            ToolStart(
                step_no=1,
                call_index=0,
                tool_call_id="call_delete",
                tool_name="delete",
                args=DELETE_ARGS,
                approval_ask_id=ASKED,
            ),
            ONCE,
            claimed=False,
            approval_id="apr_1",
        )
    ]


NOT_APPROVED: dict[str, JsonValue] = {
    "pending": None,
    "not confirmed": DENIED,
    "declined": declined(),
    "cancelled": cancelled("no"),
    "lost the slot": cancelled("one_ask_at_a_time"),
    "an envelope of something else": "accept",
}


@pytest.mark.parametrize("answer", NOT_APPROVED.values(), ids=NOT_APPROVED)
@pytest.mark.parametrize("tool", [ONCE, SAFE, None], ids=["once", "replay-safe", "gone"])
def test_what_is_not_approved_is_never_owed(answer: JsonValue, tool: PlainTool | None) -> None:
    assert owed(guarded_call("call_delete", ASKED), tool, answer=answer) == []


@pytest.mark.parametrize("tool", [ONCE, SAFE, None], ids=["once", "replay-safe", "gone"])
def test_v6_a_further_approval_of_an_approved_step_is_never_owed(tool: PlainTool | None) -> None:
    assert owed(guarded_call("call_archive", None), tool, answer=APPROVED) == []


def test_another_asks_answer_approves_nothing() -> None:
    assert owed(guarded_call("call_delete", UUID(int=99)), answer=APPROVED) == []


def test_v15_an_approved_call_is_owed_without_its_tool_so_that_it_fails() -> None:
    (due,) = owed(guarded_call("call_delete", ASKED), None, answer=APPROVED)
    assert (due.tool, due.start.approval_ask_id) == (None, ASKED)


BEGUN: dict[str, tuple[ExecutionState, UUID, bool]] = {
    "finished": ("finished", EARLIER, False),
    "failed": ("failed", EARLIER, False),
    "interrupted in this turn": ("started", TURN, True),
    "told to be unknown in this turn": ("unknown", TURN, False),
    "told to be unknown in an earlier turn": ("unknown", EARLIER, True),
}


@pytest.mark.parametrize(("state", "turn_id", "again"), BEGUN.values(), ids=BEGUN)
@pytest.mark.parametrize("approved", [True, False])
def test_v16_only_an_unfinished_replay_safe_call_runs_again(
    state: ExecutionState, turn_id: UUID, *, again: bool, approved: bool
) -> None:
    call = guarded_call("call_delete", ASKED) if approved else host_call()
    done = ran(state, turn_id)
    assert owed(call, ONCE, done, APPROVED) == []
    assert owed(call, None, done, APPROVED) == []
    due = owed(call, SAFE, done, APPROVED)
    assert [(one.again, one.claimed) for one in due] == [(True, False)] * again
    assert all((one.approval_id == "apr_1") is approved for one in due)


def test_a_host_call_that_never_started_is_owed_without_an_approval() -> None:
    (due,) = owed(host_call())
    assert (due.start.approval_ask_id, due.approval_id, due.again) == (None, None, False)
    assert owed(host_call(), None) == []


def test_calls_that_run_no_tool_are_never_owed() -> None:
    assert owed(invalid("call_bad")) == []


def test_calls_are_owed_in_call_order_each_at_its_place() -> None:
    calls = (host_call("a"), guarded_call("b", None), guarded_call("c", ASKED), host_call("d"))
    asks = [ChainAsk(ASKED, "apr_1", APPROVED)]
    due = owed_calls(step(*calls), ran("finished"), asks, {"delete": ONCE}, TURN)
    assert [(one.start.call_index, one.start.tool_call_id) for one in due] == [(2, "c"), (3, "d")]


def test_c3_what_was_interrupted_and_runs_no_more_is_given_up() -> None:
    done = {
        **ran("started", index=0),
        **ran("started", index=1),
        **ran("started", EARLIER, index=2),
        **ran("finished", index=3),
        **ran("unknown", index=4),
    }
    due = owed_calls(step(host_call("a")), ran("started"), [], {"delete": SAFE}, TURN)
    assert [one.call_index for one in given_up(done, due, TURN)] == [1]
    assert [one.call_index for one in given_up(done, [], TURN)] == [0, 1]


def test_calls_that_their_step_has_started_are_claimed() -> None:
    (due,) = owed(host_call())
    assert claimed_calls([due.start], {"delete": SAFE}) == [DueCall(due.start, SAFE, claimed=True)]

"""A chain as it grows, and what of it may be remembered until its answer comes."""

from uuid import UUID

import pytest

from parleyd.contract.executions import Execution, ExecutionState
from parleyd.contract.json import compact
from parleyd.contract.steps import Step, StepCall
from parleyd.models.script import CODEC, ScriptedMessage, Text
from parleyd.models.scripted import ScriptedModel, in_turn
from parleyd.turns.chain_memory import KnownChain, WaitingStep
from parleyd.turns.chain_so_far import ChainSoFar, waiting_step
from parleyd.turns.model import TextShown, ToolOutcome
from tests.turns.turn_values import APPROVED, DELETE_ARGS, TURN, guarded_call

MODEL = ScriptedModel(in_turn())
SAID = ScriptedMessage("user", (Text("Clean up"),))
ASKED = UUID(int=31)
CALLED = guarded_call("call_delete", ASKED)
SHOWN = {0: [TextShown("File 1 of 1: a.txt (text/plain, 1 bytes)")]}


def begun() -> ChainSoFar:
    return ChainSoFar(KnownChain(0, (SAID,), frozenset({"call_0"}), "Clean up", 0, 8))


def step(step_no: int = 1, *calls: StepCall) -> Step:
    message = ScriptedMessage("model", (Text(f"step {step_no}"),))
    return Step(
        step_no=step_no,
        provider="scripted",
        model="scripted-1",
        codec=CODEC,
        messages=MODEL.encode([message]),
        calls=calls or (CALLED,),
    )


def ran(state: ExecutionState = "finished", step_no: int = 1) -> dict[int, Execution]:
    execution = Execution(
        step_no=step_no,
        call_index=0,
        tool_call_id="call_delete",
        tool_name="delete",
        args=DELETE_ARGS,
        turn_id=TURN,
        state=state,
        result={"deleted": 3},
    )
    return {0: execution}


def test_a_chain_grows_by_each_step_and_its_results() -> None:
    chain = begun()
    chain.add(step(1), {ASKED: APPROVED}, ran(), MODEL, {})
    chain.add(step(2), {ASKED: APPROVED}, ran(step_no=2), MODEL, {})
    outcome = ToolOutcome("of_call_delete", "delete", value={"deleted": 3})
    results = ScriptedMessage("tool", (outcome,))
    assert chain.messages == [
        SAID,
        ScriptedMessage("model", (Text("step 1"),)),
        results,
        ScriptedMessage("model", (Text("step 2"),)),
        results,
    ]
    assert chain.step_no == 2
    stored = len(step(1).messages) + len(step(2).messages)
    assert chain.size == stored + 2 * len(compact({"deleted": 3}))


def test_what_can_not_change_any_more_is_remembered() -> None:
    chain = begun()
    chain.add(step(), {ASKED: APPROVED}, ran(), MODEL, {})
    known = chain.known(frozenset({"call_1"}), None)
    assert known == KnownChain(
        1, tuple(chain.messages), frozenset({"call_1"}), "Clean up", chain.size, 8
    )


def test_a_chain_that_waits_in_its_first_step_is_remembered_with_that() -> None:
    waiting = WaitingStep(ASKED, step())
    known = begun().known(frozenset(), waiting)
    assert known
    assert (known.step_no, known.waiting) == (0, waiting)
    assert begun().known(frozenset(), None) is None


@pytest.mark.parametrize("state", ["started", "unknown"])
def test_a_call_that_a_retry_may_make_once_more_is_not_remembered(state: ExecutionState) -> None:
    chain = begun()
    chain.add(step(), {ASKED: APPROVED}, ran(state), MODEL, {})
    assert chain.known(frozenset(), None) is None


def test_a_chain_that_showed_files_is_never_remembered() -> None:
    chain = begun()
    chain.add(step(1), {ASKED: APPROVED}, ran(), MODEL, SHOWN)
    assert chain.known(frozenset(), None) is None
    chain.add(step(2), {ASKED: APPROVED}, ran(step_no=2), MODEL, {})
    assert chain.known(frozenset(), WaitingStep(ASKED, step(3))) is None


@pytest.mark.parametrize(
    ("state", "asks", "waits"),
    [("finished", 1, True), ("failed", 1, True), ("finished", 2, False), ("unknown", 1, False)],
)
def test_a_step_waits_with_all_that_is_to_be_known_of_it(
    state: ExecutionState, asks: int, *, waits: bool
) -> None:
    lookup = CALLED.model_copy(update={"role": "host", "ask_id": None})
    waiting = waiting_step(step(1, lookup, CALLED), ran(state), ASKED, asks)
    expected = WaitingStep(ASKED, step(1, lookup, CALLED), tuple(ran(state).values()))
    assert waiting == (expected if waits else None)

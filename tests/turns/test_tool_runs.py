"""Host tools: claimed before they run, and their results stored the moment they return."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from uuid import UUID

import pytest
from pydantic import JsonValue
from structlog.testing import capture_logs

from parleyd.contract import limits
from parleyd.contract.errors import Unavailable
from parleyd.contract.events import TurnEvent
from parleyd.contract.executions import Execution
from parleyd.turns.live import LiveTurn
from parleyd.turns.ports import Fenced
from parleyd.turns.stops import HandedOver, TimeOver
from parleyd.turns.tool_runs import ToolRunner
from parleyd.turns.tools import ToolContext, ToolFailed
from parleyd.turns.writing import TurnWriter
from tests.turns.tool_scene import LONG, Scene, due
from tests.turns.turn_values import CONVERSATION, OPENED, ROOT, TURN
from tests.turns.waiting import in_time, now, until

# ---------------------------------------------------------------- results


async def test_calls_run_side_by_side_and_each_result_is_stored_the_moment_it_is_there() -> None:
    scene = Scene()
    running = scene.run(*(due(scene.held, number) for number in range(3)))
    await scene.running(3)
    for count, call_id in enumerate(("call_2", "call_0", "call_1"), start=1):
        scene.go[call_id].set()
        await until(lambda count=count: len(scene.stored) == count)
    assert scene.stored == ["call_2", "call_0", "call_1"]
    assert [event.sequence for event in scene.written] == [1, 2, 3]
    executions = await running
    assert [one.call_index for one in executions] == [0, 1, 2]
    assert [one.result for one in executions] == [{"of": f"call_{n}"} for n in range(3)]
    assert {one.state for one in executions} == {"finished"}


async def test_a_tool_is_told_where_its_call_comes_from() -> None:
    scene = Scene()
    (execution,) = await scene.run(due(scene.returning([1]), 3))
    assert scene.contexts == [
        ToolContext(
            owner="ada",
            conversation_id=CONVERSATION,
            turn_id=TURN,
            tool_call_id="call_3",
            idempotency_key=f"{ROOT}/2/3",
        )
    ]
    assert scene.args == [{"number": 3}]
    assert execution == Execution(
        step_no=2,
        call_index=3,
        tool_call_id="call_3",
        tool_name="lookup",
        args={"number": 3},
        turn_id=TURN,
        state="finished",
        result=[1],
    )


async def test_a_later_turn_of_the_chain_runs_a_call_with_the_same_key() -> None:
    scene = Scene()
    later = replace(OPENED, lease=replace(OPENED.lease, turn_id=UUID(int=77), epoch=3))
    other = ToolRunner(scene.store, later, scene.stops, LONG, swallow)
    await scene.run(due(scene.returning(None)))
    await in_time(other.run([due(scene.returning(None), again=True, claimed=False)]))
    first, second = scene.contexts
    assert first.idempotency_key == second.idempotency_key
    assert first.turn_id != second.turn_id


async def swallow(write: Callable[[], Awaitable[Sequence[TurnEvent]]]) -> None:
    await write()


async def test_what_is_stored_and_what_the_model_reads_are_the_same() -> None:
    scene = Scene()
    odd: JsonValue = {"a\x00": ["\ud83d", float("nan")]}
    fit: JsonValue = {"a\ufffd": ["\ufffd", None]}
    results = await scene.run(
        due(scene.returning(odd)), due(scene.raising(ToolFailed("a\x00\ud83d")), 1)
    )
    assert [one.result for one in results] == [fit, {"error": "a\ufffd\ufffd"}]
    assert [result for _, result, _ in scene.store.results] == [fit, {"error": "a\ufffd\ufffd"}]


async def test_nothing_due_is_nothing_done() -> None:
    assert await Scene().run() == []


# ---------------------------------------------------------------- failures


async def test_what_a_tool_says_of_its_failure_is_told() -> None:
    scene = Scene()
    (execution,) = await scene.run(due(scene.raising(ToolFailed("No such customer."))))
    assert execution.state == "failed"
    assert execution.result == {"error": "No such customer."}
    ((_, result, failed),) = scene.store.results
    assert (result, failed) == (execution.result, True)


UNFORESEEN = [ValueError("key=SECRET"), TimeoutError("SECRET"), asyncio.CancelledError("SECRET")]


@pytest.mark.parametrize("error", UNFORESEEN, ids=repr)
async def test_f26_what_a_tool_did_not_foresee_is_told_without_its_words(
    error: BaseException,
) -> None:
    scene = Scene()
    with capture_logs() as logs:
        (execution,) = await scene.run(due(scene.raising(error)))
    assert execution.state == "failed"
    assert execution.result == {"error": "The tool lookup failed."}
    assert scene.stored == ["call_0"]
    assert [line["event"] for line in logs] == ["tool_failed"]


@pytest.mark.parametrize("own", [None, 0.03], ids=["the deployment's limit", "its own limit"])
async def test_a_tool_that_takes_too_long_is_stopped_and_its_siblings_go_on(
    own: float | None,
) -> None:
    scene = Scene(seconds=0.03 if own is None else LONG)
    running = scene.run(due(scene.held, 0, seconds=own), due(scene.held, 1, seconds=LONG))
    await until(lambda: scene.stored == ["call_0"])
    scene.go["call_1"].set()
    slow, quick = await running
    assert slow.state == "failed"
    assert isinstance(slow.result, dict)
    assert "longer than 0.03 s" in str(slow.result["error"])
    assert quick.state == "finished"
    assert scene.stored == ["call_0", "call_1"]


# ---------------------------------------------------------------- claims


async def test_a_call_that_journaling_started_is_not_claimed_again() -> None:
    scene = Scene()
    await scene.run(due(scene.returning(1)))
    assert scene.store.starts == []


@pytest.mark.parametrize("again", [False, True])
async def test_a_call_is_claimed_before_it_runs(again: bool) -> None:  # noqa: FBT001
    scene = Scene()

    async def body(args: JsonValue, context: ToolContext) -> JsonValue:
        del args, context
        return len(scene.store.starts)

    call = due(body, claimed=False, again=again)
    (execution,) = await scene.run(call)
    assert execution.result == 1
    assert scene.store.starts == [(call.start, again)]


@pytest.mark.parametrize("again", [False, True])
async def test_f25_a_claim_is_made_once_more_where_the_database_was_away(again: bool) -> None:  # noqa: FBT001
    scene = Scene()
    scene.store.away = [Unavailable("away"), Unavailable("away")]
    live = LiveTurn(TURN, CONVERSATION, 0, lambda _: None)
    writer = TurnWriter(scene.store, OPENED, live)
    scene.runner = ToolRunner(scene.store, OPENED, scene.stops, LONG, writer.store)
    call = due(scene.returning(1), claimed=False, again=again)
    (execution,) = await scene.run(call)
    assert execution.state == "finished"
    assert scene.store.starts == [(call.start, again)] * 3
    assert scene.store.repeated == [False, True, True]
    assert len(scene.contexts) == 1


async def test_a_claim_is_made_in_turn_with_the_other_writes() -> None:
    scene = Scene()
    scene.free.clear()
    running = scene.run(due(scene.returning(1), claimed=False))
    await until(lambda: scene.waiting == 1)
    assert scene.store.starts == []
    scene.free.set()
    await running
    assert len(scene.store.starts) == 1


@pytest.mark.parametrize("why", [Fenced, HandedOver])
async def test_nothing_is_claimed_once_the_turn_is_stopped_while_others_write(
    why: type[Exception],
) -> None:
    scene = Scene()
    scene.free.clear()
    running = scene.run(due(scene.returning(1), claimed=False))
    await until(lambda: scene.waiting == 1)
    scene.stops.fence() if why is Fenced else scene.stops.hand_over()
    scene.free.set()
    with pytest.raises(why):
        await running
    assert scene.store.starts == []


async def test_a_call_whose_claim_is_refused_never_runs() -> None:
    scene = Scene()
    scene.store.claimable = False
    with pytest.raises(Fenced):
        await scene.run(due(scene.returning(1), claimed=False))
    assert scene.contexts == []
    assert scene.stored == []


@pytest.mark.parametrize("why", [Fenced, HandedOver, TimeOver])
async def test_nothing_is_claimed_once_the_turn_is_stopped(why: type[Exception]) -> None:
    scene = Scene(wall_seconds=0 if why is TimeOver else LONG)
    if why is Fenced:
        scene.stops.fence()
    elif why is HandedOver:
        scene.stops.hand_over()
    with pytest.raises(why):
        await scene.run(due(scene.returning(1), claimed=False))
    assert scene.store.starts == []
    assert scene.contexts == []


# ---------------------------------------------------------------- stops


async def test_what_had_returned_is_stored_though_a_sibling_is_stopped() -> None:
    scene = Scene(wall_seconds=0.1)
    running = scene.run(due(scene.returning(1), 0), due(scene.held, 1))
    with pytest.raises(TimeOver):
        await running
    assert scene.stored == ["call_0"]


async def test_a_result_that_comes_after_a_sibling_was_refused_is_stored_all_the_same() -> None:
    scene = Scene()
    scene.store.claimable = False
    running = scene.run(due(scene.held, 0), due(scene.held, 1, claimed=False))
    await scene.running(1)
    assert not running.done()
    scene.go["call_0"].set()
    with pytest.raises(Fenced):
        await running
    assert scene.stored == ["call_0"]


async def test_a_fence_stops_what_runs_at_once() -> None:
    scene = Scene()
    running = scene.run(due(scene.held, 0), due(scene.held, 1))
    await scene.running(2)
    began = now()
    scene.stops.fence()
    with pytest.raises(Fenced):
        await running
    assert now() - began < 0.5
    assert scene.stored == []


async def test_a_tool_may_end_in_the_grace_of_a_hand_over() -> None:
    scene = Scene()
    running = scene.run(due(scene.held))
    await scene.running(1)
    scene.stops.hand_over()
    scene.go["call_0"].set()
    (execution,) = await running
    assert execution.state == "finished"
    assert scene.stored == ["call_0"]


async def test_a_tool_that_outlasts_the_grace_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "STOP_SECONDS", 0.1)
    scene = Scene()
    running = scene.run(due(scene.held, 0), due(scene.returning(1), 1))
    await scene.running(2)
    began = now()
    scene.stops.hand_over()
    with pytest.raises(HandedOver):
        await running
    assert 0.1 <= now() - began < 0.6
    assert scene.stored == ["call_1"]


async def test_a_tool_that_is_too_slow_in_the_grace_has_its_result_stored() -> None:
    scene = Scene(seconds=0.05)
    running = scene.run(due(scene.held))
    await scene.running(1)
    scene.stops.hand_over()
    (execution,) = await running
    assert execution.state == "failed"
    assert scene.stored == ["call_0"]


async def test_c12_a_tool_that_was_started_just_before_the_hand_over_runs() -> None:
    scene = Scene()
    scene.stops.hand_over()
    (execution,) = await scene.run(due(scene.returning(1)))
    assert execution.state == "finished"
    assert scene.stored == ["call_0"]


@pytest.mark.parametrize("why", [Fenced, TimeOver])
async def test_a_tool_that_was_started_just_before_another_stop_does_not_run(
    why: type[Exception],
) -> None:
    scene = Scene(wall_seconds=0 if why is TimeOver else LONG)
    if why is Fenced:
        scene.stops.fence()
    with pytest.raises(why):
        await scene.run(due(scene.returning(1)))
    assert scene.contexts == []


WORST: dict[str, tuple[list[Exception], type[Exception]]] = {
    "a fence": ([Unavailable("away"), Fenced(), ValueError("ours")], Fenced),
    "what could not be stored": ([Unavailable("away"), HandedOver(), TimeOver()], Unavailable),
    "the wall time": ([HandedOver(), TimeOver()], TimeOver),
}


@pytest.mark.parametrize(("errors", "told"), WORST.values(), ids=WORST)
async def test_of_several_faults_the_gravest_is_told(
    errors: list[Exception], told: type[Exception]
) -> None:
    scene = Scene()
    scene.store.refuses = {f"call_{number}": error for number, error in enumerate(errors)}
    with pytest.raises(told):
        await scene.run(*(due(scene.returning(1), number) for number in range(len(errors) + 1)))
    assert scene.stored == [f"call_{len(errors)}"]


async def test_a_cancellation_reaches_the_tools() -> None:
    scene = Scene()
    running = scene.run(due(scene.held))
    await scene.running(1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert scene.stored == []

"""However a tool comes to the agent, it passes the gate of approvals (spec turns 9, 15.8).

The tools here know nothing of approvals: their bodies would run whenever they are called.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import grpc
import pytest

from parley import error_of
from parley.v1 import conversations_pb2, turns_pb2
from parleyd.models.script import Call, ScriptedStep, Text
from parleyd.models.scripted import by_progress, in_turn
from parleyd.tools import TurnContext, host_tool, tool
from parleyd.turns.tools import HostTool, ToolSet
from tests.end_to_end.guarded import (
    APPROVED,
    CLEAN_UP,
    DONE,
    Guarded,
    approval,
    denial,
    outcomes,
    ran,
    told,
    wait_on_approval,
)
from tests.end_to_end.guarded_trials import GuardedTrial
from tests.end_to_end.person import refused
from tests.end_to_end.trials import every_way
from tests.failpoints import block
from tests.server import Processes, StartServer
from tests.standard_tools import DELETE, DELETE_ID, StandardTools, delete

Runs = list[int]
"""What the tool was called with, each time that its body ran."""

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"count": {"type": "integer"}}}
WIPE: ScriptedStep = [Call("wipe", {"count": 3}, "call_wipe")]


def decorated(runs: Runs) -> HostTool:
    @tool(needs_approval=True)
    async def wipe(count: int) -> str:
        """Wipes tables."""
        runs.append(count)
        return "wiped"

    return wipe


def decorated_in_a_thread(runs: Runs) -> HostTool:
    @tool(needs_approval=True)
    def wipe(count: int) -> str:
        """Wipes tables."""
        runs.append(count)
        return "wiped"

    return wipe


def by_rule(runs: Runs) -> HostTool:
    @tool(needs_approval=lambda args: args["count"] != 1)
    async def wipe(count: int) -> str:
        """Wipes tables."""
        runs.append(count)
        return "wiped"

    return wipe


def with_a_schema(runs: Runs) -> HostTool:
    return host_tool(
        name="wipe",
        description="Wipes tables.",
        schema=SCHEMA,
        run=lambda args, _: runs.append(int(str(args["count"]))) or "wiped",
        needs_approval=True,
    )


def static(hosted: HostTool) -> dict[str, Any]:
    return {"tools": {hosted.name: hosted}}


def of_the_turn(hosted: HostTool) -> dict[str, Any]:
    async def request_tools(context: TurnContext) -> ToolSet:
        assert context.owner == "noor"
        return {hosted.name: hosted}

    return {"request_tools": request_tools}


def over_an_open_one(hosted: HostTool) -> dict[str, Any]:
    """Has the guarded tool take the place of one with its name that needs no approval."""
    opened = host_tool(
        name=hosted.name, description="Wipes tables.", schema=SCHEMA, run=lambda _, __: "wiped"
    )
    return of_the_turn(hosted) | static(opened)


GATES: dict[str, tuple[Callable[[Runs], HostTool], Callable[[HostTool], dict[str, Any]]]] = {
    "a decorated function": (decorated, static),
    "a decorated function in a thread": (decorated_in_a_thread, static),
    "a function with a rule": (by_rule, static),
    "a callable with a schema": (with_a_schema, static),
    "a function of one turn": (decorated, of_the_turn),
    "a callable of one turn": (with_a_schema, of_the_turn),
    "one that replaces another": (decorated, over_an_open_one),
}

each_gate = pytest.mark.parametrize(("make", "offer"), GATES.values(), ids=[*GATES])


@each_gate
@every_way
async def test_v2_bc_095_whatever_the_tool_it_runs_once_it_is_approved_and_not_before(
    start_server: StartServer,
    make: Callable[[Runs], HostTool],
    offer: Callable[[HostTool], dict[str, Any]],
    *,
    streaming: bool,
    restarting: bool,
) -> None:
    runs = Runs()
    offered = offer(make(runs))
    trial = GuardedTrial(
        lambda: start_server(by_progress(WIPE, DONE), **offered), streaming, restarting
    )

    asked = await trial.say(CLEAN_UP)
    assert asked.state == turns_pb2.Turn.STATE_PAUSED
    assert runs == []
    await trial.rest()
    approval_id = asked.pending_ask.tool_call_id
    answered = await trial.answer(asked.conversation_id, approval_id, approval())

    assert (answered.state, answered.text) == (turns_pb2.Turn.STATE_COMPLETED, "Done.")
    assert runs == [3]
    assert len(trial.calls) == 2


@each_gate
async def test_v3_whatever_the_tool_it_never_runs_when_it_is_denied(
    start_server: StartServer,
    make: Callable[[Runs], HostTool],
    offer: Callable[[HostTool], dict[str, Any]],
) -> None:
    runs = Runs()
    server = await start_server(in_turn(WIPE, DONE), **offer(make(runs)))
    noor = await server.person()
    asked = await noor.prompt(CLEAN_UP)
    answered = await noor.answer(asked.conversation_id, asked.ask.tool_call_id, denial())
    assert answered.names == APPROVED
    assert answered.results[0].denied.reason == "user_denied"
    assert runs == []


async def test_v13_a_call_that_its_rule_lets_pass_runs_at_once(start_server: StartServer) -> None:
    runs = Runs()
    call = Call("wipe", {"count": 1}, "call_wipe")
    server = await start_server(in_turn([call], DONE), **static(by_rule(runs)))
    played = await (await server.person()).prompt(CLEAN_UP)
    assert played.names == ["started", "tool_call", "tool_result", "text", "done"]
    assert runs == [1]


async def test_bc_095_by_stream_and_by_single_calls_the_same_is_asked_run_and_stored(
    start_server: StartServer, tools: StandardTools
) -> None:
    seen: list[object] = []
    for streaming in (True, False):
        trial = GuardedTrial(
            lambda: start_server(by_progress([delete()], DONE), tools=tools.all_hosted),
            streaming,
            restarting=False,
        )
        asked = await trial.say(CLEAN_UP)
        own, card = asked.conversation_id, asked.pending_ask.simple
        noor = await trial.person()
        pending = (await noor.conversation(own)).pending_ask
        before = await noor.messages(own)
        answered = await trial.answer(own, asked.pending_ask.tool_call_id, approval())
        after = await noor.messages(own)
        card.ClearField("tool_call_id")
        for view in (pending, pending.simple):
            view.ClearField("tool_call_id")
        pending.ClearField("create_time")
        seen.append(
            (
                card.SerializeToString(deterministic=True),
                pending.SerializeToString(deterministic=True),
                _alike(before),
                _alike(after),
                (answered.text, answered.state),
                [call.messages for call in trial.calls],
            )
        )
    assert seen[0] == seen[1]
    assert len(tools.runs(DELETE)) == 2


def _alike(messages: list[conversations_pb2.Message]) -> list[bytes]:
    """Returns rows without what differs from conversation to conversation."""
    for row in messages:
        for name in ("conversation_id", "turn_id", "create_time"):
            row.ClearField(name)
        if row.HasField("ask"):
            row.ClearField("tool_call_id")
    return [row.SerializeToString(deterministic=True) for row in messages]


# ---------------------------------------------------------------- without its tool


@every_way
async def test_v15_bc_014_without_its_tool_an_approval_stays_pending_until_it_is_back(
    start_server: StartServer, tools: StandardTools, *, streaming: bool, restarting: bool
) -> None:
    """Of BC-014 a restart without the tool is the case itself; here others restart in between."""
    has_tool: list[bool] = [True]
    trial = GuardedTrial(
        lambda: start_server(
            by_progress([delete()], DONE), tools=tools.all_hosted if has_tool[-1] else {}
        ),
        streaming,
        restarting=True,
    )
    asked = await trial.say(CLEAN_UP)
    own, approval_id = asked.conversation_id, asked.pending_ask.tool_call_id
    has_tool.append(False)
    await trial.rest()
    if restarting:
        await trial.rest()
    noor = await trial.person()
    before = await noor.conversation(own), await noor.messages(own)

    for attempt in (
        trial.answer(own, approval_id, approval()),
        noor.press(own, approval_id, "approve"),
    ):
        error = await refused(attempt)
        assert error.code() == grpc.StatusCode.FAILED_PRECONDITION
        assert error_of(error).reason == "TOOL_UNAVAILABLE"
        assert DELETE in error_of(error).message
    assert (await noor.conversation(own), await noor.messages(own)) == before
    assert before[0].pending_ask.tool_call_id == approval_id
    assert not before[0].running_turn_id

    has_tool.append(True)
    await trial.rest()
    answered = await trial.answer(own, approval_id, approval())
    assert answered.text == "Done."
    late = error_of(await refused(trial.answer(own, approval_id, approval())))
    assert late.reason == "ASK_NOT_PENDING"
    assert len(tools.runs(DELETE)) == 1
    assert outcomes(trial.calls[-1]) == [ran()]


async def test_v15_without_its_tool_an_approval_can_be_denied(
    start_server: StartServer, tools: StandardTools
) -> None:
    guarded = await wait_on_approval(start_server, tools)
    await guarded.server.stop()
    server = await start_server(in_turn([Text("As you wish.")]))
    again = Guarded(server, await server.person(), tools, guarded.asked)
    answered = await again.answer(denial())
    assert answered.names == APPROVED
    assert answered.results[0].denied.reason == "user_denied"
    assert guarded.runs == 0


async def test_v15_whoever_takes_an_approved_turn_over_without_the_tool_fails_the_call_for_good(
    start_server: StartServer, processes: Processes
) -> None:
    first = await processes.start("DELETE", block("after_tx1", kind="answer"))
    noor = await first.person()
    asked = await noor.prompt(CLEAN_UP)
    own = asked.conversation_id
    other = await start_server(in_turn([Text("I can't.")]))
    elsewhere = await other.person()
    answering = asyncio.create_task(refused(noor.answer(own, asked.ask.tool_call_id, approval())))
    async with asyncio.timeout(40):
        await first.holds.reached("after_tx1")
        turn_id = (await elsewhere.conversation(own)).running_turn_id
        first.kill()
        await answering
        watched = await elsewhere.watch(own, turn_id)

    names = ["started", "ask_resolved", "resumed", "tool_result", "text", "done"]
    assert watched.names == names
    assert watched.done.state == turns_pb2.Turn.STATE_COMPLETED
    (result,) = map(told, watched.results)
    assert (result[0], result[2]) == (DELETE_ID, True)
    assert DELETE in str(result[1])
    (outcome,) = outcomes(other.model.calls[0])
    assert outcome.error
    assert outcome.denied is None
    assert processes.folder.tool_runs() == []
    # With the tool back, the used approval lets nothing run.
    tools = StandardTools(processes.folder.path / "later")
    later = await start_server(in_turn(), tools=tools.all_hosted)
    error = await refused((await later.person()).answer(own, asked.ask.tool_call_id, approval()))
    assert error_of(error).metadata["resolved_by_turn_id"] == turn_id
    assert tools.runs() == []

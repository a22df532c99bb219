"""Approvals: what needs one never runs without it, and runs once with it (spec turns 9, 15.8)."""

import json
from collections.abc import Awaitable, Callable

import pytest
from pydantic import JsonValue

from parley.v1 import asks_pb2, turns_pb2
from parleyd.contract.json import compact
from parleyd.models.script import Call, Fail, ScriptedMessage, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.guarded import (
    APPROVED,
    DONE,
    GUARDED_PAUSE,
    Guarded,
    first_step,
    outcomes,
    ran,
    rows,
    told,
    wait_on_approval,
)
from tests.end_to_end.person import Played
from tests.failpoints import Failpoints, throw
from tests.server import StartServer
from tests.standard_tools import (
    ARCHIVE,
    ARCHIVE_ID,
    DELETE,
    DELETE_ID,
    PLANS,
    StandardTools,
    archive,
    delete,
)

WORDS = "Allow deleteCompletedTodos? Counts the plans that there are."


async def test_v1_a_guarded_call_pauses_the_turn_and_does_not_run(
    start_server: StartServer, tools: StandardTools
) -> None:
    server = await start_server(in_turn([delete()], DONE), tools=tools.all_hosted)
    noor = await server.person()

    asked = await noor.prompt("Clean up")

    assert asked.names == ["started", "tool_call", "ask", "done"]
    call, ask = asked.events[1].tool_call, asked.ask
    assert (call.tool_call_id, call.tool_name, call.args_json) == (DELETE_ID, DELETE, "{}")
    assert ask.kind == asks_pb2.ASK_KIND_CONFIRM
    assert ask.origin == asks_pb2.ASK_ORIGIN_APPROVAL
    assert (ask.tool_name, ask.tool_args_json) == (DELETE, "{}")
    assert ask.tool_call_id not in {"", DELETE_ID}
    assert ask.conversation_id == asked.conversation_id
    assert ask.input.prompt == WORDS
    assert (ask.input.confirm.confirm_label, ask.input.confirm.deny_label) == ("Allow", "Deny")
    assert not ask.input.title
    assert not ask.input.allow_decline
    assert not ask.input.confirm.destructive
    assert [(button.id, button.label) for button in ask.simple.buttons] == [
        ("approve", "Allow"),
        ("deny", "Deny"),
    ]
    assert (ask.simple.text, ask.simple.handoff) == (WORDS, False)
    assert ask.simple.tool_call_id == ask.tool_call_id
    assert asked.done.pending_tool_call_id == ask.tool_call_id
    assert asked.done.state == turns_pb2.Turn.STATE_PAUSED
    assert rows(await noor.messages(asked.conversation_id)) == [
        ("user", "", ""),
        ("tool_call", DELETE, ""),
        ("tool_call", DELETE, "pending"),
    ]
    assert tools.runs(DELETE) == []
    assert len(server.model.calls) == 1


async def by_answer(guarded: Guarded) -> Played:
    return await guarded.approve()


async def by_button(guarded: Guarded) -> Played:
    result = await guarded.noor.press(guarded.own, guarded.approval_id, "approve")
    return await guarded.noor.watch(guarded.own, result.turn_id)


Approve = Callable[[Guarded], Awaitable[Played]]


@pytest.mark.parametrize("approve", [by_answer, by_button])
async def test_v2_an_approved_call_runs_once_with_the_stored_arguments(
    start_server: StartServer, tools: StandardTools, approve: Approve
) -> None:
    guarded = await wait_on_approval(start_server, tools, call=delete(list="done"))

    approved = await approve(guarded)

    assert approved.names == ["started", "ask_resolved", "tool_result", "text", "done"]
    assert approved.resolved.tool_call_id == guarded.approval_id
    assert approved.resolved.action == asks_pb2.ASK_ACTION_ACCEPT
    assert [told(result) for result in approved.results] == [(DELETE_ID, PLANS, False, "")]
    (run,) = tools.runs()
    assert (run.tool, run.call_id, run.args) == (DELETE, DELETE_ID, {"list": "done"})
    assert run.approval_id == guarded.approval_id
    assert str(run.turn_id) == approved.turn_id
    assert run.key == f"{guarded.asked.turn_id}/1/0"
    assert len(guarded.server.model.calls) == 2
    assert guarded.server.model.calls[1].messages == (
        *first_step(delete(list="done")),
        ScriptedMessage("tool", (ran(),)),
    )
    messages = await guarded.noor.messages(guarded.own)
    assert rows(messages) == [
        ("user", "", ""),
        ("tool_call", DELETE, ""),
        ("tool_call", DELETE, "answered"),
        ("tool_result", DELETE, "answered"),
        ("tool_result", DELETE, ""),
        ("assistant", "", ""),
    ]
    assert [row.tool_call_id for row in messages[1:5]] == [
        *(DELETE_ID, guarded.approval_id, guarded.approval_id, DELETE_ID)
    ]
    assert messages[3].ask.answer.accept.confirm.confirmed
    assert json.loads(messages[4].result_json) == PLANS


async def test_v11_each_of_two_approvals_lets_its_own_call_run(
    start_server: StartServer, tools: StandardTools
) -> None:
    guarded = await wait_on_approval(start_server, tools, [archive()], DONE)

    first = await guarded.approve()
    second = await guarded.noor.answer(
        guarded.own, first.ask.tool_call_id, asks_pb2.AskAnswer(accept=_CONFIRMED)
    )

    assert first.names == ["started", "ask_resolved", "tool_result", "tool_call", "ask", "done"]
    assert (first.ask.tool_name, first.ask.origin) == (ARCHIVE, asks_pb2.ASK_ORIGIN_APPROVAL)
    assert first.ask.tool_call_id not in {guarded.approval_id, ARCHIVE_ID}
    assert second.names == APPROVED
    assert [(run.tool, run.approval_id) for run in tools.runs()] == [
        (DELETE, guarded.approval_id),
        (ARCHIVE, first.ask.tool_call_id),
    ]
    assert guarded.server.model.calls[2].messages == (
        *first_step(),
        ScriptedMessage("tool", (ran(),)),
        *guarded.server.model.calls[2].messages[3:4],
        ScriptedMessage("tool", (ran(ARCHIVE_ID, ARCHIVE),)),
    )


_CONFIRMED = asks_pb2.AcceptAnswer(confirm=asks_pb2.ConfirmAnswer(confirmed=True))


async def test_v16_a_tool_that_ran_does_not_run_again_when_the_turn_is_retried(
    start_server: StartServer, tools: StandardTools
) -> None:
    guarded = await wait_on_approval(start_server, tools, [Fail("other")], DONE)

    failed = await guarded.approve()
    retried = await guarded.noor.retry(guarded.own, failed.turn_id)

    assert failed.names == ["started", "ask_resolved", "tool_result", "error", "done"]
    assert failed.done.state == turns_pb2.Turn.STATE_FAILED
    assert failed.done.retryable
    assert retried.names == ["started", "text", "done"]
    assert retried.done.state == turns_pb2.Turn.STATE_COMPLETED
    assert guarded.runs == 1
    assert outcomes(guarded.server.model.calls[2]) == [ran()]


async def test_v16_a_tool_that_had_not_started_is_run_once_by_the_retry(
    start_server: StartServer, tools: StandardTools
) -> None:
    points = Failpoints(throw("before_tool", RuntimeError("too early"), times=1))
    guarded = await wait_on_approval(start_server, tools, wrap_store=points.store)

    failed = await guarded.approve()
    assert failed.names == ["started", "ask_resolved", "error", "done"]
    assert guarded.runs == 0
    retried = await guarded.noor.retry(guarded.own, failed.turn_id)

    assert retried.names == ["started", "tool_result", "text", "done"]
    assert [told(result) for result in retried.results] == [(DELETE_ID, PLANS, False, "")]
    (run,) = tools.runs()
    assert (run.key, run.approval_id) == (f"{guarded.asked.turn_id}/1/0", guarded.approval_id)
    assert outcomes(guarded.server.model.calls[1]) == [ran()]


SHOWN: dict[str, tuple[dict[str, JsonValue], str]] = {
    "the statement's own": (
        {"count": 9007199254740993, "qty": 3, "price": 3.0},
        '{"qty":3,"count":9007199254740993,"price":3.0}',
    ),
    "numbers that are written in several ways": (
        {"far": 1.5e22, "zero": -0.0, "tiny": 1e-7, "deep": [{"b": 1e16}]},
        '{"far":15000000000000000000000,"deep":[{"b":10000000000000000}],"tiny":1e-07,"zero":0.0}',
    ),
    "keys of other lengths and alphabets": (
        {"é": 1, "zz": 2, "a": 3, "": 4},
        '{"":4,"a":3,"zz":2,"é":1}',
    ),
}
"""Arguments as a model wrote them, and as they are shown and run: in the form that is stored."""


@pytest.mark.parametrize(("args", "text"), SHOWN.values(), ids=[*SHOWN])
@pytest.mark.parametrize("restarting", [False, True])
async def test_v17_bc_072_what_is_shown_is_what_runs_to_the_digit(
    start_server: StartServer,
    tools: StandardTools,
    args: dict[str, JsonValue],
    text: str,
    *,
    restarting: bool,
) -> None:
    guarded = await wait_on_approval(start_server, tools, call=Call(DELETE, args, DELETE_ID))
    if restarting:
        await guarded.server.stop()
        guarded.server = await start_server(in_turn(DONE), tools=tools.all_hosted)
        guarded.noor = await guarded.server.person()

    pending = (await guarded.noor.conversation(guarded.own)).pending_ask
    call_row, ask_row = (await guarded.noor.messages(guarded.own))[1:]
    watched = await guarded.noor.watch(guarded.own, guarded.asked.turn_id)
    approved = await guarded.approve()

    assert guarded.asked.ask.tool_args_json == text
    assert (pending.tool_name, pending.tool_args_json) == (DELETE, text)
    assert ask_row.ask.tool_args_json == text
    assert call_row.args_json == text
    assert guarded.asked.events[1].tool_call.args_json == text
    assert watched.events == guarded.asked.events
    assert approved.names == APPROVED
    (run,) = tools.runs()
    assert compact(run.args) == text


async def test_v17_of_other_asks_no_tool_is_told(
    start_server: StartServer, tools: StandardTools
) -> None:
    confirm = Call("ask_confirm", {"prompt": "Really?"}, "call_confirm")
    server = await start_server(in_turn([confirm], [Text("Fine.")]), tools=tools.all_hosted)
    noor = await server.person()
    asked = await noor.prompt("Clean up")
    pending = (await noor.conversation(asked.conversation_id)).pending_ask
    row = (await noor.messages(asked.conversation_id))[1]
    for seen in (asked.ask, pending):
        assert (seen.tool_name, seen.tool_args_json) == ("", "")
        assert seen.origin == asks_pb2.ASK_ORIGIN_MODEL
    assert row.ask.tool_args_json == ""
    assert asked.names == ["started", "ask", "done"]
    assert GUARDED_PAUSE[1] not in asked.names

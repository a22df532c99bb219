"""Approvals beside other calls, and when a call needs one at all (spec turns 9.2, 9.6, 15.8)."""

import asyncio

import pytest
from pydantic import JsonValue
from structlog.testing import capture_logs

from parley.v1 import asks_pb2, turns_pb2
from parleyd.contract.asks.kind import AskKind
from parleyd.models.script import Hold, ScriptedMessage, ScriptedStep, Text
from parleyd.models.scripted import by_progress, in_turn
from parleyd.turns.model import ToolOutcome
from tests.end_to_end.guarded import (
    APPROVED,
    CLEAN_UP,
    DONE,
    GUARDED_PAUSE,
    approval,
    denial,
    denied,
    first_step,
    not_run,
    outcomes,
    ran,
    rows,
    told,
)
from tests.end_to_end.person import COMPACT, FULL, accept
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import (
    ARCHIVE,
    ARCHIVE_ID,
    DELETE,
    DELETE_ID,
    LOOKUP_ID,
    PLANS,
    StandardTools,
    archive,
    delete,
    look_up,
)

ONE_AT_A_TIME = "one_ask_at_a_time"
TEAM: dict[str, JsonValue] = {"action": "accept", "content": {"selected": ["team"]}}
DROPPED: dict[str, JsonValue] = {"action": "cancel", "reason": ONE_AT_A_TIME}

restarting_or_not = pytest.mark.parametrize("restarting", [False, True])


@pytest.mark.parametrize("approving", [True, False])
@restarting_or_not
async def test_v6_of_two_guarded_calls_of_a_step_the_second_is_denied(
    start_server: StartServer, tools: StandardTools, *, restarting: bool, approving: bool
) -> None:
    steps: list[ScriptedStep] = [[delete(), archive()], DONE]
    server = await start_server(by_progress(*steps), tools=tools.all_hosted)
    noor = await server.person()
    asked = await noor.prompt(CLEAN_UP)
    own = asked.conversation_id
    assert asked.names == ["started", "tool_call", "tool_call", "ask", "done"]
    assert [event.tool_call.tool_call_id for event in asked.events[1:3]] == [DELETE_ID, ARCHIVE_ID]
    assert (asked.ask.tool_name, len(await noor.pending())) == (DELETE, 1)
    paused_rows = [
        ("user", "", ""),
        ("tool_call", DELETE, ""),
        ("tool_call", ARCHIVE, ""),
        ("tool_call", DELETE, "pending"),
    ]
    assert rows(await noor.messages(own)) == paused_rows
    if restarting:
        await server.stop()
        server = await start_server(by_progress(*steps), tools=tools.all_hosted)
        noor = await server.person()

    answered = await noor.answer(own, asked.ask.tool_call_id, approval() if approving else denial())

    second = (ARCHIVE_ID, denied(ONE_AT_A_TIME), False, ONE_AT_A_TIME)
    first = (
        (DELETE_ID, PLANS, False, "")
        if approving
        else (DELETE_ID, denied("user_denied"), False, "user_denied")
    )
    assert answered.names == [
        *("started", "ask_resolved", "tool_result", "tool_result", "text", "done")
    ]
    assert sorted(map(told, answered.results), key=str) == sorted([first, second], key=str)
    assert len(tools.runs(DELETE)) == (1 if approving else 0)
    assert tools.runs(ARCHIVE) == []
    assert server.model.calls[-1].messages == (
        *first_step(delete(), archive()),
        ScriptedMessage(
            "tool",
            (
                ran() if approving else not_run("user_denied"),
                not_run(ONE_AT_A_TIME, ARCHIVE_ID, ARCHIVE),
            ),
        ),
    )
    found = [row for row in rows(await noor.messages(own)) if row[:2] == ("tool_result", ARCHIVE)]
    assert found == [("tool_result", ARCHIVE, "")]
    assert await noor.pending() == []


@restarting_or_not
async def test_v7_beside_an_ask_a_guarded_call_is_denied(
    start_server: StartServer, tools: StandardTools, *, restarting: bool
) -> None:
    steps: list[ScriptedStep] = [[ask_plan(), delete()], DONE]
    server = await start_server(by_progress(*steps), tools=tools.all_hosted)
    noor = await server.person()
    asked = await noor.prompt(CLEAN_UP)
    assert asked.names == GUARDED_PAUSE
    assert asked.done.pending_tool_call_id == PLAN_ID
    assert (asked.ask.origin, asked.ask.tool_name) == (asks_pb2.ASK_ORIGIN_MODEL, "")
    if restarting:
        await server.stop()
        server = await start_server(by_progress(*steps), tools=tools.all_hosted)
        noor = await server.person()

    answered = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))

    assert answered.names == APPROVED
    assert [told(result) for result in answered.results] == [
        (DELETE_ID, denied(ONE_AT_A_TIME), False, ONE_AT_A_TIME)
    ]
    assert tools.runs() == []
    assert outcomes(server.model.calls[-1]) == [
        ToolOutcome(PLAN_ID, "ask_choice", value=TEAM),
        not_run(ONE_AT_A_TIME),
    ]
    assert ("tool_result", DELETE, "") in rows(await noor.messages(asked.conversation_id))


@restarting_or_not
async def test_v8_beside_an_approval_an_ask_is_cancelled(
    start_server: StartServer, tools: StandardTools, *, restarting: bool
) -> None:
    steps: list[ScriptedStep] = [[delete(), ask_plan()], DONE]
    server = await start_server(by_progress(*steps), tools=tools.all_hosted)
    noor = await server.person()
    asked = await noor.prompt(CLEAN_UP)
    own = asked.conversation_id
    assert asked.names == GUARDED_PAUSE
    assert asked.ask.origin == asks_pb2.ASK_ORIGIN_APPROVAL
    assert rows(await noor.messages(own))[2:] == [
        ("tool_call", DELETE, "pending"),
        ("tool_call", "ask_choice", "cancelled"),
        ("tool_result", "ask_choice", "cancelled"),
    ]
    if restarting:
        await server.stop()
        server = await start_server(by_progress(*steps), tools=tools.all_hosted)
        noor = await server.person()

    answered = await noor.answer(own, asked.ask.tool_call_id, approval())

    assert answered.names == APPROVED
    assert [run.tool for run in tools.runs()] == [DELETE]
    assert outcomes(server.model.calls[-1]) == [
        ran(),
        ToolOutcome(PLAN_ID, "ask_choice", value=DROPPED),
    ]


@restarting_or_not
async def test_a_tool_that_needs_no_approval_does_not_wait_for_one(
    start_server: StartServer, tools: StandardTools, *, restarting: bool
) -> None:
    steps: list[ScriptedStep] = [[delete(), look_up()], DONE]
    server = await start_server(by_progress(*steps), tools=tools.all_hosted)
    noor = await server.person()
    asked = await noor.prompt(CLEAN_UP)
    assert asked.names == ["started", "tool_call", "tool_call", "tool_result", "ask", "done"]
    assert [run.tool for run in tools.runs()] == ["lookup"]
    if restarting:
        await server.stop()
        server = await start_server(by_progress(*steps), tools=tools.all_hosted)
        noor = await server.person()
    answered = await noor.answer(asked.conversation_id, asked.ask.tool_call_id, approval())
    assert answered.names == APPROVED
    assert [run.tool for run in tools.runs()] == ["lookup", DELETE]
    assert outcomes(server.model.calls[-1]) == [
        ran(),
        ToolOutcome(LOOKUP_ID, "lookup", value=PLANS),
    ]


async def test_an_approval_that_lost_the_slot_is_stored_cancelled_and_nothing_runs(
    start_server: StartServer, tools: StandardTools
) -> None:
    server = await start_server(
        in_turn([Hold("first"), delete()], [ask_plan()], DONE), tools=tools.all_hosted
    )
    noor = await server.person()
    first = asyncio.create_task(noor.prompt(CLEAN_UP))
    async with asyncio.timeout(30):
        await server.model.holds.reached("first")
        (conversation,) = await noor.conversations()
        second = await noor.prompt("Set me up", conversation.conversation_id)
        server.model.holds.release("first")
        lost = await first
    assert second.ask.tool_call_id == PLAN_ID
    assert lost.names == ["started", "tool_call", "done"]
    assert lost.done.state == turns_pb2.Turn.STATE_COMPLETED
    assert lost.done.pending_tool_call_id == ""
    found = await noor.messages(conversation.conversation_id)
    own = [row for row in found if row.turn_id == lost.turn_id]
    assert rows(own) == [
        ("user", "", ""),
        ("tool_call", DELETE, ""),
        ("tool_call", DELETE, "cancelled"),
        ("tool_result", DELETE, "cancelled"),
    ]
    assert own[3].ask.answer.cancel.reason == ONE_AT_A_TIME
    assert tools.runs() == []


# ---------------------------------------------------------------- switches


KINDS: dict[str, tuple[tuple[AskKind, ...], turns_pb2.Surface.ValueType]] = {
    "choices alone": (("choice",), FULL),
    "choices alone on a small screen": (("choice",), COMPACT),
    "files alone on a small screen": (("files",), COMPACT),
}


@pytest.mark.parametrize(("kinds", "surface"), KINDS.values(), ids=[*KINDS])
async def test_v14_approvals_need_no_kind_of_their_own(
    start_server: StartServer,
    tools: StandardTools,
    kinds: tuple[AskKind, ...],
    surface: turns_pb2.Surface.ValueType,
) -> None:
    server = await start_server(in_turn([delete()], DONE), tools=tools.all_hosted, asks=kinds)
    noor = await server.person()
    asked = await noor.prompt(CLEAN_UP, surface=surface)
    assert asked.names == GUARDED_PAUSE
    assert asked.ask.kind == asks_pb2.ASK_KIND_CONFIRM
    assert tools.runs() == []
    approved = await noor.press(asked.conversation_id, asked.ask.tool_call_id, "approve")
    assert approved.text == "Done."
    assert len(tools.runs()) == 1


@pytest.mark.parametrize("surface", [FULL, COMPACT])
async def test_v14_with_asks_off_what_needs_approval_never_runs(
    start_server: StartServer, tools: StandardTools, surface: turns_pb2.Surface.ValueType
) -> None:
    server = await start_server(in_turn([delete()], DONE), tools=tools.all_hosted, asks=())
    noor = await server.person()
    with capture_logs() as logs:
        played = await noor.prompt(CLEAN_UP, surface=surface)
    assert played.names == ["started", "tool_call", "done"]
    assert played.done.state == turns_pb2.Turn.STATE_COMPLETED
    assert tools.runs() == []
    assert len(server.model.calls) == 1
    assert [line["log_level"] for line in logs if line["event"] == "approval_impossible"] == [
        "warning"
    ]
    assert rows(await noor.messages(played.conversation_id)) == [
        ("user", "", ""),
        ("tool_call", DELETE, ""),
    ]
    assert (await noor.prompt("Hello", played.conversation_id)).text == "Done."
    assert tools.runs() == []


async def test_v14_with_asks_off_what_needs_none_runs_beside_it(
    start_server: StartServer, tools: StandardTools
) -> None:
    server = await start_server(
        in_turn([look_up(), delete()], [Text("Never.")]), tools=tools.all_hosted, asks=()
    )
    played = await (await server.person()).prompt(CLEAN_UP)
    assert played.names == ["started", "tool_call", "tool_call", "tool_result", "done"]
    assert [run.tool for run in tools.runs()] == ["lookup"]

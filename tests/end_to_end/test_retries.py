"""A retry goes on where a failed turn stopped (spec turns 3.7.2, 4.4, 15.5)."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import error_of
from parley.v1 import turns_pb2
from parleyd.models.script import Fail, ScriptedMessage, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.failing import (
    ANSWERED,
    ANSWERED_BEFORE,
    SET_UP,
    TEAM,
    FailedAnswer,
    answer_that_fails,
)
from tests.end_to_end.person import COMPACT, FULL, Person, accept, refused
from tests.end_to_end.rows import Message, steps_kept, types
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import LOOKUP_ID, PLANS, StandardTools, look_up

FAILED = turns_pb2.Turn.STATE_FAILED
COMPLETED = turns_pb2.Turn.STATE_COMPLETED
DOWN = Fail("other", "The model is down.")
REPLY = Text("Setting up the Team plan.")

Retry: TypeAlias = Callable[[Person, str, str], Awaitable[turns_pb2.Turn]]
"""Retries a turn, which must complete, and returns the new one."""


async def _by_stream(noor: Person, conversation_id: str, turn_id: str) -> turns_pb2.Turn:
    played = await noor.retry(conversation_id, turn_id)
    assert played.names == ["started", "text", "done"]
    assert played.events[0].started == turns_pb2.TurnStarted(
        conversation_id=conversation_id, retry_of_turn_id=turn_id
    )
    assert played.done.state == COMPLETED
    return await noor.turn(conversation_id, played.turn_id)


async def _by_one_call(noor: Person, conversation_id: str, turn_id: str) -> turns_pb2.Turn:
    request = turns_pb2.TurnRequest(
        conversation_id=conversation_id, retry=turns_pb2.RetryInput(turn_id=turn_id)
    )
    result = await noor.run(request)
    turn = await noor.turn(conversation_id, result.turn_id)
    assert turn.result == result
    return turn


async def test_a_failed_answer_and_its_retry_are_stored_as_the_worked_example_says(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    failed = await answer_that_fails(start_server, [DOWN], [REPLY])
    retried = await failed.retry()

    async with engine.connect() as connection:
        rows = await connection.execute(
            text("SELECT seq, turn_no, position, type, turn_id::text FROM messages ORDER BY seq")
        )
        assert [tuple(row) for row in rows] == [
            (1, 1, 0, "user", failed.asked.turn_id),
            (2, 1, 1, "tool_call", failed.asked.turn_id),
            (3, 2, 0, "tool_result", failed.turn_id),
            (4, 3, 0, "assistant", retried.turn_id),
        ]
        turns = await connection.execute(
            text(
                "SELECT id::text, input_kind, outcome, retry_of::text, chain_id::text, "
                "context_max_seq FROM turns ORDER BY turn_no"
            )
        )
        root = failed.asked.turn_id
        assert [tuple(row) for row in turns] == [
            (root, "prompt", "paused", None, root, 1),
            (failed.turn_id, "answer", "failed", None, root, 1),
            (retried.turn_id, "retry", "completed", failed.turn_id, root, 1),
        ]
    first, call, result, reply = await failed.noor.messages(failed.conversation_id)
    assert (first.text, call.tool_name, reply.text) == (SET_UP, "ask_choice", REPLY.text)
    assert json.loads(result.result_json) == TEAM
    assert await steps_kept(engine) == 0


@pytest.mark.parametrize("retry", [_by_stream, _by_one_call])
async def test_f10_a_retry_goes_on_where_the_failed_turn_stopped(
    start_server: StartServer, engine: AsyncEngine, retry: Retry
) -> None:
    failed = await answer_that_fails(start_server, [DOWN], [REPLY])
    rows = await failed.noor.messages(failed.conversation_id)
    assert await steps_kept(engine) == 1

    turn = await retry(failed.noor, failed.conversation_id, failed.turn_id)

    assert turn.turn_id not in {failed.turn_id, failed.asked.turn_id}
    assert (turn.result.text, turn.state) == (REPLY.text, COMPLETED)
    _, failed_call, call = failed.server.model.calls
    assert call == failed_call
    assert call.messages == ANSWERED
    assert (await failed.noor.conversation(failed.conversation_id)).retryable_turn_id == ""
    after = await failed.noor.messages(failed.conversation_id)
    assert after[:-1] == rows
    assert (after[-1].type, after[-1].turn_id) == (Message.TYPE_ASSISTANT, turn.turn_id)
    assert await steps_kept(engine) == 0


async def test_f3_a_tool_that_ran_before_a_failure_is_not_run_again(
    start_server: StartServer, tmp_path: Path
) -> None:
    tools = StandardTools(tmp_path / "runs")
    failed = await answer_that_fails(start_server, [look_up()], [DOWN], [REPLY], tools=tools.hosted)
    rows = await failed.noor.messages(failed.conversation_id)

    retried = await failed.retry()

    assert failed.played.done.state == FAILED
    assert types(rows) == ["user", "tool_call", "tool_result", "tool_call", "tool_result"]
    assert [row.tool_call_id for row in rows[3:]] == [LOOKUP_ID, LOOKUP_ID]
    assert json.loads(rows[4].result_json) == PLANS
    assert retried.names == ["started", "text", "done"]
    *_, failed_call, call = failed.server.model.calls
    assert call.messages == failed_call.messages
    last = call.messages[-1]
    assert isinstance(last, ScriptedMessage)
    assert [getattr(part, "value", None) for part in last.parts] == [PLANS]
    assert len(tools.runs("lookup")) == 1


async def test_f11_a_retry_reads_what_the_failed_turns_tools_returned(
    start_server: StartServer, tmp_path: Path
) -> None:
    tools = StandardTools(tmp_path / "runs")
    server = await start_server(
        in_turn([look_up()], [DOWN], [Text("There are 3.")]), tools=tools.hosted
    )
    noor = await server.person()
    failed = await noor.prompt("How many plans are there?")

    retried = await noor.retry(failed.conversation_id, failed.turn_id)

    assert failed.names == ["started", "tool_call", "tool_result", "error", "done"]
    assert retried.names == ["started", "text", "done"]
    assert server.model.calls[2] == server.model.calls[1]
    assert len(tools.runs("lookup")) == 1
    rows = await noor.messages(failed.conversation_id)
    assert types(rows) == ["user", "tool_call", "tool_result", "assistant"]


async def test_a_retry_may_make_as_many_model_calls_as_any_turn(
    start_server: StartServer, tmp_path: Path
) -> None:
    server = await start_server(
        in_turn([look_up("a")], [DOWN], [look_up("b")], [look_up("c")]),
        tools=StandardTools(tmp_path / "runs").hosted,
        max_steps=2,
    )
    noor = await server.person()
    failed = await noor.prompt("How many plans are there?")
    retried = await noor.retry(failed.conversation_id, failed.turn_id)
    assert retried.names == ["started", *["tool_call", "tool_result"] * 2, "done"]
    assert retried.done.state == COMPLETED
    assert len(server.model.calls) == 4


async def _failed_midway(start_server: StartServer) -> FailedAnswer:
    return await answer_that_fails(
        start_server, [Text("Setting up the"), DOWN], [REPLY], [Text("Gladly.")]
    )


async def test_f14_a_later_turn_reads_what_a_failed_one_had_said(
    start_server: StartServer,
) -> None:
    failed = await _failed_midway(start_server)
    await failed.noor.prompt("And now?", failed.conversation_id)
    assert failed.server.model.calls[2].messages == (
        *ANSWERED_BEFORE,
        ScriptedMessage("model", (Text("Setting up the"),)),
        ScriptedMessage("user", (Text("And now?"),)),
    )


async def test_f14_once_it_is_retried_nobody_reads_it_any_more(start_server: StartServer) -> None:
    failed = await _failed_midway(start_server)

    await failed.retry()
    rows = await failed.noor.messages(failed.conversation_id)
    await failed.noor.prompt("And now?", failed.conversation_id)

    _, _, retry, prompt = failed.server.model.calls
    assert retry.messages == ANSWERED
    assert prompt.messages == (
        *ANSWERED_BEFORE,
        ScriptedMessage("model", (REPLY,)),
        ScriptedMessage("user", (Text("And now?"),)),
    )
    assert [(row.text, row.status, row.superseded) for row in rows[3:]] == [
        ("Setting up the", Message.STATUS_ERROR, True),
        (REPLY.text, Message.STATUS_COMPLETE, False),
    ]
    assert not any(row.superseded for row in rows[:3])


async def test_f15_a_retry_that_fails_may_be_retried(start_server: StartServer) -> None:
    failed = await answer_that_fails(start_server, [DOWN], [DOWN], [REPLY])
    noor, conversation_id = failed.noor, failed.conversation_id

    second = await failed.retry()
    between = await noor.conversation(conversation_id)
    third = await noor.retry(conversation_id, second.turn_id)

    assert second.names == ["started", "error", "done"]
    assert second.done.retryable
    assert between.retryable_turn_id == second.turn_id
    assert third.names == ["started", "text", "done"]
    assert [call.messages for call in failed.server.model.calls[1:]] == [ANSWERED] * 3
    turns = [
        await noor.turn(conversation_id, turn_id)
        for turn_id in (failed.turn_id, second.turn_id, third.turn_id)
    ]
    assert [(turn.retry_of_turn_id, turn.retried_by_turn_id) for turn in turns] == [
        ("", second.turn_id),
        (failed.turn_id, third.turn_id),
        (second.turn_id, ""),
    ]
    error = error_of(await refused(failed.retry()))
    assert error.reason == "TURN_NOT_RETRYABLE"
    assert error.metadata == {
        "turn_id": failed.turn_id,
        "state": "failed",
        "retried_by_turn_id": second.turn_id,
    }


SMALL = ["ask_choice", "ask_confirm"]
LARGE = ["ask_choice", "ask_confirm", "ask_markdown", "ask_form", "ask_files"]


@pytest.mark.parametrize(
    ("failed_on", "retried_on", "offered"),
    [
        (COMPACT, turns_pb2.SURFACE_UNSPECIFIED, SMALL),
        (FULL, turns_pb2.SURFACE_UNSPECIFIED, LARGE),
        (COMPACT, FULL, LARGE),
        (FULL, COMPACT, SMALL),
    ],
)
async def test_f19_a_retry_runs_on_the_surface_it_names_or_on_the_failed_turns(
    start_server: StartServer,
    failed_on: turns_pb2.Surface.ValueType,
    retried_on: turns_pb2.Surface.ValueType,
    offered: list[str],
) -> None:
    server = await start_server(in_turn([DOWN], [Text("Hello.")]))
    noor = await server.person()
    failed = await noor.prompt("Hello?", surface=failed_on)

    retried = await noor.retry(failed.conversation_id, failed.turn_id, retried_on)

    assert retried.text == "Hello."
    before, call = server.model.calls
    assert [tool.name for tool in call.tools] == offered
    assert call.messages == before.messages
    if retried_on in {failed_on, turns_pb2.SURFACE_UNSPECIFIED}:
        assert call == before


async def test_a_retry_keeps_the_failed_turns_own_instruction(start_server: StartServer) -> None:
    server = await start_server(
        in_turn([DOWN], [DOWN], [Text("Ahoy.")]),
        allow_client_system_instruction=True,
        system_prompt="You help.",
        asks=(),
    )
    noor = await server.person()
    failed = await noor.play(
        turns_pb2.StreamTurnRequest(
            prompt=turns_pb2.PromptInput(text="Hello?"), system_instruction="Speak as a sailor."
        )
    )
    again = await noor.retry(failed.conversation_id, failed.turn_id)
    await noor.play(
        turns_pb2.StreamTurnRequest(
            conversation_id=failed.conversation_id,
            retry=turns_pb2.RetryInput(turn_id=again.turn_id),
            system_instruction="Speak as a king.",
        )
    )
    assert [call.system for call in server.model.calls] == [
        *["You help.\n\nSpeak as a sailor."] * 2,
        "You help.\n\nSpeak as a king.",
    ]


async def test_an_answer_can_be_given_after_a_retry_that_asks(start_server: StartServer) -> None:
    server = await start_server(in_turn([DOWN], [ask_plan()], [REPLY]))
    noor = await server.person()
    failed = await noor.prompt(SET_UP)
    asked = await noor.retry(failed.conversation_id, failed.turn_id)
    answered = await noor.answer(failed.conversation_id, PLAN_ID, accept("team"))
    assert asked.names == ["started", "ask", "done"]
    assert answered.names == ["started", "ask_resolved", "text", "done"]
    assert server.model.calls[2].messages == ANSWERED

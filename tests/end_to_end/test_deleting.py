"""A conversation is deleted while something goes on in it (spec turns 7.3, 15.10)."""

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import error_of
from parley.v1 import turns_pb2
from parleyd.models.script import Call, Fail, Hold, ScriptedStep, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.person import Person, Played, accept, refused
from tests.failpoints import Failpoints, Place, block
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, ask_plan, ask_region
from tests.standard_tools import StandardTools, look_up

DEADLINE = 30
DELETED = {"action": "cancel", "reason": "conversation_deleted"}


async def rows(engine: AsyncEngine, query: str) -> list[Any]:
    async with engine.connect() as connection:
        return [tuple(row) for row in await connection.execute(text(query))]


async def test_h3_a_deleted_conversation_waits_on_nothing(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn([ask_plan()]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    assert len(await noor.pending()) == 1

    await noor.delete(asked.conversation_id)

    assert await noor.pending() == []
    assert await noor.conversations() == []
    for attempt in (
        noor.answer(asked.conversation_id, PLAN_ID, accept("team")),
        noor.press(asked.conversation_id, PLAN_ID, "option:team"),
        noor.turn(asked.conversation_id, asked.turn_id),
        noor.watch(asked.conversation_id, asked.turn_id),
        noor.delete(asked.conversation_id),
    ):
        error = await refused(attempt)
        assert error.code() == grpc.StatusCode.NOT_FOUND
        assert error_of(error).reason == "CONVERSATION_NOT_FOUND"
    assert await rows(engine, "SELECT status, answer, resolved_by_turn FROM asks") == [
        ("cancelled", DELETED, None)
    ]
    assert await rows(engine, "SELECT * FROM turn_steps") == []
    assert len(server.model.calls) == 1


@pytest.mark.parametrize(
    "step",
    [
        pytest.param([ask_plan()], id="an ask"),
        pytest.param([ask_plan(), ask_region()], id="two asks"),
        pytest.param([look_up(), ask_plan()], id="an ask beside a tool"),
        pytest.param([Text("Hello.")], id="a reply"),
    ],
)
async def test_h3_a_turn_whose_conversation_goes_just_before_its_end_does_not_pause(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path, step: ScriptedStep
) -> None:
    points = Failpoints(block("before_tx2"))
    server = await start_server(
        in_turn(step),
        tools=StandardTools(tmp_path / "runs").hosted,
        wrap_store=points.store,
    )
    noor = await server.person()

    played = await _delete_at(noor, points, asyncio.create_task(noor.prompt("Set me up")))

    asks = len([part for part in step if isinstance(part, Call) and part != look_up()])
    said = ["text"] if step == [Text("Hello.")] else []
    tool = ["tool_call", "tool_result"] if look_up() in step else []
    assert played.names == ["started", *tool, *said, "done"]
    assert played.done.state == turns_pb2.Turn.STATE_COMPLETED
    assert (played.done.pending_tool_call_id, played.done.title) == ("", "")
    assert await noor.pending() == []
    answers = [row for (row,) in await rows(engine, "SELECT answer FROM asks ORDER BY create_time")]
    assert answers[:1] == [DELETED][:asks]
    assert all(answer["action"] == "cancel" for answer in answers)
    assert len(answers) == asks
    assert await rows(engine, "SELECT * FROM turn_steps") == []
    assert await rows(engine, "SELECT state, outcome FROM turns") == [("closed", "completed")]
    assert server.model.text_calls == []


async def test_h3_a_conversation_that_goes_while_its_title_is_made_gets_none(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    points = Failpoints(block("before_close"))
    server = await start_server(in_turn([Text("Hello.")]), wrap_store=points.store)
    noor = await server.person()
    playing = asyncio.create_task(noor.prompt("Hello"))
    played = await _delete_at(noor, points, playing, "before_close")
    assert played.names == ["started", "text", "done"]
    assert played.done.title == ""
    assert await rows(engine, "SELECT title FROM conversations") == [(None,)]
    assert await rows(engine, "SELECT state, outcome FROM turns") == [("closed", "completed")]


async def test_h3_a_chain_whose_conversation_goes_leaves_no_step(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    points = Failpoints(block("before_tx2", kind="answer"))
    server = await start_server(in_turn([ask_plan()], [ask_region()]), wrap_store=points.store)
    noor = await server.person()
    asked = await noor.prompt("Set me up")
    answering = asyncio.create_task(noor.answer(asked.conversation_id, PLAN_ID, accept("team")))

    played = await _delete_at(noor, points, answering)

    assert played.names == ["started", "ask_resolved", "done"]
    assert played.done.state == turns_pb2.Turn.STATE_COMPLETED
    assert await rows(engine, "SELECT * FROM turn_steps") == []
    assert await rows(engine, "SELECT answer FROM asks WHERE status = 'cancelled'") == [(DELETED,)]


async def test_h3_a_turn_that_fails_in_a_deleted_conversation_can_not_be_retried(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    server = await start_server(
        in_turn([look_up()], [Text("There are"), Hold("thinking"), Fail("other")]),
        tools=StandardTools(tmp_path / "runs").hosted,
    )
    noor = await server.person()
    playing = asyncio.create_task(noor.prompt("How many plans?"))
    async with asyncio.timeout(DEADLINE):
        await server.model.holds.reached("thinking")
        (conversation,) = await noor.conversations()
        await noor.delete(conversation.conversation_id)
        assert len(await rows(engine, "SELECT * FROM turn_steps")) == 1, "the chain runs"
        server.model.holds.release("thinking")
        played = await playing
    assert played.names == ["started", "tool_call", "tool_result", "error", "done"]
    assert not played.done.retryable
    assert await rows(engine, "SELECT * FROM turn_steps") == []
    assert await rows(engine, "SELECT retryable_turn_id FROM conversations") == [(None,)]
    error = await refused(noor.retry(played.conversation_id, played.turn_id))
    assert error_of(error).reason == "CONVERSATION_NOT_FOUND"


async def test_h3_deleting_takes_the_right_to_retry(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn([ask_plan()], [Fail("other")]))
    noor = await server.person()
    asked = await noor.prompt("Set me up")
    failed = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    assert failed.done.retryable
    assert len(await rows(engine, "SELECT * FROM turn_steps")) == 1
    await noor.delete(asked.conversation_id)
    assert await rows(engine, "SELECT * FROM turn_steps") == []
    assert await rows(engine, "SELECT retryable_turn_id FROM conversations") == [(None,)]


async def _delete_at(
    person: Person,
    points: Failpoints,
    playing: asyncio.Task[Played],
    place: Place = "before_tx2",
) -> Played:
    """Deletes the person's only conversation while its turn is held before its end."""
    async with asyncio.timeout(DEADLINE):
        await points.holds.reached(place)
        (conversation,) = await person.conversations()
        await person.delete(conversation.conversation_id)
        points.holds.release(place)
        return await playing

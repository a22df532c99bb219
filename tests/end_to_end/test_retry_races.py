"""What may be retried, and what comes of retries that race (spec turns 3.7.2, 3.8, 15.5)."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from uuid import uuid4

import grpc
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import error_of
from parley.v1 import turns_pb2
from parleyd.models.script import Fail, Hold, Text
from parleyd.models.scripted import by_progress, by_prompt, in_turn
from tests.end_to_end.failing import SET_UP, answer_that_fails
from tests.end_to_end.person import Person, Played, accept, refused
from tests.end_to_end.rows import MessageAsk, steps_kept, types
from tests.failpoints import Failpoints, block
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, REGION_ID, ask_plan, ask_region
from tests.standard_tools import StandardTools, look_up

DEADLINE = 60
ROUNDS = 50
DOWN = Fail("other")
NOT_RETRYABLE = (grpc.StatusCode.FAILED_PRECONDITION, "TURN_NOT_RETRYABLE")


async def test_f5_an_answer_that_fails_behind_a_newer_message_is_not_retried(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(
        by_prompt(
            {
                SET_UP: in_turn([ask_plan()], [Hold("answering"), DOWN]),
                "Meanwhile": by_progress([Text("Yes?")]),
            }
        )
    )
    noor = await server.person()
    asked = await noor.prompt(SET_UP)
    conversation_id = asked.conversation_id
    answering = asyncio.create_task(noor.answer(conversation_id, PLAN_ID, accept("team")))
    async with asyncio.timeout(DEADLINE):
        await server.model.holds.reached("answering")
        await noor.prompt("Meanwhile", conversation_id)
        server.model.holds.release("answering")
        failed = await answering

    error = await refused(noor.retry(conversation_id, failed.turn_id))

    assert failed.names == ["started", "ask_resolved", "error", "done"]
    assert failed.done.state == turns_pb2.Turn.STATE_FAILED
    assert not failed.done.retryable
    assert not (await noor.turn(conversation_id, failed.turn_id)).result.retryable
    assert (await noor.conversation(conversation_id)).retryable_turn_id == ""
    assert (error.code(), error_of(error).reason) == NOT_RETRYABLE
    assert error_of(error).metadata == {"turn_id": failed.turn_id, "state": "failed"}
    assert await steps_kept(engine) == 0


# ---------------------------------------------------------------- what can't be retried


@dataclass
class Refusal:
    """A retry that is to be refused, and why."""

    conversation_id: str
    turn_id: str
    state: str
    retried_by: str | None = None


Case: TypeAlias = Callable[[Server, Person], Awaitable[Refusal]]
"""Brings a conversation to where a turn of it can't be retried."""

SCRIPT = by_prompt(
    {
        "run": by_progress([Hold("running"), Text("Done.")]),
        "ask": by_progress([ask_plan()]),
        "reply": by_progress([Text("Yes?")]),
        "fail": by_progress([DOWN]),
        "fail once": in_turn([DOWN], [Text("Yes?")]),
    }
)


async def _running(server: Server, noor: Person) -> Refusal:
    request = turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text="run"))
    call = noor.client.turns.StreamTurn(request)
    started = await anext(aiter(call))
    call.cancel()
    await server.model.holds.reached("running")
    return Refusal(started.event.started.conversation_id, started.event.turn_id, "running")


async def _paused(_: Server, noor: Person) -> Refusal:
    played = await noor.prompt("ask")
    return Refusal(played.conversation_id, played.turn_id, "paused")


async def _completed(_: Server, noor: Person) -> Refusal:
    played = await noor.prompt("reply")
    return Refusal(played.conversation_id, played.turn_id, "completed")


async def _older(_: Server, noor: Person) -> Refusal:
    failed = await noor.prompt("fail")
    await noor.prompt("reply", failed.conversation_id)
    return Refusal(failed.conversation_id, failed.turn_id, "failed")


async def _older_than_a_failed_one(_: Server, noor: Person) -> Refusal:
    failed = await noor.prompt("fail")
    await noor.prompt("fail", failed.conversation_id)
    return Refusal(failed.conversation_id, failed.turn_id, "failed")


async def _retried(_: Server, noor: Person) -> Refusal:
    failed = await noor.prompt("fail once")
    retried = await noor.retry(failed.conversation_id, failed.turn_id)
    return Refusal(failed.conversation_id, failed.turn_id, "failed", retried.turn_id)


async def _retried_in_vain(_: Server, noor: Person) -> Refusal:
    failed = await noor.prompt("fail")
    retried = await noor.retry(failed.conversation_id, failed.turn_id)
    return Refusal(failed.conversation_id, failed.turn_id, "failed", retried.turn_id)


@pytest.mark.parametrize(
    "case",
    [_running, _paused, _completed, _older, _older_than_a_failed_one, _retried, _retried_in_vain],
)
async def test_f16_only_the_latest_turn_can_be_retried_and_only_once_it_has_failed(
    start_server: StartServer, engine: AsyncEngine, case: Case
) -> None:
    server = await start_server(SCRIPT)
    noor = await server.person()
    async with asyncio.timeout(DEADLINE):
        refusal = await case(server, noor)
    before = await _everything(engine)

    error = await refused(noor.retry(refusal.conversation_id, refusal.turn_id))

    facts = {"turn_id": refusal.turn_id, "state": refusal.state}
    if refusal.retried_by:
        facts["retried_by_turn_id"] = refusal.retried_by
    assert (error.code(), error_of(error).reason) == NOT_RETRYABLE
    assert error_of(error).metadata == facts
    assert await _everything(engine) == before
    server.model.holds.release("running")


async def test_f16_a_turn_that_the_conversation_does_not_have_is_not_found(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(SCRIPT)
    noor = await server.person()
    failed, other = await noor.prompt("fail"), await noor.prompt("fail")
    before = await _everything(engine)
    for turn_id in (other.turn_id, str(uuid4())):
        error = await refused(noor.retry(failed.conversation_id, turn_id))
        assert error.code() == grpc.StatusCode.NOT_FOUND
        assert error_of(error).reason == "TURN_NOT_FOUND"
    assert await _everything(engine) == before


async def _everything(engine: AsyncEngine) -> list[tuple[object, ...]]:
    """Returns all that a retry may write, leases aside: those of running turns are renewed."""
    async with engine.connect() as connection:
        return [
            tuple(row)
            for query in (
                "SELECT id, retryable_turn_id, update_time FROM conversations ORDER BY id",
                "SELECT id, state, outcome, last_event, attempts FROM turns ORDER BY id",
                "SELECT conversation_id, seq FROM messages ORDER BY conversation_id, seq",
                "SELECT turn_id, sequence FROM turn_events ORDER BY turn_id, sequence",
                "SELECT chain_id, step_no FROM turn_steps ORDER BY chain_id, step_no",
                "SELECT id, status, revision FROM asks ORDER BY id",
            )
            for row in await connection.execute(text(query))
        ]


# ---------------------------------------------------------------- races


async def test_f17_of_eight_retries_at_once_one_goes_on(start_server: StartServer) -> None:
    points = Failpoints(block("before_tx1", kind="retry"))
    failed = await answer_that_fails(
        start_server, [DOWN], [Text("Team it is.")], wrap_store=points.store
    )
    devices = [await failed.server.person() for _ in range(8)]
    retries = [
        asyncio.create_task(device.retry(failed.conversation_id, failed.turn_id))
        for device in devices
    ]
    async with asyncio.timeout(DEADLINE):
        await points.holds.reached("before_tx1", times=8)
        points.holds.release("before_tx1")
        outcomes = await asyncio.gather(*retries, return_exceptions=True)

    (won,) = [outcome for outcome in outcomes if isinstance(outcome, Played)]
    lost = [outcome for outcome in outcomes if isinstance(outcome, grpc.aio.AioRpcError)]
    assert won.names == ["started", "text", "done"]
    assert len(lost) == 7
    assert {(error.code(), error_of(error).reason) for error in lost} == {NOT_RETRYABLE}
    assert {error_of(error).metadata["retried_by_turn_id"] for error in lost} == {won.turn_id}
    assert len(failed.server.model.calls) == 3
    rows = await failed.noor.messages(failed.conversation_id)
    assert types(rows) == ["user", "tool_call", "tool_result", "assistant"]


async def test_f17_of_a_retry_and_a_message_at_once_the_message_always_runs(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    """The steps of the failed turn are there afterwards exactly where the retry was first."""
    scripts = {
        f"count {number}": in_turn(
            [look_up()], [DOWN], [Hold(f"retrying {number}"), Text("There are 3.")]
        )
        for number in range(ROUNDS)
    }
    server = await start_server(
        by_prompt({**scripts, "Meanwhile": by_progress([Text("Yes?")])}),
        tools=StandardTools(tmp_path / "runs").hosted,
    )
    noor, also_noor = await server.person(), await server.person()
    won = [
        await _retry_against_message(server, engine, (noor, also_noor), number)
        for number in range(ROUNDS)
    ]
    assert {True, False} == set(won), "a race that always ends the same way shows nothing"


async def _retry_against_message(
    server: Server, engine: AsyncEngine, devices: tuple[Person, Person], number: int
) -> bool:
    """Plays one round and returns whether the retry was first."""
    noor, also_noor = devices
    failed = await noor.prompt(f"count {number}")
    conversation_id = failed.conversation_id

    async def retry() -> Played | grpc.aio.AioRpcError:
        try:
            return await noor.retry(conversation_id, failed.turn_id)
        except grpc.aio.AioRpcError as error:
            return error

    async def prompt() -> Played:
        return await also_noor.prompt("Meanwhile", conversation_id)

    async with asyncio.timeout(DEADLINE):
        # Whoever is asked first has a lead, so they take turns at it.
        if number % 2:
            retrying, prompting = asyncio.create_task(retry()), asyncio.create_task(prompt())
        else:
            prompting, retrying = asyncio.create_task(prompt()), asyncio.create_task(retry())
        holding = asyncio.create_task(server.model.holds.reached(f"retrying {number}"))
        await asyncio.wait([retrying, holding], return_when=asyncio.FIRST_COMPLETED)
        assert (await prompting).names == ["started", "text", "done"]
        retry_won = not retrying.done()
        assert await steps_kept(engine, failed.turn_id) == int(retry_won)
        server.model.holds.release(f"retrying {number}")
        holding.cancel()
        outcome = await retrying
    if retry_won:
        assert isinstance(outcome, Played)
        assert outcome.names == ["started", "text", "done"]
    else:
        assert isinstance(outcome, grpc.aio.AioRpcError)
        assert (outcome.code(), error_of(outcome).reason) == NOT_RETRYABLE
        assert "retried_by_turn_id" not in error_of(outcome).metadata
    assert await steps_kept(engine, failed.turn_id) == 0
    return retry_won


# ---------------------------------------------------------------- beside another ask


@pytest.mark.parametrize("asks", [False, True], ids=["it replies", "it asks"])
async def test_f18_a_retry_leaves_another_chains_ask_pending(
    start_server: StartServer, engine: AsyncEngine, *, asks: bool
) -> None:
    again = [ask_region()] if asks else [Text("Yes?")]
    server = await start_server(
        by_prompt(
            {
                "Hello": by_progress([Text("Hello.")]),
                SET_UP: in_turn([Hold("pausing"), ask_plan()], [Text("Team it is.")]),
                "Meanwhile": in_turn([DOWN], again),
            }
        )
    )
    noor = await server.person()
    conversation_id = (await noor.prompt("Hello")).conversation_id
    pausing = asyncio.create_task(noor.prompt(SET_UP, conversation_id))
    async with asyncio.timeout(DEADLINE):
        await server.model.holds.reached("pausing")
        failed = await noor.prompt("Meanwhile", conversation_id)
        server.model.holds.release("pausing")
        await pausing
    between = await noor.conversation(conversation_id)

    retried = await noor.retry(conversation_id, failed.turn_id)
    after = await noor.conversation(conversation_id)
    rows = await noor.messages(conversation_id)
    answered = await noor.answer(conversation_id, PLAN_ID, accept("team"))

    assert between.retryable_turn_id == failed.turn_id
    assert between.pending_ask.tool_call_id == PLAN_ID
    assert after.pending_ask == between.pending_ask
    assert retried.done.pending_tool_call_id == ""
    assert retried.done.state == turns_pb2.Turn.STATE_COMPLETED
    own = [row for row in rows if row.turn_id == retried.turn_id]
    if asks:
        assert retried.names == ["started", "done"]
        assert types(own) == ["tool_call", "tool_result"]
        assert (own[0].tool_call_id, own[0].ask.status) == (
            REGION_ID,
            MessageAsk.STATUS_CANCELLED,
        )
        assert own[1].ask.answer.cancel.reason == "one_ask_at_a_time"
    else:
        assert retried.names == ["started", "text", "done"]
    assert answered.names == ["started", "ask_resolved", "text", "done"]
    assert await steps_kept(engine) == 0

"""Asks whose time is over (spec turns 16.5, X3, F18; BC-065)."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from grpc import StatusCode
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import error_of
from parley.v1 import asks_pb2, conversations_pb2
from parleyd.contract import limits
from parleyd.models.script import Fail, Hold, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.asking_service import Ask, asking_service, empty_conversation
from tests.end_to_end.person import Person, Played, accept, cancel, decline, refused
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, REGION_ID, ask_plan, ask_region
from tests.standard_tools import DELETE, StandardTools, delete

MINUTES: Final = timedelta(minutes=5)
TEAM: Final = "option:team"
EXPIRED: Final = '{"action":"cancel","reason":"expired"}'

Message = conversations_pb2.Message


@pytest.fixture
def no_reaper(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets nobody write what has lapsed but the transaction that is in its way."""
    monkeypatch.setattr(limits, "REAPER_SECONDS", 3600)


async def pass_time(engine: AsyncEngine, conversation_id: str, span: timedelta) -> None:
    """Lets the database's clock stand later, as far as the asks of a conversation are concerned."""
    async with engine.begin() as connection:
        await connection.execute(
            text(
                "UPDATE asks SET expire_time = expire_time - CAST(:span AS interval),"
                " create_time = create_time - CAST(:span AS interval)"
                " WHERE conversation_id = :id AND status = 'pending'"
            ),
            {"span": span, "id": conversation_id},
        )


async def steps(engine: AsyncEngine, conversation_id: str) -> int:
    async with engine.connect() as connection:
        counted = await connection.execute(
            text(
                "SELECT count(*) FROM turn_steps s JOIN turns t ON t.id = s.turn_id"
                " WHERE t.conversation_id = :id"
            ),
            {"id": conversation_id},
        )
        return counted.scalar_one()


async def asked_for_minutes(start_server: StartServer) -> tuple[Server, Person, Played]:
    """Returns a conversation that waits on PLAN for five minutes."""
    server = await start_server(
        in_turn([ask_plan(b"\x00signature")], [Text("Done.")], [ask_region()], [Text("Bye.")]),
        ask_ttl_seconds={"choice": MINUTES.total_seconds()},
    )
    noor = await server.person()
    return server, noor, await noor.prompt("Set up my workspace")


# ---------------------------------------------------------------- the deadline is told


async def test_bc_065_the_deadline_is_told_wherever_the_ask_is(start_server: StartServer) -> None:
    before = datetime.now(UTC) - timedelta(seconds=5)
    _, noor, asked = await asked_for_minutes(start_server)
    expires = asked.ask.expire_time
    assert before + MINUTES < expires.ToDatetime(UTC) < datetime.now(UTC) + MINUTES
    (pending,) = await noor.pending()
    assert pending.expire_time == expires
    view = (await noor.conversation(asked.conversation_id)).pending_ask
    assert view.expire_time == expires
    assert expires.ToDatetime() - view.create_time.ToDatetime() == MINUTES


async def test_bc_065_an_ask_without_a_deadline_waits_for_good(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn([ask_plan()], [Text("Done.")]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    assert not asked.ask.HasField("expire_time")
    await pass_time(engine, asked.conversation_id, timedelta(days=30))
    (pending,) = await noor.pending()
    assert not pending.HasField("expire_time")
    answered = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    assert answered.text == "Done."


async def test_an_answer_in_time_is_taken(start_server: StartServer, engine: AsyncEngine) -> None:
    _, noor, asked = await asked_for_minutes(start_server)
    await pass_time(engine, asked.conversation_id, MINUTES - timedelta(minutes=1))
    answered = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    assert answered.text == "Done."


# ---------------------------------------------------------------- without the reaper


@pytest.mark.usefixtures("no_reaper")
async def test_x3_an_expired_ask_is_pending_for_no_reader(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    _, noor, asked = await asked_for_minutes(start_server)
    await pass_time(engine, asked.conversation_id, MINUTES)
    assert await noor.pending() == []
    assert not (await noor.conversation(asked.conversation_id)).HasField("pending_ask")
    _, call = await noor.messages(asked.conversation_id)
    assert call.ask.status == conversations_pb2.MessageAsk.STATUS_CANCELLED
    assert await _stored_status(engine, asked.conversation_id) == "pending"


@pytest.mark.usefixtures("no_reaper")
@pytest.mark.parametrize("how", ["answer", "button", "decline"])
async def test_x3_an_answer_after_the_deadline_is_told_so(
    start_server: StartServer, engine: AsyncEngine, how: str
) -> None:
    server, noor, asked = await asked_for_minutes(start_server)
    await pass_time(engine, asked.conversation_id, MINUTES)
    match how:
        case "answer":
            call = noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
        case "decline":
            call = noor.answer(asked.conversation_id, PLAN_ID, decline())
        case _:
            call = noor.press(asked.conversation_id, PLAN_ID, TEAM)
    error = error_of(await refused(call))
    assert (error.code, error.reason) == (StatusCode.ABORTED, "ASK_EXPIRED")
    assert error.metadata["tool_call_id"] == PLAN_ID
    assert error.metadata["action"] == "cancel"
    assert "resolve_time" in error.metadata
    assert len(server.model.calls) == 1
    assert len(await noor.messages(asked.conversation_id)) == 2


@pytest.mark.usefixtures("no_reaper")
async def test_x3_a_prompt_proceeds_and_its_model_is_told_expired(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server, noor, asked = await asked_for_minutes(start_server)
    assert await steps(engine, asked.conversation_id) == 1
    await pass_time(engine, asked.conversation_id, MINUTES)
    played = await noor.prompt("Still there?", asked.conversation_id)
    assert played.names[:1] == ["started"]
    assert "ask_resolved" not in played.names
    assert played.text == "Done."
    assert await steps(engine, asked.conversation_id) == 0
    sent = str(server.model.calls[-1].messages)
    assert "expired" in sent
    assert "user_sent_message" not in sent
    rows = await noor.messages(asked.conversation_id)
    (result,) = [row for row in rows if row.type == Message.TYPE_TOOL_RESULT]
    assert result.result_json == EXPIRED
    system = await noor.turn(asked.conversation_id, result.turn_id)
    assert (system.state, system.last_event_sequence) == (system.STATE_COMPLETED, 0)


@pytest.mark.usefixtures("no_reaper")
async def test_x3_an_expired_ask_leaves_the_slot_to_a_turn_that_runs(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(
        in_turn([ask_plan()], [Fail("other")], [Hold("retried"), ask_region()], [Text("Bye.")])
    )
    noor, service = await server.person(), await asking_service(server)
    first = await noor.prompt("Set up my workspace")
    conversation_id = first.conversation_id
    failed = await noor.answer(conversation_id, PLAN_ID, accept("team"))
    ask = await service.ask(conversation_id, ttl=MINUTES)
    retrying = asyncio.ensure_future(noor.retry(conversation_id, failed.turn_id))
    await server.model.holds.reached("retried")
    await pass_time(engine, conversation_id, MINUTES)
    server.model.holds.release("retried")
    assert (await retrying).ask.tool_call_id == REGION_ID
    assert (await service.read(ask.ask_id)).answer == cancel("expired")


# ---------------------------------------------------------------- the reaper


async def test_the_outcome_is_written_when_nobody_comes(
    start_server: StartServer, engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "REAPER_SECONDS", 0.05)
    server, noor, asked = await asked_for_minutes(start_server)
    await pass_time(engine, asked.conversation_id, MINUTES)
    async with asyncio.timeout(10):
        while await _stored_status(engine, asked.conversation_id) == "pending":
            await asyncio.sleep(0.02)
    _, call, result = await noor.messages(asked.conversation_id)
    assert call.ask.status == conversations_pb2.MessageAsk.STATUS_CANCELLED
    assert result.result_json == EXPIRED
    assert await steps(engine, asked.conversation_id) == 0
    assert len(server.model.calls) == 1
    error = error_of(await refused(noor.answer(asked.conversation_id, PLAN_ID, accept("team"))))
    assert error.reason == "ASK_EXPIRED"
    assert error.metadata["resolved_by_turn_id"] == result.turn_id


async def test_x3_who_waits_is_told_expired(
    start_server: StartServer, engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "REAPER_SECONDS", 0.05)
    server = await start_server(in_turn())
    noor, service = await server.person(), await asking_service(server)
    conversation_id = await empty_conversation(noor)
    ask = await service.ask(conversation_id, ttl=MINUTES)
    assert ask.expire_time.ToDatetime() - ask.create_time.ToDatetime() == MINUTES
    waiting = asyncio.ensure_future(service.wait(ask.ask_id))
    await pass_time(engine, conversation_id, MINUTES)
    expired = await waiting
    assert (expired.status, expired.answer) == (Ask.STATUS_CANCELLED, cancel("expired"))
    assert expired.resolved_by_turn_id
    assert await service.cancel(ask.ask_id) == expired


@pytest.mark.usefixtures("no_reaper")
async def test_a_service_may_ask_again_once_its_ask_has_expired(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn())
    noor, service = await server.person(), await asking_service(server)
    conversation_id = await empty_conversation(noor)
    first = await service.ask(conversation_id, ttl=MINUTES)
    await pass_time(engine, conversation_id, MINUTES)
    assert (await service.read(first.ask_id)).answer == cancel("expired")
    second = await service.ask(conversation_id)
    assert second.status == Ask.STATUS_PENDING
    assert (await service.read(first.ask_id)).answer == cancel("expired")
    assert (await service.cancel(first.ask_id)).answer == cancel("expired")
    (pending,) = await noor.pending()
    assert pending.tool_call_id == second.tool_call_id


# ---------------------------------------------------------------- approvals


async def test_an_approval_that_expires_runs_nothing(
    start_server: StartServer, engine: AsyncEngine, tools: StandardTools
) -> None:
    server = await start_server(
        in_turn([delete()], [Text("Well.")]),
        tools=tools.all_hosted,
        approval_ttl_seconds={DELETE: MINUTES.total_seconds()},
    )
    noor = await server.person()
    asked = await noor.prompt("Delete it")
    assert asked.ask.HasField("expire_time")
    await pass_time(engine, asked.conversation_id, MINUTES)
    approve = asks_pb2.AskAnswer(
        accept=asks_pb2.AcceptAnswer(confirm=asks_pb2.ConfirmAnswer(confirmed=True))
    )
    error = await refused(noor.answer(asked.conversation_id, asked.ask.tool_call_id, approve))
    assert error_of(error).reason == "ASK_EXPIRED"
    assert (await noor.prompt("And now?", asked.conversation_id)).text == "Well."
    assert tools.runs(DELETE) == []


# ---------------------------------------------------------------- retries


@pytest.mark.usefixtures("no_reaper")
async def test_f18_a_service_ask_or_an_expiry_takes_no_right_to_retry(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn([Fail("other")], [ask_plan()], [Text("Done.")]))
    noor, service = await server.person(), await asking_service(server)
    failed = await noor.prompt("Set up my workspace")
    conversation_id = failed.conversation_id
    assert failed.done.retryable
    for _ in range(2):
        await service.ask(conversation_id, ttl=MINUTES)
        assert (await noor.conversation(conversation_id)).retryable_turn_id == failed.turn_id
        await pass_time(engine, conversation_id, MINUTES)
    ask = await service.ask(conversation_id)
    retried = await noor.retry(conversation_id, failed.turn_id)
    # The service's ask keeps the slot, and the retry's loses it.
    assert retried.names == ["started", "done"]
    (pending,) = await noor.pending()
    assert pending.tool_call_id == ask.tool_call_id
    assert (await service.read(ask.ask_id)).status == Ask.STATUS_PENDING


async def _stored_status(engine: AsyncEngine, conversation_id: str) -> str:
    async with engine.connect() as connection:
        found = await connection.execute(
            text("SELECT status FROM asks WHERE conversation_id = :id"), {"id": conversation_id}
        )
        return found.scalar_one()

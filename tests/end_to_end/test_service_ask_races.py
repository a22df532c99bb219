"""A service, the agent, people and the clock after one conversation's slot at once (16.4, 16.5)."""

import asyncio
import random
from collections import Counter
from datetime import timedelta
from typing import Final, Literal

import pytest
from grpc import aio
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import error_of
from parleyd.contract import limits
from parleyd.models.played import Pick
from parleyd.models.script import Hold, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.asking_service import (
    Ask,
    AskingService,
    asking_service,
    empty_conversation,
)
from tests.end_to_end.person import Person, Played, accept, cancel
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, ask_plan

ROUNDS: Final = 100
SEED: Final = 20_261_201
TEAM: Final = "option:team"


@pytest.fixture
def chance() -> random.Random:
    return random.Random(SEED)


def asking_again_and_again() -> Pick:
    """Returns a script in which each turn asks PLAN, once it is let go."""
    return in_turn(*[[Hold(f"round {number}"), ask_plan()] for number in range(ROUNDS)])


async def compete(
    server: Server, noor: Person, service: AskingService, number: int, lead: float
) -> tuple[Literal["agent", "service"], str]:
    """Lets agent and service ask in one conversation, the one `lead` seconds before the other.

    Returns who won, and the conversation.
    """
    conversation_id = await empty_conversation(noor)
    playing = asyncio.ensure_future(noor.prompt("Set up my workspace", conversation_id))
    await server.model.holds.reached(f"round {number}")

    async def let_the_agent_go() -> Played:
        await asyncio.sleep(max(lead, 0))
        server.model.holds.release(f"round {number}")
        return await playing

    async def let_the_service_ask() -> Ask | aio.AioRpcError:
        await asyncio.sleep(max(-lead, 0))
        try:
            return await service.ask(conversation_id)
        except aio.AioRpcError as error:
            return error

    async with asyncio.timeout(20):
        played, asked = await asyncio.gather(let_the_agent_go(), let_the_service_ask())
    (pending,) = [each for each in await noor.pending() if each.conversation_id == conversation_id]
    if isinstance(asked, aio.AioRpcError):
        told = error_of(asked)
        assert told.reason == "ASK_ALREADY_PENDING"
        assert told.metadata["current_tool_call_id"] == pending.tool_call_id == PLAN_ID
        assert played.names == ["started", "ask", "done"]
        return "agent", conversation_id
    assert pending.tool_call_id == asked.tool_call_id
    assert played.names == ["started", "done"]
    results = [row.result_json for row in await noor.messages(conversation_id) if row.result_json]
    assert results == ['{"action":"cancel","reason":"one_ask_at_a_time"}']
    return "service", conversation_id


async def test_of_a_service_and_the_agent_one_gets_the_slot_and_the_other_is_told(
    start_server: StartServer, chance: random.Random
) -> None:
    server = await start_server(asking_again_and_again())
    noor, service = await server.person(), await asking_service(server)
    won: Counter[str] = Counter()
    for number in range(ROUNDS):
        # Most rounds are close; in some the one or the other is clearly first.
        lead = {0: 0.2, 5: -0.2}.get(number % 10, chance.uniform(-0.004, 0.012))
        who, _ = await compete(server, noor, service, number, lead)
        won[who] += 1
    assert won.total() == ROUNDS
    assert set(won) == {"agent", "service"}


async def test_of_two_answers_a_message_and_a_withdrawal_one_resolves_a_service_ask(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn(*[[Text("Hello.")]] * 20))
    other = await start_server(in_turn(*[[Text("Hello.")]] * 20))
    noor, elsewhere = await server.person(), await other.person()
    service = await asking_service(server)
    for _ in range(20):
        conversation_id = await empty_conversation(noor)
        ask = await service.ask(conversation_id)
        waiting = asyncio.ensure_future(service.wait(ask.ask_id))
        async with asyncio.timeout(20):
            outcomes = await asyncio.gather(
                noor.press(conversation_id, ask.tool_call_id, TEAM),
                elsewhere.answer(conversation_id, ask.tool_call_id, accept("starter")),
                elsewhere.prompt("Something else", conversation_id),
                service.cancel(ask.ask_id),
                return_exceptions=True,
            )
        told = await waiting
        assert told == await service.read(ask.ask_id)
        assert told.answer in (
            accept("team"),
            accept("starter"),
            cancel("user_sent_message"),
            cancel("service_cancelled"),
        )
        # The message and the withdrawal always come through; of the answers one at most.
        refusals = [error_of(each) for each in outcomes if isinstance(each, aio.AioRpcError)]
        answered = told.answer.HasField("accept")
        assert [each.reason for each in refusals] == ["ASK_NOT_PENDING"] * (2 - answered)
        for each in refusals:
            assert each.metadata["resolved_by_turn_id"] == told.resolved_by_turn_id
        results = [row for row in await noor.messages(conversation_id) if row.result_json]
        assert len(results) == 1


async def test_of_an_answer_and_the_clock_one_wins(
    start_server: StartServer, engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The deadline passes while answers come, and while the reaper looks for it."""
    monkeypatch.setattr(limits, "REAPER_SECONDS", 0.01)
    server = await start_server(in_turn())
    noor, service = await server.person(), await asking_service(server)
    outcomes: Counter[str] = Counter()
    for number in range(30):
        conversation_id = await empty_conversation(noor)
        ask = await service.ask(conversation_id, ttl=timedelta(minutes=1))
        async with engine.begin() as connection:
            await connection.execute(
                text(
                    "UPDATE asks SET create_time = now() - interval '1 minute',"
                    " expire_time = now() + CAST(:left AS interval) WHERE id = :id"
                ),
                {"left": timedelta(milliseconds=number), "id": ask.ask_id},
            )
        reason = "taken"
        try:
            await noor.press(conversation_id, ask.tool_call_id, TEAM)
        except aio.AioRpcError as error:
            reason = error_of(error).reason
        told = await service.wait(ask.ask_id)
        assert told.answer == (accept("team") if reason == "taken" else cancel("expired"))
        results = [row for row in await noor.messages(conversation_id) if row.result_json]
        assert len(results) == 1 or reason == "ASK_EXPIRED"
        outcomes[reason] += 1
    assert set(outcomes) <= {"taken", "ASK_EXPIRED"}
    assert outcomes["ASK_EXPIRED"]

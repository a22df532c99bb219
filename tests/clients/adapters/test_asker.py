"""An agent elsewhere asks a person and is told what became of it."""

import asyncio
from uuid import uuid4

import pytest

import parley
from parley.adapters.asker import Accepted, Asker, Cancelled, outcome_of
from parley.v1.asks_pb2 import AskInput, ConfirmInput
from parley.v1.service_asks_pb2 import Ask
from parleyd.models.scripted import in_turn
from tests.clients.adapters.asking import asked
from tests.server import StartServer

SURE = AskInput(prompt="Sure?", confirm=ConfirmInput())


async def test_x2_a_repeat_is_about_the_same_ask(start_server: StartServer) -> None:
    async with asked(await start_server(in_turn())) as here:
        request_id = str(uuid4())
        waiting = [
            asyncio.create_task(here.asker.ask(SURE, request_id=request_id)) for _ in range(2)
        ]
        await here.press("approve")
        first, second = await asyncio.gather(*waiting)
        again = await here.asker.ask(SURE, request_id=request_id)
    assert first == second == again
    outcome = outcome_of(first)
    assert isinstance(outcome, Accepted)
    assert outcome.answer.confirm.confirmed


async def test_x1_a_conversation_waits_on_one_question(start_server: StartServer) -> None:
    async with asked(await start_server(in_turn())) as here:
        await here.asker.create(SURE, request_id=str(uuid4()))
        with pytest.raises(parley.ParleyError, match="ASK_ALREADY_PENDING"):
            await here.asker.ask(SURE, request_id=str(uuid4()))


async def test_x2_a_withdrawn_question_is_cancelled_once(start_server: StartServer) -> None:
    async with asked(await start_server(in_turn())) as here:
        ask = await here.asker.create(SURE, request_id=str(uuid4()))
        with pytest.raises(ValueError, match="not resolved yet"):
            outcome_of(ask)
        waiting = asyncio.create_task(here.asker.wait(ask))
        cancelled = await here.asker.cancel(ask)
        assert outcome_of(cancelled) == Cancelled("service_cancelled")
        assert await here.asker.cancel(ask, "later") == cancelled == await waiting


async def test_a_person_can_not_ask_like_a_service(start_server: StartServer) -> None:
    server = await start_server(in_turn())
    async with asked(server) as here, parley.connect(server.address, server.token()) as client:
        asker = Asker(client, here.conversation_id, "noor")
        with pytest.raises(parley.ParleyError, match="SERVICE_ONLY"):
            await asker.ask(SURE, request_id=str(uuid4()))
        with pytest.raises(parley.ParleyError, match="SERVICE_ONLY"):
            await asker.cancel(Ask(ask_id=str(uuid4())))


async def test_waiting_ends_when_no_server_has_said_a_word_for_long(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn())
    async with asked(server) as here:
        asker = Asker(here.asker.client, here.conversation_id, "noor", patience=1)
        ask = await asker.create(SURE, request_id=str(uuid4()))
        waiting = asyncio.create_task(asker.wait(ask))
        await server.stop()
        with pytest.raises(parley.ParleyError, match="UNAVAILABLE"):
            await waiting

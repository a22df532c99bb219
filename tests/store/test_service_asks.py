"""Asks of services in the tables (spec turns 16.4, 16.2)."""

import asyncio
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.errors import (
    AskAlreadyPending,
    AskNotFound,
    ConversationNotFound,
    NotOwner,
    RequestIdReused,
    Unavailable,
)
from parleyd.store.engine import create_engine
from parleyd.store.retention import clear_old_rows
from parleyd.store.service_asks import PostgresServiceAskStore
from parleyd.turns.requests import RequestKey
from parleyd.turns.service_asks import NewServiceAsk, ServiceAskWish
from tests.store.chat import OWNER, Chat, choice
from tests.store.lossy_proxy import lossy_proxy

ERRANDS = "errands"
REASON = "the order is gone"


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


@pytest.fixture
def store(engine: AsyncEngine) -> PostgresServiceAskStore:
    return PostgresServiceAskStore(engine)


def wish(conversation: UUID, **more: Any) -> NewServiceAsk:
    """Returns an ask of a service's; `more` are facts of the wish."""
    asked = ServiceAskWish(
        service=ERRANDS,
        owner=OWNER,
        conversation_id=conversation,
        kind="choice",
        input=choice(),
        surface="full",
    )
    key = uuid4()
    return NewServiceAsk(key, uuid4(), f"call_{key.hex}", replace(asked, **more))


def key(digest: bytes = b"the same") -> RequestKey:
    return RequestKey(uuid4(), digest)


async def test_an_ask_is_as_the_service_wants_it(
    chat: Chat, store: PostgresServiceAskStore
) -> None:
    conversation = await chat.create()
    new = wish(conversation, seconds=60.0, visible_to_model=True)
    made = await store.create_ask(new)
    assert (made.id, made.tool_call_id) == (new.ask_id, new.tool_call_id)
    assert (made.origin, made.created_by_service, made.status) == ("service", ERRANDS, "pending")
    assert made.expire_time
    assert (made.expire_time - made.create_time).total_seconds() == 60
    assert made.visible_to_model
    assert await chat.pending(conversation) == made
    (row,) = await chat.rows(conversation)
    assert (row.type, row.tool_name, row.args) == ("tool_call", "service:errands", choice())
    assert row.turn_id == new.turn_id == made.chain_id


async def test_of_many_services_at_once_one_gets_the_slot(
    chat: Chat, store: PostgresServiceAskStore
) -> None:
    conversation = await chat.create()
    asked = await asyncio.gather(
        *(store.create_ask(wish(conversation, service=f"service {n}")) for n in range(10)),
        return_exceptions=True,
    )
    refused = [each for each in asked if isinstance(each, AskAlreadyPending)]
    assert len(refused) == 9
    pending = await chat.pending(conversation)
    assert pending
    assert {each.current for each in refused} == {pending.tool_call_id}
    assert len(await chat.rows(conversation)) == 1


async def test_one_request_in_two_conversations_asks_in_one(
    chat: Chat, store: PostgresServiceAskStore
) -> None:
    one, two = await chat.create(), await chat.create()
    for _ in range(10):
        request = key()
        outcomes = await asyncio.gather(
            store.create_ask(wish(one, request=request)),
            store.create_ask(wish(two, request=replace(request, digest=b"another"))),
            return_exceptions=True,
        )
        made = [each for each in outcomes if not isinstance(each, BaseException)]
        refused = [each for each in outcomes if isinstance(each, RequestIdReused)]
        assert (len(made), len(refused)) == (1, 1)
        await store.cancel_ask(ERRANDS, made[0].id, uuid4(), REASON)


async def test_a_request_id_counts_for_a_day_and_while_its_ask_waits(
    chat: Chat, store: PostgresServiceAskStore
) -> None:
    conversation = await chat.create()
    request = key()
    first = await store.create_ask(wish(conversation, request=request))
    async with chat.engine.begin() as connection:
        await connection.execute(text("UPDATE asks SET create_time = now() - interval '9 days'"))
    assert (await clear_old_rows(chat.engine)).ask_requests == 0
    assert (await store.create_ask(wish(conversation, request=request))).id == first.id
    await store.cancel_ask(ERRANDS, first.id, uuid4(), REASON)
    second = await store.create_ask(wish(conversation, request=request))
    assert second.id != first.id
    assert (await store.create_ask(wish(conversation, request=request))).id == second.id


async def test_old_request_ids_are_forgotten(chat: Chat, store: PostgresServiceAskStore) -> None:
    conversation = await chat.create()
    ask = await store.create_ask(wish(conversation, request=key()))
    await store.cancel_ask(ERRANDS, ask.id, uuid4(), REASON)
    assert (await clear_old_rows(chat.engine)).ask_requests == 0
    async with chat.engine.begin() as connection:
        await connection.execute(text("UPDATE asks SET create_time = now() - interval '25 hours'"))
    assert (await clear_old_rows(chat.engine)).ask_requests == 1
    assert await chat.query("SELECT 1 FROM asks WHERE service_request_hash IS NOT NULL") == []


async def test_nobody_is_asked_elsewhere(chat: Chat, store: PostgresServiceAskStore) -> None:
    conversation = await chat.create()
    with pytest.raises(NotOwner):
        await store.create_ask(wish(conversation, owner="bea"))
    with pytest.raises(ConversationNotFound):
        await store.create_ask(wish(uuid4()))
    await chat.conversations.delete_conversation(OWNER, conversation)
    with pytest.raises(ConversationNotFound):
        await store.create_ask(wish(conversation))
    assert await chat.query("SELECT 1 FROM asks") == []


async def test_an_ask_is_its_services_own(chat: Chat, store: PostgresServiceAskStore) -> None:
    ask = await store.create_ask(wish(await chat.create()))
    with pytest.raises(AskNotFound):
        await store.read_ask("another", ask.id)
    with pytest.raises(AskNotFound):
        await store.cancel_ask("another", ask.id, uuid4(), REASON)
    # What the agent asks is no service's.
    conversation = await chat.waiting()
    pending = await chat.pending(conversation)
    assert pending
    with pytest.raises(AskNotFound):
        await store.read_ask(ERRANDS, pending.id)


async def test_a_withdrawal_at_once_with_many_others_happens_once(
    chat: Chat, store: PostgresServiceAskStore
) -> None:
    conversation = await chat.create()
    ask = await store.create_ask(wish(conversation))
    withdrawn = await asyncio.gather(
        *(store.cancel_ask(ERRANDS, ask.id, uuid4(), f"reason {n}") for n in range(8))
    )
    assert len({str(each.answer) for each in withdrawn}) == 1
    assert len({each.resolved_by_turn for each in withdrawn}) == 1
    assert len(await chat.rows(conversation)) == 2


async def test_a_lost_commit_is_looked_up(chat: Chat, database_url: str) -> None:
    conversation = await chat.create()
    async with lossy_proxy(database_url) as proxy:
        engine = create_engine(proxy.url, pool_size=3)
        store = PostgresServiceAskStore(engine)
        new = wish(conversation, request=key())

        proxy.armed = "before"
        with pytest.raises(Unavailable):
            await store.create_ask(new)
        assert await chat.pending(conversation) is None

        proxy.armed = "after"
        ask = await store.create_ask(new)
        assert await chat.pending(conversation) == ask

        proxy.armed = "before"
        with pytest.raises(Unavailable):
            await store.cancel_ask(ERRANDS, ask.id, uuid4(), REASON)
        assert await chat.pending(conversation) == ask

        proxy.armed = "after"
        withdrawn = await store.cancel_ask(ERRANDS, ask.id, uuid4(), REASON)
        assert withdrawn.answer == {"action": "cancel", "reason": REASON}
        assert proxy.lost == 4
        await engine.dispose()

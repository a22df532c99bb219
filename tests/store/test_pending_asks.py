"""What is read for those who watch pending asks: of many people at once (spec turns 16.6)."""

from uuid import uuid4

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.store.pending_asks import PostgresPendingReader, read_asks, read_pending
from parleyd.turns.conversations import ConversationChanges
from tests.store.chat import OWNER, Chat
from tests.store.test_lapses import let_lapse
from tests.store.test_lists import MANY_ASKS, plan


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


@pytest.fixture
def reader(engine: AsyncEngine) -> PostgresPendingReader:
    return PostgresPendingReader(engine)


async def test_all_that_waits_on_some_people_is_read_oldest_first(
    chat: Chat, reader: PostgresPendingReader
) -> None:
    first, second, answered, lapsed, deleted = [await chat.waiting() for _ in range(5)]
    titled = ConversationChanges(frozenset({"title"}), "Trip")
    await chat.conversations.update_conversation(OWNER, second, titled)
    await chat.answer(answered, "call_plan")
    await let_lapse(chat, lapsed)
    await chat.conversations.delete_conversation(OWNER, deleted)

    found = await reader.read_pending([OWNER, "eve"])

    assert [(each.ask.conversation_id, each.title) for each in found.asks] == [
        (first, None),
        (second, "Trip"),
    ]
    assert found.now > max(each.ask.create_time for each in found.asks)
    assert (await reader.read_pending(["eve"])).asks == []


async def test_asks_are_read_whatever_has_become_of_them(
    chat: Chat, reader: PostgresPendingReader
) -> None:
    waits, answered, lapsed, deleted = [await chat.waiting() for _ in range(4)]
    keys = {
        conversation: (await chat.ask_named(conversation, "call_plan")).id
        for conversation in (waits, answered, lapsed, deleted)
    }
    turn = await chat.answer(answered, "call_plan")
    await let_lapse(chat, lapsed)
    await chat.conversations.delete_conversation(OWNER, deleted)

    found = await reader.read_asks([*keys.values(), uuid4()])

    asks = {each.ask.conversation_id: each.ask for each in found}
    assert {ask.conversation_id: ask.id for ask in asks.values()} == keys
    assert asks[waits].status == "pending"
    assert (asks[answered].status, asks[answered].resolved_by_turn) == (
        "answered",
        turn.lease.turn_id,
    )
    assert (asks[lapsed].answer or {})["reason"] == "expired"
    assert asks[lapsed].resolve_time == asks[lapsed].expire_time
    assert (asks[deleted].answer or {})["reason"] == "conversation_deleted"


async def test_what_waits_is_found_by_an_index_among_very_many(chat: Chat) -> None:
    async with chat.engine.begin() as connection:
        for statement in MANY_ASKS.split(";"):
            await connection.exec_driver_sql(statement)
    await chat.waiting()
    ((key,),) = await chat.query("SELECT id FROM asks WHERE tool_call_id = 'call_plan'")

    async def read_of_people() -> None:
        async with chat.engine.connect() as connection:
            await connection.run_sync(read_pending, ["mia", "zoe"])

    async def read_named() -> None:
        async with chat.engine.connect() as connection:
            await connection.run_sync(read_asks, [key])

    for act, index in ((read_of_people, "asks_pending_by_owner"), (read_named, "asks_pkey")):
        nodes = await plan(chat, act)
        assert index in {node.get("Index Name") for node in nodes}
        assert "Seq Scan" not in {node["Node Type"] for node in nodes}

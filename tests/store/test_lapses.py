"""Asks whose time is over, in the tables (spec turns 16.5)."""

import asyncio
from datetime import timedelta
from functools import partial
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.errors import AskExpired
from parleyd.store.engine import create_engine
from parleyd.store.lapses import PostgresLapseStore
from parleyd.turns.lapses import Lapses
from tests.store.chat import OWNER, Chat, ask
from tests.store.test_lists import plan

OTHERS = 5_000


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


@pytest.fixture
def store(engine: AsyncEngine) -> PostgresLapseStore:
    return PostgresLapseStore(engine)


async def let_lapse(chat: Chat, conversation: UUID, seconds: int = 1) -> None:
    """Gives the ask that a conversation waits on a time that was over so many seconds ago."""
    async with chat.engine.begin() as connection:
        await connection.execute(
            text(
                "UPDATE asks SET expire_time = now() - CAST(:ago AS interval)"
                " WHERE conversation_id = :conversation AND status = 'pending'"
            ),
            {"ago": timedelta(seconds=seconds), "conversation": conversation},
        )


async def stored(chat: Chat, conversation: UUID) -> list[tuple[object, ...]]:
    """Returns what is stored of a conversation's asks, and the kinds of turns that resolved them.

    That is the status, the reason, and whether it was resolved after its time.
    """
    return await chat.query(
        "SELECT a.status, a.answer->>'reason', t.input_kind, a.resolve_time >= a.expire_time"
        " FROM asks a LEFT JOIN turns t ON t.id = a.resolved_by_turn"
        " WHERE a.conversation_id = :conversation ORDER BY a.create_time",
        conversation=conversation,
    )


async def test_what_has_lapsed_the_longest_is_settled_first(
    chat: Chat, store: PostgresLapseStore
) -> None:
    late, later, never = [await chat.waiting() for _ in range(3)]
    await let_lapse(chat, late, 60)
    await let_lapse(chat, later, 30)
    assert [await store.settle_next() for _ in range(3)] == [late, later, None]
    assert await stored(chat, late) == [("cancelled", "expired", "system", True)]
    assert await stored(chat, never) == [("pending", None, None, None)]


async def test_an_expiry_is_a_closed_turn_with_one_row_and_ends_the_chain(
    chat: Chat, store: PostgresLapseStore
) -> None:
    turn = await chat.prompt()
    conversation = turn.lease.conversation_id
    await chat.pause(turn)
    before = await chat.see(conversation)
    await let_lapse(chat, conversation)
    await store.settle_next()
    rows = await chat.rows(conversation)
    assert [(row.type, row.seq) for row in rows] == [
        ("user", 1),
        ("tool_call", 2),
        ("tool_result", 3),
    ]
    assert rows[-1].result == {"action": "cancel", "reason": "expired"}
    ((kind, state, outcome, number, events, own_chain),) = await chat.query(
        "SELECT input_kind, state, outcome, turn_no, last_event, chain_id = id"
        " FROM turns WHERE id = :turn",
        turn=rows[-1].turn_id,
    )
    assert (kind, state, outcome, number, events) == ("system", "closed", "completed", 2, 0)
    assert own_chain
    assert await chat.step_numbers(turn) == []
    after = await chat.see(conversation)
    assert after.pending_ask is None
    assert after.update_time > before.update_time


async def test_many_reapers_settle_each_ask_once(chat: Chat, database_url: str) -> None:
    conversations = [await chat.waiting() for _ in range(30)]
    for conversation in conversations:
        await let_lapse(chat, conversation)
    engines = [create_engine(database_url, pool_size=2) for _ in range(4)]
    try:
        reapers = [Lapses(PostgresLapseStore(engine)) for engine in engines]
        async with asyncio.timeout(30):
            await asyncio.gather(*(reaper.settle_due() for reaper in reapers))
            # One may have passed by what another was about to settle.
            await reapers[0].settle_due()
    finally:
        for engine in engines:
            await engine.dispose()
    for conversation in conversations:
        assert await stored(chat, conversation) == [("cancelled", "expired", "system", True)]
        assert len(await chat.rows(conversation)) == 3


async def test_a_locked_conversation_holds_no_reaper_up(
    chat: Chat, store: PostgresLapseStore
) -> None:
    locked, free = [await chat.waiting() for _ in range(2)]
    await let_lapse(chat, locked, 60)
    await let_lapse(chat, free, 30)
    async with chat.engine.begin() as connection:
        await connection.execute(
            text("SELECT 1 FROM conversations WHERE id = :id FOR NO KEY UPDATE"), {"id": locked}
        )
        assert [await store.settle_next(), await store.settle_next()] == [free, None]
    assert await store.settle_next() == locked


async def test_a_deleted_conversation_has_nothing_to_settle(
    chat: Chat, store: PostgresLapseStore
) -> None:
    conversation = await chat.waiting()
    await chat.conversations.delete_conversation(OWNER, conversation)
    await let_lapse(chat, conversation)
    assert await store.settle_next() is None


@pytest.mark.parametrize("looks", [True, False], ids=["as it was seen", "under the lock"])
async def test_an_answer_to_what_has_lapsed_is_refused(engine: AsyncEngine, *, looks: bool) -> None:
    chat = Chat(engine, looks=looks)
    conversation = await chat.waiting()
    await let_lapse(chat, conversation)
    with pytest.raises(AskExpired):
        await chat.answer(conversation, "call_plan")
    assert await stored(chat, conversation) == [("pending", None, None, None)]


@pytest.mark.parametrize("looks", [True, False], ids=["as it was seen", "under the lock"])
async def test_a_message_settles_what_has_lapsed_and_cancels_nothing(
    engine: AsyncEngine, *, looks: bool
) -> None:
    chat = Chat(engine, looks=looks)
    conversation = await chat.waiting()
    await let_lapse(chat, conversation)
    turn = await chat.prompt("Still there?", conversation)
    assert turn.resolved is None
    assert turn.turn_no == 3
    assert [event.body.kind for event in turn.events] == ["started"]
    assert await stored(chat, conversation) == [("cancelled", "expired", "system", True)]


@pytest.mark.parametrize("looks", [True, False], ids=["as it was seen", "under the lock"])
async def test_an_ask_gets_the_slot_of_one_that_lapses_meanwhile(
    engine: AsyncEngine, *, looks: bool
) -> None:
    chat = Chat(engine, looks=looks)
    first = await chat.failed()
    conversation = first.lease.conversation_id
    running = await chat.retry(first)
    await chat.query("SELECT 1")
    async with engine.begin() as connection:
        # Another chain's ask came in, and its time is over before the retry asks.
        await connection.execute(
            text(
                "INSERT INTO asks (conversation_id, chain_id, owner, tool_call_id, kind, origin,"
                " tool_name, input, simple, status, created_by_service, expire_time)"
                " SELECT conversation_id, chain_id, owner, 'call_service', kind, 'service',"
                " 'service:errands', input, simple, 'pending', 'errands', now()"
                " FROM asks WHERE conversation_id = :id LIMIT 1"
            ),
            {"id": conversation},
        )
        await connection.execute(
            text("UPDATE conversations SET last_seq = last_seq + 1 WHERE id = :id"),
            {"id": conversation},
        )
    ended = await chat.pause(running, ask("call_region"), step_no=2)
    assert ended.result
    assert ended.result.pending_ask
    assert ended.result.pending_ask.tool_call_id == "call_region"


async def test_looking_for_what_has_lapsed_takes_an_index(
    chat: Chat, store: PostgresLapseStore
) -> None:
    conversation = await chat.waiting()
    async with chat.engine.begin() as connection:
        await connection.execute(
            text(
                "WITH c AS (INSERT INTO conversations (owner)"
                " SELECT 'bea' FROM generate_series(1, :count) RETURNING id)"
                ", t AS (INSERT INTO turns (id, conversation_id, turn_no, chain_id, owner,"
                " input_kind, state, outcome, close_time, context_max_seq, lease_holder,"
                " lease_until) SELECT id, id, 1, id, 'bea', 'service', 'closed', 'completed',"
                " now(), 0, '', now() FROM c RETURNING conversation_id)"
                " INSERT INTO asks (conversation_id, chain_id, owner, tool_call_id, kind,"
                " tool_name, input, simple, status, expire_time)"
                " SELECT t.conversation_id, t.conversation_id, 'bea', 'call', a.kind, a.tool_name,"
                " a.input, a.simple, 'pending', now() + interval '1 day' FROM t, asks a"
                " WHERE a.conversation_id = :id"
            ),
            {"count": OTHERS, "id": conversation},
        )
        await connection.execute(text("ANALYZE asks"))
    nodes = await plan(chat, partial(store.settle_next))
    assert "asks_expiry" in {node.get("Index Name") for node in nodes}
    assert max(node["Actual Rows"] for node in nodes) <= 1

"""Notices as they are listed, tried again and forgotten, and what looking at them costs."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.store.engine import create_engine
from parleyd.store.listed_notices import PostgresNoticeList
from parleyd.store.notices import (
    KEPT_DAYS,
    NEWS_HOURS,
    PostgresNoticeStore,
)
from parleyd.store.statements import driver_of
from tests.store.chat import Chat
from tests.store.noticed import answer, asked, change, claimed, sent, states
from tests.store.queries import all_told, queries_of


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


@pytest.fixture
def store(engine: AsyncEngine) -> PostgresNoticeStore:
    return PostgresNoticeStore(engine)


@pytest.fixture
def listed(engine: AsyncEngine) -> PostgresNoticeList:
    return PostgresNoticeList(engine)


async def test_dead_notices_are_listed_and_can_be_made_due(
    chat: Chat, store: PostgresNoticeStore, listed: PostgresNoticeList
) -> None:
    for _ in range(3):
        await store.note([await asked(chat)])
        await store.end_dead(await claimed(store), "HTTP 410")
    await store.note([await asked(chat)])
    due, *dead = await listed.read(10)
    assert [notice.state for notice in (due, *dead)] == ["due", "dead", "dead", "dead"]
    assert await listed.read_dead(2) == tuple(dead[:2])
    first = dead[0]
    assert (first.kind, first.attempts, first.last_error) == ("asked", 1, "HTTP 410")
    assert first.tool_call_id == "call_plan"
    assert first.end_time
    assert await listed.retry([first.id, due.id, first.ask_id]) == {first.id}
    assert await listed.retry([first.id]) == frozenset()
    again = {notice.id: notice.attempts for notice in await store.claim(10)}
    assert again == {due.id: 1, first.id: 1}
    assert await listed.retry_all() == {dead[1].id, dead[2].id}
    assert await listed.read_dead(10) == ()


async def test_notices_that_ended_long_ago_are_forgotten(
    chat: Chat, store: PostgresNoticeStore
) -> None:
    await sent(chat, store)
    await sent(chat, store)
    old = timedelta(days=KEPT_DAYS, minutes=1)
    await change(
        chat,
        "UPDATE asks SET create_time = now() - CAST(:old AS interval)",
        old=timedelta(hours=NEWS_HOURS, minutes=1),
    )
    await change(
        chat,
        "UPDATE notices SET end_time = now() - CAST(:old AS interval) WHERE id ="
        " (SELECT id FROM notices WHERE state = 'sent' LIMIT 1)",
        old=old,
    )
    await store.note_all()
    assert sorted(await states(chat)) == [
        ("asked", "sent"),
        ("resolved", "waiting"),
        ("resolved", "waiting"),
    ]


# ---------------------------------------------------------------- what it costs


async def many(chat: Chat, status: str, count: int) -> None:
    """Adds asks of other people."""
    await change(
        chat,
        "WITH c AS (INSERT INTO conversations (owner)"
        " SELECT 'bea' || g FROM generate_series(1, :count) g RETURNING id, owner)"
        ", t AS (INSERT INTO turns (id, conversation_id, turn_no, chain_id, owner, input_kind,"
        " state, outcome, close_time, context_max_seq, lease_holder, lease_until)"
        " SELECT id, id, 1, id, owner, 'service', 'closed', 'completed', now(), 0, '', now()"
        " FROM c RETURNING conversation_id, owner)"
        " INSERT INTO asks (conversation_id, chain_id, owner, tool_call_id, kind, tool_name, input,"
        " simple, status, answer, resolve_time)"
        " SELECT t.conversation_id, t.conversation_id, t.owner, 'call', a.kind, a.tool_name,"
        " a.input, a.simple, CAST(:status AS text),"
        " CASE WHEN :status <> 'pending' THEN CAST('{}' AS jsonb) END,"
        " CASE WHEN :status <> 'pending' THEN now() END"
        " FROM t, (SELECT * FROM asks LIMIT 1) a",
        count=count,
        status=status,
    )


async def plans(engine: AsyncEngine, act: Callable[[], Awaitable[object]]) -> list[str]:
    """Returns the plans of what is sent to the database, each as PostgreSQL runs it."""
    sent: list[tuple[str, Any]] = []
    async with engine.connect() as connection:
        driver = await connection.run_sync(driver_of)
        driver.add_query_logger(lambda record: sent.append((record.query, record.args)))
    await act()
    await all_told()
    queries = [each for each in sent if " notices" in each[0]]
    found: list[str] = []
    async with engine.connect() as connection:
        driver = await connection.run_sync(driver_of)
        for query, args in queries:
            transaction = driver.transaction()
            await transaction.start()
            explained = await driver.fetch(f"EXPLAIN ANALYZE {query}", *args)
            await transaction.rollback()
            found.append("\n".join(str(row[0]) for row in explained))
    return found


async def test_nothing_reads_a_table_through(chat: Chat, database_url: str) -> None:
    ask_id = await asked(chat)
    await many(chat, "answered", 40_000)
    await many(chat, "pending", 2_000)
    store = PostgresNoticeStore(chat.engine)
    await store.note_all()
    await change(chat, "UPDATE notices SET state = 'sent', end_time = now()")
    await change(
        chat,
        "INSERT INTO notices (ask_id, kind, state)"
        " SELECT ask_id, 'resolved', 'waiting' FROM notices",
    )
    await change(chat, "ANALYZE")
    one = create_engine(database_url, pool_size=1)
    try:
        store = PostgresNoticeStore(one)
        steps = {
            "note": partial(store.note, [ask_id]),
            "claim": partial(store.claim, 16),
            "look": store.note_all,
        }
        for name, act in steps.items():
            found = await plans(one, act)
            assert len(found) == {"note": 2, "claim": 1, "look": 3}[name]
            for each in found:
                assert "Seq Scan on asks" not in each, each
                if name != "look":
                    assert "Seq Scan" not in each, each
    finally:
        await one.dispose()


async def test_asking_and_answering_know_nothing_of_notices(chat: Chat) -> None:
    sent = queries_of(chat.engine)
    await answer(chat, await asked(chat))
    await all_told()
    assert sent
    assert not [query for query in sent if "notices" in query]
    assert await states(chat) == []

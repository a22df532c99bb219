"""Notices in the tables: what is noted, claimed and ended (spec turns 16.6)."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.cards import SimpleCard
from parleyd.store.engine import create_engine
from parleyd.store.notices import (
    CLAIM_SECONDS,
    NEWS_HOURS,
    PostgresNoticeStore,
)
from tests.store.chat import Chat
from tests.store.noticed import answer, asked, change, claimed, sent, states

SOON = 5.0


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


@pytest.fixture
def store(engine: AsyncEngine) -> PostgresNoticeStore:
    return PostgresNoticeStore(engine)


Looking = Callable[[PostgresNoticeStore, UUID], Awaitable[None]]


async def look_at_it(store: PostgresNoticeStore, ask_id: UUID) -> None:
    await store.note([ask_id])


async def look_at_all(store: PostgresNoticeStore, ask_id: UUID) -> None:
    del ask_id
    await store.note_all()


either_way = pytest.mark.parametrize("look", [look_at_it, look_at_all])

# ---------------------------------------------------------------- noting


@either_way
async def test_a_pending_ask_is_noted_once(
    chat: Chat, store: PostgresNoticeStore, look: Looking
) -> None:
    ask_id = await asked(chat)
    await asyncio.gather(*(look(store, ask_id) for _ in range(5)))
    assert await states(chat) == [("asked", "due")]
    notice = await claimed(store)
    assert (notice.kind, notice.attempts, notice.title) == ("asked", 1, None)
    assert (notice.ask.id, notice.ask.status) == (ask_id, "pending")
    assert isinstance(notice.ask.simple, SimpleCard)


@either_way
async def test_what_was_answered_before_anybody_looked_is_not_noted(
    chat: Chat, store: PostgresNoticeStore, look: Looking
) -> None:
    ask_id = await asked(chat)
    await answer(chat, ask_id)
    await look(store, ask_id)
    assert await states(chat) == []


@either_way
@pytest.mark.parametrize(("minutes", "noted"), [(-10, True), (10, False)])
async def test_what_has_waited_too_long_unseen_is_not_noted(
    chat: Chat, store: PostgresNoticeStore, look: Looking, minutes: int, *, noted: bool
) -> None:
    ask_id = await asked(chat)
    age = timedelta(hours=NEWS_HOURS, minutes=minutes)
    await change(chat, "UPDATE asks SET create_time = now() - CAST(:age AS interval)", age=age)
    await look(store, ask_id)
    assert await states(chat) == ([("asked", "due")] if noted else [])


@either_way
async def test_an_ask_whose_time_is_over_is_not_noted(
    chat: Chat, store: PostgresNoticeStore, look: Looking
) -> None:
    ask_id = await asked(chat)
    await change(chat, "UPDATE asks SET expire_time = now()")
    await look(store, ask_id)
    assert await states(chat) == []


@either_way
@pytest.mark.parametrize("how", ["answered", "over"])
async def test_the_end_of_what_was_told_is_due(
    chat: Chat, store: PostgresNoticeStore, look: Looking, how: str
) -> None:
    ask_id = await sent(chat, store)
    assert await states(chat) == [("asked", "sent"), ("resolved", "waiting")]
    await look(store, ask_id)
    assert await store.claim(10) == ()
    if how == "answered":
        await answer(chat, ask_id)
    else:
        await change(chat, "UPDATE asks SET expire_time = now()")
    await look(store, ask_id)
    notice = await claimed(store)
    status, action = ("answered", "accept") if how == "answered" else ("cancelled", "cancel")
    assert notice.ask.answer
    assert (notice.kind, notice.ask.status) == ("resolved", status)
    assert notice.ask.answer["action"] == action
    await store.end_sent(notice)
    await look(store, ask_id)
    assert await states(chat) == [("asked", "sent"), ("resolved", "sent")]


@either_way
async def test_an_end_that_was_long_ago_is_not_told(
    chat: Chat, store: PostgresNoticeStore, look: Looking
) -> None:
    ask_id = await sent(chat, store)
    await answer(chat, ask_id)
    age = timedelta(hours=NEWS_HOURS, minutes=1)
    await change(chat, "UPDATE asks SET resolve_time = now() - CAST(:age AS interval)", age=age)
    await look(store, ask_id)
    assert await states(chat) == [("asked", "sent"), ("resolved", "dropped")]


async def test_what_is_answered_untold_is_dropped_at_once(
    chat: Chat, store: PostgresNoticeStore
) -> None:
    ask_id = await asked(chat)
    await store.note([ask_id])
    notice = await claimed(store)
    await store.put_off(notice, "HTTP 500", 3600)
    await answer(chat, ask_id)
    await store.note([ask_id])
    assert await states(chat) == [("asked", "dropped")]


async def test_what_is_answered_while_it_is_sent_is_left_to_who_sends_it(
    chat: Chat, store: PostgresNoticeStore
) -> None:
    ask_id = await asked(chat)
    await store.note([ask_id])
    notice = await claimed(store)
    await answer(chat, ask_id)
    await store.note([ask_id])
    assert await states(chat) == [("asked", "due")]
    await store.end_sent(notice)
    assert await states(chat) == [("asked", "sent"), ("resolved", "due")]


async def test_an_answer_that_is_being_stored_is_waited_for_and_seen(
    chat: Chat, store: PostgresNoticeStore
) -> None:
    ask_id = await asked(chat)
    await store.note([ask_id])
    notice = await claimed(store)
    async with chat.engine.begin() as connection:
        await connection.execute(
            text(
                "UPDATE asks SET status = 'cancelled', answer = '{\"action\":\"cancel\"}',"
                " resolve_time = now()"
            )
        )
        ending = asyncio.ensure_future(store.end_sent(notice))
        await asyncio.wait([ending], timeout=0.3)
        assert not ending.done()
    await ending
    assert await states(chat) == [("asked", "sent"), ("resolved", "due")]


# ---------------------------------------------------------------- claims


async def test_of_many_who_claim_each_notice_is_one_s(chat: Chat, database_url: str) -> None:
    ask_ids = [await asked(chat) for _ in range(30)]
    engines = [create_engine(database_url, pool_size=2) for _ in range(4)]
    try:
        stores = [PostgresNoticeStore(engine) for engine in engines]
        await asyncio.gather(*(store.note(ask_ids) for store in stores))
        found: list[UUID] = []
        async with asyncio.timeout(30):
            for _ in range(4):
                batches = await asyncio.gather(*(store.claim(4) for store in stores))
                found += [notice.ask.id for batch in batches for notice in batch]
    finally:
        for engine in engines:
            await engine.dispose()
    assert sorted(found) == sorted(ask_ids)


async def test_a_row_that_somebody_has_locked_holds_no_claim_up(
    chat: Chat, store: PostgresNoticeStore
) -> None:
    locked, free = await asked(chat), await asked(chat)
    await store.note([locked])
    await store.note([free])
    async with chat.engine.begin() as connection:
        await connection.execute(
            text("SELECT 1 FROM notices WHERE ask_id = :ask FOR UPDATE"), {"ask": locked}
        )
        async with asyncio.timeout(SOON):
            assert [notice.ask.id for notice in await store.claim(10)] == [free]
    assert (await claimed(store)).ask.id == locked


async def test_a_claim_runs_out_and_its_owner_can_write_nothing_then(
    chat: Chat, store: PostgresNoticeStore
) -> None:
    await store.note([await asked(chat)])
    lost = await claimed(store)
    assert await store.claim(10) == ()
    ((left,),) = await chat.query(
        "SELECT extract(epoch FROM claimed_until - now())::float8 FROM notices"
    )
    assert CLAIM_SECONDS - SOON < left <= CLAIM_SECONDS
    await change(chat, "UPDATE notices SET claimed_until = now()")
    mine = await claimed(store)
    assert (mine.id, mine.attempts) == (lost.id, 2)
    await store.end_sent(lost)
    await store.end_dead(lost, "HTTP 410")
    await store.put_off(lost, "HTTP 500", 0)
    await store.drop(lost)
    await store.give_back(lost)
    assert await states(chat) == [("asked", "due")]
    assert await store.claim(10) == ()
    await store.end_sent(mine)
    assert (await states(chat))[0] == ("asked", "sent")


async def test_what_is_given_back_is_due_and_has_cost_no_try(
    chat: Chat, store: PostgresNoticeStore
) -> None:
    await store.note([await asked(chat)])
    await store.give_back(await claimed(store))
    assert (await claimed(store)).attempts == 1


async def test_what_is_put_off_is_due_when_its_pause_is_over(
    chat: Chat, store: PostgresNoticeStore
) -> None:
    await store.note([await asked(chat)])
    await store.put_off(await claimed(store), "HTTP 503", 100)
    assert await store.claim(10) == ()
    ((pause, why),) = await chat.query(
        "SELECT extract(epoch FROM next_time - now())::float8, last_error FROM notices"
    )
    assert 100 - SOON < pause <= 100
    assert why == "HTTP 503"
    await change(chat, "UPDATE notices SET next_time = now()")
    assert (await claimed(store)).attempts == 2

"""Asks that are told of, and their notices in the tables."""

from typing import Any
from uuid import UUID

from sqlalchemy import text

from parleyd.store.notices import (
    PostgresNoticeStore,
)
from parleyd.turns.notices import Notice
from tests.store.chat import Chat


async def asked(chat: Chat) -> UUID:
    """Returns an ask that somebody waits on."""
    conversation = await chat.waiting()
    pending = await chat.pending(conversation)
    assert pending
    return pending.id


async def answer(chat: Chat, ask_id: UUID) -> None:
    ((conversation,),) = await chat.query(
        "SELECT conversation_id FROM asks WHERE id = :ask", ask=ask_id
    )
    await chat.answer(conversation, "call_plan")


async def change(chat: Chat, statement: str, **values: Any) -> None:
    async with chat.engine.begin() as connection:
        await connection.execute(text(statement), values)


async def states(chat: Chat) -> list[tuple[Any, ...]]:
    """Returns the kind and state of each notice."""
    return await chat.query("SELECT kind, state FROM notices ORDER BY create_time, kind")


async def claimed(store: PostgresNoticeStore) -> Notice:
    """Returns the only notice that is due, claimed."""
    (notice,) = await store.claim(10)
    return notice


async def sent(chat: Chat, store: PostgresNoticeStore) -> UUID:
    """Returns an ask that the receiver was told of."""
    ask_id = await asked(chat)
    await store.note([ask_id])
    await store.end_sent(await claimed(store))
    return ask_id

"""Ratings of messages: one column of one row."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.errors import ConversationNotFound, MessageNotFound, NotOwner, Unavailable
from parleyd.contract.messages import Message, Rating
from parleyd.store.engine import create_engine
from tests.store.chat import OWNER, Chat
from tests.store.lossy_proxy import lossy_proxy


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


async def rate(
    chat: Chat, conversation: UUID, message: int, rating: Rating | None, owner: str = OWNER
) -> None:
    await chat.conversations.rate_message(owner, conversation, message, rating)


async def replied(chat: Chat) -> UUID:
    """Returns a conversation of a message and a reply."""
    turn = await chat.prompt()
    await chat.reply(turn)
    return turn.lease.conversation_id


async def ratings(chat: Chat, conversation: UUID) -> list[Rating | None]:
    return [row.rating for row in await chat.rows(conversation)]


@asynccontextmanager
async def locked(chat: Chat, conversation: UUID) -> AsyncGenerator[None]:
    """Holds a conversation's lock, as a turn that ends does."""
    async with chat.engine.begin() as connection:
        await connection.execute(
            text("SELECT 1 FROM conversations WHERE id = :id FOR NO KEY UPDATE"),
            {"id": conversation},
        )
        yield


async def test_a_message_is_rated_and_the_rating_taken_back(chat: Chat) -> None:
    conversation = await replied(chat)
    seen: list[list[Rating | None]] = []

    steps: tuple[Rating | None, ...] = ("up", "down", "down", None, None)
    for rating in steps:
        await rate(chat, conversation, 2, rating)
        seen.append(await ratings(chat, conversation))

    assert seen == [[None, rating] for rating in steps]


async def test_any_row_may_be_rated(chat: Chat) -> None:
    conversation = await chat.waiting()
    await chat.reply(await chat.answer(conversation, "call_plan"))
    rows = await chat.rows(conversation)

    for row in rows:
        await rate(chat, conversation, row.seq, "up")

    assert len(rows) == 4
    assert await ratings(chat, conversation) == ["up"] * 4


async def test_a_rating_changes_nothing_else(chat: Chat) -> None:
    conversation, other = await replied(chat), await replied(chat)
    before, rows = await chat.see(conversation), await chat.rows(conversation)
    untouched = await chat.rows(other)

    await rate(chat, conversation, 2, "up")

    assert await chat.see(conversation) == before
    assert await chat.rows(conversation) == (rows[0], as_rated(rows[1], "up"))
    assert await chat.rows(other) == untouched


def as_rated(message: Message, rating: Rating) -> Message:
    return message.model_copy(update={"rating": rating})


async def test_h4_a_rating_while_a_turn_runs_loses_nothing(chat: Chat) -> None:
    conversation = await replied(chat)
    turn = await chat.prompt("More", conversation)

    await rate(chat, conversation, 2, "down")
    await chat.reply(turn, "More of it.")
    await rate(chat, conversation, 4, "up")

    rows = await chat.rows(conversation)
    assert [(row.text, row.rating) for row in rows] == [
        ("Set me up", None),
        ("Done.", "down"),
        ("More", None),
        ("More of it.", "up"),
    ]


async def test_h4_a_rating_waits_for_no_turn(chat: Chat) -> None:
    conversation = await replied(chat)

    async with locked(chat, conversation):
        await rate(chat, conversation, 2, "up")

        assert await ratings(chat, conversation) == [None, "up"]


@pytest.mark.parametrize("message", [0, -1, 3, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**30])
async def test_h4_a_message_that_is_not_there_is_not_found(chat: Chat, message: int) -> None:
    conversation, other = await replied(chat), await replied(chat)
    await chat.prompt("A third row", other)

    with pytest.raises(MessageNotFound):
        await rate(chat, conversation, message, "up")

    assert await ratings(chat, conversation) == [None, None]
    assert await ratings(chat, other) == [None, None, None]


async def test_nobody_rates_anothers_messages(chat: Chat) -> None:
    conversation = await replied(chat)

    for message in (2, 99):
        with pytest.raises(NotOwner):
            await rate(chat, conversation, message, "up", owner="eve")

    assert await ratings(chat, conversation) == [None, None]


@pytest.mark.parametrize("owner", [OWNER, "eve"])
async def test_a_deleted_conversation_has_nothing_to_rate(chat: Chat, owner: str) -> None:
    conversation = await replied(chat)
    await chat.conversations.delete_conversation(OWNER, conversation)

    with pytest.raises(ConversationNotFound):
        await rate(chat, conversation, 2, "up", owner=owner)

    assert await chat.query("SELECT count(*) FROM messages WHERE rating IS NOT NULL") == [(0,)]


async def test_a_rating_whose_commit_is_lost_is_looked_up(chat: Chat, database_url: str) -> None:
    conversation = await replied(chat)
    async with lossy_proxy(database_url) as proxy:
        engine = create_engine(proxy.url, pool_size=3)
        lossy = Chat(engine)
        await rate(lossy, conversation, 2, "down")

        proxy.armed = "before"
        with pytest.raises(Unavailable):
            await rate(lossy, conversation, 2, None)
        assert await ratings(chat, conversation) == [None, "down"]

        proxy.armed = "after"
        await rate(lossy, conversation, 2, None)
        assert await ratings(chat, conversation) == [None, None]
        assert proxy.lost == 2
        await engine.dispose()

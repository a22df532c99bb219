"""Conversations that are made once, however often their request comes."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from parleyd.contract import limits
from parleyd.contract.conversations import Conversation
from parleyd.contract.errors import ConversationNotFound, RequestIdReused, Unavailable
from parleyd.store.engine import create_engine
from parleyd.turns.conversations import ConversationChanges
from parleyd.turns.requests import conversation_request_key
from tests.store.chat import OWNER, Chat
from tests.store.lossy_proxy import lossy_proxy


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


async def create(
    chat: Chat, request_id: UUID | None, title: str | None = "Trip", owner: str = OWNER
) -> Conversation:
    """Asks for a conversation as a client does, which sends no id of it."""
    key = conversation_request_key(request_id, title, None)
    return await chat.conversations.create_conversation(owner, uuid4(), title, None, key)


async def made(chat: Chat) -> int:
    ((count,),) = await chat.query("SELECT count(*) FROM conversations")
    return count


async def make_older(chat: Chat, seconds: int) -> None:
    async with chat.engine.begin() as connection:
        age = f"create_time - make_interval(secs => {seconds})"
        await connection.execute(text(f"UPDATE conversation_requests SET create_time = {age}"))


# ---------------------------------------------------------------- repeats


async def test_a_repeat_gets_the_conversation_as_it_is_now(chat: Chat) -> None:
    request = uuid4()
    first = await create(chat, request)
    changes = ConversationChanges(frozenset({"title"}), "Renamed")
    renamed = await chat.conversations.update_conversation(OWNER, first.id, changes)

    again = await create(chat, request)

    assert (again, again.title) == (renamed, "Renamed")
    assert await made(chat) == 1


async def test_requests_without_an_id_and_with_ids_of_their_own_are_not_repeats(
    chat: Chat,
) -> None:
    for request in (None, None, uuid4(), uuid4()):
        await create(chat, request)

    assert await made(chat) == 4


async def test_a_request_id_is_its_owners(chat: Chat) -> None:
    request = uuid4()

    mine, hers = await create(chat, request), await create(chat, request, owner="eve")

    assert mine.id != hers.id
    assert (await create(chat, request, owner="eve")).id == hers.id


async def test_another_request_with_the_same_id_is_refused(chat: Chat) -> None:
    request = uuid4()
    first = await create(chat, request)

    with pytest.raises(RequestIdReused) as refused:
        await create(chat, request, title="Another")

    assert refused.value.metadata == {"request_id": str(request)}
    assert await made(chat) == 1
    assert await create(chat, request) == first


async def test_a_repeat_does_not_find_a_conversation_that_was_deleted(chat: Chat) -> None:
    request = uuid4()
    await chat.conversations.delete_conversation(OWNER, (await create(chat, request)).id)

    with pytest.raises(ConversationNotFound):
        await create(chat, request)

    assert await made(chat) == 1


async def test_a_request_that_failed_has_not_used_its_id(chat: Chat) -> None:
    request = uuid4()
    with pytest.raises(IntegrityError):
        await create(chat, request, title="x" * 201)

    assert (await create(chat, request)).title == "Trip"


async def test_a_request_id_counts_for_a_time_and_is_free_then(chat: Chat) -> None:
    request, seconds = uuid4(), limits.REQUEST_ID_HOURS * 3600
    first = await create(chat, request)

    await make_older(chat, seconds - 60)
    assert await create(chat, request) == first

    await make_older(chat, 60)
    second = await create(chat, request, title="Another")
    assert (second.id, second.title) != (first.id, first.title)
    assert await create(chat, request, title="Another") == second
    with pytest.raises(RequestIdReused):
        await create(chat, request)
    assert await made(chat) == 2


# ---------------------------------------------------------------- at the same time


async def test_of_many_first_requests_one_makes_the_conversation(chat: Chat) -> None:
    request = uuid4()

    all_ = await asyncio.gather(*(create(chat, request) for _ in range(8)))

    assert len({conversation.id for conversation in all_}) == 1
    assert await made(chat) == 1


async def test_of_two_requests_that_share_an_id_one_is_refused(chat: Chat) -> None:
    request = uuid4()

    results = await asyncio.gather(
        create(chat, request), create(chat, request, title="Another"), return_exceptions=True
    )

    assert sorted(type(result).__name__ for result in results) == [
        "Conversation",
        "RequestIdReused",
    ]
    assert await made(chat) == 1


@asynccontextmanager
async def being_created(chat: Chat, request: UUID, key: UUID) -> AsyncGenerator[AsyncConnection]:
    """Makes a conversation as another process does, which has not committed yet."""
    found = conversation_request_key(request, "Trip", None)
    assert found
    async with chat.engine.connect() as connection:
        await connection.execute(
            text("INSERT INTO conversations (id, owner, title) VALUES (:id, :owner, 'Trip')"),
            {"id": key, "owner": OWNER},
        )
        await connection.execute(
            text("INSERT INTO conversation_requests VALUES (:owner, :request, :digest, :id)"),
            {"owner": OWNER, "request": str(request), "digest": found.digest, "id": key},
        )
        yield connection


@pytest.mark.parametrize("outcome", ["commit", "rollback"])
async def test_a_request_waits_for_the_one_before_it(chat: Chat, outcome: str) -> None:
    request, key = uuid4(), uuid4()
    waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"

    async with being_created(chat, request, key) as connection:
        second = asyncio.create_task(create(chat, request))
        async with asyncio.timeout(2):
            while not await chat.query(waits):
                pass
        assert not second.done()
        await (connection.commit() if outcome == "commit" else connection.rollback())
        found = await second

    assert (found.id == key) is (outcome == "commit")
    assert await made(chat) == 1


# ---------------------------------------------------------------- lost COMMITs


@pytest.mark.parametrize("old", [False, True], ids=["a free id", "an old id"])
async def test_a_creation_whose_commit_is_lost_is_looked_up(
    chat: Chat, database_url: str, *, old: bool
) -> None:
    request = uuid4()
    if old:
        await create(chat, request)
        await make_older(chat, limits.REQUEST_ID_HOURS * 3600)
    before = await made(chat)
    async with lossy_proxy(database_url) as proxy:
        engine = create_engine(proxy.url, pool_size=3)
        lossy = Chat(engine)

        proxy.armed = "before"
        with pytest.raises(Unavailable):
            await create(lossy, request)
        assert await made(chat) == before

        proxy.armed = "after"
        first = await create(lossy, request)
        assert await made(chat) == before + 1

        proxy.armed = "before"
        assert await create(lossy, request) == first
        assert (await made(chat), proxy.lost) == (before + 1, 3)
        await engine.dispose()

"""Action tokens in the tables (spec turns 16.7)."""

import asyncio
import hashlib
from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract import limits
from parleyd.contract.errors import AskNotPending, ConversationNotFound, NotOwner, Unavailable
from parleyd.store.action_tokens import PostgresActionTokenStore
from parleyd.store.engine import create_engine
from parleyd.store.retention import ROWS_AT_ONCE, ClearedRows, clear_old_rows
from parleyd.turns.action_tokens import NewToken, StoredToken
from parleyd.turns.ports import AnswerOpening, OpenedTurn, TokenPress
from tests.store.chat import OWNER, TEAM, Chat, prompt_opening
from tests.store.lossy_proxy import lossy_proxy
from tests.store.test_lapses import let_lapse

BUTTON = "option:team"
DAY = float(limits.ACTION_TOKEN_SECONDS_MAX)


@pytest.fixture(params=[True, False], ids=["as_seen", "locked"])
def chat(engine: AsyncEngine, request: pytest.FixtureRequest) -> Chat:
    return Chat(engine, looks=request.param)


@pytest.fixture
def store(engine: AsyncEngine) -> PostgresActionTokenStore:
    return PostgresActionTokenStore(engine)


def digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def new_token(ask_id: UUID, secret: str = "one", seconds: float = DAY) -> NewToken:
    return NewToken(digest(secret), ask_id, (BUTTON,), seconds)


async def a_token(chat: Chat, store: PostgresActionTokenStore, secret: str = "one") -> UUID:
    """Returns a conversation that waits on an ask which a token may answer."""
    conversation = await chat.waiting()
    pending = await chat.pending(conversation)
    assert pending
    assert await store.add_token(new_token(pending.id, secret))
    return conversation


async def press(chat: Chat, conversation: UUID, secret: str = "one") -> OpenedTurn:
    token = TokenPress(digest(secret), BUTTON)
    opening = prompt_opening(conversation_id=conversation)
    made = AnswerOpening("action_token", "call_plan", TEAM, token)
    return await chat.open(replace(opening, input=made, surface="compact"))


async def read(store: PostgresActionTokenStore, secret: str = "one") -> StoredToken:
    token = await store.read_token(digest(secret))
    assert token
    return token


async def test_what_was_stored_is_read(chat: Chat, store: PostgresActionTokenStore) -> None:
    conversation = await a_token(chat, store)
    assert await read(store) == StoredToken(
        owner=OWNER,
        conversation_id=conversation,
        tool_call_id="call_plan",
        button_ids=(BUTTON,),
        redeemable=True,
        used_by_turn=None,
        used_button_id=None,
    )
    assert await store.read_token(digest("another")) is None


async def test_the_transaction_that_opens_the_turn_uses_the_token(
    chat: Chat, store: PostgresActionTokenStore
) -> None:
    conversation = await a_token(chat, store)
    pending = await chat.pending(conversation)
    assert pending
    await store.add_token(new_token(pending.id, "two"))
    turn = await press(chat, conversation)
    used, dead = await read(store), await read(store, "two")
    assert (used.used_by_turn, used.used_button_id) == (turn.lease.turn_id, BUTTON)
    assert (used.redeemable, dead.redeemable, dead.used_by_turn) == (False, False, None)
    assert turn.input_kind == "action_token"
    with pytest.raises(AskNotPending):
        await press(chat, conversation, "two")
    assert (await read(store, "two")).used_by_turn is None


async def test_of_many_presses_at_once_one_opens_a_turn(
    chat: Chat, store: PostgresActionTokenStore
) -> None:
    conversation = await a_token(chat, store)
    outcomes = await asyncio.gather(
        *(press(chat, conversation) for _ in range(8)), return_exceptions=True
    )
    (opened,) = [each for each in outcomes if isinstance(each, OpenedTurn)]
    assert sum(isinstance(each, AskNotPending) for each in outcomes) == 7
    assert (await read(store)).used_by_turn == opened.lease.turn_id


@pytest.mark.parametrize("how", ["answer", "prompt", "delete", "lapse"])
async def test_a_token_dies_with_its_ask(
    chat: Chat, store: PostgresActionTokenStore, how: str
) -> None:
    conversation = await a_token(chat, store)
    match how:
        case "answer":
            await chat.answer(conversation, "call_plan")
        case "prompt":
            await chat.prompt("Never mind", conversation)
        case "lapse":
            await let_lapse(chat, conversation)
        case _:
            await chat.conversations.delete_conversation(OWNER, conversation)
            assert await store.read_token(digest("one")) is None
            return
    token = await read(store)
    assert (token.redeemable, token.used_by_turn) == (False, None)


async def test_the_clock_of_the_database_ends_a_token(
    chat: Chat, store: PostgresActionTokenStore
) -> None:
    conversation = await a_token(chat, store)
    pending = await chat.pending(conversation)
    assert pending
    assert await store.add_token(new_token(pending.id, "short", 0.0))
    assert not (await read(store, "short")).redeemable
    assert (await read(store)).redeemable


async def test_the_end_of_the_ask_is_the_end_of_its_tokens(
    chat: Chat, store: PostgresActionTokenStore
) -> None:
    conversation = await chat.waiting()
    pending = await chat.pending(conversation)
    assert pending
    await let_lapse(chat, conversation, -60)
    ends = await store.add_token(new_token(pending.id))
    lapsing = await chat.pending(conversation)
    assert lapsing
    assert ends == lapsing.expire_time
    await let_lapse(chat, conversation)
    assert await store.add_token(new_token(pending.id, "late")) is None
    assert await store.read_token(digest("late")) is None


async def test_an_ask_that_is_resolved_gets_no_token(
    chat: Chat, store: PostgresActionTokenStore
) -> None:
    conversation = await chat.waiting()
    pending = await chat.pending(conversation)
    assert pending
    await chat.answer(conversation, "call_plan")
    assert await store.add_token(new_token(pending.id)) is None


async def test_the_asks_of_a_conversation_are_read_for_its_owner_and_for_services(
    chat: Chat, store: PostgresActionTokenStore
) -> None:
    conversation = await chat.waiting()
    pending = await chat.pending(conversation)
    for owner in (OWNER, None):
        asks = await store.read_asks(owner, conversation, "call_plan")
        assert asks.pending == asks.named == pending
        other = await store.read_asks(owner, conversation, "call_other")
        assert (other.pending, other.named) == (pending, None)
    with pytest.raises(NotOwner):
        await store.read_asks("eve", conversation, "call_plan")
    await chat.answer(conversation, "call_plan")
    resolved = await store.read_asks(OWNER, conversation, "call_plan")
    assert resolved.pending is None
    assert resolved.named
    assert resolved.named.status == "answered"
    empty = await store.read_asks(OWNER, await chat.create(), "call_plan")
    assert (empty.pending, empty.named) == (None, None)
    await chat.conversations.delete_conversation(OWNER, conversation)
    for gone in (conversation, uuid4()):
        for owner in (OWNER, None):
            with pytest.raises(ConversationNotFound):
                await store.read_asks(owner, gone, "call_plan")


async def test_a_lost_statement_is_looked_up(chat: Chat, database_url: str) -> None:
    conversation = await chat.waiting()
    pending = await chat.pending(conversation)
    assert pending
    async with lossy_proxy(database_url) as proxy:
        engine = create_engine(proxy.url, pool_size=3)
        store = PostgresActionTokenStore(engine)
        proxy.armed = "before"
        with pytest.raises(Unavailable):
            await store.add_token(new_token(pending.id))
        proxy.armed = "after"
        ends = await store.add_token(new_token(pending.id))
        assert await chat.query("SELECT expire_time FROM action_tokens") == [(ends,)]
        await engine.dispose()


# ---------------------------------------------------------------- retention

MANY = 2 * ROWS_AT_ONCE + 7


async def test_tokens_are_removed_a_day_after_their_end(
    chat: Chat, store: PostgresActionTokenStore
) -> None:
    conversation = await a_token(chat, store, "old")
    pending = await chat.pending(conversation)
    assert pending
    await store.add_token(new_token(pending.id, "young"))
    await store.add_token(new_token(pending.id, "living"))
    hours = timedelta(hours=limits.USED_TOKEN_HOURS)
    for secret, ago in (("old", hours + timedelta(minutes=5)), ("young", timedelta(hours=1))):
        async with chat.engine.begin() as connection:
            await connection.execute(
                text(
                    "UPDATE action_tokens SET expire_time = now() - CAST(:ago AS interval)"
                    " WHERE token_hash = :hash"
                ),
                {"ago": ago, "hash": digest(secret)},
            )
    assert await clear_old_rows(chat.engine) == ClearedRows(action_tokens=1)
    assert await store.read_token(digest("old")) is None
    assert not (await read(store, "young")).redeemable
    assert (await read(store, "living")).redeemable


async def test_very_many_tokens_are_removed_in_one_round(
    chat: Chat, store: PostgresActionTokenStore
) -> None:
    await a_token(chat, store)
    async with chat.engine.begin() as connection:
        await connection.execute(
            text(
                "INSERT INTO action_tokens (token_hash, ask_id, owner, button_ids, expire_time)"
                " SELECT sha256(CAST(CAST(n AS text) AS bytea)), ask_id, owner, button_ids,"
                " now() - interval '2 days' FROM action_tokens, generate_series(1, :many) AS n"
            ),
            {"many": MANY},
        )
    assert await clear_old_rows(chat.engine) == ClearedRows(action_tokens=MANY)
    assert await chat.query("SELECT count(*) FROM action_tokens") == [(1,)]

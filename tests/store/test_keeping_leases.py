"""Leases: kept by a heartbeat, and given up (spec turns 16.3)."""

import asyncio

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract import limits
from parleyd.contract.errors import Unavailable
from parleyd.store.engine import create_engine
from parleyd.store.leases import PostgresLeaseStore
from parleyd.turns.ports import OpenedTurn
from tests.store.chat import Chat
from tests.store.lossy_proxy import lossy_proxy
from tests.store.takeovers import everything, take
from tests.store.tool_calls import die


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


@pytest.fixture
def leases(engine: AsyncEngine) -> PostgresLeaseStore:
    return PostgresLeaseStore(engine, engine)


# ---------------------------------------------------------------- the heartbeat


async def _seconds_left(chat: Chat, turn: OpenedTurn) -> float:
    ((left,),) = await chat.query(
        "SELECT extract(epoch FROM lease_until - now()) FROM turns WHERE id = :turn",
        turn=turn.lease.turn_id,
    )
    return float(left)


async def test_leases_that_hold_are_renewed_and_the_others_left_alone(
    chat: Chat, leases: PostgresLeaseStore
) -> None:
    held, late, lost, released, closed, committed = [await chat.prompt() for _ in range(6)]
    await die(chat.engine, lost, seconds=9)
    await take(leases)
    await die(chat.engine, held, late, seconds=-2)
    await die(chat.engine, late)
    await leases.release_turn(released)
    await chat.reply(closed)
    await chat.reply(committed, title_due=True)
    await die(chat.engine, committed, seconds=-2)
    taken_over = await chat.query(
        "SELECT lease_until FROM turns WHERE id = :turn", turn=lost.lease.turn_id
    )

    still = await leases.renew_leases(
        [turn.lease for turn in (held, late, lost, released, closed, committed)]
    )

    assert still == {turn.lease.turn_id for turn in (held, late, committed)}
    for turn in (held, late, committed):
        assert await _seconds_left(chat, turn) > limits.LEASE_SECONDS - 2
    assert taken_over == await chat.query(
        "SELECT lease_until FROM turns WHERE id = :turn", turn=lost.lease.turn_id
    )
    taken = await take(leases)
    assert taken.turn.lease.turn_id == released.lease.turn_id


async def test_the_heartbeat_waits_for_no_turn_that_is_being_written(
    chat: Chat, leases: PostgresLeaseStore
) -> None:
    written, other = await chat.prompt(), await chat.prompt()
    await die(chat.engine, written, other, seconds=-1)

    async with chat.engine.begin() as connection:
        await connection.execute(
            text("SELECT 1 FROM turns WHERE id = :turn FOR NO KEY UPDATE"),
            {"turn": written.lease.turn_id},
        )
        async with asyncio.timeout(1):
            still = await leases.renew_leases([written.lease, other.lease])

    assert still == {written.lease.turn_id, other.lease.turn_id}
    assert await _seconds_left(chat, other) > limits.LEASE_SECONDS - 2


async def test_the_heartbeat_needs_none_of_the_turns_connections(
    chat: Chat, database_url: str
) -> None:
    turn = await chat.prompt()
    busy = create_engine(database_url, pool_size=1)
    renewing = create_engine(database_url, pool_size=1)

    async with busy.connect(), asyncio.timeout(1):
        still = await PostgresLeaseStore(busy, renewing).renew_leases([turn.lease])

    assert still == {turn.lease.turn_id}
    await busy.dispose()
    await renewing.dispose()


async def test_without_leases_the_heartbeat_asks_nobody() -> None:
    nowhere = create_engine("postgresql:///?host=/nowhere", pool_size=1)

    assert await PostgresLeaseStore(nowhere, nowhere).renew_leases([]) == frozenset()


async def test_a_heartbeat_without_a_database_says_so(chat: Chat) -> None:
    turn = await chat.prompt()
    nowhere = create_engine("postgresql:///?host=/nowhere", pool_size=1)

    with pytest.raises(Unavailable):
        await PostgresLeaseStore(nowhere, nowhere).renew_leases([turn.lease])


# ---------------------------------------------------------------- giving up


async def test_a_lost_lease_can_not_be_given_back(chat: Chat, leases: PostgresLeaseStore) -> None:
    turn = await chat.prompt()
    await die(chat.engine, turn)
    await take(leases)
    closed = await chat.prompt()
    await chat.reply(closed)
    before = await everything(chat)

    await leases.release_turn(turn)
    await leases.release_turn(closed)

    assert await everything(chat) == before


async def test_a_turn_that_waits_for_its_title_can_be_given_back(
    chat: Chat, leases: PostgresLeaseStore
) -> None:
    turn = await chat.prompt()
    await chat.reply(turn, title_due=True)

    await leases.release_turn(turn)

    assert (await take(leases)).verdict == "close"


async def test_a_takeover_whose_commit_is_lost_is_made_again(
    chat: Chat, leases: PostgresLeaseStore, database_url: str
) -> None:
    turn = await chat.prompt()
    await die(chat.engine, turn)
    async with lossy_proxy(database_url) as proxy:
        engine = create_engine(proxy.url, pool_size=2)
        proxy.armed = "after"
        with pytest.raises(Unavailable):
            await PostgresLeaseStore(engine, engine).take_turn("process-2", ())
        await engine.dispose()

    await die(chat.engine, turn)
    taken = await take(leases, "process-3")

    assert (taken.verdict, taken.turn.lease.epoch) == ("go_on", 3)

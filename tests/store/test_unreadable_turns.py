"""Turns that this version can't read: left to a process that can, in nobody's way (16.3)."""

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine
from structlog.testing import capture_logs

from parleyd.store.leases import PostgresLeaseStore
from parleyd.turns.ports import OpenedTurn
from tests.store.chat import Chat
from tests.store.tool_calls import die

NEWER = b'{"kind":"sung","words":"SECRET"}'
EVENT = "UPDATE turn_events SET payload = :value WHERE turn_id = :turn"
CARD = (
    "UPDATE asks SET simple = cast(convert_from(:value, 'UTF8') AS jsonb)"
    " WHERE resolved_by_turn = :turn"
)


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


@pytest.fixture
def leases(engine: AsyncEngine) -> PostgresLeaseStore:
    return PostgresLeaseStore(engine, engine)


async def _from_a_newer_version(chat: Chat, turn: OpenedTurn, spoil: str) -> None:
    async with chat.engine.begin() as connection:
        await connection.execute(text(spoil), {"turn": turn.lease.turn_id, "value": NEWER})


async def _standing(chat: Chat, turn: OpenedTurn) -> list[tuple[object, ...]]:
    return await chat.query(
        "SELECT state, lease_holder, lease_epoch, attempts, last_event, lease_until < now()"
        " FROM turns WHERE id = :turn",
        turn=turn.lease.turn_id,
    )


@pytest.mark.parametrize("spoil", [EVENT, CARD], ids=["an event", "a card"])
async def test_a_turn_that_can_t_be_read_is_in_nobodys_way_and_stays_due(
    chat: Chat, leases: PostgresLeaseStore, spoil: str
) -> None:
    odd = await chat.answer(await chat.waiting(), "call_plan")
    later, latest = await chat.prompt(), await chat.prompt()
    await _from_a_newer_version(chat, odd, spoil)
    for turn, seconds in ((odd, 30), (later, 20), (latest, 10)):
        await die(chat.engine, turn, seconds=seconds)
    before = await _standing(chat, odd)

    with capture_logs() as logs:
        taken = [await leases.take_turn("process-2", ()) for _ in range(3)]

    assert [each and each.turn.lease.turn_id for each in taken] == [
        later.lease.turn_id,
        latest.lease.turn_id,
        None,
    ]
    assert await _standing(chat, odd) == before
    (line,) = logs
    assert (line["event"], line["turn_id"]) == ("turn_unreadable", str(odd.lease.turn_id))
    assert "SECRET" not in str(logs)


async def test_a_process_that_can_read_a_turn_takes_it_from_those_that_can_t(
    chat: Chat, leases: PostgresLeaseStore
) -> None:
    odd = await chat.prompt()
    ((payload,),) = await chat.query("SELECT payload FROM turn_events")
    await _from_a_newer_version(chat, odd, EVENT)
    await die(chat.engine, odd)
    assert await leases.take_turn("process-2", ()) is None

    async with chat.engine.begin() as connection:
        await connection.execute(text("UPDATE turn_events SET payload = :was"), {"was": payload})
    taken = await PostgresLeaseStore(chat.engine, chat.engine).take_turn("process-3", ())

    assert taken
    assert (taken.turn.lease.turn_id, taken.turn.lease.epoch) == (odd.lease.turn_id, 2)

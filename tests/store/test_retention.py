"""What is removed when it has served its time, and what stays."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract import limits
from parleyd.contract.errors import Unavailable
from parleyd.store.engine import create_engine
from parleyd.store.retention import ROWS_AT_ONCE, ClearedRows, clear_old_rows
from parleyd.turns.ports import OpenedTurn
from tests.store.chat import Chat

MANY = 2 * ROWS_AT_ONCE + 7
CLOSED_TURNS = f"""
    WITH chat AS (INSERT INTO conversations (owner) VALUES ('ada') RETURNING id),
    closed AS (
      INSERT INTO turns (id, chain_id, conversation_id, turn_no, owner, input_kind, state, outcome,
                         context_max_seq, lease_holder, lease_until, request_id, request_hash,
                         create_time, close_time, last_event)
      SELECT new.id, new.id, chat.id, n, 'ada', 'prompt', 'closed', 'completed', 1, 'process-1',
             now(), 'request-' || n, '\\x01', now() - interval '25 h', now() - interval '25 h', 3
      FROM chat, generate_series(1, {MANY}) AS n,
           LATERAL (SELECT gen_random_uuid() AS id WHERE n > 0) AS new
      RETURNING id
    )
    INSERT INTO turn_events (turn_id, sequence, payload, create_time)
    SELECT id, sequence, '\\x02', now() - interval '25 h'
    FROM closed, generate_series(1, 3) AS sequence
"""
REQUESTS = f"""
    WITH chat AS (INSERT INTO conversations (owner) VALUES ('ada') RETURNING id)
    INSERT INTO conversation_requests
      (owner, request_id, request_hash, conversation_id, create_time)
    SELECT 'ada', 'request-' || n, '\\x01', chat.id, now() - interval '25 h'
    FROM chat, generate_series(1, {MANY}) AS n
"""


UPLOADS = f"""
    WITH file AS (
      INSERT INTO files (owner, filename, storage_key, mime_type, size_bytes, sha256)
      VALUES ('ada', 'plan.pdf', 'uploads/plan', 'application/pdf', 1, '\\x01') RETURNING id
    )
    INSERT INTO file_requests (owner, request_id, request_hash, file_id, create_time)
    SELECT 'ada', 'request-' || n, '\\x01', file.id, now() - interval '25 h'
    FROM file, generate_series(1, {MANY}) AS n
"""


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


async def _do(chat: Chat, statement: str, **values: Any) -> None:
    async with chat.engine.begin() as connection:
        await connection.execute(text(statement), values)


async def _age(chat: Chat, turn: OpenedTurn, began: float, closed: float | None = None) -> None:
    """Lets a turn have begun and, if it has, closed so many hours ago."""
    await _do(
        chat,
        "UPDATE turns SET create_time = now() - make_interval(mins => :began),"
        " close_time = now() - make_interval(mins => :closed) WHERE id = :turn",
        turn=turn.lease.turn_id,
        began=round(began * 60),
        closed=None if closed is None else round(closed * 60),
    )
    await _do(
        chat,
        "UPDATE turn_events SET create_time = now() - make_interval(mins => :began)"
        " WHERE turn_id = :turn",
        turn=turn.lease.turn_id,
        began=round(began * 60),
    )


async def _ended(chat: Chat) -> OpenedTurn:
    turn = await chat.prompt()
    await chat.reply(turn)
    return turn


async def _numbers(chat: Chat, turn: OpenedTurn) -> list[int]:
    rows = await chat.query(
        "SELECT sequence FROM turn_events WHERE turn_id = :turn ORDER BY 1", turn=turn.lease.turn_id
    )
    return [number for (number,) in rows]


async def test_the_events_of_turns_closed_long_ago_are_removed(chat: Chat) -> None:
    old, young, long_run, running = [
        await _ended(chat),
        await _ended(chat),
        await _ended(chat),
        await chat.prompt(),
    ]
    await _age(chat, old, limits.EVENT_HOURS + 0.2, limits.EVENT_HOURS + 0.1)
    await _age(chat, young, limits.EVENT_HOURS - 0.1, limits.EVENT_HOURS - 0.2)
    await _age(chat, long_run, limits.EVENT_HOURS + 0.1, limits.EVENT_HOURS - 0.1)
    await _age(chat, running, limits.EVENT_HOURS + 5)

    cleared = await clear_old_rows(chat.engine)

    assert cleared == ClearedRows(events=3)
    assert [await _numbers(chat, turn) for turn in (old, young, long_run, running)] == [
        [],
        [1, 2, 3],
        [1, 2, 3],
        [1],
    ]
    assert await chat.query(
        "SELECT last_event, result IS NOT NULL FROM turns WHERE id = :turn", turn=old.lease.turn_id
    ) == [(3, True)]
    assert len(await chat.rows(old.lease.conversation_id)) == 2


async def test_request_ids_are_forgotten_in_time(chat: Chat) -> None:
    old, young, nameless = [await _ended(chat) for _ in range(3)]
    await _do(
        chat,
        "UPDATE turns SET request_id = 'request-' || id, request_hash = '\\x01' WHERE id <> :turn",
        turn=nameless.lease.turn_id,
    )
    await _age(chat, old, limits.REQUEST_ID_HOURS + 0.1, limits.EVENT_HOURS - 1)
    await _age(chat, young, limits.REQUEST_ID_HOURS - 0.1, limits.EVENT_HOURS - 1)

    cleared = await clear_old_rows(chat.engine)

    assert cleared == ClearedRows(turn_requests=1)
    named = await chat.query(
        "SELECT id, request_hash IS NOT NULL FROM turns WHERE request_id IS NOT NULL"
    )
    assert named == [(young.lease.turn_id, True)]


async def test_requests_for_conversations_are_forgotten_in_time(chat: Chat) -> None:
    conversation = (await chat.prompt()).lease.conversation_id
    await _do(
        chat,
        "INSERT INTO conversation_requests"
        " (owner, request_id, request_hash, conversation_id, create_time) VALUES"
        " ('ada', 'old', '\\x01', :id, now() - make_interval(hours => :hours, mins => 1)),"
        " ('ada', 'young', '\\x01', :id, now() - make_interval(hours => :hours, mins => -1))",
        id=conversation,
        hours=limits.REQUEST_ID_HOURS,
    )

    cleared = await clear_old_rows(chat.engine)

    assert cleared == ClearedRows(conversation_requests=1)
    assert await chat.query("SELECT request_id FROM conversation_requests") == [("young",)]
    assert await chat.see(conversation)


async def test_requests_for_uploads_are_forgotten_in_time(chat: Chat) -> None:
    await _do(chat, UPLOADS)
    await _do(
        chat,
        "UPDATE file_requests SET create_time = now() - make_interval(hours => :hours, mins => -1)"
        " WHERE request_id = 'request-7'",
        hours=limits.REQUEST_ID_HOURS,
    )

    cleared = await clear_old_rows(chat.engine)

    assert cleared == ClearedRows(file_requests=MANY - 1)
    assert await chat.query("SELECT request_id FROM file_requests") == [("request-7",)]
    assert await chat.query("SELECT filename FROM files") == [("plan.pdf",)]


async def test_many_rows_are_removed_by_many_processes_once(chat: Chat) -> None:
    await _do(chat, CLOSED_TURNS)
    await _do(chat, REQUESTS)
    await _do(chat, UPLOADS)
    kept = await _ended(chat)

    rounds = await asyncio.gather(*(clear_old_rows(chat.engine) for _ in range(4)))
    rounds.append(await clear_old_rows(chat.engine))

    assert sum(one.events for one in rounds) == 3 * MANY
    assert sum(one.turn_requests for one in rounds) == MANY
    assert sum(one.conversation_requests for one in rounds) == MANY
    assert sum(one.file_requests for one in rounds) == MANY
    assert await chat.query("SELECT count(*) FROM turn_events") == [(3,)]
    assert await _numbers(chat, kept) == [1, 2, 3]
    assert await clear_old_rows(chat.engine) == ClearedRows()


async def test_a_turn_that_somebody_writes_is_cleared_another_time(chat: Chat) -> None:
    turn = await _ended(chat)
    await _do(chat, "UPDATE turns SET request_id = 'request', request_hash = '\\x01'")
    await _age(chat, turn, limits.REQUEST_ID_HOURS + 0.1, 1)

    async with chat.engine.begin() as connection:
        await connection.execute(text("SELECT 1 FROM turns FOR NO KEY UPDATE"))
        async with asyncio.timeout(2):
            assert await clear_old_rows(chat.engine) == ClearedRows()

    assert await clear_old_rows(chat.engine) == ClearedRows(turn_requests=1)


async def test_a_round_reads_by_the_indexes_that_are_there_for_it(chat: Chat) -> None:
    await _do(chat, CLOSED_TURNS)
    await _do(chat, REQUESTS)
    await _do(chat, "UPDATE turns SET create_time = now() WHERE turn_no > 3")
    await _do(
        chat,
        "UPDATE turn_events SET create_time = now() WHERE turn_id IN"
        " (SELECT id FROM turns WHERE turn_no > 3)",
    )
    await _do(
        chat,
        "UPDATE conversation_requests SET create_time = now()"
        " WHERE request_id NOT IN ('request-1', 'request-2')",
    )
    await _do(chat, UPLOADS)
    await _do(chat, "UPDATE file_requests SET create_time = now() WHERE request_id <> 'request-1'")
    await _do(chat, "ANALYZE turns, turn_events, conversation_requests, file_requests")
    names = (
        "turn_events_first",
        "turns_request_time",
        "conversation_requests_time",
        "file_requests_time",
    )
    used = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = ANY(:names)"
    assert await chat.query(used, names=[*names]) == [(0,)] * 4

    cleared = await clear_old_rows(chat.engine)

    assert cleared == ClearedRows(9, turn_requests=3, conversation_requests=2, file_requests=1)
    async with asyncio.timeout(5):
        while any(scans == 0 for (scans,) in await chat.query(used, names=[*names])):
            pass


async def test_without_a_database_nothing_is_removed() -> None:
    nowhere = create_engine("postgresql:///?host=/nowhere", pool_size=1)

    with pytest.raises(Unavailable):
        await clear_old_rows(nowhere)

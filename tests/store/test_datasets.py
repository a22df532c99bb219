"""Stored datasets: who has which, how long, and what a round removes."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.blocks.options import KnownColumn
from parleyd.contract.datasets.checks import checked
from parleyd.contract.datasets.dataset import Dataset
from parleyd.contract.errors import DatasetNotFound, Unavailable
from parleyd.store.conversations import PostgresConversationStore
from parleyd.store.datasets import PostgresDatasets
from parleyd.store.engine import create_engine
from parleyd.store.retention import ROWS_AT_ONCE, ClearedRows, clear_old_rows
from tests.store.chat import OWNER, Chat
from tests.store.lossy_proxy import lossy_proxy

SALES = checked(
    [
        {"name": "day", "type": "date"},
        {"name": "shop", "type": "string"},
        {"name": "sold", "type": "number"},
    ],
    [
        ["2026-03-04", "café \ud83d\ude00", 5.0],
        [None, "", 9_007_199_254_740_993],
        ["2026-03-05T10:00:00+01:00", None, None],
        ["2026-03-05", "\x00", -1e-7],
    ],
)


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


@pytest.fixture
def rows(engine: AsyncEngine) -> PostgresDatasets:
    return PostgresDatasets(engine)


@pytest.fixture
async def conversation_id(chat: Chat) -> UUID:
    return (await chat.prompt()).lease.conversation_id


async def add(
    rows: PostgresDatasets, dataset_id: str, conversation_id: UUID, ttl_days: float = 0
) -> str:
    await rows.add_dataset(dataset_id, OWNER, conversation_id, SALES, ttl_days)
    return dataset_id


async def do(chat: Chat, statement: str, **values: Any) -> None:
    async with chat.engine.begin() as connection:
        await connection.execute(text(statement), values)


async def expire(chat: Chat, dataset_id: str) -> None:
    await do(chat, "UPDATE datasets SET expire_time = now() WHERE id = :id", id=dataset_id)


async def test_a_dataset_comes_back_as_it_was_stored(
    rows: PostgresDatasets, conversation_id: UUID
) -> None:
    read = await rows.read_dataset(OWNER, await add(rows, "ds_1", conversation_id))
    assert read.columns == SALES.columns
    assert [[*map(repr, row)] for row in read.rows] == [[*map(repr, row)] for row in SALES.rows]


async def test_a_dataset_may_have_no_rows_and_fifty_thousand(
    rows: PostgresDatasets, conversation_id: UUID
) -> None:
    for count in (0, 50_000):
        dataset = Dataset(SALES.columns, [["2026-03-04", "Faro", i] for i in range(count)])
        await rows.add_dataset(f"ds_{count}", OWNER, conversation_id, dataset, 0)
        assert (await rows.read_dataset(OWNER, f"ds_{count}")).rows == dataset.rows


async def test_what_is_not_there_not_yours_expired_or_deleted_is_told_alike(
    chat: Chat, rows: PostgresDatasets, conversation_id: UUID
) -> None:
    mine = await add(rows, "ds_mine", conversation_id)
    expired = await add(rows, "ds_expired", conversation_id, 1)
    await expire(chat, expired)
    other = (await chat.prompt()).lease.conversation_id
    deleted = await add(rows, "ds_deleted", other)
    await PostgresConversationStore(chat.engine).delete_conversation(OWNER, other)

    tries = [(OWNER, "ds_none"), ("bob", mine), (OWNER, expired), (OWNER, deleted)]
    for owner, dataset_id in tries:
        with pytest.raises(DatasetNotFound) as raised:
            await rows.read_dataset(owner, dataset_id)
        assert str(raised.value) == str(DatasetNotFound(dataset_id))
    assert await rows.columns_of(OWNER, conversation_id, 10) == {mine: SALES.columns}
    assert await rows.columns_of(OWNER, other, 10) == {}
    assert await rows.columns_of("bob", conversation_id, 10) == {}


async def test_a_dataset_expires_after_its_days_or_never(
    chat: Chat, rows: PostgresDatasets, conversation_id: UUID
) -> None:
    for days in (0, 0.5, 30, 36_500):
        await add(rows, f"ds_{days}".replace(".", "-"), conversation_id, days)
    kept = await chat.query(
        "SELECT extract(epoch FROM expire_time - create_time) / 86400 FROM datasets ORDER BY 1"
    )
    assert [days and float(days) for (days,) in kept] == [0.5, 30, 36_500, None]


async def test_a_conversation_knows_its_newest_datasets(
    chat: Chat, rows: PostgresDatasets, conversation_id: UUID
) -> None:
    other = (await chat.prompt()).lease.conversation_id
    for dataset_id in ("ds_1", "ds_2", "ds_3"):
        await add(rows, dataset_id, conversation_id)
    await add(rows, "ds_other", other)
    known = await rows.columns_of(OWNER, conversation_id, 2)
    assert known == dict.fromkeys(("ds_2", "ds_3"), SALES.columns)
    assert known["ds_3"][2] == KnownColumn("sold", "number")


async def test_a_round_removes_what_nobody_can_read(
    chat: Chat, rows: PostgresDatasets, conversation_id: UUID
) -> None:
    other = (await chat.prompt()).lease.conversation_id
    await add(rows, "ds_kept", conversation_id)
    await add(rows, "ds_later", conversation_id, 1)
    await expire(chat, await add(rows, "ds_expired", conversation_id, 1))
    await add(rows, "ds_deleted", other)
    await PostgresConversationStore(chat.engine).delete_conversation(OWNER, other)

    assert await clear_old_rows(chat.engine) == ClearedRows(datasets=2)
    assert await chat.query("SELECT id FROM datasets ORDER BY id") == [("ds_kept",), ("ds_later",)]
    assert await clear_old_rows(chat.engine) == ClearedRows()


async def test_several_processes_remove_many_at_once(chat: Chat, conversation_id: UUID) -> None:
    many = 2 * ROWS_AT_ONCE + 7
    await do(
        chat,
        "INSERT INTO datasets (id, owner, conversation_id, columns, rows, row_count, expire_time) "
        "SELECT 'ds_' || n, 'ada', :conversation, '[]', '[]', 0, now() "
        "FROM generate_series(1, :many) AS n",
        conversation=conversation_id,
        many=many,
    )
    cleared = await asyncio.gather(*(clear_old_rows(chat.engine) for _ in range(3)))
    assert sum(one.datasets for one in cleared) == many
    assert await chat.query("SELECT count(*) FROM datasets") == [(0,)]


async def test_an_unknown_conversation_has_no_datasets(rows: PostgresDatasets) -> None:
    with pytest.raises(IntegrityError):
        await add(rows, "ds_1", uuid4())
    assert await rows.columns_of(OWNER, uuid4(), 10) == {}


async def test_a_dataset_whose_commit_is_lost_is_stored_once(
    database_url: str, chat: Chat, conversation_id: UUID
) -> None:
    async with lossy_proxy(database_url) as proxy:
        engine = create_engine(proxy.url, pool_size=1)
        rows = PostgresDatasets(engine)
        proxy.armed = "before"
        with pytest.raises(Unavailable):
            await add(rows, "ds_before", conversation_id)
        proxy.armed = "after"
        await add(rows, "ds_after", conversation_id)
        await engine.dispose()
    stored = await chat.query("SELECT id FROM datasets ORDER BY id")
    assert stored == [("ds_after",)]


async def test_without_a_database_nothing_is_read() -> None:
    engine = create_engine("postgresql://localhost:1/none", pool_size=1)
    with pytest.raises(Unavailable):
        await PostgresDatasets(engine).read_dataset(OWNER, "ds_1")
    await engine.dispose()

"""Stored datasets: the port `DatasetStore`, each call one transaction (spec blocks 21)."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from pydantic_core import from_json, to_json
from sqlalchemy import (
    Connection,
    Double,
    Integer,
    LargeBinary,
    Text,
    Uuid,
    and_,
    exists,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.blocks.options import KnownColumn
from parleyd.contract.datasets.dataset import Dataset
from parleyd.contract.errors import DatasetNotFound
from parleyd.store.dataset_tables import datasets
from parleyd.store.engine import Database
from parleyd.store.statements import given, run
from parleyd.store.tables import conversations


class PostgresDatasets:
    """Keeps datasets in PostgreSQL; fulfils `DatasetStore`.

    Rows are written and read as JSON text away from the event loop.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._database = Database(engine)

    async def add_dataset(
        self,
        dataset_id: str,
        owner: str,
        conversation_id: UUID,
        dataset: Dataset,
        ttl_days: float,
    ) -> None:
        """See `DatasetStore`."""
        values: dict[str, Any] = {
            "id": dataset_id,
            "owner": owner,
            "conversation": conversation_id,
            "columns": dataset.columns,
            "rows": await asyncio.to_thread(to_json, dataset.rows),
            "row_count": len(dataset.rows),
            "ttl_days": ttl_days or None,
        }
        await self._database.write(
            lambda connection: run(connection, _INSERT, **values).close(),
            lambda connection: run(connection, _PROBE, **values).one_or_none() is None,
        )

    async def read_dataset(self, owner: str, dataset_id: str) -> Dataset:
        """See `DatasetStore`."""

        def read(connection: Connection) -> tuple[tuple[KnownColumn, ...], bytes] | None:
            found = run(connection, _READ, owner=owner, id=dataset_id).one_or_none()
            return found and (found[0], found[1])

        found = await self._database.read(read)
        if found is None:
            raise DatasetNotFound(dataset_id)
        columns, rows = found
        return Dataset(columns, await asyncio.to_thread(from_json, rows))

    async def columns_of(
        self, owner: str, conversation_id: UUID, most: int
    ) -> Mapping[str, tuple[KnownColumn, ...]]:
        """See `DatasetStore`."""

        def read(connection: Connection) -> dict[str, tuple[KnownColumn, ...]]:
            rows = run(connection, _COLUMNS, owner=owner, conversation=conversation_id, most=most)
            return {row.id: row.columns for row in rows}

        return await self._database.read(read)


# ---------------------------------------------------------------- statements

_DAYS: Final[Double[float]] = Double(asdecimal=False)
_DATASET: Final = {
    "id": given("id", Text()),
    "owner": given("owner", Text()),
    "conversation_id": given("conversation", Uuid()),
    "columns": given("columns", datasets.c.columns.type),
    "rows": given("rows", LargeBinary()),
    "row_count": given("row_count", Integer()),
    # Of no days it is no time: the dataset stays.
    "expire_time": func.now() + given("ttl_days", _DAYS) * literal(timedelta(days=1)),
}
_INSERT: Final = insert(datasets).values(_DATASET).returning(datasets.c.id)
_PROBE: Final = insert(datasets).values(_DATASET).on_conflict_do_nothing().returning(datasets.c.id)

_THERE: Final = and_(
    datasets.c.owner == given("owner"),
    or_(datasets.c.expire_time.is_(None), datasets.c.expire_time > func.now()),
    exists().where(
        conversations.c.id == datasets.c.conversation_id, conversations.c.delete_time.is_(None)
    ),
)
"""Which datasets an owner has. Those whose time is over may not be removed yet."""

_READ: Final = select(datasets.c.columns, datasets.c.rows).where(
    datasets.c.id == given("id"), _THERE
)
_COLUMNS: Final = (
    select(datasets.c.id, datasets.c.columns)
    .where(datasets.c.conversation_id == given("conversation"), _THERE)
    .order_by(datasets.c.create_time.desc())
    .limit(given("most"))
)

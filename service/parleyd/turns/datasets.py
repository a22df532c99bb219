"""Stored datasets: tools register them, documents refer to them, clients read them (blocks 21)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, Protocol
from uuid import UUID

import structlog

from parleyd.contract.blocks.options import KnownColumn
from parleyd.contract.datasets.checks import ROWS, checked
from parleyd.contract.datasets.dataset import Dataset, RegisteredDataset, registered
from parleyd.contract.datasets.reading import DatasetQuery, DatasetRows, rows_of
from parleyd.turns.options import BlockReplies
from parleyd.turns.ports import Ids
from parleyd.turns.tool_datasets import ToolDatasets

KNOWN_DATASETS: Final = 1000
"""How many datasets of one conversation a document is checked against, the newest."""

log = structlog.stdlib.get_logger()


class DatasetStore(Protocol):
    """Keeps datasets. One whose time is over, or whose conversation is deleted, is not there."""

    async def add_dataset(
        self,
        dataset_id: str,
        owner: str,
        conversation_id: UUID,
        dataset: Dataset,
        ttl_days: float,
    ) -> None:
        """Keeps a dataset that is known to be fit, for so many days; 0 keeps it for good.

        Raises:
            Unavailable: The database can't be reached; nothing was stored.
        """
        ...

    async def read_dataset(self, owner: str, dataset_id: str) -> Dataset:
        """Reads a dataset of `owner`.

        Raises:
            DatasetNotFound: There is none; someone else's is told from none by nothing.
            Unavailable: The database can't be reached.
        """
        ...

    async def columns_of(
        self, owner: str, conversation_id: UUID, most: int
    ) -> Mapping[str, tuple[KnownColumn, ...]]:
        """Reads the columns of a conversation's datasets by their ids, at most `most`, the newest.

        Raises:
            Unavailable: The database can't be reached.
        """
        ...


class Datasets:
    """The datasets of a deployment whose replies are documents.

    `ttl_days` is how long each is kept, 0 for good; `most_rows` is what one may have.
    """

    def __init__(
        self, store: DatasetStore, ids: Ids, *, most_rows: int = ROWS, ttl_days: float = 0
    ) -> None:
        self._store = store
        self._ids = ids
        self._most_rows = most_rows
        self._ttl_days = ttl_days

    async def register(
        self,
        owner: str,
        conversation_id: UUID,
        columns: Sequence[object],
        rows: Sequence[object],
    ) -> RegisteredDataset:
        """Keeps a dataset for a person's conversation; a repeat makes another one.

        Raises:
            DatasetTooLarge, DatasetRefused: It can't be stored, see `checked`.
            Unavailable: The database can't be reached; nothing was stored.
        """
        dataset_id = f"ds_{self._ids.ulid()}"

        def check() -> tuple[Dataset, RegisteredDataset]:
            dataset = checked(columns, rows, self._most_rows)
            return dataset, registered(dataset_id, dataset)

        dataset, told = await asyncio.to_thread(check)
        await self._store.add_dataset(dataset_id, owner, conversation_id, dataset, self._ttl_days)
        log.info("dataset_registered", dataset_id=dataset_id, rows=told.row_count)
        return told

    def of_call(self, owner: str, conversation_id: UUID) -> ToolDatasets:
        """Returns what a tool that runs in a conversation registers datasets with."""
        return ToolDatasets(partial(self.register, owner, conversation_id))

    async def read(self, owner: str, dataset_id: str, query: DatasetQuery) -> DatasetRows:
        """Returns rows of a dataset of `owner`.

        Raises:
            DatasetNotFound: There is none, its time is over, or it is someone else's.
            NoDates: Rows are to be put together by their time, and none of them has one.
            Unavailable: The database can't be reached.
        """
        dataset = await self._store.read_dataset(owner, dataset_id)
        return await asyncio.to_thread(rows_of, dataset, query)

    async def known_to(
        self, replies: BlockReplies, owner: str, conversation_id: UUID
    ) -> BlockReplies:
        """Returns how replies are checked that may refer to the datasets of a conversation.

        Raises:
            Unavailable: The database can't be reached.
        """
        known = await self._store.columns_of(owner, conversation_id, KNOWN_DATASETS)
        return replace(replies, options=replace(replies.options, datasets=known))

"""Who may register datasets, and what becomes of them; kept in memory here."""

from collections.abc import Mapping
from uuid import UUID

import pytest

from parleyd.app.ids import RandomIds
from parleyd.contract.blocks.options import BlockOptions, KnownColumn
from parleyd.contract.datasets.checks import DatasetRefused, DatasetTooLarge
from parleyd.contract.datasets.dataset import Dataset
from parleyd.turns.datasets import KNOWN_DATASETS, Datasets
from parleyd.turns.options import BlockReplies
from parleyd.turns.tool_contexts import tool_context
from parleyd.turns.tool_datasets import DatasetsOff
from tests.turns.turn_values import CONVERSATION, OPENED

COLUMNS = [{"name": "sold", "type": "number"}]


class MemoryDatasets:
    """Keeps what is added."""

    def __init__(self) -> None:
        self.added: list[tuple[str, str, UUID, Dataset, float]] = []

    async def add_dataset(
        self,
        dataset_id: str,
        owner: str,
        conversation_id: UUID,
        dataset: Dataset,
        ttl_days: float,
    ) -> None:
        self.added.append((dataset_id, owner, conversation_id, dataset, ttl_days))

    async def read_dataset(self, owner: str, dataset_id: str) -> Dataset:
        raise NotImplementedError

    async def columns_of(
        self, owner: str, conversation_id: UUID, most: int
    ) -> Mapping[str, tuple[KnownColumn, ...]]:
        assert most == KNOWN_DATASETS
        return {
            added[0]: added[3].columns
            for added in self.added
            if added[1:3] == (owner, conversation_id)
        }


async def test_a_run_of_a_tool_registers_for_its_person_and_conversation() -> None:
    store = MemoryDatasets()
    datasets = Datasets(store, RandomIds(), most_rows=2, ttl_days=7)
    context = tool_context(OPENED, 1, 0, "call_1", datasets=datasets)

    assert context.datasets.on
    first = await context.datasets.register(COLUMNS, [[1], [None]])
    second = await context.datasets.register(COLUMNS, [])

    assert first.dataset_id != second.dataset_id
    kept = Dataset((KnownColumn("sold", "number"),), [[1], [None]])
    assert store.added[0] == (first.dataset_id, OPENED.owner, CONVERSATION, kept, 7)
    replies = BlockReplies(BlockOptions(html=True), repair=True)
    known = await datasets.known_to(replies, OPENED.owner, CONVERSATION)
    both = dict.fromkeys((first.dataset_id, second.dataset_id), kept.columns)
    assert known == BlockReplies(BlockOptions(html=True, datasets=both), repair=True)


async def test_what_is_not_fit_is_not_kept() -> None:
    store = MemoryDatasets()
    context = tool_context(
        OPENED, 1, 0, "call_1", datasets=Datasets(store, RandomIds(), most_rows=2)
    )
    with pytest.raises(DatasetTooLarge):
        await context.datasets.register(COLUMNS, [[1]] * 3)
    with pytest.raises(DatasetRefused):
        await context.datasets.register(COLUMNS, [["1"]])
    assert store.added == []


async def test_where_no_tool_runs_or_replies_are_texts_nothing_is_registered() -> None:
    context = tool_context(OPENED, 1, 0, "call_1")
    assert not context.datasets.on
    with pytest.raises(DatasetsOff, match="PARLEY_BLOCKS"):
        await context.datasets.register(COLUMNS, [])


async def test_what_a_tool_registers_with_is_no_part_of_where_its_call_comes_from() -> None:
    datasets = Datasets(MemoryDatasets(), RandomIds())
    with_datasets = tool_context(OPENED, 1, 0, "call_1", datasets=datasets)
    assert with_datasets == tool_context(OPENED, 1, 0, "call_1")
    assert "atasets" not in repr(with_datasets)

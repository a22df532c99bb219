"""Fetches the rows of charts and tables whose datasets the server keeps."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import grpc

from parley import Client, error_of
from parley.v1.blocks_pb2 import Block, Dataset
from parley.v1.datasets_pb2 import GetDatasetRequest
from parleyd.app.chat.blocks.nested import every_block
from parleyd.app.chat.blocks.rows import (
    Fetched,
    NoRows,
    Pages,
    Rows,
    RowsWanted,
    chart_rows,
    table_rows,
)
from parleyd.app.chat.faults import explain

PATIENCE_SECONDS: Final = 10.0
"""How long rows are waited for: the rest of the document is worth seeing without them."""


def rows_wanted(
    blocks: Iterable[Block], datasets: Mapping[str, Dataset], pages: Pages
) -> set[RowsWanted]:
    """Returns what has to be fetched to draw blocks, those inside of others too."""
    return set(_wanted(blocks, datasets, pages))


async def fetched_rows(client: Client, wanted: Iterable[RowsWanted]) -> Fetched:
    """Returns the rows that are wanted, or why they could not be had; it never raises for that."""
    asked = [*wanted]
    rows = await asyncio.gather(*(_rows(client, each) for each in asked))
    return dict(zip(asked, rows, strict=True))


async def _rows(client: Client, wanted: RowsWanted) -> Rows | NoRows:
    request = GetDatasetRequest(
        dataset_id=wanted.dataset_id, grain=wanted.grain, limit=wanted.limit, page=wanted.page
    )
    try:
        got = await client.datasets.GetDataset(request, timeout=PATIENCE_SECONDS)
    except grpc.aio.AioRpcError as error:
        return NoRows(f"The rows could not be fetched. {explain(error_of(error))}")
    before = (wanted.page - 1) * wanted.limit if wanted.page else 0
    return Rows(got.columns, got.rows, got.row_count, before, more=got.more)


def _wanted(
    blocks: Iterable[Block], datasets: Mapping[str, Dataset], pages: Pages
) -> Iterator[RowsWanted]:
    for block in every_block(blocks):
        name = block.chart.binding.data
        if name in datasets and datasets[name].HasField("ref"):
            yield chart_rows(datasets[name].ref)
        name = block.table.data
        if name in datasets and datasets[name].HasField("ref"):
            yield table_rows(datasets[name].ref, pages.get(name, 1))

"""Stored datasets on the wire: their rows, for charts and tables (spec blocks 21.3)."""

import asyncio
from typing import Final

from structlog.contextvars import bind_contextvars
from typing_extensions import override

from parley.v1 import blocks_pb2
from parley.v1 import datasets_pb2 as pb
from parley.v1.datasets_pb2_grpc import DatasetServiceServicer
from parleyd.contract.blocks import limits
from parleyd.contract.blocks.catalog import REF_ID
from parleyd.contract.datasets.buckets import NoDates
from parleyd.contract.datasets.dataset import Grain
from parleyd.contract.datasets.reading import PAGES, ROWS_READ, DatasetQuery, DatasetRows
from parleyd.contract.errors import BlocksOff, InvalidRequest
from parleyd.contract.field_errors import Code, quoted
from parleyd.rpc import fields
from parleyd.rpc.auth import calling_owner
from parleyd.rpc.block_datasets import column_to_proto, row_to_proto
from parleyd.rpc.calls import Context
from parleyd.turns.datasets import Datasets

_GRAINS: Final[dict[int, Grain | None]] = {
    blocks_pb2.RefDataset.GRAIN_UNSPECIFIED: None,
    blocks_pb2.RefDataset.GRAIN_HOUR: "hour",
    blocks_pb2.RefDataset.GRAIN_DAY: "day",
    blocks_pb2.RefDataset.GRAIN_WEEK: "week",
    blocks_pb2.RefDataset.GRAIN_MONTH: "month",
}


class DatasetServicer(DatasetServiceServicer):
    """Gives the rows of the caller's datasets; without `datasets` replies are no documents."""

    def __init__(self, datasets: Datasets | None) -> None:
        self._datasets = datasets

    @override
    async def GetDataset(
        self, request: pb.GetDatasetRequest, context: Context
    ) -> pb.GetDatasetResponse:
        if self._datasets is None:
            raise BlocksOff
        dataset_id = _dataset_id(request.dataset_id)
        bind_contextvars(dataset_id=dataset_id)
        query = query_from_proto(request)
        try:
            rows = await self._datasets.read(calling_owner(), dataset_id, query)
        except NoDates as error:
            raise _refused(
                "grain",
                Code.INVALID_ENUM,
                "The dataset has no column of dates, so its rows are of no time.",
                "Leave grain out.",
            ) from error
        return await asyncio.to_thread(rows_to_proto, rows)


def query_from_proto(request: pb.GetDatasetRequest) -> DatasetQuery:
    """Returns which rows a request asks for.

    Raises:
        InvalidRequest: An unknown grain, a limit or a page that can't be.
    """
    grain, limit, page = request.grain, request.limit, request.page
    if grain not in _GRAINS:
        raise _refused(
            "grain",
            Code.INVALID_ENUM,
            f"grain is {grain}, which names none.",
            "Send hour, day, week or month, or leave it out.",
        )
    if not 0 <= limit <= limits.REF_LIMIT:
        raise _refused(
            "limit",
            Code.RANGE_INVALID,
            f"limit is {limit}.",
            f"Send 1 to {limits.REF_LIMIT}, or 0 for {ROWS_READ}.",
        )
    if not 0 <= page <= PAGES:
        raise _refused(
            "page",
            Code.RANGE_INVALID,
            f"page is {page}.",
            f"Send 1 to {PAGES}, or 0 for rows of the whole dataset.",
        )
    return DatasetQuery(_GRAINS[grain], limit or ROWS_READ, page or None)


def rows_to_proto(rows: DatasetRows) -> pb.GetDatasetResponse:
    """Returns the rows of a dataset as they are sent. A sum beyond a double is an empty cell."""
    return pb.GetDatasetResponse(
        columns=[column_to_proto({"name": one.name, "type": one.type}) for one in rows.columns],
        rows=[row_to_proto([*row]) for row in rows.rows],
        row_count=rows.row_count,
        page=rows.page,
        more=rows.more,
    )


def _dataset_id(text: str) -> str:
    """Returns the id of a dataset.

    Raises:
        InvalidRequest: No dataset can have it.
    """
    if not REF_ID.matches(text):
        raise _refused(
            "datasetId",
            Code.INVALID_FORMAT,
            f"datasetId is {quoted(text)}, which names no dataset.",
            "Send the id of a document's reference.",
        )
    return text


def _refused(path: str, code: Code, message: str, fix: str) -> InvalidRequest:
    return fields.malformed(InvalidRequest, path, code, message, fix)

"""Requests for rows of datasets: their shape, and the rows as they are sent."""

from math import inf
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from grpc import StatusCode, aio

import parley
from parley.v1.blocks_pb2 import DatasetColumn, RefDataset
from parley.v1.datasets_pb2 import GetDatasetRequest
from parleyd.contract.blocks.options import KnownColumn
from parleyd.contract.datasets.reading import DatasetQuery, DatasetRows
from parleyd.contract.field_errors import Code
from parleyd.models.scripted import in_turn
from parleyd.rpc.datasets import query_from_proto, rows_to_proto
from tests.end_to_end.person import Person
from tests.server import StartServer

TOO_LONG = "d" * 81


@pytest.fixture
async def noor(start_server: StartServer) -> Person:
    return await (await start_server(in_turn(), blocks=True)).person()


async def refusal(noor: Person, request: GetDatasetRequest) -> parley.ParleyError:
    with pytest.raises(aio.AioRpcError) as raised:
        await noor.client.datasets.GetDataset(request)
    return parley.error_of(raised.value)


def _request(values: dict[str, Any]) -> GetDatasetRequest:
    valid: dict[str, Any] = {"dataset_id": "ds_1"}
    return GetDatasetRequest(**valid | values)


@pytest.mark.parametrize(
    ("values", "path", "code"),
    [
        ({"dataset_id": ""}, "datasetId", Code.INVALID_FORMAT),
        ({"dataset_id": "ds 1"}, "datasetId", Code.INVALID_FORMAT),
        ({"dataset_id": "ds_1\n"}, "datasetId", Code.INVALID_FORMAT),
        ({"dataset_id": TOO_LONG}, "datasetId", Code.INVALID_FORMAT),
        ({"grain": 5}, "grain", Code.INVALID_ENUM),
        ({"grain": -1}, "grain", Code.INVALID_ENUM),
        ({"limit": -1}, "limit", Code.RANGE_INVALID),
        ({"limit": 1001}, "limit", Code.RANGE_INVALID),
        ({"page": -1}, "page", Code.RANGE_INVALID),
        ({"page": 10_001}, "page", Code.RANGE_INVALID),
    ],
)
async def test_a_malformed_request_is_refused(
    noor: Person, values: dict[str, Any], path: str, code: Code
) -> None:
    error = await refusal(noor, _request(values))
    assert (error.code, error.reason) == (StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert [(fault.path, fault.code) for fault in error.fields] == [(path, code)]
    assert all(fault.message and fault.fix for fault in error.fields)


@pytest.mark.parametrize("dataset_id", ["ds_1", "A-z_9", TOO_LONG[1:]])
async def test_an_id_that_could_be_one_is_not_found(noor: Person, dataset_id: str) -> None:
    request = GetDatasetRequest(dataset_id=dataset_id, limit=1000, page=10_000)
    error = await refusal(noor, request)
    assert (error.code, error.reason) == (StatusCode.NOT_FOUND, "DATASET_NOT_FOUND")


async def test_without_documents_there_is_no_dataset_whatever_is_asked(
    start_server: StartServer,
) -> None:
    noor = await (await start_server(in_turn())).person()
    error = await refusal(noor, GetDatasetRequest(dataset_id="", limit=-1))
    assert error.reason == "BLOCKS_DISABLED"


def test_what_is_left_out_has_its_default() -> None:
    assert query_from_proto(GetDatasetRequest()) == DatasetQuery(None, 500, None)
    grains = RefDataset.Grain.values()
    words = [query_from_proto(GetDatasetRequest(grain=grain)).grain for grain in grains]
    assert words == [None, "hour", "day", "week", "month"]


def test_cells_are_sent_as_they_are() -> None:
    rows = DatasetRows(
        columns=(
            KnownColumn("shop", "string"),
            KnownColumn("n", "number"),
            KnownColumn("day", "date"),
        ),
        rows=[["", 1, "2026-03-04"], [None, 5.0, None], ["Faro", 2**53 + 1, ""], ["", inf, ""]],
        row_count=2**40,
        page=2,
        more=True,
    )
    sent = rows_to_proto(rows)
    assert [column.type for column in sent.columns] == [
        DatasetColumn.TYPE_STRING,
        DatasetColumn.TYPE_NUMBER,
        DatasetColumn.TYPE_DATE,
    ]
    assert [[MessageToDict(cell) for cell in row.cells] for row in sent.rows] == [
        [{"text": ""}, {"number": 1.0}, {"text": "2026-03-04"}],
        [{}, {"number": 5.0, "exact": "5.0"}, {}],
        [{"text": "Faro"}, {"number": 2.0**53, "exact": "9007199254740993"}, {"text": ""}],
        [{"text": ""}, {}, {"text": ""}],
    ]
    assert (sent.row_count, sent.page, sent.more) == (2**40, 2, True)

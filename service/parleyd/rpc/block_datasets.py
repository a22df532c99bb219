"""The datasets of documents on the wire (spec blocks 6)."""

from collections.abc import Iterable
from typing import Final, assert_never

from pydantic import JsonValue

from parley.v1 import blocks_pb2 as pb
from parleyd.contract.json import JsonObject, finite_number, objects_at
from parleyd.contract.text import without_surrogates
from parleyd.rpc.block_fields import (
    ITEMS_READ,
    Words,
    count_at,
    exact_number,
    exact_text,
    fields_from_proto,
    text_at,
)
from parleyd.rpc.values import items_from_proto

_TYPES: Final = Words(pb.DatasetColumn.Type)
_GRAINS: Final = Words(pb.RefDataset.Grain)


def datasets_to_proto(datasets: JsonObject) -> list[pb.Dataset]:
    """Returns the datasets of a document in their order."""
    return [
        _dataset_to_proto(without_surrogates(name), dataset)
        for name, dataset in datasets.items()
        if isinstance(dataset, dict)
    ]


def datasets_from_proto(datasets: Iterable[pb.Dataset]) -> dict[str, JsonValue]:
    """Returns datasets by their names; of two with the same name the last one counts.

    The kind of one that holds its rows goes without saying. One whose `oneof` is unset is empty.
    """
    return {dataset.name: _dataset_from_proto(dataset) for dataset in datasets}


def _dataset_to_proto(name: str, dataset: JsonObject) -> pb.Dataset:
    match dataset.get("source", "inline"):
        case "inline":
            return pb.Dataset(name=name, inline=_inline_to_proto(dataset))
        case "ref":
            return pb.Dataset(name=name, ref=_ref_to_proto(dataset))
        case _:
            return pb.Dataset(name=name)


def _dataset_from_proto(dataset: pb.Dataset) -> JsonValue:
    source = dataset.WhichOneof("source")
    match source:
        case "inline":
            columns, rows = dataset.inline.columns, dataset.inline.rows
            return {
                "columns": items_from_proto(columns, fields_from_proto, ITEMS_READ),
                "rows": items_from_proto(rows, _row_from_proto, ITEMS_READ),
            }
        case "ref":
            return {"source": "ref", **fields_from_proto(dataset.ref)}
        case None:
            return {}
        case _:
            assert_never(source)


def _inline_to_proto(dataset: JsonObject) -> pb.InlineDataset:
    rows = dataset.get("rows")
    return pb.InlineDataset(
        columns=[column_to_proto(column) for column in objects_at(dataset, "columns")],
        rows=[row_to_proto(row) for row in rows if isinstance(row, list)]
        if isinstance(rows, list)
        else (),
    )


def column_to_proto(column: JsonObject) -> pb.DatasetColumn:
    """Returns a column of a dataset."""
    return pb.DatasetColumn(name=text_at(column, "name"), type=_TYPES.at(column, "type"))


def _ref_to_proto(dataset: JsonObject) -> pb.RefDataset:
    return pb.RefDataset(
        id=text_at(dataset, "id"),
        grain=_GRAINS.at(dataset, "grain"),
        limit=count_at(dataset, "limit"),
    )


def row_to_proto(row: list[JsonValue]) -> pb.DatasetRow:
    """Returns a row; a cell that is no text and no finite number is unset."""
    return pb.DatasetRow(cells=map(_cell_to_proto, row))


def _row_from_proto(row: pb.DatasetRow) -> JsonValue:
    return items_from_proto(row.cells, _cell_from_proto, ITEMS_READ)


def _cell_to_proto(cell: JsonValue) -> pb.DatasetCell:
    if isinstance(cell, str):
        return pb.DatasetCell(text=without_surrogates(cell))
    number = finite_number(cell)
    if number is None:
        return pb.DatasetCell()
    return pb.DatasetCell(number=number, exact=exact_text(number))


def _cell_from_proto(cell: pb.DatasetCell) -> JsonValue:
    value = cell.WhichOneof("value")
    match value:
        case "text":
            return cell.text
        case "number":
            return exact_number(cell.number, cell.exact)
        case None:
            return None
        case _:
            assert_never(value)

"""A stored dataset: its columns, its rows, and what the model is told of it (spec blocks 21)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, Literal, TypeAlias

from pydantic import JsonValue

from parleyd.contract.blocks.options import KnownColumn
from parleyd.contract.json import finite_number

PREVIEW_ROWS: Final = 20
"""Rows that the model is shown."""

Cell: TypeAlias = str | int | float | None
Row: TypeAlias = Sequence[Cell]
Grain: TypeAlias = Literal["hour", "day", "week", "month"]


@dataclass(frozen=True)
class Dataset:
    """Columns and rows, one cell for each column in every row."""

    columns: tuple[KnownColumn, ...]
    rows: Sequence[Row]


@dataclass(frozen=True)
class NumberRange:
    """The smallest and the largest number of a column."""

    min: int | float
    max: int | float


@dataclass(frozen=True)
class RegisteredDataset:
    """What a tool hands to the model, which writes `dataset_id` as the `id` of a reference.

    `preview` are the first rows. `stats` are of the columns of numbers that hold at least one.
    """

    dataset_id: str
    columns: tuple[KnownColumn, ...]
    preview: Sequence[Row]
    row_count: int
    stats: Mapping[str, NumberRange]

    def as_json(self) -> dict[str, JsonValue]:
        """Returns it as a tool's result."""
        stats: dict[str, JsonValue] = {
            name: {"min": numbers.min, "max": numbers.max} for name, numbers in self.stats.items()
        }
        return {
            "datasetId": self.dataset_id,
            "columns": [{"name": one.name, "type": one.type} for one in self.columns],
            "preview": [[*row] for row in self.preview],
            "rowCount": self.row_count,
            "stats": stats,
        }


def registered(dataset_id: str, dataset: Dataset) -> RegisteredDataset:
    """Returns what the model is told of a dataset."""
    stats: dict[str, NumberRange] = {}
    for index, column in enumerate(dataset.columns):
        if column.type == "number":
            cells = [row[index] for row in dataset.rows]
            if numbers := [cell for cell in cells if isinstance(cell, int | float)]:
                stats[column.name] = NumberRange(min(numbers), max(numbers))
    return RegisteredDataset(
        dataset_id=dataset_id,
        columns=dataset.columns,
        preview=dataset.rows[:PREVIEW_ROWS],
        row_count=len(dataset.rows),
        stats=stats,
    )


def column_of_type(dataset: Dataset, type_: str) -> int | None:
    """Returns the place of the first column of a type; None where there is none."""
    return next((i for i, one in enumerate(dataset.columns) if one.type == type_), None)


def number_of(cell: Cell) -> float:
    """Returns the number in a cell, 0 where there is none.

    Sums may be beyond what a double holds: those are infinite.
    """
    if cell is None or isinstance(cell, str):
        return 0.0
    number = finite_number(cell)
    if number is None:
        return -inf if cell < 0 else inf
    return float(number)

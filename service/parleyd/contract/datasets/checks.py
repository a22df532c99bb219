"""The check of what a tool registers as a dataset: the first failure counts (spec blocks 21.2)."""

from collections.abc import Mapping, Sequence
from typing import Final, cast

from parleyd.contract.blocks import limits
from parleyd.contract.blocks.catalog import ID
from parleyd.contract.blocks.options import ColumnType, KnownColumn
from parleyd.contract.datasets.dataset import Cell, Dataset, Row
from parleyd.contract.datasets.times import is_time
from parleyd.contract.json import finite_number
from parleyd.contract.text import storable

ROWS: Final = 50_000
"""Of one dataset at most, where a deployment says nothing else."""

CHARACTERS: Final = 32 * 1024 * 1024
"""Of all texts of a dataset: who reads one has it in memory as a whole. That cap is ours."""

_TYPES: Final = ("string", "number", "date")


class DatasetRefused(ValueError):
    """A dataset that can't be stored. The text names places alone, never what stands there."""


class DatasetTooLarge(DatasetRefused):
    """A dataset with more rows, or more text, than the deployment stores."""


def checked(columns: Sequence[object], rows: Sequence[object], most_rows: int = ROWS) -> Dataset:
    """Returns a dataset once all of it is known to be fit; texts are in storable form.

    A column is a mapping with `name` and `type`, or a `KnownColumn`. Null fits everywhere, and an
    empty text in columns of texts. 50,000 rows take a tenth of a second or more.

    Raises:
        DatasetTooLarge: There are too many rows, or too much text.
        DatasetRefused: A column, a row or a cell is not what it has to be.
    """
    known = _columns(columns)
    if len(rows) > most_rows:
        raise DatasetTooLarge(
            f"The dataset has {len(rows)} rows, more than {most_rows}: put them together, or keep "
            "those that matter."
        )
    fit = [_row(row, known, index) for index, row in enumerate(rows)]
    if sum(len(cell) for row in fit for cell in row if isinstance(cell, str)) > CHARACTERS:
        raise DatasetTooLarge(
            f"The texts of the dataset have more than {CHARACTERS} characters: shorten them."
        )
    return Dataset(known, fit)


def _columns(columns: Sequence[object]) -> tuple[KnownColumn, ...]:
    if not 1 <= len(columns) <= limits.DATASET_COLUMNS:
        raise DatasetRefused(
            f"The dataset has {len(columns)} columns: give it 1 to {limits.DATASET_COLUMNS}."
        )
    known: dict[str, KnownColumn] = {}
    for index, column in enumerate(columns):
        name, type_ = _name_and_type(column)
        if not isinstance(name, str) or not ID.matches(name):
            raise DatasetRefused(f"columns[{index}] has no fit name: name it with {ID.noun}.")
        if type_ not in _TYPES:
            raise DatasetRefused(
                f"columns[{index}] has no known type: make it one of {', '.join(_TYPES)}."
            )
        if name in known:
            raise DatasetRefused(f"columns[{index}] has the name of an earlier one: rename it.")
        known[name] = KnownColumn(name, type_)
    return tuple(known.values())


def _name_and_type(column: object) -> tuple[object, object]:
    match column:
        case KnownColumn(name=name, type=type_):
            return name, type_
        case Mapping():
            said = cast("Mapping[object, object]", column)
            return said.get("name"), said.get("type")
        case _:
            return None, None


def _row(row: object, columns: Sequence[KnownColumn], index: int) -> Row:
    if not isinstance(row, list | tuple):
        raise DatasetRefused(f"rows[{index}] is no list: make it one, with a cell per column.")
    cells = cast("Sequence[object]", row)
    if len(cells) != len(columns):
        raise DatasetRefused(
            f"rows[{index}] has {len(cells)} cells for {len(columns)} columns: give it one each."
        )
    return [
        _cell(cell, column.type, index, place)
        for place, (cell, column) in enumerate(zip(cells, columns, strict=True))
    ]


def _cell(cell: object, type_: ColumnType, index: int, place: int) -> Cell:
    if cell is None:
        return None
    if type_ == "number":
        if isinstance(cell, int | float) and (number := finite_number(cell)) is not None:
            return number
        noun = "a finite number"
    elif isinstance(cell, str):
        if type_ == "string":
            return storable(cell)
        if is_time(cell):
            return cell
        noun = "a date or a date and time of ISO 8601"
    else:
        noun = "a text" if type_ == "string" else "a date of ISO 8601, as a text"
    raise DatasetRefused(f"rows[{index}][{place}] is not {noun}: make it one, or null.")

"""The rows of an inline dataset: what a cell may be, and what fits a column (spec blocks 6.1)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from parleyd.contract.blocks.faults import described, wrong_type
from parleyd.contract.blocks.issues import BlockCode, Issue
from parleyd.contract.field_errors import Path, named, quoted
from parleyd.contract.json import finite_number
from parleyd.contract.text import is_blank

_CELL = "a string, a finite number or null"


@dataclass(frozen=True)
class RowsForm:
    """A list of lists of cells. How many there may be is for the rules to say."""

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return "a list of rows, each a list with one cell for each column"

    def check(self, value: JsonValue, at: Path) -> Iterator[Issue]:
        """Yields `INVALID_TYPE` for every row that is no list and every cell of another type."""
        if not isinstance(value, list):
            yield wrong_type(value, at, self.noun)
            return
        for index, row in enumerate(value):
            if not isinstance(row, list):
                yield wrong_type(row, (*at, index), "a list with one cell for each column")
                continue
            for place, cell in enumerate(row):
                if not (isinstance(cell, str) or cell is None or finite_number(cell) is not None):
                    yield wrong_type(cell, (*at, index, place), _CELL)

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema."""
        cell: JsonValue = {"type": ["string", "number", "null"]}
        return {"type": "array", "items": {"type": "array", "items": cell}}


def cell_issues(rows: Sequence[JsonValue], types: Sequence[str], at: Path) -> Iterator[Issue]:
    """Yields what is wrong with well-formed rows at `at` whose columns have these types, in order.

    The cells of a row of the wrong length are not looked at.
    """
    for index, row in enumerate(rows):
        if not isinstance(row, list):
            continue
        if len(row) != len(types):
            yield _wrong_length(len(row), len(types), (*at, index))
            continue
        for place, (cell, its_type) in enumerate(zip(row, types, strict=True)):
            if not _fits(cell, its_type):
                yield _misfit(cell, its_type, (*at, index, place))


def _fits(cell: JsonValue, its_type: str) -> bool:
    """Tells whether a cell fits its column; null fits none, and dates are not read."""
    if its_type == "number":
        return finite_number(cell) is not None
    return isinstance(cell, str) and not is_blank(cell)


def _wrong_length(size: int, width: int, at: Path) -> Issue:
    return Issue(
        at,
        BlockCode.ROW_ARITY_MISMATCH,
        f"{named(at)} has the length {size}, but its dataset has {width} columns.",
        f"Give {named(at)} one cell for each column: {width} in all.",
    )


def _misfit(cell: JsonValue, its_type: str, at: Path) -> Issue:
    found = quoted(cell) if isinstance(cell, str) else described(cell)
    wanted = "a finite number" if its_type == "number" else "a text that is not blank"
    return Issue(
        at,
        BlockCode.COLUMN_TYPE_MISMATCH,
        f"{named(at)} is {found}, which does not fit its {its_type} column.",
        f"Write {wanted} into {named(at)}, or leave out the row if you don't know it.",
    )

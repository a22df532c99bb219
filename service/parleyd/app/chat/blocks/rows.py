"""The rows of a document's datasets, as charts and tables read them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from parley.v1.blocks_pb2 import ChartBinding, ChartPoints, Dataset, DatasetCell, InlineDataset
from parleyd.app.chat.printable import in_a_line

Datasets: TypeAlias = Mapping[str, Dataset]


@dataclass(frozen=True)
class Point:
    """What is drawn of a row: its label, its number, and the number as it is shown."""

    label: str
    value: float
    shown: str


@dataclass(frozen=True)
class Elsewhere:
    """Why there are no rows here. `reason` is a sentence for the person."""

    reason: str


def rows_of(datasets: Datasets, name: str) -> InlineDataset | Elsewhere:
    """Returns the dataset that is named, or why its rows are not here."""
    dataset = datasets.get(name)
    match dataset.WhichOneof("source") if dataset is not None else None:
        case "inline" if dataset is not None:
            return dataset.inline
        case "ref":
            return Elsewhere(f"The rows of “{in_a_line(name)}” are on the server.")
        case _:
            return Elsewhere(f"There are no rows of “{in_a_line(name)}”.")


def bound_points(datasets: Datasets, binding: ChartBinding) -> Sequence[Point] | Elsewhere:
    """Returns the points that a chart takes from a dataset."""
    dataset = rows_of(datasets, binding.data)
    if isinstance(dataset, Elsewhere):
        return dataset
    names = [column.name for column in dataset.columns]
    if binding.x not in names or binding.y not in names:
        return Elsewhere(f"“{in_a_line(binding.data)}” has not what is to be drawn.")
    x, y = names.index(binding.x), names.index(binding.y)
    return [
        Point(shown_cell(row.cells[x]), row.cells[y].number, shown_cell(row.cells[y]))
        for row in dataset.rows
        if len(row.cells) > max(x, y) and row.cells[y].HasField("number")
    ]


def own_points(points: ChartPoints) -> Sequence[Point]:
    """Returns the points that a chart brings along."""
    return [
        Point(in_a_line(point.label), point.value, _number(point.value, point.exact))
        for point in points.points
    ]


def shown_cell(cell: DatasetCell) -> str:
    """Returns a cell as it is shown, numbers as they were written."""
    if cell.HasField("number"):
        return _number(cell.number, cell.exact)
    return in_a_line(cell.text)


def _number(number: float, exact: str) -> str:
    """Returns a number: `exact` where the double is not how it was written."""
    if exact:
        return in_a_line(exact)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)

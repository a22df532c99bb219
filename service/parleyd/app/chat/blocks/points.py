"""The points of charts, as they are drawn."""

from collections.abc import Sequence
from dataclasses import dataclass

from parley.v1.blocks_pb2 import ChartBinding, ChartPoints
from parleyd.app.chat.blocks.rows import Datasets, NoRows, shown_cell, shown_number
from parleyd.app.chat.printable import in_a_line


@dataclass(frozen=True)
class Point:
    """What is drawn of a row: its label, its number, and the number as it is shown."""

    label: str
    value: float
    shown: str


def bound_points(datasets: Datasets, binding: ChartBinding) -> Sequence[Point] | NoRows:
    """Returns the points that a chart takes from a dataset."""
    dataset = datasets.whole(binding.data)
    if isinstance(dataset, NoRows):
        return dataset
    names = [column.name for column in dataset.columns]
    if binding.x not in names or binding.y not in names:
        return NoRows(f"“{in_a_line(binding.data)}” has not what is to be drawn.")
    x, y = names.index(binding.x), names.index(binding.y)
    return [
        Point(shown_cell(row.cells[x]), row.cells[y].number, shown_cell(row.cells[y]))
        for row in dataset.rows
        if len(row.cells) > max(x, y) and row.cells[y].HasField("number")
    ]


def own_points(points: ChartPoints) -> Sequence[Point]:
    """Returns the points that a chart brings along."""
    return [
        Point(in_a_line(point.label), point.value, shown_number(point.value, point.exact))
        for point in points.points
    ]

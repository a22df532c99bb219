"""Charts of characters: bars, shares, sparklines and areas."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum
from typing import Final, assert_never

from rich.bar import Bar
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from parley.v1.blocks_pb2 import BLOCK_HEIGHT_LG, BLOCK_HEIGHT_SM, BlockHeight, ChartBlock
from parleyd.app.chat.blocks.points import Point, bound_points, own_points
from parleyd.app.chat.blocks.rows import Datasets, NoRows
from parleyd.app.chat.printable import in_a_line

BARS_SHOWN: Final = 40
COLUMNS_SHOWN: Final = 60
"""How many characters wide a line or an area is at most; more points share a character."""

_EIGHTHS: Final = " ▁▂▃▄▅▆▇█"
_LABEL_WIDTH: Final = 24
_BARS_WIDTH: Final = 72
_AREA_ROWS: Final = 5
_AREA_ROWS_OF: Final = {BLOCK_HEIGHT_SM: 3, BLOCK_HEIGHT_LG: 8}
_COLOR: Final = "cyan"


def drawn_chart(chart: ChartBlock, datasets: Datasets) -> RenderableType:
    """Returns a chart; where there is nothing to draw, why there is none."""
    points = _points(chart, datasets)
    parts: list[RenderableType] = []
    if chart.title:
        parts.append(Text(in_a_line(chart.title), style="bold"))
    if isinstance(points, NoRows):
        parts.append(Text(f"({points.reason})", style="dim"))
    elif not points:
        parts.append(Text(in_a_line(chart.empty_text) or "There is nothing to show.", style="dim"))
    else:
        parts.append(_drawn(chart.kind, points, chart.height))
    return Group(*parts)


def _points(chart: ChartBlock, datasets: Datasets) -> Sequence[Point] | NoRows:
    source = chart.WhichOneof("source")
    match source:
        case "binding":
            return bound_points(datasets, chart.binding)
        case "points":
            return own_points(chart.points)
        case None:
            return ()
        case _:
            assert_never(source)


def _drawn(
    kind: ChartBlock.Kind.ValueType, points: Sequence[Point], height: BlockHeight.ValueType
) -> RenderableType:
    match kind:
        case ChartBlock.KIND_LINE:
            return _curve(points, rows=1)
        case ChartBlock.KIND_AREA:
            return _curve(points, rows=_AREA_ROWS_OF.get(height, _AREA_ROWS))
        case ChartBlock.KIND_DONUT:
            return _bars(points, shares=True)
        case _:
            # A kind that is newer than this terminal: bars show any points.
            return _bars(points, shares=False)


def _bars(points: Sequence[Point], *, shares: bool) -> RenderableType:
    """Returns a line for each point, negative ones to the left of the others."""
    sizes = _scaled([point.value for point in points])
    low, high = min(0.0, *sizes), max(0.0, *sizes)
    grid = Table.grid(padding=(0, 1), expand=True)
    grid.add_column(overflow="ellipsis", no_wrap=True, max_width=_LABEL_WIDTH)
    grid.add_column(ratio=1)
    grid.add_column(justify="right")
    parts = _parts(sizes) if shares else [""] * len(points)
    for point, size, part in zip(points[:BARS_SHOWN], sizes, parts, strict=False):
        bar = Bar(
            (high - low) or 1.0,
            min(0.0, size) - low,
            max(0.0, size) - low,
            color=_COLOR,
        )
        grid.add_row(Text(point.label), bar, Text(f"{point.shown}{part}"))
    rest = len(points) - BARS_SHOWN
    bars = Constrain(grid, _BARS_WIDTH)
    return Group(bars, Text(f"… and {rest} more", style="dim")) if rest > 0 else bars


def _parts(sizes: Sequence[float]) -> Sequence[str]:
    """Returns what part of the whole each one is; nothing where there is no whole."""
    whole = fsum(sizes)
    if whole <= 0 or min(sizes) < 0:
        return [""] * len(sizes)
    return [f" ({size / whole:.0%})" for size in sizes]


def _curve(points: Sequence[Point], *, rows: int) -> RenderableType:
    """Returns the points as columns from left to right, and what they run from and to."""
    low, high = (pick(points, key=lambda point: point.value) for pick in (min, max))
    first, last = points[0], points[-1]
    ends = f"{first.label}: {first.shown}"
    if len(points) > 1:
        ends += f" → {last.label}: {last.shown}"
    return Group(
        _Curve(_scaled([point.value for point in points]), rows),
        Text(ends),
        Text(f"lowest {low.shown}, highest {high.shown}", style="dim"),
    )


@dataclass(frozen=True)
class _Curve:
    """Columns, as many as there are values unless there is less room."""

    values: Sequence[float]
    rows: int

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        """Yields the lines, for rich to draw."""
        del console
        levels = _levels(_thinned(self.values, min(options.max_width, COLUMNS_SHOWN)), self.rows)
        for row in reversed(range(self.rows)):
            line = "".join(_EIGHTHS[min(max(level - 8 * row, 0), 8)] for level in levels)
            yield Text(line, style=_COLOR)


def _scaled(values: Sequence[float]) -> list[float]:
    """Returns the values between -1 and 1, so that no sum of them is too large for a float."""
    most = max(map(abs, values)) or 1.0
    return [value / most for value in values]


def _thinned(values: Sequence[float], most: int) -> Sequence[float]:
    """Returns at most so many values: the mean of those that share a place."""
    count = len(values)
    if count <= most:
        return values
    edges = [count * place // most for place in range(most + 1)]
    shares = [values[start:end] for start, end in pairwise(edges)]
    return [fsum(share) / len(share) for share in shares]


def _levels(values: Sequence[float], rows: int) -> list[int]:
    """Returns how many eighths of a character each column is high: the lowest has one."""
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    return [1 + round((value - low) / span * (8 * rows - 1)) for value in values]

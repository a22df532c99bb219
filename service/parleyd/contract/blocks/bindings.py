"""What charts and tables show: their datasets, columns and sizes (spec blocks 7)."""

from collections.abc import Iterator, Mapping, Sequence

from parleyd.contract.blocks import limits
from parleyd.contract.blocks.datasets import Source
from parleyd.contract.blocks.faults import ticked
from parleyd.contract.blocks.issues import BlockCode, Issue
from parleyd.contract.blocks.placed import Placed
from parleyd.contract.field_errors import Path, listed, named, quoted
from parleyd.contract.json import string_at, strings_at

_AXES = ("data", "x", "y")


def binding_issues(blocks: Sequence[Placed], sources: Mapping[str, Source]) -> Iterator[Issue]:
    """Yields what is wrong with the data of charts and tables."""
    for block in blocks:
        if block.type == "chart":
            yield from _chart_issues(block, sources)
        elif block.type == "table":
            yield from _table_issues(block, sources)


def binding_warnings(blocks: Sequence[Placed], sources: Mapping[str, Source]) -> Iterator[Issue]:
    """Yields what is doubtful about the sizes of charts."""
    for block in blocks:
        if block.type == "chart":
            yield from _chart_warnings(block, sources)


def _chart_issues(chart: Placed, sources: Mapping[str, Source]) -> Iterator[Issue]:
    set_axes = [axis for axis in _AXES if axis in chart.it]
    if "points" in chart.it:
        if set_axes:
            yield Issue(
                (*chart.at, "points"),
                BlockCode.INVALID_TYPE,
                f"{named(chart.at)} has `points` beside {ticked(set_axes)}.",
                "Keep either `points` or `data`, `x` and `y`, not both.",
            )
    elif len(set_axes) < len(_AXES):
        absent = [axis for axis in _AXES if axis not in chart.it]
        yield Issue(
            (*chart.at, "data"),
            BlockCode.MISSING_REQUIRED,
            f"{named(chart.at)} has no data to show: {ticked(absent)} and `points` are missing.",
            "Add `data`, `x` and `y`, or `points` instead of all three.",
        )
    data = string_at(chart.it, "data")
    if data is None:
        return
    source = sources.get(data)
    if source is None:
        yield _no_dataset(data, (*chart.at, "data"), sources)
        return
    x, y = string_at(chart.it, "x"), string_at(chart.it, "y")
    if source.columns is None or x is None or y is None:
        return
    x_type, y_type = source.columns.get(x), source.columns.get(y)
    if x_type is None:
        yield _no_column(x, (*chart.at, "x"), data, source.columns)
    elif x_type == "number":
        yield _wrong_axis(x, (*chart.at, "x"), source.columns, numbers=False)
    if y_type is None:
        yield _no_column(y, (*chart.at, "y"), data, source.columns)
    elif y_type != "number":
        yield _wrong_axis(y, (*chart.at, "y"), source.columns, numbers=True)


def _table_issues(table: Placed, sources: Mapping[str, Source]) -> Iterator[Issue]:
    data = string_at(table.it, "data") or ""
    source = sources.get(data)
    if source is None:
        yield _no_dataset(data, (*table.at, "data"), sources)
        return
    at = (*table.at, "columns")
    shown = strings_at(table.it, "columns")
    width = len(shown) if "columns" in table.it else source.width
    if width is not None and width > limits.TABLE_COLUMNS:
        yield Issue(
            at,
            BlockCode.TABLE_TOO_WIDE,
            f"{named(table.at)} shows {width} columns, too many.",
            f"List at most {limits.TABLE_COLUMNS} columns in {named(at)}.",
        )
    if source.columns is not None:
        for index, column in enumerate(shown):
            if column not in source.columns:
                yield _no_column(column, (*at, index), data, source.columns)


def _chart_warnings(chart: Placed, sources: Mapping[str, Source]) -> Iterator[Issue]:
    count = _count(chart, sources)
    if count is None:
        return
    kind = string_at(chart.it, "kind")
    if kind == "bar" and count > limits.BAR_CATEGORIES:
        yield Issue(
            chart.at,
            BlockCode.BAR_TOO_MANY_CATEGORIES,
            f"{named(chart.at)} has {count} bars, too many to read.",
            f"Show at most {limits.BAR_CATEGORIES} categories, or use a line chart or a table.",
        )
    elif kind == "donut" and count > limits.DONUT_SLICES:
        yield Issue(
            chart.at,
            BlockCode.DONUT_TOO_MANY_SLICES,
            f"{named(chart.at)} has {count} slices, too many to tell apart.",
            f"Show at most {limits.DONUT_SLICES} slices, or use a bar chart.",
        )
    elif kind == "line" and count == 1:
        yield Issue(
            chart.at,
            BlockCode.LINE_SINGLE_POINT,
            f"{named(chart.at)} has a single point, which makes no line.",
            "Show at least 2 points, or use a metric.",
        )


def _count(chart: Placed, sources: Mapping[str, Source]) -> int | None:
    """Returns how many values a chart shows, None where nothing says it."""
    points = chart.it.get("points")
    if isinstance(points, list):
        return len(points)
    source = sources.get(string_at(chart.it, "data") or "")
    return None if source is None else source.rows


def _no_dataset(data: str, at: Path, sources: Mapping[str, Source]) -> Issue:
    return Issue(
        at,
        BlockCode.DATASET_NOT_FOUND,
        f"{named(at)} is {quoted(data)}, which is no dataset of this document.",
        f"Set {named(at)} to one of {listed([*sources])}."
        if sources
        else "Add the dataset to `datasets`, which has none now.",
    )


def _no_column(column: str, at: Path, data: str, columns: Mapping[str, str]) -> Issue:
    return Issue(
        at,
        BlockCode.COLUMN_NOT_FOUND,
        f"{named(at)} is {quoted(column)}, which is no column of the dataset {quoted(data)}.",
        f"Set {named(at)} to {_one_of([*columns])}.",
    )


def _wrong_axis(column: str, at: Path, columns: Mapping[str, str], *, numbers: bool) -> Issue:
    """Returns the fault of an axis; `numbers` tells whether it is the one that takes numbers."""
    fitting = [name for name, its_type in columns.items() if (its_type == "number") is numbers]
    return Issue(
        at,
        BlockCode.COLUMN_TYPE_MISMATCH,
        f"{named(at)} is {quoted(column)}, which is {'no' if numbers else 'a'} number column.",
        f"Set {named(at)} to a {'number' if numbers else 'string or date'} column: "
        f"{_one_of(fitting)}.",
    )


def _one_of(names: Sequence[str]) -> str:
    return f"one of {listed(names)}" if names else "there is none, so add one to the dataset"

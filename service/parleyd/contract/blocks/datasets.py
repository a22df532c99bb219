"""Datasets: their form, their contents, and what blocks can name of them (spec blocks 6)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from parleyd.contract.blocks import limits
from parleyd.contract.blocks.catalog import ID, INLINE, REF
from parleyd.contract.blocks.cells import cell_issues
from parleyd.contract.blocks.faults import not_among, wrong_type
from parleyd.contract.blocks.issues import BlockCode, Issue
from parleyd.contract.blocks.options import KnownColumn
from parleyd.contract.field_errors import Path, named, quoted
from parleyd.contract.json import JsonObject, objects_at, string_at, whole_at
from parleyd.contract.text import clip

_SOURCES = ("inline", "ref")


def dataset_form_issues(value: JsonValue, at: Path) -> Iterator[Issue]:
    """Yields every fault of form in the datasets of a document."""
    if not isinstance(value, dict):
        yield wrong_type(value, at, "a mapping from names to datasets")
        return
    for name, dataset in value.items():
        place = (*at, name)
        if not ID.matches(name):
            yield Issue(
                place,
                BlockCode.INVALID_TYPE,
                f"{named(place)} has a name that no dataset can have.",
                f"Name the dataset with {ID.noun}.",
            )
        elif not isinstance(dataset, dict):
            yield wrong_type(dataset, place, "a mapping with `columns` and `rows`")
        elif "source" not in dataset or dataset["source"] == "inline":
            yield from INLINE.check(dataset, place)
        elif dataset["source"] == "ref":
            yield from REF.check(dataset, place)
        else:
            yield not_among(dataset["source"], (*place, "source"), _SOURCES)


def dataset_issues(datasets: JsonObject, at: Path) -> Iterator[Issue]:
    """Yields what is wrong with the contents of well-formed datasets."""
    if len(datasets) > limits.DATASETS:
        yield Issue(
            at,
            BlockCode.TOO_MANY,
            f"The document has {len(datasets)} datasets, too many.",
            f"Keep at most {limits.DATASETS} datasets.",
        )
    for name, dataset in datasets.items():
        if isinstance(dataset, dict):
            if dataset.get("source") == "ref":
                yield from _ref_issues(dataset, (*at, name))
            else:
                yield from _inline_issues(dataset, (*at, name))


def _ref_issues(dataset: JsonObject, at: Path) -> Iterator[Issue]:
    limit = whole_at(dataset, "limit")
    if limit is not None and limit > limits.REF_LIMIT:
        place = (*at, "limit")
        yield Issue(
            place,
            BlockCode.TOO_MANY_POINTS,
            f"{named(place)} is {clip(str(limit), 40)}, too many rows to show.",
            f"Set {named(place)} to at most {limits.REF_LIMIT}, with a coarser `grain` if needed.",
        )


def _inline_issues(dataset: JsonObject, at: Path) -> Iterator[Issue]:
    columns = objects_at(dataset, "columns")
    rows = dataset.get("rows")
    width = len(columns)
    if width > limits.DATASET_COLUMNS:
        yield _too_large((*at, "columns"), width, limits.DATASET_COLUMNS, "columns")
    if isinstance(rows, list):
        if len(rows) > limits.DATASET_ROWS:
            yield _too_large((*at, "rows"), len(rows), limits.DATASET_ROWS, "rows")
        types = [string_at(column, "type") or "" for column in columns]
        yield from cell_issues(rows, types, (*at, "rows"))
    yield from _repeated_names(columns, (*at, "columns"))


def _too_large(at: Path, size: int, most: int, noun: str) -> Issue:
    return Issue(
        at,
        BlockCode.DATASET_TOO_LARGE,
        f"{named(at)} has {size} {noun}, too many.",
        f"Keep at most {most} {noun}, or name a dataset that a tool returned with `source: ref`.",
    )


def _repeated_names(columns: Sequence[JsonObject], at: Path) -> Iterator[Issue]:
    seen: set[str] = set()
    for index, column in enumerate(columns):
        name = string_at(column, "name") or ""
        if name in seen:
            place = (*at, index, "name")
            yield Issue(
                place,
                BlockCode.DUPLICATE_ID,
                f"{named(place)} is {quoted(name)}, the name of an earlier column.",
                "Give every column of the dataset a name of its own.",
            )
        seen.add(name)


@dataclass(frozen=True)
class Source:
    """What is known of a dataset that a block can name.

    `columns` are types by their names; they and `width`, how many there are, are None where the
    server does not know the dataset. `rows` is how many are shown, None where nothing says it.
    """

    columns: Mapping[str, str] | None
    width: int | None
    rows: int | None


def sources(
    datasets: JsonObject, known: Mapping[str, tuple[KnownColumn, ...]]
) -> Mapping[str, Source]:
    """Returns what blocks can name, by name; `known` are the columns of stored datasets by id."""
    return {
        name: _source(dataset, known)
        for name, dataset in datasets.items()
        if isinstance(dataset, dict)
    }


def _source(dataset: JsonObject, known: Mapping[str, tuple[KnownColumn, ...]]) -> Source:
    if dataset.get("source") == "ref":
        limit = whole_at(dataset, "limit")
        stored = known.get(string_at(dataset, "id") or "")
        if stored is None:
            return Source(None, None, limit)
        return Source({column.name: column.type for column in stored}, len(stored), limit)
    columns: dict[str, str] = {}
    listed = objects_at(dataset, "columns")
    for column in listed:
        columns.setdefault(string_at(column, "name") or "", string_at(column, "type") or "")
    rows = dataset.get("rows")
    return Source(columns, len(listed), len(rows) if isinstance(rows, list) else 0)

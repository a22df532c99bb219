"""Documents made of the catalog: every record, every one of its fields, every word.

Not all of them are valid: the wire is for form alone.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from typing import Final, TypeAlias

from pydantic import JsonValue

from parleyd.contract.blocks.catalog import ACTION, BLOCK, ELEMENT, INLINE, REF
from parleyd.contract.blocks.cells import RowsForm
from parleyd.contract.blocks.forms import (
    CountForm,
    EnumForm,
    FlagForm,
    Form,
    MappingForm,
    NumberForm,
    PatternForm,
    StringForm,
    TextForm,
)
from parleyd.contract.blocks.records import ChildrenForm, Field, ListForm, RecordForm, TaggedForm
from tests.contract.blocks.documents import actions, button, document

Json: TypeAlias = dict[str, JsonValue]

NUMBERS: Final[list[JsonValue]] = [
    *(0, 0.0, -0.0, 5, 5.0, -2.5, 0.1, 5e-324, 1e22, 1.7976931348623157e308),
    *(2**53, 2**53 + 1, -(2**53) - 1, 2**63, 10**22, 10**22 + 1, 10**308),
]
_AXES: Final = frozenset({"data", "x", "y"})


def every_record() -> dict[str, list[Json]]:
    """Returns documents by what they show: each record in every way in which it can be written."""
    return {
        **{f"block_{name}": [*map(document, its)] for name, its in _by_name(BLOCK)},
        **{f"element_{name}": [*map(_pressed, its)] for name, its in _by_name(ELEMENT)},
        **{f"action_{name}": [*map(_done, its)] for name, its in _by_name(ACTION)},
        "inline": [document(d=it) for it in _records(INLINE)],
        "ref": [document(d=it) for it in _records(REF)],
    }


def _by_name(form: TaggedForm) -> Iterator[tuple[str, Iterator[Json]]]:
    for name, record in form.records.items():
        yield name, _records(record)


def _records(record: RecordForm) -> Iterator[Json]:
    """Yields a record with its required fields alone, with some others, and with all."""
    required = [field for field in record.fields if field.required]
    others = [field for field in record.fields if not field.required]
    for count in (0, 1, 2, 3, len(others)):
        for some in combinations(others, min(count, len(others))):
            yield from filter(_is_possible, _written([*required, *some]))
    yield from filter(_is_possible, _written([it for it in record.fields if it.name not in _AXES]))


def _is_possible(it: Json) -> bool:
    """Tells whether the wire has a place for all of a record: no valid one is without it."""
    if it.get("kind") == "open":
        return ("url" in it) is not ("route" in it)
    return not ("points" in it and it.keys() & _AXES)


def _written(fields: Sequence[Field]) -> Iterator[Json]:
    """Yields records of these fields until each field has had every value that it is given."""
    columns = [[*_values(field.form)] for field in fields]
    for row in range(max(map(len, columns), default=1)):
        yield {
            field.name: column[row % len(column)]
            for field, column in zip(fields, columns, strict=True)
        }


def _values(form: Form) -> Iterator[JsonValue]:
    match form:
        case TextForm() | StringForm():
            yield from ("text", "é\x00🚢\n")
        case PatternForm():
            yield "abc"
        case EnumForm():
            yield from form.values
        case FlagForm():
            yield from (False, True)
        case NumberForm():
            yield from NUMBERS
        case CountForm():
            yield from (1, 1000)
        case MappingForm():
            yield {}
            yield {"a_b": [1, 1.0, 2**70, None, True, {"é🚢": "\x01"}]}
        case RowsForm():
            yield []
            yield [["a", "é🚢", "2026-03-04"], [], [*NUMBERS, None, ""]]
        case ChildrenForm():
            yield [{"type": "divider"}, {"type": "text", "id": "its", "markdown": "Hello"}]
        case RecordForm():
            yield from _records(form)
        case TaggedForm():
            yield from chain.from_iterable(map(_records, form.records.values()))
        case ListForm():
            if form.least == 0:
                yield []
            yield [*_values(form.item)]
        case _:
            raise AssertionError(f"There is no value for {form}.")


def _pressed(element: Json) -> Json:
    return document(actions("do", element))


def _done(action: Json) -> Json:
    return _pressed(button("go", action))

"""What lists and mappings of a document may look like: see `forms.py`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from pydantic import JsonValue

from parleyd.contract.blocks.faults import (
    missing,
    none_given,
    not_among,
    ticked,
    unknown_key,
    wrong_size,
    wrong_type,
)
from parleyd.contract.blocks.forms import EnumForm, Form
from parleyd.contract.blocks.issues import BlockCode, Issue
from parleyd.contract.field_errors import Path
from parleyd.contract.json import string_at


@dataclass(frozen=True)
class Field:
    """A key of a record and what its value looks like."""

    name: str
    form: Form
    required: bool = False


@dataclass(frozen=True)
class RecordForm:
    """A closed mapping: a key that is no field is a fault."""

    fields: tuple[Field, ...]

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return f"a mapping with the keys {ticked(self._by_name)}"

    def field(self, name: str) -> Field | None:
        """Returns the field of that name, if there is one."""
        return self._by_name.get(name)

    def check(self, value: JsonValue, at: Path) -> Iterator[Issue]:
        """Yields the faults of all fields and one for every other key."""
        if not isinstance(value, dict):
            yield wrong_type(value, at, self.noun)
            return
        fields = self._by_name
        for name, item in value.items():
            field = fields.get(name)
            if field is None:
                yield unknown_key((*at, name), fields)
            else:
                yield from field.form.check(item, (*at, name))
        for field in self._required:
            if field.name not in value:
                here = (*at, field.name)
                if isinstance(field.form, EnumForm):
                    yield none_given(here, field.form.values)
                else:
                    yield missing(here, field.form.noun)

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema."""
        return {
            "type": "object",
            "properties": {field.name: field.form.schema() for field in self.fields},
            "required": [field.name for field in self._required],
            "additionalProperties": False,
        }

    @cached_property
    def _by_name(self) -> Mapping[str, Field]:
        return {field.name: field for field in self.fields}

    @cached_property
    def _required(self) -> tuple[Field, ...]:
        return tuple(field for field in self.fields if field.required)


@dataclass(frozen=True)
class TaggedForm:
    """A closed mapping whose `tag` names one of a few records; every record holds the tag."""

    tag: str
    records: Mapping[str, RecordForm]

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return f"a mapping with the key `{self.tag}`"

    def check(self, value: JsonValue, at: Path) -> Iterator[Issue]:
        """Yields the faults of a value; of one whose tag names no record, that alone (V1)."""
        if not isinstance(value, dict):
            yield wrong_type(value, at, self.noun)
            return
        record = self.records.get(string_at(value, self.tag) or "")
        if record is not None:
            yield from record.check(value, at)
        elif self.tag in value:
            yield not_among(value[self.tag], (*at, self.tag), self.records)
        else:
            yield none_given((*at, self.tag), self.records)

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema."""
        return {"oneOf": [record.schema() for record in self.records.values()]}


def tagged(tag: str, fields: Mapping[str, tuple[Field, ...]]) -> TaggedForm:
    """Returns the form of records by their names, each with its tag in front of its `fields`."""
    return TaggedForm(
        tag,
        {
            name: RecordForm((Field(tag, EnumForm((name,)), required=True), *its))
            for name, its in fields.items()
        },
    )


@dataclass(frozen=True)
class ListForm:
    """A list of at least `least` and, where that is given, at most `most` items."""

    item: Form
    least: int = 0
    most: int | None = None

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return sized(self.least, self.most)

    def check(self, value: JsonValue, at: Path) -> Iterator[Issue]:
        """Yields the fault of the list's size and the faults of every item."""
        yield from size_issues(value, at, self.least, self.most)
        if isinstance(value, list):
            for index, item in enumerate(value):
                yield from self.item.check(item, (*at, index))

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema."""
        return list_schema(self.item.schema(), self.least, self.most)


@dataclass(frozen=True)
class ChildrenForm:
    """A list of blocks. The blocks themselves are for the walk over all blocks to check."""

    least: int
    most: int

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return sized(self.least, self.most)

    def check(self, value: JsonValue, at: Path) -> Iterator[Issue]:
        """Yields the fault of the list's size, or that it is no list."""
        return size_issues(value, at, self.least, self.most)

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema, by reference: blocks may hold blocks."""
        return list_schema({"$ref": "#/definitions/block"}, self.least, self.most)


def size_issues(value: JsonValue, at: Path, least: int, most: int | None) -> Iterator[Issue]:
    """Yields `TOO_FEW` or `TOO_MANY` for a list of the wrong size, `INVALID_TYPE` for no list."""
    if not isinstance(value, list):
        yield wrong_type(value, at, sized(least, most))
    elif len(value) < least:
        yield wrong_size(len(value), at, BlockCode.TOO_FEW, sized(least, most))
    elif most is not None and len(value) > most:
        yield wrong_size(len(value), at, BlockCode.TOO_MANY, sized(least, most))


def sized(least: int, most: int | None) -> str:
    """Returns what a list of such a size is called."""
    if most is not None:
        return f"a list of {least} to {most} items"
    return f"a list of at least {least} items" if least else "a list"


def list_schema(item: dict[str, JsonValue], least: int, most: int | None) -> dict[str, JsonValue]:
    """Returns the JSON Schema of a list of such a size."""
    floor: dict[str, JsonValue] = {"minItems": least} if least else {}
    ceiling: dict[str, JsonValue] = {} if most is None else {"maxItems": most}
    return {"type": "array", "items": item, **floor, **ceiling}

"""What a JSON object may look like that says of itself which of a few forms it has."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from pydantic import JsonValue

from parleyd.contract.field_errors import Fault, Path
from parleyd.contract.json import string_at
from parleyd.contract.records import Key, RecordShape
from parleyd.contract.shapes import EnumShape, wrong_type


@dataclass(frozen=True)
class Variant:
    """A form for each of `names`; `keys` are all its keys but for the one that holds the name."""

    names: tuple[str, ...]
    keys: tuple[Key, ...]


@dataclass(frozen=True)
class VariantShape:
    """A closed object whose `tag` names one of the variants.

    Its schema is a bare `anyOf` of closed objects: providers refuse a schema in which anything
    stands beside `anyOf`.
    """

    tag: str
    says: str
    variants: tuple[Variant, ...]

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return f"an object with the key `{self.tag}`"

    def check(self, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields the faults of a value; of one that names no variant, that alone (FO2)."""
        if not isinstance(value, dict):
            yield wrong_type(value, at, self.noun)
            return
        record = self._by_name.get(string_at(value, self.tag) or "")
        if record is None:
            yield from self._tag_alone.check(self._tag_alone.known(value), at)
        else:
            yield from record.check(value, at)

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema."""
        return {"anyOf": [record.schema() for record in self.records]}

    @property
    def records(self) -> tuple[RecordShape, ...]:
        """Lists the closed objects, one for each variant."""
        return tuple(self._record(variant) for variant in self.variants)

    @cached_property
    def _by_name(self) -> Mapping[str, RecordShape]:
        return {
            name: record
            for variant, record in zip(self.variants, self.records, strict=True)
            for name in variant.names
        }

    @cached_property
    def _tag_alone(self) -> RecordShape:
        return RecordShape((self._tag_of(tuple(self._by_name)),))

    def _record(self, variant: Variant) -> RecordShape:
        return RecordShape((self._tag_of(variant.names), *variant.keys))

    def _tag_of(self, names: tuple[str, ...]) -> Key:
        return Key(self.tag, EnumShape(names), self.says, required=True)

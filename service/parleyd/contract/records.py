"""What a JSON object may look like (spec asks G1): see `shapes.py`."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from pydantic import JsonValue
from pydantic.alias_generators import to_snake

from parleyd.contract import limits
from parleyd.contract.field_errors import Code, Fault, Path, named
from parleyd.contract.json import JsonObject
from parleyd.contract.shapes import Shape, wrong_type


@dataclass(frozen=True)
class ObjectShape:
    """Any object; its inside is someone else's to check."""

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return "an object"

    def check(self, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields `INVALID_TYPE` for anything else."""
        if not isinstance(value, dict):
            yield wrong_type(value, at, self.noun)

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema."""
        return {"type": "object"}


@dataclass(frozen=True)
class Key:
    """A key of a record. `says` tells the model what it is for; limits are the shape's to say."""

    name: str
    shape: Shape
    says: str
    required: bool = False


@dataclass(frozen=True)
class RecordShape:
    """A closed object: a key that is not listed is a fault (G1)."""

    keys: tuple[Key, ...]

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return "an object with the keys " + ", ".join(f"`{key.name}`" for key in self.keys)

    def check(self, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields the faults of the listed keys, and one for every other key (V3).

        Of very many `unknown_keys` the first alone are reported.
        """
        if not isinstance(value, dict):
            yield wrong_type(value, at, self.noun)
            return
        for key in self.keys:
            if key.name in value:
                yield from key.shape.check(value[key.name], (*at, key.name))
            elif key.required:
                here = (*at, key.name)
                yield Fault(
                    here,
                    Code.MISSING_REQUIRED,
                    f"{named(here)} is missing.",
                    f"Add {named(here)}: {key.shape.noun}.",
                )
        for name in unknown_keys(value, self._names):
            yield self._unknown_key(name, at)

    def known(self, record: JsonObject) -> dict[str, JsonValue]:
        """Returns what the record holds at the listed keys."""
        return {key.name: record[key.name] for key in self.keys if key.name in record}

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema."""
        return {
            "type": "object",
            "properties": {
                key.name: {"description": key.says, **key.shape.schema()} for key in self.keys
            },
            "required": [key.name for key in self.keys if key.required],
            "additionalProperties": False,
        }

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(key.name for key in self.keys)

    @cached_property
    def _snake_names(self) -> Mapping[str, str]:
        return {to_snake(key.name): key.name for key in self.keys}

    def _unknown_key(self, name: str, at: Path) -> Fault:
        here = (*at, name)
        shown = named(here)
        meant = self._snake_names.get(name)
        return Fault(
            here,
            Code.UNKNOWN_KEY,
            f"{shown} is no key that exists here.",
            f"Rename {shown} to `{meant}`." if meant else f"Remove {shown}.",
        )


def unknown_keys(record: JsonObject, known: Collection[str]) -> Iterator[str]:
    """Yields the keys of `record` that are not `known`, in the order sent (V3).

    Of more than `UNKNOWN_KEYS_REPORTED` it yields the first alone. That bound is ours: the spec
    wants one error a key, but a hostile object can hold hundreds of thousands.
    """
    unknown = (name for name in record if name not in known)
    return islice(unknown, limits.UNKNOWN_KEYS_REPORTED)

"""The types of columns that hold what people and models wrote."""

from typing import Generic, TypeVar

from pydantic import JsonValue, TypeAdapter
from sqlalchemy import Dialect, Text, TypeDecorator
from sqlalchemy.dialects.postgresql import JSONB

from parleyd.contract.json import storable_json
from parleyd.contract.text import storable

T = TypeVar("T")


class StorableText(TypeDecorator[str]):
    """Text in the form of `storable`: PostgreSQL takes no U+0000 and no surrogate (spec turns 4.2).

    What is compared with a column gets the same form as what is stored in it.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Returns the text as it is stored."""
        del dialect
        return value if value is None else storable(value)


class Stored(TypeDecorator[T], Generic[T]):
    """A contract value kept whole as jsonb; None is SQL's NULL.

    Strings get the form of `storable`. Whole numbers keep every digit.
    """

    impl = JSONB(none_as_null=True)
    cache_ok = True

    def __init__(self, adapter: TypeAdapter[T]) -> None:
        super().__init__()
        self.adapter = adapter

    def process_bind_param(self, value: T | None, dialect: Dialect) -> JsonValue:
        """Returns the value as JSON."""
        del dialect
        if value is None:
            return None
        return storable_json(self.adapter.dump_python(value, mode="json", by_alias=True))

    def process_result_value(self, value: object, dialect: Dialect) -> T | None:
        """Returns the value that was stored."""
        del dialect
        if value is None:
            return None
        return self.adapter.validate_python(value, strict=False)

"""The types of columns that hold what people and models wrote."""

from typing import Final, Generic, TypeVar, cast

from pydantic import JsonValue, TypeAdapter
from pydantic_core import PydanticSerializationError
from sqlalchemy import Dialect, Text, TypeDecorator
from sqlalchemy.dialects.postgresql import JSONB

from parleyd.contract.json import compact, storable_json
from parleyd.contract.text import storable

T = TypeVar("T")

_ESCAPED_NUL: Final = b"\\u0000"


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

    Strings get the form of `storable`. Whole numbers keep every digit. Values cross the driver as
    JSON text, so the engine has to leave JSON alone both ways (`left_alone`).
    """

    impl = JSONB(none_as_null=True)
    cache_ok = True

    def __init__(self, adapter: TypeAdapter[T]) -> None:
        super().__init__()
        self.adapter = adapter

    def process_bind_param(self, value: T | None, dialect: Dialect) -> str | None:
        """Returns the value as JSON text."""
        del dialect
        if value is None:
            return None
        try:
            data = self.adapter.dump_json(value, by_alias=True)
        except PydanticSerializationError:  # it holds half a surrogate pair
            return self._storable(value)
        return self._storable(value) if _ESCAPED_NUL in data else data.decode()

    def process_result_value(self, value: object, dialect: Dialect) -> T | None:
        """Returns the value that was stored."""
        del dialect
        return None if value is None else self.adapter.validate_json(cast("str", value))

    def _storable(self, value: T) -> str:
        plain = cast("JsonValue", self.adapter.dump_python(value, mode="json", by_alias=True))
        return compact(storable_json(plain))


def left_alone(text: str) -> str:
    """Returns JSON text as it is; what the engine does with JSON, both ways."""
    return text

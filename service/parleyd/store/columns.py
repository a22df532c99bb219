"""The types of columns that hold what people and models wrote."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, Generic, TypeVar, cast

from pydantic import JsonValue, TypeAdapter
from pydantic_core import PydanticSerializationError
from sqlalchemy import Dialect, Text, TypeDecorator
from sqlalchemy.dialects.postgresql import JSONB

from parleyd.contract.json import compact, storable_json
from parleyd.contract.text import storable

T = TypeVar("T")

_JSON: Final = TypeAdapter[Any](JsonValue)
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


class Json(TypeDecorator[Any]):
    """JSON kept as jsonb: strings in the form of `storable`, whole numbers with every digit.

    None is SQL's NULL. What comes back is what was stored, not checked again.
    """

    impl = JSONB(none_as_null=True)
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[..., str | None]:
        """Returns what makes the JSON text that the driver sends, without a detour over objects."""
        del dialect
        return partial(json_text, _JSON)


class Stored(TypeDecorator[T], Generic[T]):
    """A contract value kept whole as jsonb, and a value again when it is read. None is NULL."""

    impl = JSONB(none_as_null=True)
    cache_ok = True

    def __init__(self, adapter: TypeAdapter[T]) -> None:
        super().__init__()
        self.adapter = adapter

    def bind_processor(self, dialect: Dialect) -> Callable[..., str | None]:
        """Returns what makes the JSON text that the driver sends, without a detour over objects."""
        del dialect
        return partial(json_text, self.adapter)

    def process_result_value(self, value: object, dialect: Dialect) -> T | None:
        """Returns the value that was stored."""
        del dialect
        return None if value is None else self.adapter.validate_python(value, strict=False)


def json_text(adapter: TypeAdapter[T], value: T | None) -> str | None:
    """Returns a value as JSON text that PostgreSQL takes."""
    if value is None:
        return None
    try:
        data = adapter.dump_json(value, by_alias=True)
    except PydanticSerializationError:  # half a surrogate pair has no UTF-8
        pass
    else:
        if _ESCAPED_NUL not in data:
            return data.decode()
    plain = cast("JsonValue", adapter.dump_python(value, mode="json", by_alias=True))
    return compact(storable_json(plain))

"""The plain fields of blocks on the wire: texts, numbers, flags, and the words of closed lists."""

import re
from collections.abc import Sequence
from typing import Final, Generic, Protocol, TypeVar

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.message import Message
from pydantic import JsonValue

from parleyd.contract.blocks import limits
from parleyd.contract.json import JsonObject, finite_number, string_at, strings_at, whole_at
from parleyd.contract.text import without_surrogates
from parleyd.rpc.values import number_from_proto

ITEMS_READ: Final = 2 * max(limits.DATASET_ROWS, limits.CHART_POINTS)
"""Of a longer list so many items are read (see `items_from_proto`); no valid one is as long."""

_UNSPECIFIED: Final = "UNSPECIFIED"
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_NUMBER_CHARACTERS: Final = 400
"""More than the digits of the largest double, and few enough for Python to read."""
_LARGEST_INT32: Final = 2**31 - 1

_Number = TypeVar("_Number", bound=int)
_Number_co = TypeVar("_Number_co", bound=int, covariant=True)


class _Enum(Protocol[_Number_co]):
    def items(self) -> Sequence[tuple[str, _Number_co]]: ...


class Words(Generic[_Number]):
    """The words of a closed list, and the enum values that stand for them.

    `SIZE_2XL` stands for `2xl`; the value whose name ends in `UNSPECIFIED` stands for no word.
    """

    def __init__(self, enum: _Enum[_Number]) -> None:
        (unspecified, self._none), *values = enum.items()
        self._numbers = {_word(name, unspecified): number for name, number in values}

    def at(self, record: JsonObject, key: str) -> _Number:
        """Returns the value for the word at `key`, or the unspecified one for no word of these."""
        return self._numbers.get(string_at(record, key) or "", self._none)


def text_at(record: JsonObject, key: str) -> str:
    """Returns the text at `key` as the wire carries it, the empty one where there is none.

    No valid text is empty. An unpaired surrogate, which UTF-8 lacks, becomes U+FFFD.
    """
    return without_surrogates(string_at(record, key) or "")


def texts_at(record: JsonObject, key: str) -> list[str]:
    """Returns the texts of the list at `key`, none where there is no list."""
    return [*map(without_surrogates, strings_at(record, key))]


def count_at(record: JsonObject, key: str) -> int | None:
    """Returns the whole number at `key`, or None where the wire's 32 bits carry none."""
    count = whole_at(record, key)
    return count if count is not None and abs(count) <= _LARGEST_INT32 else None


def fields_from_proto(message: Message) -> dict[str, JsonValue]:
    """Returns the texts, flags, words and whole numbers that are set, by their names in JSON.

    What is unset, unspecified or an empty text is no key. An enum value that is unknown here stays
    its number, for the check to refuse.
    """
    return {
        field.json_name: _word_of(field.enum_type, value) if isinstance(value, int) else value
        for field, value in message.ListFields()
        if isinstance(value, str | int)
    }


def exact_text(number: float) -> str:
    """Returns a finite number as JSON text if its double does not tell how it was written.

    That are whole numbers which no double equals, and doubles that are whole: 5.0 is not 5 (see
    `exact` in the protos). Of others it returns the empty text.
    """
    if isinstance(number, int):
        return "" if int(float(number)) == number else str(number)
    return repr(number) if number.is_integer() else ""


def exact_number(double: float, text: str) -> JsonValue:
    """Returns the number that a double and its exact text stand for.

    The text counts, if there is one. Null where that is no number, or none of a double's range.
    """
    if not text:
        return number_from_proto(double)
    if len(text) > _NUMBER_CHARACTERS or (found := _NUMBER.fullmatch(text)) is None:
        return None
    return finite_number(float(text) if found[1] or found[2] else int(text))


def _word_of(enum: EnumDescriptor | None, number: int) -> JsonValue:
    """Returns the word that a number of an enum stands for; one of no enum is a mere number."""
    if enum is None or number not in enum.values_by_number:
        return number
    return _word(enum.values_by_number[number].name, enum.values[0].name)


def _word(name: str, unspecified: str) -> str:
    return name.removeprefix(unspecified.removesuffix(_UNSPECIFIED)).lower()

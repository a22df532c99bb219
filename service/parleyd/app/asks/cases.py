"""Cases: an ask, an answer to one, or an ask whose card is wanted, as JSON (spec asks 17)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, TypeVar, get_args

from pydantic import JsonValue

from parleyd.app.case_files import UnreadableCase
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import ASK_KINDS
from parleyd.contract.field_errors import listed
from parleyd.contract.json import JsonObject
from parleyd.contract.surfaces import Surface

Operation: TypeAlias = Literal["ask", "answer", "card"]

_Word = TypeVar("_Word", bound=str)

_OPERATIONS: Final[tuple[Operation, ...]] = get_args(Operation)
_SURFACES: Final[tuple[Surface, ...]] = get_args(Surface)


@dataclass(frozen=True)
class Case:
    """What is to be checked or shown. Only an answer has a `response`."""

    name: str
    op: Operation
    kind: AskKind
    surface: Surface
    input: JsonValue
    response: JsonValue = None


def read_case(value: JsonObject) -> Case:
    """Returns the case that an object says; keys that no case has don't count.

    Raises:
        UnreadableCase: It is no case.
    """
    name = value.get("name")
    if not isinstance(name, str):
        raise UnreadableCase("`name` is no string.")
    op = _word(value, "op", _OPERATIONS)
    return Case(
        name=name,
        op=op,
        kind=_word(value, "kind", ASK_KINDS),
        surface=_word({"surface": "full", **value}, "surface", _SURFACES),
        input=_part(value, "input"),
        response=_part(value, "response") if op == "answer" else None,
    )


def _word(record: JsonObject, key: str, words: Sequence[_Word]) -> _Word:
    found = record.get(key)
    for word in words:
        if word == found:
            return word
    raise UnreadableCase(f"`{key}` is none of {listed(words)}.")


def _part(record: JsonObject, key: str) -> JsonValue:
    if key not in record:
        raise UnreadableCase(f"`{key}` is missing.")
    return record[key]

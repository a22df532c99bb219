"""JSON as its standard has it, the other way of writing a document (spec blocks 2.4)."""

import json
from enum import Enum, auto
from typing import Final, NoReturn

from pydantic import JsonValue

from parleyd.contract.blocks.limits import LEVELS
from parleyd.contract.blocks.scalars import whole

_BRACKETS: Final = ("[", "{")


class NotRead(Enum):
    """Why a text was not read as JSON."""

    NOT_JSON = auto()
    """It may yet be YAML."""
    UNFINISHED = auto()
    """It ends too early; as YAML it would do so too."""
    DUPLICATE_KEY = auto()
    TOO_DEEP = auto()


def read_json(text: str) -> dict[str, JsonValue] | NotRead:
    """Returns the object that a text is; `NaN` and the infinities are no JSON."""
    try:
        return _read(text, long_numbers=False)
    except ValueError:  # the number has too many digits for Python's own reading
        return _read(text, long_numbers=True)


class _NotStandardError(Exception):
    """A word that Python's reader knows and the standard does not."""


def _read(text: str, *, long_numbers: bool) -> dict[str, JsonValue] | NotRead:
    repeated = False

    def once(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
        nonlocal repeated
        entries = dict(pairs)
        repeated = repeated or len(entries) < len(pairs)
        return entries

    try:
        value: JsonValue = json.loads(
            text,
            object_pairs_hook=once,
            parse_constant=_refuse,
            parse_int=whole if long_numbers else None,
        )
    except json.JSONDecodeError as error:
        unfinished = error.pos >= len(text) or error.msg.startswith("Unterminated string")
        return NotRead.UNFINISHED if unfinished else NotRead.NOT_JSON
    except _NotStandardError:
        return NotRead.NOT_JSON
    except RecursionError:
        return NotRead.TOO_DEEP
    if repeated:
        return NotRead.DUPLICATE_KEY
    if sum(map(text.count, _BRACKETS)) > LEVELS and _too_deep(value):
        return NotRead.TOO_DEEP
    return value if isinstance(value, dict) else NotRead.NOT_JSON


def _too_deep(value: JsonValue) -> bool:
    """Tells whether collections, empty ones too, are nested deeper than they may be."""
    layer = [value]
    for _ in range(LEVELS):
        layer = [
            item
            for outer in layer
            if isinstance(outer, list | dict)
            for item in (outer if isinstance(outer, list) else outer.values())
            if isinstance(item, list | dict)
        ]
        if not layer:
            return False
    return True


def _refuse(word: str) -> NoReturn:
    raise _NotStandardError(word)

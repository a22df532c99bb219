"""What a tool returns: JSON that can be stored and told, or one file."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final, cast

import structlog
from pydantic import JsonValue
from pydantic_core import to_jsonable_python

from parleyd.contract import limits
from parleyd.contract.field_errors import quoted
from parleyd.contract.file_types import FILE_TYPES, is_of_type
from parleyd.contract.json import compact, nests_deeper, storable_json
from parleyd.contract.text import is_blank, storable, units
from parleyd.turns.tools import ToolFailed, ToolFile

_MIME_TYPE: Final = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*")
_AGAIN: Final = "Calling it again will not help."
_LESS: Final = "Ask for less, where the arguments allow that."

log = structlog.stdlib.get_logger()


class _NoJson(Exception):
    """A value of a type that JSON has no word for."""


def result_of(tool: str, value: object) -> JsonValue:
    """Returns what a tool returned as storable JSON.

    Models, dataclasses, dates, decimals, sets and whatever else pydantic writes as JSON will do.

    Raises:
        ToolFailed: It is no JSON, or too large. The text says that the tool ran nevertheless.
    """
    # As a part of the JSON its bytes would be stored with the result.
    if any(isinstance(part, ToolFile) for part in _parts(value)):
        log.warning("tool_result_unusable", tool=tool)
        raise _unusable("a file has to be the whole result, not a part of it", _AGAIN)
    try:
        result: JsonValue = to_jsonable_python(value, fallback=_refuse)
        text = compact(result)
    # A model's own serializer may raise anything. What the tool did is done, so this is told as
    # the result of a call that took place.
    except Exception as error:
        reason = str(error) if isinstance(error, _NoJson) else "it can't be written as JSON"
        log.warning("tool_result_unusable", tool=tool, exc_info=True)
        raise _unusable(reason, _AGAIN) from error
    if nests_deeper(result, limits.CALL_LEVELS):
        raise _unusable(f"it has more than {limits.CALL_LEVELS} levels", _AGAIN)
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > limits.TOOL_RESULT_BYTES:
        raise _unusable(
            f"it has {size} bytes of JSON, and {limits.TOOL_RESULT_BYTES} are the most", _LESS
        )
    return storable_json(result)


def file_of(tool: str, file: ToolFile) -> ToolFile:
    """Returns a file that a tool returned, its texts in storable form.

    It has at least a byte and at most `FILE_BYTES`, a name and a type; of the types that people may
    send, its bytes are what the type says. May take seconds on megabytes of JSON.

    Raises:
        ToolFailed: The file can't be kept or shown. The text says that the tool ran nevertheless.
    """
    made: tuple[object, ...] = (file.data, file.mime_type, file.filename, file.text)
    match made:
        case (bytes() as data, str() as mime_type, str() as filename, str() | None as text):
            reason, advice = _fault_of_file(data, mime_type, storable(filename), text)
        case _:
            reason, advice = "its data has to be bytes, all else of it text", _AGAIN
            filename, text = "", None
    if reason:
        log.warning("tool_result_unusable", tool=tool)
        raise _unusable(reason, advice)
    return replace(file, filename=storable(filename), text=None if text is None else storable(text))


def _fault_of_file(data: bytes, mime_type: str, filename: str, text: str | None) -> tuple[str, str]:
    """Returns what is wrong with a file, and what to do about it; nothing where it will do."""
    told = 0 if text is None else len(text.encode("utf-8", "surrogatepass"))
    if not data:
        return "its file is empty", _AGAIN
    if len(data) > limits.FILE_BYTES:
        return f"its file has {len(data)} bytes, and {limits.FILE_BYTES} are the most", _LESS
    if told > limits.TOOL_RESULT_BYTES:
        return f"its text has {told} bytes, and {limits.TOOL_RESULT_BYTES} are the most", _LESS
    if is_blank(filename) or units(filename) > limits.FILENAME:
        return f"the name of its file has to have 1 to {limits.FILENAME} characters", _AGAIN
    if not _MIME_TYPE.fullmatch(mime_type) or len(mime_type) > limits.MIME_TYPE:
        return f"the type of its file, {quoted(mime_type)}, is none like `text/csv`", _AGAIN
    if mime_type in FILE_TYPES and not is_of_type(data, mime_type):
        return f"its file is said to be {quoted(mime_type)}, but its bytes are not", _AGAIN
    return "", ""


def _parts(value: object) -> Iterable[object]:
    """Returns what a container holds; of anything else nothing."""
    match value:
        case list() | tuple() | set() | frozenset():
            return cast("Iterable[object]", value)
        case dict():
            return cast("Iterable[object]", value.values())
        case _:
            return ()


def _refuse(value: object) -> JsonValue:
    raise _NoJson(f"a {type(value).__qualname__} can't be written as JSON")


def _unusable(reason: str, advice: str) -> ToolFailed:
    return ToolFailed(f"The tool ran, but its result can't be used: {reason}. {advice}")

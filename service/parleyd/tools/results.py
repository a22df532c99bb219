"""What a tool returns, as JSON that can be stored and told."""

import structlog
from pydantic import JsonValue
from pydantic_core import to_jsonable_python

from parleyd.contract import limits
from parleyd.contract.json import compact, nests_deeper, storable_json
from parleyd.turns.tools import ToolFailed

log = structlog.stdlib.get_logger()


class _NoJson(Exception):
    """A value of a type that JSON has no word for."""


def result_of(tool: str, value: object) -> JsonValue:
    """Returns what a tool returned as storable JSON.

    Models, dataclasses, dates, decimals, sets and whatever else pydantic writes as JSON will do.

    Raises:
        ToolFailed: It is no JSON, or too large. The text says that the tool ran nevertheless.
    """
    try:
        result: JsonValue = to_jsonable_python(value, fallback=_refuse)
        text = compact(result)
    # A model's own serializer may raise anything. What the tool did is done, so this is told as
    # the result of a call that took place.
    except Exception as error:
        reason = str(error) if isinstance(error, _NoJson) else "it can't be written as JSON"
        log.warning("tool_result_unusable", tool=tool, exc_info=True)
        raise _unusable(reason, "Calling it again will not help.") from error
    if nests_deeper(result, limits.CALL_LEVELS):
        raise _unusable(
            f"it has more than {limits.CALL_LEVELS} levels", "Calling it again will not help."
        )
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > limits.TOOL_RESULT_BYTES:
        raise _unusable(
            f"it has {size} bytes of JSON, and {limits.TOOL_RESULT_BYTES} are the most",
            "Ask for less, where the arguments allow that.",
        )
    return storable_json(result)


def _refuse(value: object) -> JsonValue:
    raise _NoJson(f"a {type(value).__qualname__} can't be written as JSON")


def _unusable(reason: str, advice: str) -> ToolFailed:
    return ToolFailed(f"The tool ran, but its result can't be used: {reason}. {advice}")

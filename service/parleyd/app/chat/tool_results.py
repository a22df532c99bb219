"""What a person is told of a tool call that failed."""

import json
from textwrap import shorten
from typing import Final

from parley.v1.turns_pb2 import ToolResult

REASON_CHARACTERS: Final = 200
"""The reason is written for the model and may be long."""


def told_failure(result: ToolResult) -> str | None:
    """Returns what became of a call that failed; None for one that did what it should."""
    if not result.is_error:
        return None
    match json.loads(result.result_json):
        case {"outcome": "unknown"}:
            return (
                f"{result.tool_name} was interrupted: nobody knows whether it did what it should."
            )
        case {"error": str(reason)}:
            return f"{result.tool_name} failed: {shorten(reason, REASON_CHARACTERS)}"
        case _:
            return f"{result.tool_name} failed."

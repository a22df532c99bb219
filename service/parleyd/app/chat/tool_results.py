"""What a person is told of a tool call that did not do what it should."""

import json
from textwrap import shorten
from typing import Final

from parley.v1.turns_pb2 import GeneratedFile, ToolResult
from parleyd.contract.answers import ONE_ASK_AT_A_TIME
from parleyd.contract.approvals import USER_CANCELLED, USER_DECLINED, USER_DENIED

REASON_CHARACTERS: Final = 200
"""The reason is written for the model and may be long."""

_DENIED: Final = {
    USER_DENIED: "you did not allow it.",
    USER_DECLINED: "you skipped the question.",
    USER_CANCELLED: "the question was dropped.",
    ONE_ASK_AT_A_TIME: "the agent may ask one thing at a time.",
}


def told_outcome(result: ToolResult) -> str | None:
    """Returns what became of a call that was denied or failed; None for one that did not."""
    if result.HasField("denied"):
        reason = result.denied.reason
        why = _DENIED.get(reason) or shorten(reason, REASON_CHARACTERS)
        return f"{result.tool_name} did not run: {why}"
    return _told_failure(result) if result.is_error else None


def told_file(file: GeneratedFile) -> str:
    """Returns what a tool handed over, and whether it can be had later."""
    kept = "" if file.file_id else " It is not kept."
    return f"A file came back: {file.filename} ({file.mime_type}).{kept}"


def _told_failure(result: ToolResult) -> str:
    match json.loads(result.result_json):
        case {"outcome": "unknown"}:
            return (
                f"{result.tool_name} was interrupted: nobody knows whether it did what it should."
            )
        case {"error": str(reason)}:
            return f"{result.tool_name} failed: {shorten(reason, REASON_CHARACTERS)}"
        case _:
            return f"{result.tool_name} failed."

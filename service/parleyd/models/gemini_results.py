"""The results of a step's calls, as Gemini takes them (spec turns 5.4, 5.5)."""

import re
from collections.abc import Sequence
from typing import Any, Final

from google.genai import types as genai
from pydantic import JsonValue

from parleyd.models.gemini_files import file_parts, seen
from parleyd.models.gemini_messages import GeminiMessage
from parleyd.turns.model import MediaShown, ToolOutcome

FILES_FOLLOW: Final = "The files follow in the next message."

_REFERENCE: Final = re.compile(r"\$+ref")


def results_message(outcomes: Sequence[ToolOutcome], *, files_inside: bool) -> GeminiMessage:
    """Returns the results of a step in one content; as many as there were calls, in their order.

    `files_inside` says that the model takes files inside of results. For others they follow, in a
    content of their own: beside results these models take no other parts.
    """
    parts = [
        genai.Part(
            function_response=genai.FunctionResponse(
                id=outcome.call_id,
                name=outcome.name,
                response=_response(outcome, files_inside=files_inside),
                parts=(_media(outcome) or None) if files_inside else None,
            )
        )
        for outcome in outcomes
    ]
    results = genai.Content(role="user", parts=parts)
    if files_inside or not any(outcome.shown for outcome in outcomes):
        return results
    following: list[genai.Part] = []
    for outcome in outcomes:
        if outcome.shown:
            following.append(genai.Part(text=f"The files of the result of {outcome.name}:"))
            following += file_parts(outcome.shown)
    return results, genai.Content(role="user", parts=following)


def _response(outcome: ToolOutcome, *, files_inside: bool) -> dict[str, Any]:
    """Returns what a call came to.

    Gemini reads one key, `output` or `error`; files, or where they are, are thus inside of it.
    """
    if outcome.denied is not None:
        return {"output": {"approved": False, "reason": outcome.denied}}
    key, value = (
        ("output", _without_references(outcome.value))
        if outcome.error is None
        else ("error", outcome.error)
    )
    if not outcome.shown:
        return {key: value}
    files = _told(outcome) if files_inside else FILES_FOLLOW
    return {key: {"result": value, "files": files}}


def _told(outcome: ToolOutcome) -> list[str]:
    """Returns the lines and texts of a result's files, and where the other files are, in order."""
    told: list[str] = []
    media = 0
    for part in seen(outcome.shown):
        if isinstance(part, MediaShown):
            media += 1
            told.append(f"[It is part {media} of this result.]")
        else:
            told.append(part.text)
    return told


def _media(outcome: ToolOutcome) -> list[genai.FunctionResponsePart]:
    return [
        genai.FunctionResponsePart(
            inline_data=genai.FunctionResponseBlob(mime_type=part.mime_type, data=part.data)
        )
        for part in seen(outcome.shown)
        if isinstance(part, MediaShown)
    ]


def _without_references(value: JsonValue) -> JsonValue:
    """Returns `value` with `$ref` keys spelt `$$ref`: Gemini looks up what such a key names.

    A `$$ref` gets one more `$`, so that no two keys become one.
    """
    match value:
        case dict():
            return {
                f"${key}" if _REFERENCE.fullmatch(key) else key: _without_references(item)
                for key, item in value.items()
            }
        case list():
            return [_without_references(item) for item in value]
        case _:
            return value

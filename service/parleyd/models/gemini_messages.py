"""Gemini's messages: contents and their parts, kept as they come (spec turns 5.5)."""

import base64
import json
import re
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from google.genai import types as genai
from google.genai.version import __version__ as sdk_version
from pydantic import JsonValue, ValidationError

from parleyd.models.gemini_files import file_parts
from parleyd.turns.model import (
    CallPart,
    Part,
    ProviderMessage,
    RebuiltCall,
    Shown,
    TextPart,
    ThoughtPart,
    UndecodableMessages,
)

CODEC = f"google-genai/{sdk_version}/1"
BYPASS_SIGNATURE = b"skip_thought_signature_validator"
"""Stands in for a signature that is gone: Gemini 3 refuses the first call of a step without one."""

_CODECS = re.compile(r"google-genai/[^/]+/1")

GeminiMessage: TypeAlias = genai.Content | tuple[genai.Content, ...]
"""A content, or several that belong together: results, and the files that follow them."""
_Parts: TypeAlias = list[genai.Part]


def as_part(raw: genai.Part) -> Part:
    """Returns a part as the turn sees it.

    A part that shows nothing is kept as a thought is: it may carry a signature.
    """
    if raw.function_call:
        args = cast("dict[str, JsonValue] | None", raw.function_call.args)
        return CallPart(raw.function_call.id, raw.function_call.name or "", args or {}, raw)
    if raw.text and not raw.thought:
        return TextPart(raw.text, raw)
    return ThoughtPart(raw)


def user_content(text: str, shown: Sequence[Shown] = ()) -> genai.Content:
    """Returns what the person wrote, and the files that came with it."""
    return genai.Content(role="user", parts=[genai.Part(text=text), *file_parts(shown)])


def reply_content(text: str) -> genai.Content:
    """Returns a reply of an earlier turn."""
    return genai.Content(role="model", parts=[genai.Part(text=text)])


def step_content(parts: Sequence[Part]) -> genai.Content:
    """Returns all parts of a step. None is merged or left out, so that every signature stays."""
    return genai.Content(role="model", parts=[cast("genai.Part", part.raw) for part in parts])


def rebuilt_content(calls: Sequence[RebuiltCall]) -> genai.Content:
    """Returns the calls of a step whose signatures are gone."""
    parts: _Parts = [
        genai.Part(
            function_call=genai.FunctionCall(
                id=call.call_id, name=call.name, args=_arguments(call.args)
            )
        )
        for call in calls
    ]
    if parts:
        parts[0].thought_signature = BYPASS_SIGNATURE
    return genai.Content(role="model", parts=parts)


def as_contents(message: ProviderMessage) -> tuple[genai.Content, ...]:
    """Returns the contents of `message` once it is known to be Gemini's.

    Raises:
        TypeError: It is another vendor's.
    """
    if isinstance(message, genai.Content):
        return (message,)
    if isinstance(message, tuple):
        several = cast("tuple[object, ...]", message)
        return tuple(content for each in several for content in as_contents(each))
    raise TypeError(f"{type(message).__name__} is no content of Gemini")


def encode(messages: Sequence[ProviderMessage]) -> bytes:
    """Returns contents as the SDK's own JSON, in ASCII; of several that belong together, a list.

    The SDK's serialiser refuses unpaired surrogates and forgets infinite numbers; both may be in
    what a model sent, and come back from here.
    """
    told: list[object] = []
    for message in messages:
        contents = [each.model_dump(exclude_none=True) for each in as_contents(message)]
        told.append(contents if isinstance(message, tuple) else contents[0])
    return json.dumps(told, default=_base64).encode()


def decode(codec: str, data: bytes) -> tuple[GeminiMessage, ...]:
    """Returns the contents that `encode` wrote, under this version of the SDK or another.

    Raises:
        UndecodableMessages: Another codec, or a form that this SDK doesn't know.
    """
    if not _CODECS.fullmatch(codec):
        raise UndecodableMessages(f"{codec} is not {CODEC}")
    try:
        return tuple(map(_message, cast("list[object]", json.loads(data))))
    except (ValidationError, ValueError, TypeError) as error:
        raise UndecodableMessages(f"{codec} can't be read as {CODEC}") from error


def _message(told: object) -> GeminiMessage:
    if isinstance(told, list):
        return tuple(map(genai.Content.model_validate, cast("list[object]", told)))
    return genai.Content.model_validate(told)


def _arguments(args: JsonValue) -> dict[str, Any]:
    """Returns the arguments of a call that another vendor's model made; here they are an object."""
    return cast("dict[str, Any]", args if isinstance(args, dict) else {"value": args})


def _base64(value: object) -> str:
    if isinstance(value, bytes):
        return base64.urlsafe_b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} has no form in {CODEC}")

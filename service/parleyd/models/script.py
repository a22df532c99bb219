"""What a script is made of, and the messages that come of it.

A script's messages play the part of a vendor's own: they hold opaque bytes that nobody else knows
of and that must come back unchanged (spec turns 3.6.3, 14).
"""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, assert_never, cast

from pydantic import JsonValue

from parleyd.turns.model import (
    CallPart,
    MediaShown,
    ModelFailureKind,
    Part,
    ProviderMessage,
    RebuiltCall,
    Shown,
    TextPart,
    TextShown,
    ThoughtPart,
    ToolOutcome,
    UndecodableMessages,
)

CODEC = "scripted/1"


@dataclass(frozen=True)
class Text:
    """Text for the person. Empty text with `opaque` bytes is metadata alone and isn't shown."""

    text: str
    opaque: bytes | None = None


@dataclass(frozen=True)
class Thought:
    """A thought, kept and never shown."""

    text: str = ""
    opaque: bytes | None = None


@dataclass(frozen=True)
class Call:
    """A tool call. A vendor may leave the id out."""

    name: str
    args: JsonValue = field(default_factory=dict[str, JsonValue])
    call_id: str | None = None
    opaque: bytes | None = None


@dataclass(frozen=True)
class Usage:
    """What the call has used so far, in tokens. No part of its message."""

    tokens: int


@dataclass(frozen=True)
class Fail:
    """The model call fails here, after the parts before it.

    `wait_seconds` is how long the provider asks to be left alone.
    """

    kind: ModelFailureKind
    message: str = "The script says so."
    wait_seconds: float | None = None


@dataclass(frozen=True)
class Raise:
    """The adapter breaks here: it raises `Unforeseen`, which is no failure of the provider."""

    message: str = "The script says so."


class Unforeseen(Exception):
    """What `Raise` raises: an exception that nobody who calls a model knows of."""


@dataclass(frozen=True)
class Hold:
    """The model call waits here until the hold of this name is released."""

    name: str


ScriptedStep: TypeAlias = Sequence[Text | Thought | Call | Usage | Fail | Raise | Hold]
"""One model call, as it streams."""

MessagePart: TypeAlias = Text | Thought | Call | ToolOutcome | Shown


@dataclass(frozen=True)
class ScriptedMessage:
    """A message as the scripted vendor has it. Two are equal when every byte is."""

    role: Literal["user", "model", "tool"]
    parts: tuple[MessagePart, ...]


def as_part(spoken: Text | Thought | Call) -> Part:
    """Returns a part of a script as the model streams it."""
    match spoken:
        case Text(text=""):
            return ThoughtPart(spoken)
        case Text(text=text):
            return TextPart(text, spoken)
        case Thought():
            return ThoughtPart(spoken)
        case Call(name=name, args=args, call_id=call_id):
            return CallPart(call_id, name, args, spoken)
        case _:
            assert_never(spoken)


def as_script(part: Part) -> Text | Thought | Call:
    """Returns what `as_part` made a part of.

    Raises:
        TypeError: The part is another model's.
    """
    if isinstance(part.raw, Text | Thought | Call):
        return part.raw
    raise TypeError(f"{part.raw!r} is no part of a script")


def as_call(rebuilt: RebuiltCall) -> Call:
    """Returns a rebuilt call; its opaque bytes are gone."""
    return Call(rebuilt.name, rebuilt.args, rebuilt.call_id)


def as_message(message: ProviderMessage) -> ScriptedMessage:
    """Returns `message` once it is known to be the scripted vendor's.

    Raises:
        TypeError: It is another vendor's.
    """
    if isinstance(message, ScriptedMessage):
        return message
    raise TypeError(f"{message!r} is no message of a script")


def last_prompt(messages: Sequence[ProviderMessage]) -> str:
    """Returns the text of the last user message, empty where there is none."""
    place = _last_user(messages)
    if place < 0:
        return ""
    parts = as_message(messages[place]).parts
    return "".join(part.text for part in parts if isinstance(part, Text))


def after_prompt(messages: Sequence[ProviderMessage]) -> list[ScriptedMessage]:
    """Returns the messages after the last user message."""
    return [as_message(message) for message in messages[_last_user(messages) + 1 :]]


def encode(messages: Sequence[ProviderMessage]) -> bytes:
    """Returns messages as ASCII JSON, which keeps U+0000 and unpaired surrogates too."""
    return json.dumps(
        [
            {"role": message.role, "parts": [_to_json(part) for part in message.parts]}
            for message in map(as_message, messages)
        ]
    ).encode()


def decode(codec: str, data: bytes) -> tuple[ScriptedMessage, ...]:
    """Returns the messages that `encode` wrote.

    Raises:
        UndecodableMessages: Another codec, or nothing that it wrote.
    """
    if codec != CODEC:
        raise UndecodableMessages(f"{codec} is not {CODEC}")
    try:
        return tuple(
            ScriptedMessage(message["role"], tuple(_from_json(part) for part in message["parts"]))
            for message in cast("list[dict[str, Any]]", json.loads(data))
        )
    except (ValueError, TypeError, KeyError) as error:
        raise UndecodableMessages(f"no messages of {CODEC}") from error


def _last_user(messages: Sequence[ProviderMessage]) -> int:
    places = range(len(messages) - 1, -1, -1)
    return next((place for place in places if as_message(messages[place]).role == "user"), -1)


def _to_json(part: MessagePart) -> dict[str, JsonValue]:
    match part:
        case Text(text=text, opaque=opaque):
            return {"part": "text", "text": text, "opaque": _to_text(opaque)}
        case Thought(text=text, opaque=opaque):
            return {"part": "thought", "text": text, "opaque": _to_text(opaque)}
        case Call(name=name, args=args, call_id=call_id, opaque=opaque):
            return {
                "part": "call",
                "name": name,
                "args": args,
                "call_id": call_id,
                "opaque": _to_text(opaque),
            }
        case ToolOutcome():
            return {
                "part": "outcome",
                "name": part.name,
                "value": part.value,
                "error": part.error,
                "call_id": part.call_id,
                "denied": part.denied,
                "shown": [_to_json(each) for each in part.shown],
            }
        case TextShown(text=text):
            return {"part": "text_shown", "text": text}
        case MediaShown(mime_type=mime_type, data=data, filename=filename):
            return {
                "part": "media_shown",
                "mime_type": mime_type,
                "data": _to_text(data),
                "filename": filename,
            }
        case _:
            assert_never(part)


def _from_json(fields: dict[str, Any]) -> MessagePart:
    if "opaque" in fields:
        fields["opaque"] = _to_bytes(fields["opaque"])
    match fields.pop("part"):
        case "text":
            return Text(**fields)
        case "thought":
            return Thought(**fields)
        case "call":
            return Call(**fields)
        case "outcome":
            fields["shown"] = tuple(_shown(each) for each in fields.get("shown", ()))
            return ToolOutcome(**fields)
        case "text_shown" | "media_shown" as shown:
            return _shown({"part": shown, **fields})
        case other:
            raise ValueError(f"no part is called {other!r}")


def _shown(fields: dict[str, Any]) -> Shown:
    if fields["part"] == "text_shown":
        return TextShown(fields["text"])
    data = base64.b64decode(fields["data"], validate=True)
    return MediaShown(fields["mime_type"], data, fields["filename"])


def _to_text(opaque: bytes | None) -> str | None:
    return None if opaque is None else base64.b64encode(opaque).decode()


def _to_bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text, validate=True)

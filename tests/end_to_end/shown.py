"""What a model was shown of files, and files to show it."""

from collections.abc import Sequence

from parleyd.models.script import ScriptedMessage, Text
from parleyd.turns.model import (
    MediaShown,
    ModelCall,
    ProviderMessage,
    Shown,
    TextShown,
    ToolOutcome,
)
from tests.end_to_end.kinds_asked import NOTES, PNG

PDF = b"%PDF-1.7\n" + bytes(range(255, 100, -1))
GONE = TextShown("Its content is no longer there.")
SCAN: tuple[Shown, ...] = (
    TextShown(f"File 1 of 1: scan.png (image/png, {len(PNG)} bytes)"),
    MediaShown("image/png", PNG, "scan.png"),
)
"""The one image of an answer or a message, called scan.png."""
SCAN_GONE: tuple[Shown, ...] = (SCAN[0], GONE)
SCAN_AND_NOTES: tuple[Shown, ...] = (
    TextShown(f"File 1 of 2: scan.png (image/png, {len(PNG)} bytes)"),
    MediaShown("image/png", PNG, "scan.png"),
    TextShown(f"File 2 of 2: notes.txt (text/plain, {len(NOTES)} bytes)"),
    TextShown(NOTES.decode()),
)


def outcome(message: ProviderMessage) -> ToolOutcome:
    """Returns the one result that a message tells."""
    assert isinstance(message, ScriptedMessage)
    (part,) = message.parts
    assert isinstance(part, ToolOutcome)
    return part


def last_outcome(call: ModelCall) -> ToolOutcome:
    """Returns the result that a model call was sent last."""
    return outcome(call.messages[-1])


def outcomes(messages: Sequence[ProviderMessage]) -> list[ToolOutcome]:
    """Returns the results of messages."""
    return [
        part
        for message in messages
        if isinstance(message, ScriptedMessage)
        for part in message.parts
        if isinstance(part, ToolOutcome)
    ]


def shown_with(text: str, messages: Sequence[ProviderMessage]) -> tuple[Shown, ...]:
    """Returns what was shown beside the message of a person that says `text`."""
    (found,) = [
        message
        for message in messages
        if isinstance(message, ScriptedMessage)
        and message.role == "user"
        and message.parts[0] == Text(text)
    ]
    shown = found.parts[1:]
    assert all(isinstance(part, TextShown | MediaShown) for part in shown)
    return tuple(part for part in shown if isinstance(part, TextShown | MediaShown))

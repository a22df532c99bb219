"""Cleans a reply, and asks for a title (spec turns 3.4.3, 12.2)."""

import asyncio
import json
from dataclasses import dataclass
from typing import cast

import structlog

from parleyd.contract import limits
from parleyd.contract.events import BlocksChecked
from parleyd.contract.text import storable, trim
from parleyd.turns.model import Model
from parleyd.turns.stops import is_stopped

TITLE_INSTRUCTIONS = (
    "Write a title of 3 to 6 words for this conversation, to stand in a sidebar. "
    "Answer with the title alone: no quotes, no full stop, no explanation."
)
QUOTES = (('"', '"'), ("'", "'"), ("“", "”"), ("«", "»"), ("„", "“"), ("`", "`"))

log = structlog.stdlib.get_logger()


@dataclass(frozen=True)
class Reply:
    """What a turn replies.

    `note` is for the stored row alone, where the model of the next turn reads it. `checked` is what
    its check as a document came to, `repaired` whether the model mended it.
    """

    text: str
    note: str = ""
    checked: BlocksChecked | None = None
    repaired: bool = False


NO_REPLY = Reply("")


def clean_reply(text: str) -> str:
    """Returns the text of a last step as it is shown and stored.

    Models leak the JSON of an action at the end of a reply: an object with an `action` key that
    follows other text is removed; a reply that is nothing else is kept.
    """
    trimmed = trim(storable(text))
    if not trimmed.endswith("}"):
        return trimmed
    start = trimmed.find("{")
    while start >= 0:
        if _is_action(trimmed[start:]):
            return trim(trimmed[:start]) or trimmed
        start = trimmed.find("{", start + 1)
    return trimmed


@dataclass(frozen=True)
class WrittenTitle:
    """What a title call came to. `error` is the provider's own text, for the request log alone."""

    title: str | None
    error: str | None = None


async def write_title(model: Model, temperature: float, user_text: str, reply: str) -> WrittenTitle:
    """Returns a title for a conversation; none where the model fails or is slow."""
    prompt = f"The person: {user_text}\n\nThe reply: {reply[: limits.TITLE_REPLY_CHARACTERS]}"
    try:
        async with asyncio.timeout(limits.TITLE_SECONDS):
            title = await model.generate_text(TITLE_INSTRUCTIONS, prompt, temperature)
    except TimeoutError:
        log.warning("title_failed", cause="TimeoutError")
        return WrittenTitle(None, f"No title within {limits.TITLE_SECONDS} s.")
    except (Exception, asyncio.CancelledError) as error:
        # A title is never worth a turn.
        if isinstance(error, asyncio.CancelledError) and is_stopped():
            raise
        log.warning("title_failed", cause=type(error).__name__)
        return WrittenTitle(None, str(error))
    shown = _unquoted(trim(storable(title)))[: limits.CONVERSATION_TITLE_CHARACTERS]
    return WrittenTitle(shown or None)


def _is_action(text: str) -> bool:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "action" in cast("dict[str, object]", value)


def _unquoted(title: str) -> str:
    for opening, closing in QUOTES:
        if len(title) > 1 and title.startswith(opening) and title.endswith(closing):
            return trim(title[1:-1])
    return title

"""The demo agent as a model.

It decides from the messages alone, on the code path of every scripted model. A prompt makes it call
one tool at most; whatever comes back, it replies. Where the system prompt wants documents, every
reply is one.
"""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from pydantic import JsonValue

from parleyd.contract.blocks.prompt import HEADING, NO_HTML
from parleyd.models.demo.contents import SeenFile, seen_files
from parleyd.models.demo.documents import DOCUMENTS, files_told
from parleyd.models.demo.reply import Reply
from parleyd.models.demo.reports import report_in
from parleyd.models.demo.small_talk import small_talk
from parleyd.models.demo.wish import Wish
from parleyd.models.demo.wishes import wish_in
from parleyd.models.played import PlayedModel
from parleyd.models.script import (
    Call,
    ScriptedMessage,
    ScriptedStep,
    Text,
    after_prompt,
    as_message,
    last_prompt,
)
from parleyd.turns.model import (
    MediaShown,
    ModelCall,
    StreamPart,
    TextPart,
    TextShown,
    ToolOutcome,
)

PROVIDER: Final = "demo"
MODEL_ID: Final = "demo"

WORDS_A_PART: Final = 3
TITLE_WORDS: Final = 5

_LABEL = re.compile(r"^[A-Za-z ]{1,20}:\s+")


class DemoModel(PlayedModel):
    """The keyless agent. `pause` is the time in seconds that it takes after each part of text."""

    def __init__(self, pause: float = 0.0) -> None:
        super().__init__(_decide, provider=PROVIDER, model_id=MODEL_ID)
        self._pause = pause

    async def play(self, step: ScriptedStep) -> AsyncGenerator[StreamPart, None]:
        """Plays one step at the pace of somebody who types.

        Raises:
            ModelFailed: Never; a model may.
        """
        async with aclosing(super().play(step)) as parts:
            async for part in parts:
                yield part
                if self._pause and isinstance(part, TextPart):
                    await asyncio.sleep(self._pause)

    async def generate_text(self, system: str, prompt: str, temperature: float) -> str:
        """Returns the first words of the prompt's first line, without a label before them.

        Raises:
            ModelFailed: Never; a model may.
        """
        del system, temperature
        line = next(iter(prompt.strip().splitlines()), "")
        words = _LABEL.sub("", line).split()
        title = " ".join(words[:TITLE_WORDS]).strip(".,;:!?…")
        return title[:1].upper() + title[1:]

    async def generate_json(
        self, system: str, prompt: str, schema: dict[str, JsonValue], temperature: float
    ) -> str:
        """Returns a document: what the prompt asks to be shown, else what is said to it.

        The agent knows no other JSON, whatever the schema.

        Raises:
            ModelFailed: Never; a model may.
        """
        del system, schema, temperature
        return (report_in(prompt, html=False) or small_talk(prompt).document).as_json()


def _decide(call: ModelCall) -> ScriptedStep:
    match _next(call):
        case Reply() as reply if HEADING in (call.system or ""):
            return _spoken(reply.document.written())
        case Reply() as reply:
            return _spoken(reply.text)
        case Call() as tool:
            return [tool]


def _next(call: ModelCall) -> Reply | Call:
    """Returns what the agent says, or the call that it makes first."""
    prompt = last_prompt(call.messages)
    wish, asked = wish_in(prompt) or (None, None)
    if since := after_prompt(call.messages):
        return _reply_to_result(wish, since[-1])
    if (wish is None or wish is DOCUMENTS) and (files := _attached(call)):
        return Reply(files_told(files)).after(_set_aside(call))
    if wish is None or asked is None:
        return _talk(call, prompt).after(_set_aside(call))
    if call.tool_choice == "none" or not wish.fits(call):
        return Reply(wish.in_words)
    return Call(wish.tool, wish.args(asked))


def _talk(call: ModelCall, prompt: str) -> Reply:
    """Replies to a prompt that is no wish; what can be shown at all takes a document."""
    system = call.system or ""
    if HEADING in system and (shown := report_in(prompt, html=NO_HTML not in system)):
        return Reply("", shown)
    return small_talk(prompt)


def _reply_to_result(wish: Wish | None, message: ScriptedMessage) -> Reply:
    """Replies to what became of the call that the prompt led to."""
    for outcome in message.parts:
        if wish and isinstance(outcome, ToolOutcome) and outcome.name == wish.tool:
            return wish.reply_to(outcome)
    return Reply("That is all I can do here.")


def _attached(call: ModelCall) -> tuple[SeenFile, ...]:
    """Returns the files that came with the prompt, which is the last message."""
    parts = as_message(call.messages[-1]).parts if call.messages else ()
    return seen_files([part for part in parts if isinstance(part, TextShown | MediaShown)])


def _set_aside(call: ModelCall) -> str:
    """Owns up to a question that the prompt was sent instead of answering (spec turns 1)."""
    before = call.messages[-2:-1]
    if not before:
        return ""
    for outcome in as_message(before[0]).parts:
        match outcome:
            case ToolOutcome(value={"action": "cancel", "reason": "user_sent_message"}):
                return "I set my question aside."
            case _:
                pass
    return ""


def _spoken(text: str) -> ScriptedStep:
    """Returns a step that says `text` a few words at a time."""
    words = re.findall(r"\S+\s*", text)
    return [
        Text("".join(words[start : start + WORDS_A_PART]))
        for start in range(0, len(words), WORDS_A_PART)
    ]

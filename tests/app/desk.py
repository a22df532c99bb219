"""Somebody who answers a single question at a terminal, key by key."""

import asyncio
import io
from dataclasses import dataclass

from google.protobuf import text_format
from prompt_toolkit.input import PipeInput

from parley.v1.asks_pb2 import AskAnswer, AskInput
from parley.v1.cards_pb2 import SimpleCard
from parley.v1.turns_pb2 import AnswerInput
from parleyd.app.chat.answering import read_answer
from parleyd.app.chat.guarded_calls import GuardedCall
from parleyd.app.chat.menus import PersonInput, Sheet
from parleyd.app.chat.questions import OpenQuestion
from parleyd.app.chat.sheets import sheet_of
from parleyd.app.chat.terminal import Terminal

DEADLINE = 10


def asked(text: str, call: GuardedCall | None = None) -> Sheet:
    """Returns an empty sheet for a question in text form; of an approval `call` is what it guards.

    What is asked is "Well?", unless the text says else.
    """
    ask_input = text_format.Parse(text, AskInput())
    ask_input.prompt = ask_input.prompt or "Well?"
    return sheet_of(OpenQuestion("call_1", ask_input, SimpleCard(), call))


def answer(text: str) -> AnswerInput:
    return AnswerInput(tool_call_id="call_1", answer=text_format.Parse(text, AskAnswer()))


@dataclass(frozen=True)
class Keys:
    """Keys, what comes of them, and what is shown meanwhile."""

    name: str
    typed: str
    said: str
    shown: tuple[str, ...] = ()


class Desk:
    """Somebody who answers at a terminal."""

    def __init__(self, terminal: Terminal, keys: PipeInput, screen: io.StringIO) -> None:
        self._terminal = terminal
        self._keys = keys
        self._screen = screen

    async def answer(self, sheet: Sheet, *typed: str) -> PersonInput | None:
        """Returns what comes of the keys, all of which are pressed."""
        self._keys.send_text("".join(typed))
        async with asyncio.timeout(DEADLINE):
            return await read_answer(self._terminal, sheet)

    @property
    def shown(self) -> str:
        """All that was printed, in one line."""
        return " ".join(self._screen.getvalue().split())

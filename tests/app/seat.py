"""Somebody at a terminal, who chats with a real service."""

import asyncio
import io
from typing import Any, Protocol

from prompt_toolkit.input import PipeInput
from rich.console import Console

from parley.v1.asks_pb2 import AskAnswer
from parley.v1.conversations_pb2 import ListConversationsRequest, Message, MessageAsk
from parleyd.app.chat.conversation import PATIENCE_SECONDS, Chat
from parleyd.app.chat.terminal import Terminal
from parleyd.models.played import Pick
from tests.end_to_end.person import Person

DEADLINE = 30


class Seat:
    """Somebody at a terminal, which has a screen of its own or writes to a file."""

    def __init__(
        self,
        person: Person,
        keys: PipeInput,
        screen: io.StringIO,
        console: Console | None = None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self.person = person
        self._keys = keys
        self._screen = screen
        self._console = console or Console(file=screen, width=80)
        self._patience = patience

    async def chat(self, *typed: str, conversation_id: str = "") -> str:
        """Types, leaves when all is typed, and returns what was shown meanwhile."""
        self._screen.truncate(0)
        self._screen.seek(0)
        self._keys.send_text("".join(typed))
        chat = Chat(self.person.client, Terminal(self._console), patience=self._patience)
        async with asyncio.timeout(DEADLINE):
            await chat.run(conversation_id)
        return self._screen.getvalue()

    async def conversation_ids(self) -> list[str]:
        """Names the person's conversations, the last changed first."""
        response = await self.person.client.conversations.ListConversations(
            ListConversationsRequest()
        )
        return [conversation.conversation_id for conversation in response.conversations]

    async def asks(
        self, conversation_id: str
    ) -> list[tuple[MessageAsk.Status.ValueType, AskAnswer]]:
        """Returns how the asks of a conversation were resolved."""
        return [
            (message.ask.status, message.ask.answer)
            for message in await self.person.messages(conversation_id)
            if message.type == Message.TYPE_TOOL_RESULT
        ]


class Sit(Protocol):
    """Seats somebody before a service that plays a script; every setting can be given."""

    async def __call__(self, pick: Pick, **settings: Any) -> Seat: ...

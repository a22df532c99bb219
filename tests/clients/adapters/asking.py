"""A person, and an agent elsewhere that asks them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

import parley
from parley.adapters.asker import Asker
from parley.v1 import asks_pb2, conversations_pb2, turns_pb2
from tests.end_to_end.person import Person
from tests.server import Server

SERVICE = {"aud": "parley-internal", "scope": "asks.write"}
SOON = 20


@dataclass(frozen=True)
class Asked:
    """A person with a conversation, and what asks them in it."""

    noor: Person
    conversation_id: str
    asker: Asker

    async def pending(self, after: str = "") -> turns_pb2.PendingAsk:
        """Returns the question that waits, once one does that is not `after`."""
        async with asyncio.timeout(SOON):
            while True:
                for ask in await self.noor.pending():
                    if ask.tool_call_id != after:
                        return ask
                await asyncio.sleep(0.02)

    async def question(self) -> asks_pb2.AskInput:
        """Returns what is asked, whole, once something is."""
        await self.pending()
        return (await self.noor.conversation(self.conversation_id)).pending_ask.input

    async def press(self, button_id: str, after: str = "") -> turns_pb2.PendingAsk:
        """Presses a button of the question that waits."""
        ask = await self.pending(after)
        await self.noor.press(self.conversation_id, ask.tool_call_id, button_id)
        return ask

    async def answer(self, answer: asks_pb2.AskAnswer) -> turns_pb2.PendingAsk:
        """Answers the question that waits."""
        ask = await self.pending()
        await self.noor.answer(self.conversation_id, ask.tool_call_id, answer)
        return ask


@asynccontextmanager
async def asked(
    server: Server, ttl: timedelta | None = None, *, address: str = ""
) -> AsyncGenerator[Asked]:
    """Yields somebody with a conversation in which a service asks them, perhaps by a detour."""
    noor = await server.person()
    created = await noor.client.conversations.CreateConversation(
        conversations_pb2.CreateConversationRequest()
    )
    conversation_id = created.conversation.conversation_id
    token = server.token("planner", **SERVICE)
    async with parley.connect(address or server.address, token) as client:
        yield Asked(noor, conversation_id, Asker(client, conversation_id, "noor", ttl))

"""Calls a tool of an MCP server that asks the person, who answers through Parley."""

import asyncio
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters

import parley
from parley.adapters.asker import Asker
from parley.adapters.mcp import elicitation_callback
from parley.v1.conversations_pb2 import CreateConversationRequest

ADDRESS = "127.0.0.1:50051"
DESK = StdioServerParameters(
    command=sys.executable, args=[str(Path(__file__).with_name("desk.py"))]
)


async def main(person: str, service: str) -> None:
    """Books a table. An agent would call the tool the same way."""
    conversation_id = await new_conversation(person)
    async with parley.connect(ADDRESS, service) as client:
        answering = elicitation_callback(Asker(client, conversation_id, owner="developer"))
        # Servers that ask in the middle of a call speak the protocol of 2025.
        async with Client(DESK, mode="legacy", elicitation_callback=answering) as desk:
            print("Waiting for the person.")
            result = await desk.call_tool("book_table", {"day": "Friday"})
            print(result.content)


async def new_conversation(person: str) -> str:
    """Makes a conversation of the person's. Yours is the one in which they talk to your agent."""
    async with parley.connect(ADDRESS, person) as client:
        made = await client.conversations.CreateConversation(CreateConversationRequest())
        return made.conversation.conversation_id


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

"""An agent of pydantic-ai that asks the person what to delete, and deletes it where they allow it.

Its model plays a script, so it needs no key. Started again after it was stopped while it waited, it
goes on where it was.
"""

import asyncio
import sys
from asyncio import to_thread
from pathlib import Path

from pydantic_ai import Agent, Conversation, DeferredToolRequests
from pydantic_ai.conversation import ConversationTypeAdapter
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

import parley
from parley.adapters.asker import Asker
from parley.adapters.pydantic_ai import parley_toolset, resume, run
from parley.v1.conversations_pb2 import CreateConversationRequest

ADDRESS = "127.0.0.1:50051"
KEPT = Path("waiting-agent")
PLANS = [{"id": "winter", "label": "Winter"}, {"id": "summer", "label": "Summer"}]


def script(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:  # noqa: ARG001
    """Plays the model: asks which plan is to go, deletes it, and says what came of it."""
    parts = [part for message in messages for part in message.parts]
    match [part.content for part in parts if isinstance(part, ToolReturnPart)]:
        case []:
            choice = {"prompt": "Which plan is to go?", "select": "one", "options": PLANS}
            return ModelResponse([ToolCallPart("ask_choice", choice)])
        case [{"action": "accept", "content": {"selected": [plan]}}]:
            return ModelResponse([ToolCallPart("delete_plan", {"name": plan})])
        case told:
            return ModelResponse([TextPart(f"I was told: {told[-1]}")])


agent = Agent(
    FunctionModel(script),  # or a model of your own
    output_type=[str, DeferredToolRequests],
    toolsets=[parley_toolset()],
)


@agent.tool_plain(requires_approval=True)
def delete_plan(name: str) -> str:
    """Deletes a plan for good."""
    print(f"The plan {name} is deleted.")
    return f"{name} is gone."


def kept() -> str:
    """Returns what was kept of an agent that was stopped; empty if there is nothing."""
    return KEPT.read_text() if KEPT.exists() else ""


async def main(person: str, service: str, before: str) -> None:
    """Runs the agent, or goes on with what it was doing before."""
    conversation_id, _, waiting = before.partition("\n")
    conversation_id = conversation_id or await new_conversation(person)

    async def keep(conversation: Conversation) -> None:
        state = ConversationTypeAdapter.dump_json(conversation).decode()
        await to_thread(KEPT.write_text, f"{conversation_id}\n{state}")
        print("Waiting for the person.")

    async with parley.connect(ADDRESS, service) as client:
        asker = Asker(client, conversation_id, owner="developer")
        if waiting:
            print("Waiting for the person, again.")
            conversation = ConversationTypeAdapter.validate_json(waiting)
            result = await resume(agent, conversation, asker, keep=keep)
        else:
            result = await run(agent, "Clean up.", asker, keep=keep)
    print(result.output)


async def new_conversation(person: str) -> str:
    """Makes a conversation of the person's. Yours is the one in which they talk to your agent."""
    async with parley.connect(ADDRESS, person) as client:
        made = await client.conversations.CreateConversation(CreateConversationRequest())
        return made.conversation.conversation_id


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:], before=kept()))
    KEPT.unlink(missing_ok=True)

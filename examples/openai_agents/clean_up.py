"""An agent of the OpenAI Agents SDK that deletes a plan once the person allows it.

Its model plays a script, so it needs no key. Started again after it was stopped while it waited, it
goes on where it was.
"""

import asyncio
import sys
from asyncio import to_thread
from pathlib import Path

from agents import Agent, RunConfig, function_tool
from agents.items import TResponseOutputItem
from agents.testing import ScriptedModel, assistant_message, function_call

import parley
from parley.adapters.asker import Asker
from parley.adapters.openai_agents import PausedRun, resume, run
from parley.v1.conversations_pb2 import CreateConversationRequest

ADDRESS = "127.0.0.1:50051"
KEPT = Path("paused-run")
UNTRACED = RunConfig(tracing_disabled=True)


@function_tool(needs_approval=True)
def delete_plan(name: str) -> str:
    """Deletes a plan for good."""
    print(f"The plan {name} is deleted.")
    return f"{name} is gone."


CALL = [function_call("delete_plan", {"name": "Winter"}, call_id="call-1")]
REPLY = [assistant_message("I have cleaned up.")]


def planner(*script: list[TResponseOutputItem]) -> Agent:
    """Returns the agent. A model of your own stands where the script is."""
    return Agent(name="Planner", model=ScriptedModel(script), tools=[delete_plan])


def kept() -> str:
    """Returns what was kept of a run that was stopped; empty if there is nothing."""
    return KEPT.read_text() if KEPT.exists() else ""


async def main(person: str, service: str, before: str) -> None:
    """Runs the agent, or goes on with what it was doing before."""
    conversation_id, _, state = before.partition("\n")
    conversation_id = conversation_id or await new_conversation(person)

    async def keep(paused: PausedRun) -> None:
        await to_thread(KEPT.write_text, f"{conversation_id}\n{paused.to_json()}")
        print("Waiting for the person.")

    async with parley.connect(ADDRESS, service) as client:
        asker = Asker(client, conversation_id, owner="developer")
        if state:
            paused = PausedRun.from_json(state)
            result = await resume(planner(REPLY), paused, asker, keep=keep, run_config=UNTRACED)
        else:
            agent = planner(CALL, REPLY)
            result = await run(agent, "Clean up.", asker, keep=keep, run_config=UNTRACED)
    print(result.final_output)


async def new_conversation(person: str) -> str:
    """Makes a conversation of the person's. Yours is the one in which they talk to your agent."""
    async with parley.connect(ADDRESS, person) as client:
        made = await client.conversations.CreateConversation(CreateConversationRequest())
        return made.conversation.conversation_id


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:], before=kept()))
    KEPT.unlink(missing_ok=True)

"""An agent of pydantic-ai that asks a person, here and as a process of its own.

`python -m tests.clients.adapters.planner_agent` runs it once, with an `Errand` as JSON on standard
input, and prints what it says. Its model plays a script by what the conversation has come to.
"""

import asyncio
import sys
from collections.abc import Sequence
from typing import TypeAlias

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
from tests.clients.adapters.errands import Errand

Planner: TypeAlias = Agent[None, str | DeferredToolRequests]
Part: TypeAlias = ToolCallPart | TextPart

PLANS: dict[str, object] = {
    "prompt": "Which plan do you want?",
    "select": "one",
    "options": [{"id": "starter", "label": "Starter"}, {"id": "team", "label": "Team"}],
}


def ask(kind: str, arguments: dict[str, object], call_id: str = "call-1") -> ToolCallPart:
    """Returns a question of the model."""
    return ToolCallPart(f"ask_{kind}", arguments, call_id)


def delete(name: str, call_id: str = "call-1") -> ToolCallPart:
    """Returns a call that needs an approval."""
    return ToolCallPart("delete_plan", {"name": name}, call_id)


class Plans:
    """Plans that an agent may delete where a person allows it."""

    def __init__(self) -> None:
        self.deleted: list[str] = []
        self.told: list[object] = []
        """What the model was told of its calls, in order."""

    def agent(self, *steps: Sequence[Part]) -> Planner:
        """Returns an agent whose model says so, a step after the other, and then what it is told.

        Where it is depends on the conversation alone, so another process goes on with it.
        """

        def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:  # noqa: ARG001
            last = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
            self.told += [part.content for part in last]
            said = sum(isinstance(message, ModelResponse) for message in messages)
            parts = steps[said] if said < len(steps) else [TextPart(str(self.told[-1]))]
            return ModelResponse(parts=list(parts))

        agent = Agent(
            FunctionModel(reply),
            output_type=[str, DeferredToolRequests],
            toolsets=[parley_toolset()],
        )
        agent.tool_plain(requires_approval=True)(self.delete_plan)
        return agent

    def delete_plan(self, name: str) -> str:
        """Deletes a plan for good."""
        self.deleted.append(name)
        return f"{name} is gone."


async def _run(errand: Errand) -> None:
    async def keep(waiting: Conversation) -> None:
        errand.kept.write_bytes(ConversationTypeAdapter.dump_json(waiting))

    agent = Plans().agent([ask("choice", PLANS)], [delete("Winter")])
    async with parley.connect(errand.address, errand.token) as client:
        asker = Asker(client, errand.conversation_id, "noor")
        if errand.begins:
            result = await run(agent, "Clean up", asker, keep=keep)
        else:
            waiting = ConversationTypeAdapter.validate_json(errand.kept.read_bytes())
            result = await resume(agent, waiting, asker, keep=keep)
    sys.stdout.write(result.output)


if __name__ == "__main__":
    asyncio.run(_run(Errand.model_validate_json(sys.stdin.read())))

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# LangGraph is typed, but not in the packages below its root, and some of its types lack parameters.
"""A graph of LangGraph that asks the person which plan to set up, and whether it really may.

It calls no model, so it needs no key. Parley may be restarted while it waits.
"""

import asyncio
import sys
from typing import TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

import parley
from parley.adapters.asker import Accepted, Asker
from parley.adapters.langgraph import ask, run
from parley.v1.asks_pb2 import AskInput, ChoiceInput, Option
from parley.v1.conversations_pb2 import CreateConversationRequest

ADDRESS = "127.0.0.1:50051"
THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}
PLANS = AskInput(
    prompt="Which plan do you want?",
    choice=ChoiceInput(
        select=ChoiceInput.SELECT_ONE,
        options=[Option(id="starter", label="Starter"), Option(id="team", label="Team")],
    ),
)


class State(TypedDict):
    """What the graph knows."""

    plan: str
    reply: str


def choose(state: State) -> State:
    """Asks with a message of Parley's, and gets a typed answer."""
    match ask(PLANS):
        case Accepted(answer):
            return {**state, "plan": answer.choice.selected[0]}
        case _:  # declined, cancelled or expired
            return {**state, "plan": "starter"}


def set_up(state: State) -> State:
    """Asks with JSON, as a graph does that knows nothing of Parley."""
    answer = interrupt({"kind": "confirm", "prompt": f"Set up the plan {state['plan']}?"})
    confirmed = answer["action"] == "accept" and answer["content"]["confirmed"]
    done = "is set up" if confirmed else "is not set up"
    return {**state, "reply": f"The plan {state['plan']} {done}."}


async def main(person: str, service: str) -> None:
    """Runs the graph. Yours keeps its checkpoints in a database."""
    builder = StateGraph(State)
    builder.add_node(choose)
    builder.add_node(set_up)
    builder.add_edge(START, "choose")
    builder.add_edge("choose", "set_up")
    builder.add_edge("set_up", END)
    graph = builder.compile(checkpointer=InMemorySaver())
    conversation_id = await new_conversation(person)
    async with parley.connect(ADDRESS, service) as client:
        print("Waiting for the person.")
        asker = Asker(client, conversation_id, owner="developer")
        state = await run(graph, State(plan="", reply=""), THREAD, asker)
    print(state["reply"])


async def new_conversation(person: str) -> str:
    """Makes a conversation of the person's. Yours is the one in which they talk to your agent."""
    async with parley.connect(ADDRESS, person) as client:
        made = await client.conversations.CreateConversation(CreateConversationRequest())
        return made.conversation.conversation_id


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

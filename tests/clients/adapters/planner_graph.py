# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# LangGraph is typed, but not in the packages below its root, and some of its types lack parameters.
"""A graph of LangGraph that asks a person, here and as a process of its own.

`python -m tests.clients.adapters.planner_graph` runs it once, with what `Errand` says as JSON on
standard input, and prints its state. Its checkpoints are a file, which the next process reads.
"""

import asyncio
import operator
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from typing_extensions import override

import parley
from parley.adapters.asker import Accepted, Asker, Cancelled, Declined, Expired
from parley.adapters.langgraph import Graph, ask, run
from parley.v1.asks_pb2 import AskInput, ChoiceInput, Option
from tests.clients.adapters.errands import Errand

PLANS = AskInput(
    prompt="Which plan do you want?",
    choice=ChoiceInput(
        select=ChoiceInput.SELECT_ONE,
        options=[Option(id="starter", label="Starter"), Option(id="team", label="Team")],
    ),
)
NAME = "How shall it be called?"
SURE = {"kind": "confirm", "prompt": "Set it up?", "confirmLabel": "Set up"}


class Plan(TypedDict):
    """The graph's state: what has been said, in order."""

    log: Annotated[list[str], operator.add]


def choose(state: Plan) -> Plan:  # noqa: ARG001 - of every node
    """Asks with `ask`."""
    match ask(PLANS):
        case Accepted(answer):
            return {"log": [*answer.choice.selected]}
        case Declined():
            return {"log": ["declined"]}
        case Cancelled(reason):
            return {"log": [f"cancelled: {reason}"]}
        case Expired():
            return {"log": ["expired"]}


def name_it(state: Plan) -> Plan:  # noqa: ARG001 - of every node
    """Asks twice: with a text, and with an object."""
    name = interrupt(NAME)
    sure = interrupt(SURE)
    return {"log": [name["content"]["markdown"], str(sure["content"]["confirmed"])]}


def ask_nonsense(state: Plan) -> Plan:  # noqa: ARG001 - of every node
    """Is interrupted by what is no question."""
    interrupt({"approve": True})
    return {"log": []}


def graph_of(*steps: Any, saver: BaseCheckpointSaver[Any] | None = None) -> Graph[Plan]:
    """Returns a graph of such nodes: all begin at once."""
    builder = StateGraph(Plan)
    for step in steps:
        builder.add_node(step)
        builder.add_edge(START, step.__name__)
    return builder.compile(checkpointer=saver)


def in_memory(*steps: Any) -> Graph[Plan]:
    """Returns a graph that keeps its checkpoints while this process lives."""
    return graph_of(*steps, saver=InMemorySaver())


class FileSaver(InMemorySaver):
    """Keeps checkpoints in a file, whole after each write."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        if file.exists():
            storage, writes, blobs = pickle.loads(file.read_bytes())
            for thread, spaces in storage.items():
                self.storage[thread].update(spaces)
            self.writes.update(writes)
            self.blobs.update(blobs)

    @override
    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        latest = super().put(config, checkpoint, metadata, new_versions)
        self._keep()
        return latest

    @override
    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        super().put_writes(config, writes, task_id, task_path)
        self._keep()

    def _keep(self) -> None:
        storage = {thread: dict(spaces) for thread, spaces in self.storage.items()}
        self._file.write_bytes(pickle.dumps((storage, dict(self.writes), dict(self.blobs))))


async def _run(errand: Errand) -> None:
    saver = FileSaver(errand.kept)
    async with parley.connect(errand.address, errand.token) as client:
        state = await run(
            graph_of(choose, saver=saver),
            Plan(log=[]) if errand.begins else None,
            {"configurable": {"thread_id": "1"}},
            Asker(client, errand.conversation_id, "noor"),
        )
    sys.stdout.write(", ".join(state["log"]))


if __name__ == "__main__":
    asyncio.run(_run(Errand.model_validate_json(sys.stdin.read())))

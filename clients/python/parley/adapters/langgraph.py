"""Graphs of LangGraph whose interrupts a person answers through Parley.

```python
def choose(state: State) -> State:
    match ask(AskInput(prompt="Which plan?", choice=PLANS)):
        case Accepted(answer):
            return {"plan": answer.choice.selected[0]}
        case _:
            return {"plan": "none"}

state = await run(graph, {"plan": ""}, {"configurable": {"thread_id": "42"}}, asker)
```
"""

from typing import Any, Final, Literal, Protocol, TypeVar
from uuid import UUID, uuid5

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, Interrupt, StateSnapshot, interrupt

from parley.adapters.answer_json import answer_from_json, answer_to_json
from parley.adapters.asker import Asker, Outcome, outcome_of
from parley.adapters.question_json import question_from_json, question_to_json
from parley.v1.asks_pb2 import AskInput, MarkdownInput
from parley.v1.service_asks_pb2 import Ask

_INTERRUPTS: Final = UUID("5b1f6e0c-2f5e-5d0b-8a53-6a3d1c1d2f9e")
"""The namespace of request ids: each is made of a conversation and an interrupt."""


ValueT_co = TypeVar("ValueT_co", covariant=True)


class Output(Protocol[ValueT_co]):
    """Where a graph has come to: a `GraphOutput`."""

    @property
    def value(self) -> ValueT_co:
        """The graph's state."""
        ...

    @property
    def interrupts(self) -> tuple[Interrupt[Any], ...]:
        """What it waits on; nothing once it has ended."""
        ...


class Graph(Protocol[ValueT_co]):
    """What `run` needs of a graph that is compiled with a checkpointer."""

    async def aget_state(self, config: RunnableConfig) -> StateSnapshot:
        """Returns where the graph is, with the interrupts that wait."""
        ...

    async def ainvoke(
        self,
        input: Any,  # noqa: A002, ANN401 - of the graph, as it has it
        config: RunnableConfig | None = None,
        *,
        context: Any = None,  # noqa: ANN401 - of the graph
        version: Literal["v2"],
    ) -> Output[ValueT_co]:
        """Runs the graph until it ends or is interrupted."""
        ...


def ask(question: AskInput) -> Outcome:
    """Asks within a node: interrupts the graph, and returns what became of the question.

    A node runs anew from its beginning once the answer is there, as with every `interrupt`.

    Raises:
        GraphInterrupt: There is no answer yet; the graph catches it.
        Malformed: The question has no kind, or the graph was resumed with what is no answer to it.
    """
    asked = question_to_json(question)
    resumed: object = interrupt(asked)
    return outcome_of(Ask(answer=answer_from_json(str(asked["kind"]), resumed)))


async def run(
    graph: Graph[ValueT_co],
    input: object,  # noqa: A002 - as `ainvoke` has it
    config: RunnableConfig,
    asker: Asker,
    *,
    context: object = None,
) -> ValueT_co:
    """Runs a graph like `ainvoke`, and has a person answer whatever interrupts it.

    Interrupts that wait at the same time are asked one after the other. Each answer is in the
    graph's checkpoints before the next question is asked.

    A process that dies while it waits loses nothing: another one calls this with the same config
    and None for the input, and goes on where the graph is. A question that waits is not asked anew,
    and what was answered meanwhile counts.

    Raises:
        ParleyError: The person can't be asked. The graph stays where it is.
        Malformed: What interrupts it is no question; see `question_of`.
        ValueError: The graph has no checkpointer.
    """
    waiting = (await graph.aget_state(config)).interrupts
    latest = _without_checkpoint(config)
    # Of a checkpoint that is named the interrupts are those of old, answered or not.
    if input is not None or latest != config or not waiting:
        result = await graph.ainvoke(input, config, context=context, version="v2")
        if not result.interrupts:
            return result.value
        waiting = result.interrupts
    while True:
        command = await answered(waiting[0], asker)
        result = await graph.ainvoke(command, latest, context=context, version="v2")
        if not result.interrupts:
            return result.value
        waiting = result.interrupts


async def answered(interrupted: Interrupt[Any], asker: Asker) -> Command[Any]:
    """Asks what interrupts a graph, and returns the command that resumes it with the answer.

    `run` is a loop around this; programs that stream make their own. The node gets the answer as
    the JSON that the reference of asks has. `ask` reads it.

    Raises:
        ParleyError: The person can't be asked.
        Malformed: It is no question; see `question_of`.
    """
    request_id = str(uuid5(_INTERRUPTS, f"{asker.conversation_id}/{interrupted.id}"))
    resolved = await asker.ask(question_of(interrupted.value), request_id=request_id)
    return Command(resume={interrupted.id: answer_to_json(resolved.answer)})


def question_of(value: object) -> AskInput:
    """Returns what a person is asked where an interrupt has this value.

    A text is the prompt of a `markdown` without a draft: it asks for a text. An object is a
    question as JSON, with its `kind` beside the keys that the reference of asks lists.

    Raises:
        Malformed: It is neither.
    """
    if isinstance(value, str):
        return AskInput(prompt=value, markdown=MarkdownInput())
    return question_from_json(value)


def _without_checkpoint(config: RunnableConfig) -> RunnableConfig:
    """Returns the config that goes on with what a run from an old checkpoint has made."""
    configurable = config.get("configurable", {})
    kept = {key: value for key, value in configurable.items() if key != "checkpoint_id"}
    return {**config, "configurable": kept}

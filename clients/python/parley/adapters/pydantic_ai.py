"""Agents of pydantic-ai that ask a person through Parley, and have them allow calls of tools.

```python
agent = Agent(MODEL, output_type=[str, DeferredToolRequests], toolsets=[parley_toolset()])

@agent.tool_plain(requires_approval=True)
def delete_plan(name: str) -> str: ...

result = await run(agent, "Clean up my plans", asker)
```

What the agent defers – a question, a call that needs an approval – is put to the person of `asker`,
one after the other.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeAlias, TypedDict, TypeVar, cast
from uuid import UUID, uuid5

from pydantic_ai import (
    AbstractToolset,
    AgentRunResult,
    DeferredToolRequests,
    DeferredToolResults,
    ExternalToolset,
    ToolDefinition,
    ToolDenied,
)
from pydantic_ai.agent import AbstractAgent
from pydantic_ai.conversation import Conversation
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ToolCallPart, UserContent
from pydantic_ai.models import KnownModelName, Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import UsageLimits
from typing_extensions import Unpack

from parley.adapters.answer_json import answer_to_json
from parley.adapters.ask_tools import ask_tools
from parley.adapters.asker import Asker
from parley.adapters.question_json import ASK_KINDS, JsonObject, Malformed, question_from_json
from parley.adapters.refusals import refusal_of
from parley.adapters.tool_approvals import Unshowable, tool_approval
from parley.errors import ParleyError
from parley.v1.asks_pb2 import AskInput
from parley.v1.service_asks_pb2 import Ask

_CALLS: Final = UUID("c3a2a1c5-1f34-5c0e-9f0f-0e2d1a7b6c58")
"""The namespace of request ids: each is made of a run and a call."""

DepsT = TypeVar("DepsT")
OutputT = TypeVar("OutputT")

Wording: TypeAlias = Callable[[ToolCallPart], AskInput]
"""Returns the confirm that puts a call to the person, or raises `Unshowable`."""

Keep: TypeAlias = Callable[[Conversation], Awaitable[None]]
"""Keeps a conversation that waits on a person, instead of what was kept of it before."""


class RunOptions(TypedDict, Generic[DepsT], total=False):
    """What `Agent.run` takes besides, to be given to every run."""

    deps: DepsT
    model: Model | KnownModelName | str | None
    model_settings: ModelSettings | None
    usage_limits: UsageLimits | None
    toolsets: Sequence[AbstractToolset[DepsT]] | None


def parley_toolset(*kinds: str) -> ExternalToolset[Any]:
    """Returns the tools by which a model asks, such as `ask_choice`: all five, or of these kinds.

    Raises:
        ValueError: There is no such kind.
    """
    if unknown := [kind for kind in kinds if kind not in ASK_KINDS]:
        raise ValueError(f"There is no kind {unknown[0]!r}: take of {', '.join(ASK_KINDS)}.")
    return ExternalToolset(
        [
            ToolDefinition(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=dict(tool.schema),
            )
            for tool in ask_tools()
            if tool.kind in (kinds or ASK_KINDS)
        ]
    )


def call_approval(call: ToolCallPart) -> AskInput:
    """Returns the question whether a call may run, with all of its arguments.

    Raises:
        Unshowable: They don't fit into a question.
    """
    return tool_approval(call.tool_name, call.args_as_json_str())


async def run(
    agent: AbstractAgent[DepsT, OutputT | DeferredToolRequests],
    prompt: str | Sequence[UserContent] | None,
    asker: Asker,
    *,
    conversation: Conversation | None = None,
    wording: Wording = call_approval,
    keep: Keep | None = None,
    **options: Unpack[RunOptions[DepsT]],
) -> AgentRunResult[OutputT]:
    """Runs an agent like `Agent.run`, and has a person answer what it asks and allow its calls.

    The model is told the answer to a question as the JSON that the reference of asks has, and of a
    call that was not allowed why: that the person denied it, did something else, or did not answer
    in time. `DeferredToolRequests` has to be among the agent's output types.

    `keep` is called before the person is asked. A process that dies while it waits loses nothing:
    another one goes on from what was kept with `resume`.

    Raises:
        ParleyError: The person can't be asked. What was kept can be resumed.
        ValueError: The agent waits on a call that is no question, and needs no approval.
    """
    result = await agent.run(prompt, conversation=conversation, **options)
    return await _to_its_end(agent, result, _Person(asker, wording), keep, **options)


async def resume(
    agent: AbstractAgent[DepsT, OutputT | DeferredToolRequests],
    waiting: Conversation,
    asker: Asker,
    *,
    wording: Wording = call_approval,
    keep: Keep | None = None,
    **options: Unpack[RunOptions[DepsT]],
) -> AgentRunResult[OutputT]:
    """Goes on with a conversation that was kept: with the same agent, asker, wording and options.

    The person is not asked anew: what they answered meanwhile counts. Calls that were allowed, and
    ran before the process died, run again: what was kept knows nothing of them.

    Raises:
        ParleyError: The person can't be asked, as with REQUEST_ID_REUSED where the asker or the
            wording ask otherwise than before.
        ValueError: The conversation waits on nothing, or on a call that is no question and needs no
            approval.
    """
    person = _Person(asker, wording)
    results = await person.results(waiting)
    result = await agent.run(conversation=waiting, deferred_tool_results=results, **options)
    return await _to_its_end(agent, result, person, keep, **options)


async def _to_its_end(
    agent: AbstractAgent[DepsT, OutputT | DeferredToolRequests],
    result: AgentRunResult[OutputT | DeferredToolRequests],
    person: "_Person",
    keep: Keep | None,
    **options: Unpack[RunOptions[DepsT]],
) -> AgentRunResult[OutputT]:
    while isinstance(result.output, DeferredToolRequests):
        waiting = result.conversation
        if keep:
            await keep(waiting)
        results = await person.results(waiting)
        result = await agent.run(conversation=waiting, deferred_tool_results=results, **options)
    return cast("AgentRunResult[OutputT]", result)


@dataclass(frozen=True)
class _Person:
    asker: Asker
    wording: Wording

    async def results(self, waiting: Conversation) -> DeferredToolResults:
        """Asks all that a conversation waits on: first the questions, then the approvals."""
        requests = waiting.deferred_tool_requests
        if requests is None:
            raise ValueError("The conversation waits on nothing.")
        kinds = {tool.name: tool.kind for tool in ask_tools()}
        if others := {call.tool_name for call in requests.calls} - kinds.keys():
            raise ValueError(
                f"The agent waits on calls of {', '.join(sorted(others))}, which ask nobody: run "
                "them in the agent, or resume it with their results yourself."
            )
        run_id = waiting.messages[-1].run_id
        answers = {
            call.tool_call_id: await self._answer(call, kinds[call.tool_name], run_id)
            for call in requests.calls
        }
        decisions = {
            call.tool_call_id: await self._decision(call, run_id) for call in requests.approvals
        }
        return requests.build_results(calls=answers, approvals=decisions)

    async def _answer(
        self, call: ToolCallPart, kind: str, run_id: str | None
    ) -> JsonObject | ToolFailed:
        """Returns what the model is told of a question: the answer, or what is wrong with it."""
        try:
            question = question_from_json({**call.args_as_dict(), "kind": kind})
            ask = await self._asked(question, call, run_id)
        except Malformed as malformed:
            return ToolFailed(f"Nobody was asked. {malformed}")
        except ParleyError as refused:
            faults = _faults_of(refused)
            if faults is None:
                raise
            return ToolFailed(f"Nobody was asked.\n{faults}")
        return answer_to_json(ask.answer)

    async def _decision(self, call: ToolCallPart, run_id: str | None) -> bool | ToolDenied:
        try:
            ask = await self._asked(self.wording(call), call, run_id)
        except Unshowable as unshowable:
            return ToolDenied(str(unshowable))
        refusal = refusal_of(ask)
        return True if refusal is None else ToolDenied(refusal)

    async def _asked(self, question: AskInput, call: ToolCallPart, run_id: str | None) -> Ask:
        # Some models count their calls anew in every run.
        name = f"{self.asker.conversation_id}/{run_id}/{call.tool_call_id}"
        return await self.asker.ask(question, request_id=str(uuid5(_CALLS, name)))


def _faults_of(refused: ParleyError) -> str | None:
    """Returns what is wrong with a question of the model's; None if that is not the matter."""
    if refused.reason not in ("INVALID_ASK", "INVALID_REQUEST") or not refused.fields:
        return None
    if refused.reason == "INVALID_REQUEST" and refused.fields[0].path != "input":
        return None
    return "\n".join(f"{each.path}: {each.message} {each.fix}".strip() for each in refused.fields)

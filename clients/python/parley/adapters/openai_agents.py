"""Tools of the OpenAI Agents SDK that run only once a person allows it.

```python
@function_tool(needs_approval=True)
def delete_plan(plan: str) -> str: ...

result = await run(agent, "Clean up my plans", asker)
```

Each call that needs an approval is put to the person of `asker`, one after the other.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from typing import Final, Self, TypeAlias, TypeVar
from uuid import UUID, uuid4, uuid5

from agents import Agent, RunContextWrapper, Runner, RunResult, RunState, TResponseInputItem
from agents.items import ToolApprovalItem
from agents.run_config import RunOptions
from typing_extensions import Unpack

from parley.adapters.asker import Asker
from parley.adapters.refusals import refusal_of
from parley.adapters.tool_approvals import Unshowable, tool_approval
from parley.v1.asks_pb2 import AskInput

_CALLS: Final = UUID("0a3c0b0e-6d0e-5c52-9a4e-3f1d5f3c1a77")
"""The namespace of request ids: each is made of a run, a pause and a call."""

TContext = TypeVar("TContext")

Wording: TypeAlias = Callable[[ToolApprovalItem], AskInput]
"""Returns the confirm that puts a call to the person, or raises `Unshowable`."""


@dataclass(frozen=True)
class PausedRun:
    """A run that waits on a person, in a form that can be kept.

    Who can change what is kept can change what is allowed: keep it where only the agent can.
    """

    run_id: str
    pauses: int
    """How often it has waited, this time included."""
    state: str
    """The SDK's `RunState`."""

    def to_json(self) -> str:
        """Returns text to keep, of which `from_json` makes the run again."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Returns the run that was kept.

        Raises:
            ValueError: The text is none of `to_json`.
        """
        try:
            return cls(**json.loads(text))
        except TypeError as other:
            raise ValueError("This is not what was kept of a run.") from other


Keep: TypeAlias = Callable[[PausedRun], Awaitable[None]]
"""Keeps the run, instead of what was kept of it before."""


def call_approval(call: ToolApprovalItem) -> AskInput:
    """Returns the question whether a call may run, with all of its arguments.

    Raises:
        Unshowable: They don't fit into a question.
    """
    return tool_approval(call.qualified_name or call.name or "a tool", call.arguments or "")


async def run(
    agent: Agent[TContext],
    input: str | list[TResponseInputItem],  # noqa: A002 - as `Runner.run` has it
    asker: Asker,
    *,
    wording: Wording = call_approval,
    keep: Keep | None = None,
    **options: Unpack[RunOptions[TContext]],
) -> RunResult:
    """Runs an agent like `Runner.run`, and has a person decide on calls that need an approval.

    A call that is not allowed does not run; the model is told why: that the person denied it, did
    something else, or did not answer in time.

    `keep` is called before the person is asked. A process that dies while it waits loses nothing:
    another one goes on from what was kept with `resume`.

    Raises:
        ParleyError: The person can't be asked. What was kept can be resumed.
    """
    result = await Runner.run(agent, input, **options)
    if not result.interruptions:
        return result
    approvals = _Approvals(asker, wording, keep, str(uuid4()), 1)
    return await _to_its_end(agent, result.to_state(), approvals, **options)


async def resume(
    agent: Agent[TContext],
    paused: PausedRun,
    asker: Asker,
    *,
    wording: Wording = call_approval,
    keep: Keep | None = None,
    **options: Unpack[RunOptions[TContext]],
) -> RunResult:
    """Goes on with a run that was kept: with the same agent, asker, wording and options.

    The person is not asked anew: what they answered meanwhile counts. Calls that were allowed, and
    ran before the process died, run again: what was kept knows nothing of them.

    Raises:
        ParleyError: The person can't be asked, as with REQUEST_ID_REUSED where the asker or the
            wording ask otherwise than before.
        agents.UserError: What was kept is of another agent, or of a newer SDK.
    """
    context = options.get("context")
    override = None if context is None else RunContextWrapper(context)
    state = await RunState.from_string(agent, paused.state, context_override=override)
    approvals = _Approvals(asker, wording, keep, paused.run_id, paused.pauses)
    return await _to_its_end(agent, state, approvals, **options)


@dataclass(frozen=True)
class _Approvals:
    asker: Asker
    wording: Wording
    keep: Keep | None
    run_id: str
    pauses: int

    async def decide(self, state: RunState[TContext]) -> None:
        if self.keep:
            await self.keep(PausedRun(self.run_id, self.pauses, state.to_string()))
        for number, call in enumerate(state.get_interruptions()):
            # Some models count calls anew in every run, and so do agents that are tools.
            name = f"{self.run_id}/{self.pauses}/{number}/{call.call_id}"
            refusal = await self._refusal(call, str(uuid5(_CALLS, name)))
            if refusal is None:
                state.approve(call)
            else:
                state.reject(call, rejection_message=refusal)

    async def _refusal(self, call: ToolApprovalItem, request_id: str) -> str | None:
        try:
            ask = self.wording(call)
        except Unshowable as unshowable:
            return str(unshowable)
        return refusal_of(await self.asker.ask(ask, request_id=request_id))


async def _to_its_end(
    agent: Agent[TContext],
    state: RunState[TContext],
    approvals: _Approvals,
    **options: Unpack[RunOptions[TContext]],
) -> RunResult:
    while True:
        await approvals.decide(state)
        result = await Runner.run(agent, state, **options)
        if not result.interruptions:
            return result
        state = result.to_state()
        approvals = replace(approvals, pauses=approvals.pauses + 1)

"""Judges the tool calls of a finished step (spec turns 3.4.3, 9.2)."""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.asks.ask import AskKind
from parleyd.contract.asks.kinds import TOOL_PREFIX, check_ask, kind_of_tool, tool_name
from parleyd.contract.events import EventBody, ToolCalled, ToolReturned
from parleyd.contract.executions import ToolStart
from parleyd.contract.field_errors import FieldError, as_tool_error, quoted
from parleyd.contract.guards import check_on_small_screen
from parleyd.contract.json import nests_deeper, storable_json
from parleyd.contract.steps import StepCall
from parleyd.contract.text import storable
from parleyd.turns.approvals import needs_approval
from parleyd.turns.kept_args import kept_args
from parleyd.turns.model import CallPart
from parleyd.turns.ports import Ids, OpenedTurn
from parleyd.turns.tool_contexts import tool_context
from parleyd.turns.tools import ToolSet


@dataclass(frozen=True)
class JudgedCalls:
    """The calls of a step in call order, and what to show of those that are no asks.

    `asks` says that the turn is to pause on one of them.
    """

    calls: tuple[StepCall, ...]
    events: tuple[EventBody, ...]

    @property
    def asks(self) -> bool:
        """Tells whether one of the calls asks the person something."""
        return any(call.ask_id for call in self.calls)

    def starts(self, step_no: int) -> tuple[ToolStart, ...]:
        """Returns the host calls that need no approval, which run now."""
        return tuple(
            ToolStart(
                step_no=step_no,
                call_index=index,
                tool_call_id=call.tool_call_id,
                tool_name=call.tool_name,
                args=call.args,
            )
            for index, call in enumerate(self.calls)
            if call.role == "host"
        )


class CallJudge:
    """Judges calls against the tools and asks that one turn offers.

    Remembers the public ids of the chain's calls, so that none is given twice. With asks off, a
    call that needs an approval gets none, and never runs.
    """

    def __init__(
        self,
        turn: OpenedTurn,
        tools: ToolSet,
        kinds: Sequence[AskKind],
        *,
        asks_on: bool,
        ids: Ids,
        taken: Iterable[str] = (),
    ) -> None:
        self._turn = turn
        self._tools = tools
        self._kinds = tuple(kinds)
        self._asks_on = asks_on
        self._ids = ids
        self._taken = set(taken)

    @property
    def taken(self) -> frozenset[str]:
        """Returns the public ids of the chain's calls so far."""
        return frozenset(self._taken)

    def remember(self, calls: Iterable[StepCall]) -> None:
        """Marks the ids of earlier calls of the chain as taken."""
        self._taken.update(call.tool_call_id for call in calls)

    async def judge(self, step_no: int, parts: Sequence[CallPart]) -> JudgedCalls:
        """Returns what becomes of each call, in call order."""
        judged = [self._judge(part) for part in parts]
        calls = tuple(self._settled(judged, await self._guarded(step_no, judged)))
        return JudgedCalls(calls, tuple(_events(call for call in calls if self._is_shown(call))))

    def _judge(self, part: CallPart) -> StepCall:
        # What is checked, shown, stored and run is one and the same, to the digit.
        name, args = storable(part.name), storable_json(part.args)
        kind = kind_of_tool(name)
        tool = self._tools.get(name)
        ask_id, error = None, None
        too_deep = nests_deeper(args, limits.CALL_LEVELS)
        args = None if too_deep else kept_args(args)
        if too_deep:
            error = f"The arguments have more than {limits.CALL_LEVELS} levels."
        elif kind is None or kind not in self._kinds:
            error = tool.faults(args) if tool else self._no_such_tool(name)
        elif errors := self._faults(kind, args):
            error = as_tool_error(errors)
        else:
            ask_id = self._ids.uuid()
        return StepCall(
            tool_call_id=self._public_id(part.call_id),
            provider_call_id=part.call_id,
            tool_name=name,
            args=args,
            role="invalid" if error else "ask" if ask_id else "host",
            ask_id=ask_id,
            error=error,
        )

    async def _guarded(self, step_no: int, calls: Sequence[StepCall]) -> frozenset[int]:
        """Returns the places of the calls that need an approval.

        Each is asked about once, and the journal keeps what came of it.
        """
        places = [index for index, call in enumerate(calls) if call.role == "host"]
        needs = await asyncio.gather(
            *(self._needs_approval(step_no, index, calls[index]) for index in places)
        )
        return frozenset(index for index, need in zip(places, needs, strict=True) if need)

    async def _needs_approval(self, step_no: int, index: int, call: StepCall) -> bool:
        context = tool_context(self._turn, step_no, index, call.tool_call_id)
        return await needs_approval(self._tools[call.tool_name], call.args, context)

    def _settled(self, calls: Sequence[StepCall], guarded: Collection[int]) -> Iterator[StepCall]:
        """Yields the calls with their roles; an approval that is the step's first ask has its id.

        Further approvals get none: their calls are denied when the first ask is answered (9.6).
        """
        asked = not self._asks_on
        for index, call in enumerate(calls):
            if index in guarded:
                ask_id = None if asked else self._ids.uuid()
                yield call.model_copy(update={"role": "approval", "ask_id": ask_id})
            else:
                yield call
            asked = asked or index in guarded or call.ask_id is not None

    def _is_shown(self, call: StepCall) -> bool:
        reserved = self._asks_on and call.tool_name.startswith(TOOL_PREFIX)
        return call.role != "ask" and not reserved

    def _faults(self, kind: AskKind, args: JsonValue) -> tuple[FieldError, ...]:
        surface = self._turn.surface
        errors = check_ask(kind, args, surface)
        if errors or surface == "full" or not isinstance(args, dict):
            return errors
        return check_on_small_screen(kind, args)

    def _public_id(self, provider_id: str | None) -> str:
        """Returns the provider's id where it can be the public one too (spec turns 4.2)."""
        public = storable(provider_id) if provider_id else ""
        if not public or public in self._taken or len(public) > limits.TOOL_CALL_ID_CHARACTERS:
            public = self._ids.call_id()
        self._taken.add(public)
        return public

    def _no_such_tool(self, name: str) -> str:
        offered = ", ".join([*self._tools, *(tool_name(kind) for kind in self._kinds)])
        there_is = f"The tools are: {offered}." if offered else "There are no tools."
        return f"There is no tool {quoted(name)} here. {there_is}"


def _events(shown: Iterable[StepCall]) -> Iterator[EventBody]:
    calls = tuple(shown)
    for call in calls:
        yield ToolCalled(tool_call_id=call.tool_call_id, tool_name=call.tool_name, args=call.args)
    for call in calls:
        if call.error:
            yield ToolReturned(
                tool_call_id=call.tool_call_id,
                tool_name=call.tool_name,
                result={"error": call.error},
                is_error=True,
            )

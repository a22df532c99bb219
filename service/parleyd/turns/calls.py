"""Judges the tool calls of a finished step (spec turns 3.4.3)."""

from collections.abc import Iterable, Iterator, Sequence
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
from parleyd.contract.surfaces import Surface
from parleyd.contract.text import storable
from parleyd.turns.model import CallPart
from parleyd.turns.ports import CollectedAsk, Ids
from parleyd.turns.tools import ToolSet


@dataclass(frozen=True)
class JudgedCalls:
    """The calls of a step in call order, its valid asks, and what to show of the others."""

    calls: tuple[StepCall, ...]
    asks: tuple[CollectedAsk, ...]
    events: tuple[EventBody, ...]

    def starts(self, step_no: int) -> tuple[ToolStart, ...]:
        """Returns the host calls, which run now."""
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

    Remembers the public ids of the chain's calls, so that none is given twice.
    """

    def __init__(
        self,
        tools: ToolSet,
        kinds: Sequence[AskKind],
        surface: Surface,
        *,
        asks_on: bool,
        ids: Ids,
        taken: Iterable[str] = (),
    ) -> None:
        self._tools = tools
        self._kinds = tuple(kinds)
        self._surface: Surface = surface
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

    def judge(self, parts: Sequence[CallPart]) -> JudgedCalls:
        """Returns what becomes of each call, in call order."""
        calls: list[StepCall] = []
        asks: list[CollectedAsk] = []
        shown: list[StepCall] = []
        for part in parts:
            # What is checked, shown, stored and sent back as a result is one and the same.
            name, args = storable(part.name), storable_json(part.args)
            kind = kind_of_tool(name)
            tool = self._tools.get(name)
            ask_id, error = None, None
            if nests_deeper(args, limits.CALL_LEVELS):
                args, error = None, f"The arguments have more than {limits.CALL_LEVELS} levels."
            elif kind is None or kind not in self._kinds:
                error = tool.faults(args) if tool else self._no_such_tool(name)
            elif errors := self._faults(kind, args):
                error = as_tool_error(errors)
            else:
                ask_id = self._ids.uuid()
            call = StepCall(
                tool_call_id=self._public_id(part.call_id),
                provider_call_id=part.call_id,
                tool_name=name,
                args=args,
                role="invalid" if error else "ask" if ask_id else "host",
                ask_id=ask_id,
                error=error,
            )
            calls.append(call)
            if kind and ask_id and isinstance(args, dict):
                asks.append(CollectedAsk(call, ask_id, kind, args, self._ids.call_id()))
            elif not (self._asks_on and name.startswith(TOOL_PREFIX)):
                shown.append(call)
        return JudgedCalls(tuple(calls), tuple(asks), tuple(_events(shown)))

    def _faults(self, kind: AskKind, args: JsonValue) -> tuple[FieldError, ...]:
        errors = check_ask(kind, args, self._surface)
        if errors or self._surface == "full" or not isinstance(args, dict):
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


def _events(calls: Sequence[StepCall]) -> Iterator[EventBody]:
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

"""Failpoints: a turn blocked, broken or killed at a named place (spec turns 14).

They sit in the ports that a service is given; the service knows nothing of them.
"""

import json
import os
import signal
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from pydantic import JsonValue

from parleyd.contract.errors import Unavailable
from parleyd.contract.events import EventBody, FileReturned, TurnEvent
from parleyd.contract.executions import ToolStart
from parleyd.contract.json import compact
from parleyd.contract.messages import MessageDraft
from parleyd.contract.steps import Step
from parleyd.contract.turns import InputKind, TurnError, TurnResult
from parleyd.models.played import Holds
from parleyd.turns.ports import (
    AnswerOpening,
    CallPlace,
    ChainContext,
    EndedTurn,
    Ending,
    OpenedTurn,
    Opening,
    PromptOpening,
    RetryOpening,
    TurnStore,
)
from parleyd.turns.request_log import LoggedRequest, RequestLog
from parleyd.turns.situations import Situation, Wanted

Place: TypeAlias = Literal[
    "before_tx1",
    "after_tx1",
    "after_txj",
    "before_tool",
    "in_tool",
    "after_tool_run",
    "after_txr",
    "before_tx2",
    "after_tx2",
    "before_tx2f",
    "after_tx2f",
    "before_close",
    "in_log",
]
"""`before_tool` comes before TX-T, and before TX-J where that starts tools; `after_tool_run` before
TX-R, `before_close` before TX4. `in_title` is a hold or a failure in the title of the script."""


@dataclass(frozen=True)
class Failpoint:
    """What happens at a place: of the turns that are meant, the first `times` that come to it.

    `said` means turns with this text or, of answers, with this envelope as compact JSON; in a tool,
    calls of the tool with this name. `kind` means turns with this input.
    """

    place: Place
    action: Literal["block", "lose_database", "throw", "kill"]
    times: int | None = None
    said: str | None = None
    kind: InputKind | None = None
    hold: str | None = None
    error: Exception | None = None

    def to_json(self) -> str:
        """Returns the failpoint for the command line of a process."""
        assert self.error is None, "an exception can't be handed to another process"
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Failpoint":
        """Returns what `to_json` wrote."""
        return cls(**json.loads(text))


def block(place: Place, hold: str | None = None, **meant: Any) -> Failpoint:
    """Returns a failpoint that waits at a hold, which is named as the place unless told."""
    return Failpoint(place, "block", hold=hold or place, **meant)


def lose_database(place: Place, **meant: Any) -> Failpoint:
    """Returns a failpoint where the database can't be reached."""
    return Failpoint(place, "lose_database", **meant)


def throw(place: Place, error: Exception, **meant: Any) -> Failpoint:
    """Returns a failpoint that raises."""
    return Failpoint(place, "throw", error=error, **meant)


def kill(place: Place, **meant: Any) -> Failpoint:
    """Returns a failpoint that kills its process, for processes of `tests.server_process`."""
    return Failpoint(place, "kill", **meant)


class Failpoints:
    """The failpoints of one server, and how often each place was reached.

    Give the server `wrap_store=points.store` and `wrap_log=points.log`.
    """

    def __init__(
        self, *points: Failpoint, holds: Holds | None = None, may_kill: bool = False
    ) -> None:
        assert may_kill or all(point.action != "kill" for point in points), "it would kill the test"
        self.holds = holds or Holds()
        self.reached: Counter[Place] = Counter()
        self._points = points
        self._fired: Counter[int] = Counter()

    def store(self, inner: TurnStore) -> TurnStore:
        """Returns a store with the failpoints around its transactions."""
        return FailpointStore(inner, self)

    def log(self, inner: RequestLog) -> RequestLog:
        """Returns a request log with a failpoint before its line."""
        return FailpointLog(inner, self)

    async def reach(self, place: Place, said: str, kind: InputKind | None = None) -> None:
        """Does what the failpoints of this place say.

        Raises:
            Exception: A failpoint says so.
        """
        self.reached[place] += 1
        for number, point in enumerate(self._points):
            if point.place != place or (point.said or said) != said or (point.kind or kind) != kind:
                continue
            if point.times is not None and self._fired[number] >= point.times:
                continue
            self._fired[number] += 1
            await self._fire(point)

    async def _fire(self, point: Failpoint) -> None:
        match point.action:
            case "block":
                await self.holds.wait(point.hold or point.place)
            case "lose_database":
                raise Unavailable("The database is lost.")
            case "throw":
                assert point.error
                raise point.error
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)


class FailpointStore:
    """A store of turns with failpoints around its transactions."""

    def __init__(self, inner: TurnStore, points: Failpoints) -> None:
        self._inner = inner
        self._points = points

    async def read_situation(self, owner: str, wanted: Wanted) -> Situation:
        return await self._inner.read_situation(owner, wanted)

    async def open_turn(self, opening: Opening) -> OpenedTurn:
        said, kind = _brought_by(opening)
        await self._points.reach("before_tx1", said, kind)
        turn = await self._inner.open_turn(opening)
        await self._points.reach("after_tx1", said, kind)
        return turn

    async def read_chain(self, turn: OpenedTurn, after_step: int = 0) -> ChainContext:
        return await self._inner.read_chain(turn, after_step)

    async def journal_step(
        self,
        turn: OpenedTurn,
        step: Step,
        events: Sequence[EventBody],
        starts: Sequence[ToolStart],
    ) -> tuple[TurnEvent, ...]:
        if starts:
            await self._reach("before_tool", turn)
        stored = await self._inner.journal_step(turn, step, events, starts)
        await self._reach("after_txj", turn)
        return stored

    async def start_tool(
        self, turn: OpenedTurn, start: ToolStart, *, again: bool, repeated: bool = False
    ) -> bool:
        await self._reach("before_tool", turn)
        return await self._inner.start_tool(turn, start, again=again, repeated=repeated)

    async def store_result(
        self,
        turn: OpenedTurn,
        call: CallPlace,
        result: JsonValue,
        *,
        failed: bool,
        file: FileReturned | None = None,
    ) -> tuple[TurnEvent, ...]:
        await self._reach("after_tool_run", turn)
        stored = await self._inner.store_result(turn, call, result, failed=failed, file=file)
        await self._reach("after_txr", turn)
        return stored

    async def lose_tool(self, turn: OpenedTurn, call: CallPlace) -> tuple[TurnEvent, ...]:
        return await self._inner.lose_tool(turn, call)

    async def send_text(self, turn: OpenedTurn, text: str) -> tuple[TurnEvent, ...]:
        return await self._inner.send_text(turn, text)

    async def keep_partial_text(self, turn: OpenedTurn, partial_text: str) -> None:
        await self._inner.keep_partial_text(turn, partial_text)

    async def end_turn(self, turn: OpenedTurn, ending: Ending) -> EndedTurn:
        await self._reach("before_tx2", turn)
        ended = await self._inner.end_turn(turn, ending)
        await self._reach("after_tx2", turn)
        return ended

    async def close_turn(
        self, turn: OpenedTurn, title: str | None, committed: TurnResult | None = None
    ) -> EndedTurn:
        await self._reach("before_close", turn)
        return await self._inner.close_turn(turn, title, committed)

    async def fail_turn(
        self, turn: OpenedTurn, error: TurnError, rows: Sequence[MessageDraft], partial_text: str
    ) -> EndedTurn:
        await self._reach("before_tx2f", turn)
        ended = await self._inner.fail_turn(turn, error, rows, partial_text)
        await self._reach("after_tx2f", turn)
        return ended

    async def _reach(self, place: Place, turn: OpenedTurn) -> None:
        await self._points.reach(place, turn.said, turn.input_kind)


class FailpointLog:
    """A request log with a failpoint before its line."""

    def __init__(self, inner: RequestLog, points: Failpoints) -> None:
        self._inner = inner
        self._points = points

    async def log_request(self, request: LoggedRequest) -> None:
        await self._points.reach("in_log", request.prompt)
        await self._inner.log_request(request)


def _brought_by(opening: Opening) -> tuple[str, InputKind]:
    match opening.input:
        case PromptOpening(text=text):
            return text, "prompt"
        case AnswerOpening(kind=kind, envelope=envelope):
            return compact(envelope), kind
        case RetryOpening():
            return "", "retry"

"""The running of host tools, with bodies that a test holds and a store in memory."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence

from pydantic import JsonValue

from parleyd.contract.events import TurnEvent
from parleyd.contract.executions import Execution, ToolStart
from parleyd.turns.files import Files
from parleyd.turns.stops import Stops
from parleyd.turns.tool_runs import DueCall, ToolRunner
from parleyd.turns.tools import ToolContext, ToolResult
from tests.turns.ports_in_memory import Body, MemoryStore, PlainTool
from tests.turns.turn_values import OPENED
from tests.turns.waiting import in_time, until

LONG = 600.0


class Scene:
    """The tools of a turn, each held by the name of its call until it is let go."""

    def __init__(
        self, *, seconds: float = LONG, wall_seconds: float = LONG, files: Files | None = None
    ) -> None:
        self.store = MemoryStore()
        self.stops = Stops(wall_seconds)
        self.contexts: list[ToolContext] = []
        self.args: list[JsonValue] = []
        self.go: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.written: list[TurnEvent] = []
        self.runner = ToolRunner(self.store, OPENED, self.stops, seconds, self._stored, files)
        self.waiting = 0
        self.free = asyncio.Event()
        self.free.set()

    async def _stored(self, write: Callable[[], Awaitable[Sequence[TurnEvent]]]) -> None:
        self.waiting += 1
        await self.free.wait()
        self.written += await write()

    async def held(self, args: JsonValue, context: ToolContext) -> JsonValue:
        """Is the body of a tool that waits until it is let go."""
        self.begin(args, context)
        await self.go[context.tool_call_id].wait()
        return {"of": context.tool_call_id}

    def begin(self, args: JsonValue, context: ToolContext) -> None:
        self.args.append(args)
        self.contexts.append(context)

    def raising(self, error: BaseException) -> Body:
        async def body(args: JsonValue, context: ToolContext) -> JsonValue:
            self.begin(args, context)
            raise error

        return body

    def returning(self, result: ToolResult) -> Body:
        async def body(args: JsonValue, context: ToolContext) -> ToolResult:
            self.begin(args, context)
            return result

        return body

    def run(self, *calls: DueCall) -> asyncio.Task[list[Execution]]:
        return asyncio.get_running_loop().create_task(in_time(self.runner.run(calls)))

    async def running(self, count: int) -> None:
        await until(lambda: len(self.contexts) == count)

    @property
    def stored(self) -> list[str]:
        """Returns the calls whose results are stored, in order."""
        return [place.tool_call_id for place, _, _ in self.store.results]


def due(
    body: Body,
    number: int = 0,
    *,
    claimed: bool = True,
    again: bool = False,
    seconds: float | None = None,
) -> DueCall:
    """Returns a call of a tool that does what `body` does."""
    tool = PlainTool("lookup", body, seconds=seconds, replay_safe=again)
    start = ToolStart(
        step_no=2,
        call_index=number,
        tool_call_id=f"call_{number}",
        tool_name="lookup",
        args={"number": number},
    )
    return DueCall(start, tool, claimed=claimed, again=again)

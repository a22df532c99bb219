"""Runs host tools: each is claimed before it runs, and its result stored the moment it returns.

What a tool that was started and never stored its result has done, nobody knows; so it is not run
again unless it says that this does no harm (spec turns 3.5, 3.6.2, 9.1).
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

import structlog
from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.events import TurnEvent
from parleyd.contract.executions import Execution, ToolStart
from parleyd.contract.json import storable_json
from parleyd.turns.ports import CallPlace, Fenced, OpenedTurn, TurnStore
from parleyd.turns.stops import HandedOver, Stops, TimeOver, is_stopped
from parleyd.turns.tools import HostTool, ToolContext, ToolFailed

log = structlog.stdlib.get_logger()


@dataclass(frozen=True)
class DueCall:
    """A host call that is to run now.

    `claimed` says that journaling its step has started it; `again` that a replay-safe tool was
    interrupted and runs once more.
    """

    start: ToolStart
    tool: HostTool
    claimed: bool
    again: bool = False


class ToolRunner:
    """Runs the host tools of one turn.

    `stored` runs a write of the turn: in turn with its other writes, repeated where the database
    was away, and its events told to those who follow.
    """

    def __init__(
        self,
        store: TurnStore,
        turn: OpenedTurn,
        stops: Stops,
        seconds: float,
        stored: Callable[[Callable[[], Awaitable[Sequence[TurnEvent]]]], Awaitable[None]],
    ) -> None:
        self._store = store
        self._turn = turn
        self._stops = stops
        self._seconds = seconds
        self._stored = stored

    async def run(self, calls: Iterable[DueCall]) -> list[Execution]:
        """Runs calls side by side and returns what became of each, once all have ended.

        Raises:
            Fenced, HandedOver, TimeOver: The turn is stopped. What had returned by then is stored.
            ParleyError: A result could not be stored.
        """
        ended = await asyncio.gather(*map(self._run, calls), return_exceptions=True)
        broken = [one for one in ended if isinstance(one, BaseException)]
        if broken:
            raise min(broken, key=_weight)
        return [one for one in ended if isinstance(one, Execution)]

    async def _run(self, call: DueCall) -> Execution:
        start = call.start
        if not call.claimed and not await self._claim(call):
            # The ledger knows this call: somebody has started it, so it never runs here.
            raise Fenced
        result, failed = await self._body(call)
        # The model reads what is stored, also in the process that ran the tool (3.6.3).
        result = storable_json(result)
        place = CallPlace(start.step_no, start.call_index, start.tool_call_id, start.tool_name)
        await self._stored(
            lambda: self._store.store_result(self._turn, place, result, failed=failed)
        )
        return Execution(
            **dict(start),
            turn_id=self._turn.lease.turn_id,
            state="failed" if failed else "finished",
            result=result,
        )

    async def _claim(self, call: DueCall) -> bool:
        claims: list[bool] = []
        tries = itertools.count()

        async def claim() -> tuple[TurnEvent, ...]:
            repeated = next(tries) > 0
            if not repeated:  # a claim that may be stored already is settled
                self._stops.check()
            claims.append(
                await self._store.start_tool(
                    self._turn, call.start, again=call.again, repeated=repeated
                )
            )
            return ()

        await self._stored(claim)
        return claims[-1]

    async def _body(self, call: DueCall) -> tuple[JsonValue, bool]:
        """Returns what the tool returned, and whether that is a failure."""
        seconds = self._seconds if call.tool.seconds is None else call.tool.seconds
        turn, start = self._turn, call.start
        context = ToolContext(
            owner=turn.owner,
            conversation_id=turn.lease.conversation_id,
            turn_id=turn.lease.turn_id,
            tool_call_id=start.tool_call_id,
            idempotency_key=f"{turn.chain_id}/{start.step_no}/{start.call_index}",
        )
        await self._stops.sure(grace=limits.STOP_SECONDS)
        try:
            async with self._stops.within(seconds, grace=limits.STOP_SECONDS):
                try:
                    return await call.tool.run(start.args, context), False
                except ToolFailed as error:
                    return {"error": str(error)}, True
                except (Exception, asyncio.CancelledError) as error:
                    if isinstance(error, asyncio.CancelledError) and is_stopped():
                        raise
                    log.exception("tool_failed", tool=start.tool_name)
                    return {"error": f"The tool {start.tool_name} failed."}, True
        except TimeoutError:
            # A tool that runs in a thread goes on; nobody hears of its result.
            text = (
                f"The tool {start.tool_name} took longer than {seconds:g} s. "
                "Whether it took effect is not known."
            )
            return {"error": text}, True


def _weight(error: BaseException) -> int:
    """Orders what stops a turn: what says most about it comes first."""
    match error:
        case asyncio.CancelledError():
            return 0
        case Fenced():
            return 1
        case TimeOver():
            return 3
        case HandedOver():
            return 4
        case _:
            return 2

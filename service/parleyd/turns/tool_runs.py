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
from parleyd.contract.errors import Unavailable
from parleyd.contract.events import FileReturned, TurnEvent
from parleyd.contract.executions import Execution, ToolStart
from parleyd.contract.file_types import is_of_type
from parleyd.contract.json import storable_json
from parleyd.contract.text import clip, storable
from parleyd.turns.datasets import Datasets
from parleyd.turns.file_store import StoreFailed
from parleyd.turns.files import Files
from parleyd.turns.model import Shown
from parleyd.turns.ports import CallPlace, Fenced, OpenedTurn, TurnStore
from parleyd.turns.shown_files import FileToShow, shown
from parleyd.turns.stops import HandedOver, Stops, TimeOver, is_stopped
from parleyd.turns.tool_contexts import tool_context
from parleyd.turns.tools import HostTool, ToolFailed, ToolFile

NOT_KEPT = "The file is not kept here: it can't be had later."

log = structlog.stdlib.get_logger()


@dataclass(frozen=True)
class DueCall:
    """A host call that is to run now.

    `claimed` says that journaling its step has started it; `again` that a replay-safe tool was
    interrupted and runs once more. `approval_id` names the approval that lets it run. Without
    `tool` an approved call can't run here: it fails, and is never made again (9.5).
    """

    start: ToolStart
    tool: HostTool | None
    claimed: bool
    again: bool = False
    approval_id: str | None = None


@dataclass(frozen=True)
class Returned:
    """What a call came to: its result, or of a file what is kept of it, and the file."""

    result: JsonValue
    failed: bool = False
    file: ToolFile | None = None


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
        files: Files | None = None,
        datasets: Datasets | None = None,
    ) -> None:
        self.shown = dict[int, tuple[Shown, ...]]()
        """The files that the calls of the last step returned, by their places."""
        self._store = store
        self._turn = turn
        self._stops = stops
        self._seconds = seconds
        self._stored = stored
        self._files = files
        self._datasets = datasets

    async def run(self, calls: Iterable[DueCall]) -> list[Execution]:
        """Runs calls side by side and returns what became of each, once all have ended.

        Raises:
            Fenced, HandedOver, TimeOver: The turn is stopped. What had returned by then is stored.
            ParleyError: A result could not be stored.
        """
        self.shown = dict[int, tuple[Shown, ...]]()
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
        returned = await self._body(call)
        event = None
        if returned.file:
            returned, event = await self._kept(call, returned.file)
        # The model reads what is stored, also in the process that ran the tool (3.6.3).
        result, failed = storable_json(returned.result), returned.failed
        place = CallPlace(start.step_no, start.call_index, start.tool_call_id, start.tool_name)
        await self._stored(
            lambda: self._store.store_result(self._turn, place, result, failed=failed, file=event)
        )
        return Execution(
            **dict(start),
            turn_id=self._turn.lease.turn_id,
            state="failed" if failed else "finished",
            result=result,
        )

    async def _kept(self, call: DueCall, file: ToolFile) -> tuple[Returned, FileReturned]:
        """Keeps the bytes of a file, where files are kept; the model sees them either way.

        It is shown those that are of a type it can read; of others it is told what they are.
        """
        start, file_id = call.start, None
        filename = clip(storable(file.filename), limits.FILENAME) or "document"
        mime_type = storable(file.mime_type)
        if self._files:
            try:
                owner = self._turn.owner
                kept = await self._files.keep(owner, filename, mime_type, file.data)
                file_id, filename, mime_type = kept.id, kept.filename, kept.mime_type
            except (StoreFailed, Unavailable) as error:
                log.warning("file_not_kept", tool=start.tool_name, cause=type(error).__name__)
        # Of megabytes of JSON this takes seconds.
        if await asyncio.to_thread(is_of_type, file.data, mime_type):
            self.shown[start.call_index] = shown(
                [FileToShow(filename, mime_type, len(file.data), file.data)]
            )
        told: dict[str, JsonValue] = {
            **({"fileId": str(file_id)} if file_id else {}),
            "filename": filename,
            "mimeType": mime_type,
            "size": len(file.data),
        }
        result: dict[str, JsonValue] = {"file": told}
        if file.text is not None:
            result["text"] = file.text
        if file_id is None:
            result["note"] = NOT_KEPT
        event = FileReturned(
            tool_call_id=start.tool_call_id,
            filename=filename,
            mime_type=mime_type,
            file_id=file_id,
        )
        return Returned(result), event

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

    async def _body(self, call: DueCall) -> Returned:
        """Returns what the tool returned. An approved call that can't run here fails (9.5).

        A call that an earlier process or turn has judged may meet another version of its tool.
        """
        start, tool = call.start, call.tool
        if tool is None:
            text = f"The tool {start.tool_name} is no longer here: the call did not run."
            return _failed(text)
        if not call.claimed and (misfit := tool.faults(start.args)):
            ran = "The call did not run again, so its outcome is not known."
            return _failed(f"{ran if call.again else 'The call did not run.'} {misfit}")
        seconds = self._seconds if tool.seconds is None else tool.seconds
        context = tool_context(
            self._turn,
            start.step_no,
            start.call_index,
            start.tool_call_id,
            call.approval_id,
            self._datasets,
        )
        await self._stops.sure(grace=limits.STOP_SECONDS)
        try:
            async with self._stops.within(seconds, grace=limits.STOP_SECONDS):
                try:
                    result = await tool.run(start.args, context)
                except ToolFailed as error:
                    return _failed(str(error))
                except (Exception, asyncio.CancelledError) as error:
                    if isinstance(error, asyncio.CancelledError) and is_stopped():
                        raise
                    log.exception("tool_failed", tool=start.tool_name)
                    return _failed(f"The tool {start.tool_name} failed.")
                return (
                    Returned(None, file=result)
                    if isinstance(result, ToolFile)
                    else Returned(result)
                )
        except TimeoutError:
            # A tool that runs in a thread goes on; nobody hears of its result.
            text = (
                f"The tool {start.tool_name} took longer than {seconds:g} s. "
                "Whether it took effect is not known."
            )
            return _failed(text)


def _failed(text: str) -> Returned:
    return Returned({"error": text}, failed=True)


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

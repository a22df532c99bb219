"""The writes of one turn: one after the other, repeated where the database was away, then told.

Events reach those who follow only once their transaction has committed, and in the order in which
they were numbered (spec turns 3.5, 6.2).
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import structlog

from parleyd.contract.errors import ParleyError, Unavailable
from parleyd.contract.events import EventBody, Text, TurnEvent
from parleyd.contract.executions import Execution, ToolStart
from parleyd.contract.reasons import Reason
from parleyd.contract.steps import Step
from parleyd.contract.text import storable, trim
from parleyd.contract.turns import TurnError, TurnResult
from parleyd.turns.call_rows import call_rows
from parleyd.turns.live import LiveTurn
from parleyd.turns.ports import (
    CallPlace,
    CollectedAsk,
    EndedTurn,
    Ending,
    Fenced,
    OpenedTurn,
    TurnStore,
)
from parleyd.turns.replies import NO_REPLY, Reply
from parleyd.turns.stops import HandedOver

T = TypeVar("T")

ERROR_TEXTS = {
    Reason.MODEL_ERROR: "The model could not answer. Try again in a moment.",
    Reason.MODEL_RATE_LIMITED: "The model is overloaded. Try again in a moment.",
    Reason.MODEL_REFUSED: "The model refused to answer this.",
    Reason.TURN_TIMEOUT: "This took too long and was stopped.",
    Reason.TURN_TOO_LARGE: "This became too large for the model. Start a new conversation.",
    Reason.INTERRUPTED: "This was interrupted several times and was given up.",
    Reason.INTERNAL: "Something went wrong on our side.",
}
"""What a client reads of each reason, in place of a provider's own words."""

WAITS = (0.2, 1.0, 3.0)
"""When a write is tried again that the database did not take, in seconds (spec turns 3.7.1)."""

log = structlog.stdlib.get_logger()


class TurnWriter:
    """Writes a turn that this process holds. Every call raises what the store's does."""

    def __init__(self, store: TurnStore, turn: OpenedTurn, live: LiveTurn) -> None:
        self._store = store
        self._turn = turn
        self._live = live
        self._writing = asyncio.Lock()
        self._events: list[EventBody] = [event.body for event in (*turn.earlier, *turn.events)]

    async def journal(
        self, step: Step, events: Sequence[EventBody], starts: Sequence[ToolStart]
    ) -> None:
        """Stores a step and the start of its tools."""
        await self.store(lambda: self._store.journal_step(self._turn, step, events, starts))

    async def lose(self, call: Execution) -> None:
        """Stores that nobody knows what a call came to that was started."""
        place = CallPlace(call.step_no, call.call_index, call.tool_call_id, call.tool_name)
        await self.store(lambda: self._store.lose_tool(self._turn, place))

    async def store(self, write: Callable[[], Awaitable[Sequence[TurnEvent]]]) -> None:
        """Runs a write that returns the events it stored."""
        async with self._writing:
            self._tell(await stored(write))

    @property
    def sent(self) -> str | None:
        """Returns the reply, where it was sent before the turn's rows are stored."""
        sent = [event.text for event in self._events if isinstance(event, Text)]
        return sent[0] if sent else None

    async def send(self, text: str) -> None:
        """Sends the reply before the turn's rows are stored, for it may yet be mended."""
        await self.store(lambda: self._store.send_text(self._turn, text))

    async def pause(
        self,
        step: Step | None,
        asks: tuple[CollectedAsk, ...],
        events: tuple[EventBody, ...],
        reply: Reply = NO_REPLY,
    ) -> EndedTurn:
        """Ends the turn's work with asks; without `step` theirs is journaled already.

        A turn that asks has no reply, unless what it said beside the ask is a document.
        """
        return await self._end(reply, Ending(step=step, events=events, asks=asks))

    async def finish(self, reply: Reply, *, title_due: bool) -> EndedTurn:
        """Ends the turn's work with a reply, which may be empty."""
        return await self._end(reply, Ending(title_due=title_due))

    async def close(self, title: str | None, committed: TurnResult | None = None) -> EndedTurn:
        """Closes a turn whose work has ended; `committed` is what is known of its result."""
        return await self._told(lambda: self._store.close_turn(self._turn, title, committed))

    async def fail(self, reason: Reason, partial_text: str) -> EndedTurn:
        """Fails the turn; what it had said so far is kept, or the reply that was sent already."""
        error = TurnError(reason=reason, message=ERROR_TEXTS[reason])
        rows, text = tuple(call_rows(self._events)), trim(storable(self.sent or partial_text))
        return await self._told(lambda: self._store.fail_turn(self._turn, error, rows, text))

    async def keep_partial_text(self, text: str) -> None:
        """Stores what the running step has said so far."""
        await self._store.keep_partial_text(self._turn, storable(text))

    async def _end(self, reply: Reply, ending: Ending) -> EndedTurn:
        whole = replace(
            ending,
            rows=tuple(call_rows([*self._events, *ending.events])),
            text=reply.text,
            note=reply.note,
            sent=self.sent,
            blocks=reply.checked,
        )
        return await self._told(lambda: self._store.end_turn(self._turn, whole))

    async def _told(self, write: Callable[[], Awaitable[EndedTurn]]) -> EndedTurn:
        async with self._writing:
            ended = await stored(write)
            self._tell(ended.events)
        return ended

    def _tell(self, events: Sequence[TurnEvent]) -> None:
        self._events += [event.body for event in events]
        self._live.append(events)


async def stored(write: Callable[[], Awaitable[T]]) -> T:
    """Runs a write, again where the database was away; never guesses what became of it.

    Raises:
        Unavailable: The database stays away.
    """
    for seconds in WAITS:
        try:
            return await write()
        except Unavailable:
            await asyncio.sleep(seconds)
    return await write()


async def left_open(live: LiveTurn, work: Awaitable[EndedTurn]) -> EndedTurn | None:
    """Returns how a turn ended; None where this process lost it, and tells those who follow.

    Raises:
        HandedOver: The process stops.
    """
    try:
        return await work
    except HandedOver:
        raise
    except Fenced:
        log.warning("turn_fenced")
        live.move()
    except ParleyError as error:
        # Its lease runs out, and whoever takes it over repeats what was not committed.
        log.warning("turn_left_open", reason=error.reason)
        live.give_up(error)
    except Exception:
        # A fault of ours in a write: nobody may be left waiting for a turn that nobody runs.
        log.exception("turn_left_open")
        live.give_up(Unavailable("This server can't go on with the turn; watch it again."))
    return None

"""The port of turns, each call one transaction.

Opening, ending and closing a turn is one statement in the common case, and one round trip.
"""

from collections.abc import Awaitable, Callable, Sequence

from pydantic import JsonValue
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.errors import RateLimited
from parleyd.contract.events import EventBody, FileReturned, TurnEvent
from parleyd.contract.executions import ToolStart
from parleyd.contract.messages import MessageDraft
from parleyd.contract.steps import Step
from parleyd.contract.turns import TurnError, TurnResult
from parleyd.store.chains import read_chain
from parleyd.store.endings import (
    close_as_seen,
    close_locked,
    end_as_seen,
    end_locked,
    fail_turn,
    find_closed,
    find_ended,
    find_stored_end,
    plan_close_ahead,
    plan_end_ahead,
    was_closed,
    was_ended,
)
from parleyd.store.engine import Database, violated
from parleyd.store.events import find_events
from parleyd.store.executions import (
    ended_events,
    lose_tool,
    lost_event,
    returned_event,
    start_tool,
    store_result,
    was_tool_ended,
    was_tool_started,
)
from parleyd.store.openings import (
    find_opened,
    open_as_seen,
    open_locked,
    plan_ahead,
    read_or_free,
    was_freed,
    was_opened,
)
from parleyd.store.situations import read_situation
from parleyd.store.steps import (
    find_journaled,
    journal_step,
    keep_partial_text,
    send_text,
    was_journaled,
    was_partial_text_kept,
    was_text_sent,
)
from parleyd.turns.endings import is_end, is_failure
from parleyd.turns.ports import (
    CallPlace,
    ChainContext,
    EndedTurn,
    Ending,
    Fenced,
    OpenedTurn,
    Opening,
    RequestSeen,
)
from parleyd.turns.situations import Situation, Wanted

_REQUEST_ID = "turns_request_id"
_STEP = "turn_steps_pkey"
_CALL_ID = "asks_conversation_id_tool_call_id_key"


class PostgresTurnStore:
    """Keeps turns in PostgreSQL; fulfils `TurnStore`."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._database = Database(engine)

    async def read_situation(self, owner: str, wanted: Wanted) -> Situation:
        """See `TurnStore`. One query."""
        return await self._database.read(
            lambda connection: read_situation(connection, owner, wanted)
        )

    async def open_turn(self, opening: Opening) -> OpenedTurn:
        """See `TurnStore`. Of two first requests with one id the unique index names the winner."""
        try:
            return await self._open(opening)
        except IntegrityError as error:
            key = opening.request
            if key is None or violated(error) != _REQUEST_ID:
                raise
        owner = opening.owner
        repeated = await self._database.write(
            lambda connection: read_or_free(connection, owner, key),
            lambda connection: was_freed(connection, owner, key),
        )
        if repeated:
            raise RequestSeen(repeated)
        return await self.open_turn(opening)

    async def _open(self, opening: Opening) -> OpenedTurn:
        if plan := plan_ahead(opening):
            opened = await self._database.write_at_once(
                lambda connection: open_as_seen(connection, opening, plan),
                lambda connection: find_opened(connection, opening, plan),
            )
            if opened:
                return opened
        conversation_id = opening.conversation_id
        if conversation_id is None:
            assert opening.owner_turns, "nothing else is in the way of a new conversation"
            raise RateLimited.by_owner(opening.owner_turns)
        return await self._database.write(
            lambda connection: open_locked(connection, opening, conversation_id),
            lambda connection: was_opened(connection, opening, conversation_id),
        )

    async def read_chain(self, turn: OpenedTurn, after_step: int = 0) -> ChainContext:
        """See `TurnStore`. One query."""
        return await self._database.read(
            lambda connection: read_chain(connection, turn, after_step)
        )

    async def journal_step(
        self,
        turn: OpenedTurn,
        step: Step,
        events: Sequence[EventBody],
        starts: Sequence[ToolStart],
    ) -> tuple[TurnEvent, ...]:
        """See `TurnStore`. A repeat finds what the first call stored."""
        try:
            return await self._database.write(
                lambda connection: journal_step(connection, turn, step, events, starts),
                lambda connection: was_journaled(connection, turn, step),
            )
        except IntegrityError as error:
            if violated(error) != _STEP:
                raise
        # Only who holds the lease comes to the step's key, and a turn journals a step once: so it
        # was this call, whose COMMIT was lost with the database.
        return await self._database.read(
            lambda connection: find_journaled(connection, turn, events)
        )

    async def start_tool(
        self, turn: OpenedTurn, start: ToolStart, *, again: bool, repeated: bool = False
    ) -> bool:
        """See `TurnStore`. The count of runs is one too high where `again` is repeated."""
        return await self._database.write(
            lambda connection: start_tool(connection, turn, start, again=again, repeated=repeated),
            lambda connection: was_tool_started(connection, turn, start),
        )

    async def store_result(
        self,
        turn: OpenedTurn,
        call: CallPlace,
        result: JsonValue,
        *,
        failed: bool,
        file: FileReturned | None = None,
    ) -> tuple[TurnEvent, ...]:
        """See `TurnStore`."""
        return await self._end_tool(
            turn,
            call,
            ended_events(returned_event(call, result, failed=failed), file),
            lambda connection: store_result(
                connection, turn, call, result, failed=failed, file=file
            ),
        )

    async def lose_tool(self, turn: OpenedTurn, call: CallPlace) -> tuple[TurnEvent, ...]:
        """See `TurnStore`."""
        return await self._end_tool(
            turn, call, [lost_event(call)], lambda connection: lose_tool(connection, turn, call)
        )

    async def _end_tool(
        self,
        turn: OpenedTurn,
        call: CallPlace,
        bodies: Sequence[EventBody],
        end: Callable[[Connection], tuple[TurnEvent, ...]],
    ) -> tuple[TurnEvent, ...]:
        """Ends a call, or finds that a call of this with the same outcome has done so before."""
        try:
            return await self._database.write(
                end, lambda connection: was_tool_ended(connection, turn, call)
            )
        except Fenced:
            found = await self._database.read(
                lambda connection: find_events(connection, turn.lease, bodies)
            )
            if not found:
                raise
            return found

    async def send_text(self, turn: OpenedTurn, text: str) -> tuple[TurnEvent, ...]:
        """See `TurnStore`."""
        return await self._database.write(
            lambda connection: send_text(connection, turn, text),
            lambda connection: was_text_sent(connection, turn, text),
        )

    async def keep_partial_text(self, turn: OpenedTurn, partial_text: str) -> None:
        """See `TurnStore`."""
        await self._database.write(
            lambda connection: keep_partial_text(connection, turn, partial_text),
            lambda connection: was_partial_text_kept(connection, turn, partial_text),
        )

    async def end_turn(self, turn: OpenedTurn, ending: Ending) -> EndedTurn:
        """See `TurnStore`. A public id that turns out to be taken is settled under the lock."""
        return await self._once(
            turn, self._end_turn(turn, ending), lambda result: is_end(result, ending)
        )

    async def _end_turn(self, turn: OpenedTurn, ending: Ending) -> EndedTurn:
        if plan := plan_end_ahead(turn, ending):
            try:
                ended = await self._database.write_at_once(
                    lambda connection: end_as_seen(connection, turn, plan),
                    lambda connection: find_ended(connection, turn, plan),
                )
            except IntegrityError as error:
                if violated(error) != _CALL_ID:
                    raise
                ended = None
            if ended:
                return ended
        return await self._database.write(
            lambda connection: end_locked(connection, turn, ending),
            lambda connection: was_ended(connection, turn),
        )

    async def close_turn(
        self, turn: OpenedTurn, title: str | None, committed: TurnResult | None = None
    ) -> EndedTurn:
        """See `TurnStore`."""
        return await self._once(
            turn,
            self._close_turn(turn, title, committed),
            lambda result: title is None or result.title is not None,
        )

    async def _close_turn(
        self, turn: OpenedTurn, title: str | None, committed: TurnResult | None
    ) -> EndedTurn:
        if plan := plan_close_ahead(turn, title, committed):
            closed = await self._database.write_at_once(
                lambda connection: close_as_seen(connection, turn, plan),
                lambda connection: find_closed(connection, turn, plan),
            )
            if closed:
                return closed
        return await self._database.write(
            lambda connection: close_locked(connection, turn, title),
            lambda connection: was_closed(connection, turn),
        )

    async def fail_turn(
        self, turn: OpenedTurn, error: TurnError, rows: Sequence[MessageDraft], partial_text: str
    ) -> EndedTurn:
        """See `TurnStore`."""
        failing = self._database.write(
            lambda connection: fail_turn(connection, turn, error, rows, partial_text),
            lambda connection: was_ended(connection, turn),
        )
        return await self._once(turn, failing, lambda result: is_failure(result, error))

    async def _once(
        self, turn: OpenedTurn, write: Awaitable[EndedTurn], is_it: Callable[[TurnResult], bool]
    ) -> EndedTurn:
        """Returns what a write stores, or did store, and nobody was told (spec turns 3.5).

        Raises:
            Fenced: The lease is lost, or the turn has ended otherwise.
        """
        try:
            return await write
        except Fenced:
            found = await self._database.read(lambda connection: find_stored_end(connection, turn))
            result = found and (found.result or found.committed)
            if found is None or result is None or not is_it(result):
                raise
            return found

"""The port of turns, each call one transaction."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.events import EventBody, TurnEvent
from parleyd.contract.messages import MessageDraft
from parleyd.contract.steps import Step
from parleyd.contract.turns import TurnError
from parleyd.store.asks import read_answerable
from parleyd.store.chains import read_chain
from parleyd.store.endings import close_turn, end_turn, fail_turn, was_closed, was_ended
from parleyd.store.engine import Database
from parleyd.store.openings import open_turn, was_opened
from parleyd.store.steps import journal_step, was_journaled
from parleyd.turns.ports import AnswerableAsk, ChainContext, EndedTurn, Ending, OpenedTurn, Opening


class PostgresTurnStore:
    """Keeps turns in PostgreSQL; fulfils `TurnStore`."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._database = Database(engine)

    async def read_asks(
        self, owner: str, conversation_id: UUID, tool_call_id: str | None
    ) -> AnswerableAsk:
        """See `TurnStore`. One query."""
        return await self._database.read(
            lambda connection: read_answerable(connection, owner, conversation_id, tool_call_id)
        )

    async def open_turn(self, opening: Opening) -> OpenedTurn:
        """See `TurnStore`."""
        return await self._database.write(
            lambda connection: open_turn(connection, opening),
            lambda connection: was_opened(connection, opening),
        )

    async def read_chain(self, turn: OpenedTurn) -> ChainContext:
        """See `TurnStore`."""
        return await self._database.read(lambda connection: read_chain(connection, turn))

    async def journal_step(
        self, turn: OpenedTurn, step: Step, events: Sequence[EventBody]
    ) -> tuple[TurnEvent, ...]:
        """See `TurnStore`."""
        return await self._database.write(
            lambda connection: journal_step(connection, turn, step, events),
            lambda connection: was_journaled(connection, turn, step),
        )

    async def end_turn(self, turn: OpenedTurn, ending: Ending) -> EndedTurn:
        """See `TurnStore`."""
        return await self._database.write(
            lambda connection: end_turn(connection, turn, ending),
            lambda connection: was_ended(connection, turn),
        )

    async def close_turn(self, turn: OpenedTurn, title: str | None) -> EndedTurn:
        """See `TurnStore`."""
        return await self._database.write(
            lambda connection: close_turn(connection, turn, title),
            lambda connection: was_closed(connection, turn),
        )

    async def fail_turn(
        self, turn: OpenedTurn, error: TurnError, rows: Sequence[MessageDraft], partial_text: str
    ) -> EndedTurn:
        """See `TurnStore`."""
        return await self._database.write(
            lambda connection: fail_turn(connection, turn, error, rows, partial_text),
            lambda connection: was_ended(connection, turn),
        )

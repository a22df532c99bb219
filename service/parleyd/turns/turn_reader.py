"""The port of those who watch turns: reading what is stored of them (spec turns 16.1)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from parleyd.contract.events import TurnEvent
from parleyd.contract.turns import Turn


@dataclass(frozen=True)
class StoredEvents:
    """Events of a turn after a place, in order; not all of them where there are very many.

    `last_event` is the number of the turn's last event, `closed` whether there will be no more.
    """

    events: tuple[TurnEvent, ...]
    last_event: int
    closed: bool


class TurnReader(Protocol):
    """Reads turns for those who watch them. No call holds a connection when it has returned."""

    async def read_turn(self, owner: str, conversation_id: UUID, turn_id: UUID) -> Turn:
        """Reads one turn.

        Raises:
            ConversationNotFound: No such conversation, or it is deleted.
            NotOwner: It is someone else's.
            TurnNotFound: It has no such turn.
        """
        ...

    async def read_events(self, owner: str, turn_id: UUID, after: int) -> StoredEvents:
        """Reads the events of a turn of `owner` after the number `after`."""
        ...

    async def read_last_events(self, turn_ids: Collection[UUID]) -> Mapping[UUID, int]:
        """Reads the number of the last event of each turn, in one query."""
        ...

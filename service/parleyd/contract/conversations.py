"""A conversation as its owner sees it."""

from datetime import datetime
from uuid import UUID

from parleyd.contract.asks.ask import Ask
from parleyd.contract.value import Value


class Conversation(Value):
    """A chat of one person with the agent, with the ask it waits on."""

    id: UUID
    title: str | None
    project: str | None
    pending_ask: Ask | None
    running_turn_id: UUID | None
    retryable_turn_id: UUID | None
    create_time: datetime
    update_time: datetime


class PendingAsk(Value):
    """A pending ask in the list over all conversations."""

    ask: Ask
    title: str | None

"""Asks whose time is over: written as cancelled, so that the slot is free (spec turns 16.5).

Readers need none of this: for them such an ask is cancelled at its `expire_time`.
"""

from typing import Final
from uuid import UUID

from sqlalchemy import Connection, func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.store.asks import ASK_COLUMNS, HAS_LAPSED, ask_of
from parleyd.store.engine import Database
from parleyd.store.locks import lock_conversation
from parleyd.store.quiet_turns import store_quiet_turn
from parleyd.store.statements import given, run
from parleyd.store.tables import asks, conversations
from parleyd.turns.quiet_turns import plan_lapse
from parleyd.turns.state import SeenConversation


class PostgresLapseStore:
    """Writes the end of asks whose time is over; fulfils `LapseStore`."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._database = Database(engine)

    async def settle_next(self) -> UUID | None:
        """See `LapseStore`. Whether a lost COMMIT went through is the next call's to find out.

        Raises:
            Unavailable: The database can't be reached.
        """
        return await self._database.write(settle_next, lambda _: False)


def settle_next(connection: Connection) -> UUID | None:
    """Settles the ask that has lapsed the longest, and returns its conversation.

    Conversations that are locked at this moment are passed by. None where nothing is due.
    """
    conversation_id = run(connection, _LONGEST).scalar_one_or_none()
    if conversation_id is None:
        return None
    conversation = lock_conversation(connection, conversation_id)
    assert conversation, "a conversation that is locked is there"
    settle_lapsed(connection, conversation)
    return conversation_id


def settle_lapsed(connection: Connection, conversation: SeenConversation) -> SeenConversation:
    """Cancels the ask in the slot of a locked conversation if its time is over.

    Returns the conversation as it is then.
    """
    row = run(connection, _LAPSED, conversation=conversation.id).mappings().one_or_none()
    ask = ask_of(row) if row else None
    if row is None or ask is None:
        return conversation
    store_quiet_turn(connection, plan_lapse(ask, conversation, row["fresh_id"]))
    settled = lock_conversation(connection, conversation.id)
    assert settled, "a conversation that is locked is there"
    return settled


_LONGEST: Final = (
    select(conversations.c.id)
    .join_from(asks, conversations, conversations.c.id == asks.c.conversation_id)
    .where(HAS_LAPSED)
    .order_by(asks.c.expire_time)
    .limit(1)
    .with_for_update(key_share=True, skip_locked=True, of=conversations)
)
_LAPSED: Final = select(*ASK_COLUMNS, func.gen_random_uuid().label("fresh_id")).where(
    asks.c.conversation_id == given("conversation"), HAS_LAPSED
)

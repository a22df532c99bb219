"""Deleting a conversation (spec turns 7.3)."""

from typing import Final
from uuid import UUID

from sqlalchemy import Connection, and_, exists, func, literal, literal_column, select, update

from parleyd.store.asks import read_pending, resolution, resolved_ask, told
from parleyd.store.locks import lock_conversation, lock_for_owner
from parleyd.store.statements import given, run
from parleyd.store.steps import deleted_steps
from parleyd.store.tables import conversations, turn_steps, turns
from parleyd.turns.openings import cancelled_by_deletion


def delete_conversation(connection: Connection, owner: str, conversation_id: UUID) -> None:
    """Hides a conversation, cancels its pending ask and ends its chains, but for running turns.

    Raises:
        ConversationNotFound: No such conversation, or it is deleted.
        NotOwner: It is someone else's.
    """
    conversation = lock_for_owner(connection, conversation_id, owner)
    pending = read_pending(connection, conversation_id)
    resolved = cancelled_by_deletion(pending, conversation.now) if pending else None
    run(connection, _DELETE, conversation=conversation_id, **resolution(resolved))


def was_deleted(connection: Connection, conversation_id: UUID) -> bool:
    """Tells whether the conversation is deleted, once whoever has its lock has ended."""
    conversation = lock_conversation(connection, conversation_id)
    return conversation is None or conversation.deleted


_HIDDEN: Final = (
    update(conversations)
    .where(conversations.c.id == given("conversation"))
    .values(delete_time=func.now(), retryable_turn_id=None)
    .returning(conversations.c.id)
    .cte("hidden_conversation")
)
_MEMBER: Final = turns.alias("member")
_RUNNING: Final = turns.alias("running")
_RESOLVED: Final = resolved_ask(_HIDDEN)
_DELETE: Final = select(literal(1), told(_RESOLVED)).add_cte(
    _HIDDEN,
    _RESOLVED,
    deleted_steps(
        and_(
            turn_steps.c.chain_id.in_(
                select(_MEMBER.c.chain_id).where(_MEMBER.c.conversation_id == given("conversation"))
            ),
            ~exists().where(
                _RUNNING.c.chain_id == turn_steps.c.chain_id,
                _RUNNING.c.state == literal_column("'running'"),
            ),
        )
    ),
)

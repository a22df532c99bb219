"""The conversation's row, which is the lock, and the fence around a turn (spec turns 3.5).

Locks are taken in the order conversation, turn, everything else.
"""

from datetime import timedelta
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy import (
    CTE,
    ColumnElement,
    Connection,
    and_,
    exists,
    func,
    literal,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from parleyd.contract import limits
from parleyd.contract.errors import ConversationNotFound
from parleyd.store.owners import check_owner
from parleyd.store.statements import given, run
from parleyd.store.tables import conversations, turns
from parleyd.turns.ports import Fenced, Lease
from parleyd.turns.state import SeenConversation

LEASE_END: Final = func.now() + literal(timedelta(seconds=limits.LEASE_SECONDS))

_LOCK: Final = (
    select(
        conversations.c.owner,
        conversations.c.title,
        conversations.c.project,
        conversations.c.delete_time,
        conversations.c.last_seq,
        conversations.c.last_turn_no,
        conversations.c.retryable_turn_id,
        func.now(),
    )
    .where(conversations.c.id == given("conversation"))
    .with_for_update(key_share=True)
)


def lock_conversation(connection: Connection, conversation_id: UUID) -> SeenConversation | None:
    """Locks a conversation, whosesoever it is, until the transaction ends.

    What the lock guards is to be read by a later statement: this one may have waited, and would
    show other tables as they were before the wait.
    """
    row = run(connection, _LOCK, conversation=conversation_id).one_or_none()
    if row is None:
        return None
    owner, title, project, delete_time, last_seq, last_turn_no, retryable, now = row
    return SeenConversation(
        id=conversation_id,
        owner=owner,
        title=title,
        project=project,
        deleted=delete_time is not None,
        last_seq=last_seq,
        last_turn_no=last_turn_no,
        retryable_turn_id=retryable,
        now=now,
    )


def lock_for_owner(connection: Connection, conversation_id: UUID, owner: str) -> SeenConversation:
    """Locks a person's own conversation.

    Raises:
        ConversationNotFound: No such conversation, or it is deleted.
        NotOwner: It is someone else's.
    """
    found = lock_conversation(connection, conversation_id)
    if found is None:
        raise ConversationNotFound(conversation_id)
    check_owner(conversation_id, owner, found.owner, deleted=found.deleted)
    return found


def lock_for_turn(connection: Connection, lease: Lease) -> SeenConversation:
    """Locks the conversation of a turn, deleted or not.

    Raises:
        Fenced: The conversation is gone, and the turn with it.
    """
    found = lock_conversation(connection, lease.conversation_id)
    if found is None:
        raise Fenced
    return found


_PROBE: Final = (
    insert(conversations)
    .values(id=given("conversation"), owner=given("caller"))
    .on_conflict_do_nothing()
    .returning(conversations.c.id)
)


def is_free(connection: Connection, conversation_id: UUID, caller: str) -> bool:
    """Tells whether no conversation has this id, once whoever inserts it has ended.

    The transaction has to be rolled back: where the id is free, this takes it.
    """
    probe = run(connection, _PROBE, conversation=conversation_id, caller=caller)
    return probe.one_or_none() is not None


# ---------------------------------------------------------------- fencing

LEASED: Final = and_(
    turns.c.id == given("turn"),
    turns.c.lease_holder == given("holder"),
    turns.c.lease_epoch == given("epoch"),
)
"""The turn of the lease that `within` is given, unless another process took it over."""


def fence(
    state: Literal["running", "committed"],
    /,
    behind: CTE | None = None,
    **changes: ColumnElement[Any],
) -> CTE:
    """Returns the update that every write of a turn hangs on: without the lease it changes no row.

    It renews the lease, counts `new_events` and returns the turn's `id` and `last_event`.
    It waits for `behind`, and changes nothing where that is empty.
    """
    # Uncorrelated, so it is looked at once and before the turn's row is: that keeps the lock order,
    # and a turn that somebody else has just written is checked again without it.
    ready = [] if behind is None else [exists().select_from(behind)]
    return (
        update(turns)
        .where(LEASED, turns.c.state == literal_column(f"'{state}'"), *ready)
        .values(
            last_event=turns.c.last_event + given("new_events"),
            lease_until=LEASE_END,
            **changes,
        )
        .returning(turns.c.id, turns.c.last_event)
        .cte("fence")
    )


def within(lease: Lease, new_events: int) -> dict[str, object]:
    """Returns the values of `LEASED` and `fence`."""
    return {
        "turn": lease.turn_id,
        "holder": lease.holder,
        "epoch": lease.epoch,
        "new_events": new_events,
    }


_WHERE_IT_STANDS: Final = (
    select(turns.c.state, turns.c.last_event).where(LEASED).with_for_update(key_share=True)
)


def state_of(connection: Connection, lease: Lease) -> str:
    """Returns a turn's stored state, once whoever writes it has ended.

    Raises:
        Fenced: The lease is lost.
    """
    row = run(connection, _WHERE_IT_STANDS, **within(lease, 0)).one_or_none()
    if row is None:
        raise Fenced
    return row.state

"""Who may see a conversation: its owner alone, as long as it is not deleted (spec turns 3.2)."""

from typing import Final
from uuid import UUID

from sqlalchemy import Connection, select

from parleyd.contract.errors import ConversationNotFound, NotOwner
from parleyd.store.statements import given, run
from parleyd.store.tables import conversations

_OWNER: Final = select(conversations.c.owner, conversations.c.delete_time.is_not(None)).where(
    conversations.c.id == given("conversation")
)


def check_owner(conversation_id: UUID, caller: str, owner: str | None, *, deleted: bool) -> None:
    """Checks that `caller` may see a conversation; without `owner` there is none.

    Raises:
        ConversationNotFound: No such conversation, or it is deleted.
        NotOwner: It is someone else's.
    """
    if owner is None or deleted:
        raise ConversationNotFound(conversation_id)
    if owner != caller:
        raise NotOwner


def read_owner(connection: Connection, conversation_id: UUID, caller: str) -> None:
    """Reads whose a conversation is, and checks as `check_owner` does.

    Raises:
        ConversationNotFound: No such conversation, or it is deleted.
        NotOwner: It is someone else's.
    """
    row = run(connection, _OWNER, conversation=conversation_id).one_or_none()
    owner, deleted = row or (None, True)
    check_owner(conversation_id, caller, owner, deleted=deleted)

"""Comparing a conversation with what was seen of it, so that a write needs no lock beforehand.

PostgreSQL checks the condition of an UPDATE or a locking SELECT again on the newest row, once it
has waited for whoever holds that. So what was planned for the conversation as it was seen is right
where the condition holds, and where it doesn't, nothing is written.
"""

from typing import Final

from sqlalchemy import ColumnElement, and_

from parleyd.store.statements import given
from parleyd.store.tables import conversations
from parleyd.turns.state import SeenConversation

AS_TITLED: Final[ColumnElement[bool]] = and_(
    conversations.c.id == given("conversation"),
    conversations.c.title.is_not_distinct_from(given("seen_title")),
    conversations.c.delete_time.is_not(None) == given("seen_deleted"),
)
"""Whether a conversation still has the title it was seen with, and is deleted or not as then."""

AS_SEEN: Final[ColumnElement[bool]] = and_(
    AS_TITLED,
    conversations.c.project.is_not_distinct_from(given("seen_project")),
    conversations.c.last_seq == given("seen_last_seq"),
    conversations.c.last_turn_no == given("seen_last_turn_no"),
    conversations.c.retryable_turn_id.is_not_distinct_from(given("seen_retryable")),
)
"""Whether a conversation is as it was seen.

Every change of its asks adds a message or deletes it, and every new turn is counted: so its asks
and its latest turn are the same too.
"""


def seen_values(conversation: SeenConversation) -> dict[str, object]:
    """Returns the values of `AS_TITLED` and `AS_SEEN`."""
    return {
        "conversation": conversation.id,
        "seen_title": conversation.title,
        "seen_deleted": conversation.deleted,
        "seen_project": conversation.project,
        "seen_last_seq": conversation.last_seq,
        "seen_last_turn_no": conversation.last_turn_no,
        "seen_retryable": conversation.retryable_turn_id,
    }

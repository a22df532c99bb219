"""What is wrong with conversations and their messages."""

from uuid import UUID

from parleyd.contract.errors.error import Malformed, ParleyError
from parleyd.contract.reasons import Reason


class ConversationRequired(Malformed):
    """An answer, a button, a retry or a unary turn without a conversation."""

    reason = Reason.CONVERSATION_REQUIRED


class ConversationNotFound(ParleyError):
    """No such conversation, or it is deleted."""

    reason = Reason.CONVERSATION_NOT_FOUND

    def __init__(self, conversation_id: UUID) -> None:
        super().__init__(f"There is no conversation {conversation_id}.")


class MessageNotFound(ParleyError):
    """The conversation has no such message."""

    reason = Reason.MESSAGE_NOT_FOUND

    def __init__(self, message_id: int) -> None:
        super().__init__(f"The conversation has no message {message_id}.")


class InvalidRating(Malformed):
    """A rating that does not exist."""

    reason = Reason.INVALID_RATING

"""The port of conversations: what their owner does with them beside running turns.

One call is one transaction. The owner is an argument of every call and a condition of every query.
"""

from dataclasses import dataclass
from typing import Literal, Protocol
from uuid import UUID

from parleyd.contract.conversations import Conversation, PendingAsk
from parleyd.contract.messages import Message, Rating
from parleyd.contract.pages import Page, PageRequest
from parleyd.turns.requests import RequestKey


@dataclass(frozen=True)
class ConversationChanges:
    """What to change of a conversation; a field that is not named in `fields` stays as it is."""

    fields: frozenset[Literal["title", "project"]]
    title: str | None = None
    project: str | None = None


class ConversationStore(Protocol):
    """Keeps conversations. Every call raises `Unavailable` when the database can't be reached."""

    async def create_conversation(
        self,
        owner: str,
        conversation_id: UUID,
        title: str | None,
        project: str | None,
        request: RequestKey | None = None,
    ) -> Conversation:
        """Stores an empty conversation, or returns the one that the same request made before.

        Raises:
            RequestIdReused: The request id belongs to another request of this owner.
        """
        ...

    async def read_conversation(self, owner: str, conversation_id: UUID) -> Conversation:
        """Reads one conversation.

        Raises:
            ConversationNotFound: No such conversation, or it is deleted.
            NotOwner: It is someone else's.
        """
        ...

    async def list_conversations(
        self, owner: str, project: str | None, page: PageRequest
    ) -> Page[Conversation]:
        """Lists the owner's conversations, the last changed first.

        Raises:
            InvalidRequest: The page's place is none of this list.
        """
        ...

    async def update_conversation(
        self, owner: str, conversation_id: UUID, changes: ConversationChanges
    ) -> Conversation:
        """Changes title and project in their own columns.

        Raises:
            ConversationNotFound: No such conversation, or it is deleted.
            NotOwner: It is someone else's.
        """
        ...

    async def delete_conversation(self, owner: str, conversation_id: UUID) -> None:
        """Hides a conversation for good and cancels its pending ask (spec turns 7.3).

        Raises:
            ConversationNotFound: No such conversation, or it is deleted.
            NotOwner: It is someone else's.
        """
        ...

    async def list_messages(
        self, owner: str, conversation_id: UUID, page: PageRequest
    ) -> Page[Message]:
        """Lists the rows of a conversation by `turn_no`, then `position`.

        Raises:
            ConversationNotFound: No such conversation, or it is deleted.
            NotOwner: It is someone else's.
            InvalidRequest: The page's place is none of this list.
        """
        ...

    async def list_pending_asks(self, owner: str, page: PageRequest) -> Page[PendingAsk]:
        """Lists the owner's pending asks over all conversations that are not deleted, newest first.

        Raises:
            InvalidRequest: The page's place is none of this list.
        """
        ...

    async def rate_message(
        self, owner: str, conversation_id: UUID, message_id: int, rating: Rating | None
    ) -> None:
        """Sets or clears the rating of one row; nothing else of the conversation changes.

        Raises:
            ConversationNotFound: No such conversation, or it is deleted.
            NotOwner: It is someone else's.
            MessageNotFound: It has no such message.
        """
        ...

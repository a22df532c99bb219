"""Calls about conversations, as tests make them."""

from google.protobuf.field_mask_pb2 import FieldMask

from parley.v1.conversations_pb2 import (
    Conversation,
    CreateConversationRequest,
    DeleteConversationRequest,
    ListConversationsRequest,
    UpdateConversationRequest,
)
from tests.end_to_end.person import Person


async def create(person: Person, title: str = "", project: str = "") -> Conversation:
    request = CreateConversationRequest(conversation=Conversation(title=title, project=project))
    return (await person.client.conversations.CreateConversation(request)).conversation


async def update(
    person: Person, conversation_id: str, *paths: str, title: str = "", project: str = ""
) -> Conversation:
    request = UpdateConversationRequest(
        conversation=Conversation(conversation_id=conversation_id, title=title, project=project),
        update_mask=FieldMask(paths=paths) if paths else None,
    )
    return (await person.client.conversations.UpdateConversation(request)).conversation


async def delete(person: Person, conversation_id: str) -> None:
    request = DeleteConversationRequest(conversation_id=conversation_id)
    await person.client.conversations.DeleteConversation(request)


async def listed(person: Person, page_size: int = 0, project: str = "") -> list[str]:
    """Returns the ids of all conversations, a page after the other."""
    ids: list[str] = []
    request = ListConversationsRequest(page_size=page_size, project=project)
    while True:
        page = await person.client.conversations.ListConversations(request)
        ids += [conversation.conversation_id for conversation in page.conversations]
        if not page.next_page_token:
            return ids
        assert len(page.conversations) == request.page_size
        request.page_token = page.next_page_token

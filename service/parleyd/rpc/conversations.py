"""Conversations on the wire (spec turns 7.3)."""

import asyncio
from collections.abc import Sequence
from typing import Literal
from uuid import UUID

from structlog.contextvars import bind_contextvars
from typing_extensions import override

from parley.v1 import conversations_pb2 as pb
from parley.v1.conversations_pb2_grpc import ConversationServiceServicer
from parleyd.contract import limits
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.conversations import Conversation
from parleyd.contract.errors import InvalidRequest
from parleyd.contract.field_errors import Code, quoted
from parleyd.contract.messages import Message
from parleyd.contract.pages import page_request
from parleyd.rpc import fields
from parleyd.rpc.asks import pending_view_to_proto
from parleyd.rpc.auth import calling_owner
from parleyd.rpc.calls import Context
from parleyd.rpc.messages import message_to_proto, rating_from_proto
from parleyd.rpc.times import time_to_proto
from parleyd.turns.conversations import ConversationChanges, ConversationStore
from parleyd.turns.ports import Ids
from parleyd.turns.requests import conversation_request_key


class ConversationServicer(ConversationServiceServicer):
    """Keeps the caller's conversations."""

    def __init__(
        self, conversations: ConversationStore, ids: Ids, blocks: BlockOptions | None = None
    ) -> None:
        self._conversations = conversations
        self._ids = ids
        self._blocks = blocks

    @override
    async def CreateConversation(
        self, request: pb.CreateConversationRequest, context: Context
    ) -> pb.CreateConversationResponse:
        title = fields.title(request.conversation.title)
        project = fields.project(request.conversation.project)
        key = conversation_request_key(fields.request_id(request.request_id), title, project)
        conversation = await self._conversations.create_conversation(
            calling_owner(), self._ids.uuid(), title, project, key
        )
        return pb.CreateConversationResponse(conversation=conversation_to_proto(conversation))

    @override
    async def GetConversation(
        self, request: pb.GetConversationRequest, context: Context
    ) -> pb.GetConversationResponse:
        conversation = await self._conversations.read_conversation(
            calling_owner(), _conversation_id(request.conversation_id)
        )
        return pb.GetConversationResponse(conversation=conversation_to_proto(conversation))

    @override
    async def ListConversations(
        self, request: pb.ListConversationsRequest, context: Context
    ) -> pb.ListConversationsResponse:
        page = await self._conversations.list_conversations(
            calling_owner(),
            fields.project(request.project),
            page_request(
                request.page_size,
                request.page_token,
                default=limits.CONVERSATIONS_PAGE,
                most=limits.CONVERSATIONS_PAGE_MAX,
                parts=2,
            ),
        )
        return pb.ListConversationsResponse(
            conversations=map(conversation_to_proto, page.items), next_page_token=page.next_token
        )

    @override
    async def UpdateConversation(
        self, request: pb.UpdateConversationRequest, context: Context
    ) -> pb.UpdateConversationResponse:
        conversation_id = _conversation_id(request.conversation.conversation_id)
        conversation = await self._conversations.update_conversation(
            calling_owner(), conversation_id, changes_from_proto(request)
        )
        return pb.UpdateConversationResponse(conversation=conversation_to_proto(conversation))

    @override
    async def DeleteConversation(
        self, request: pb.DeleteConversationRequest, context: Context
    ) -> pb.DeleteConversationResponse:
        await self._conversations.delete_conversation(
            calling_owner(), _conversation_id(request.conversation_id)
        )
        return pb.DeleteConversationResponse()

    @override
    async def ListMessages(
        self, request: pb.ListMessagesRequest, context: Context
    ) -> pb.ListMessagesResponse:
        page = await self._conversations.list_messages(
            calling_owner(),
            _conversation_id(request.conversation_id),
            page_request(
                request.page_size,
                request.page_token,
                default=limits.MESSAGES_PAGE,
                most=limits.MESSAGES_PAGE_MAX,
                parts=2,
            ),
        )
        if self._blocks:  # documents are read from their texts, which may take a while
            messages = await asyncio.to_thread(_with_documents, page.items, self._blocks)
        else:
            messages = [message_to_proto(message) for message in page.items]
        return pb.ListMessagesResponse(messages=messages, next_page_token=page.next_token)

    @override
    async def RateMessage(
        self, request: pb.RateMessageRequest, context: Context
    ) -> pb.RateMessageResponse:
        await self._conversations.rate_message(
            calling_owner(),
            _conversation_id(request.conversation_id),
            fields.message_id(request.message_id),
            rating_from_proto(request.rating),
        )
        return pb.RateMessageResponse()


def _with_documents(messages: Sequence[Message], blocks: BlockOptions) -> list[pb.Message]:
    """Returns rows with the documents that replies are, as many as a client can receive.

    A page is measured by its texts, beside which documents take about as much again.
    """
    shown: list[pb.Message] = []
    left = limits.DOCUMENTS_BYTES
    for message in messages:
        whole = message_to_proto(message, blocks)
        size = whole.blocks.ByteSize()
        if size > left:
            whole.ClearField("blocks")
        else:
            left -= size
        shown.append(whole)
    return shown


def conversation_to_proto(conversation: Conversation) -> pb.Conversation:
    """Returns a conversation as its owner sees it."""
    pending = conversation.pending_ask
    return pb.Conversation(
        conversation_id=str(conversation.id),
        title=conversation.title or "",
        project=conversation.project or "",
        pending_ask=pending_view_to_proto(pending) if pending else None,
        running_turn_id=str(conversation.running_turn_id or ""),
        retryable_turn_id=str(conversation.retryable_turn_id or ""),
        create_time=time_to_proto(conversation.create_time),
        update_time=time_to_proto(conversation.update_time),
    )


def changes_from_proto(request: pb.UpdateConversationRequest) -> ConversationChanges:
    """Returns what an update changes.

    A mask that is empty or `*` means the title, if one is given; an empty title that the mask names
    clears it.

    Raises:
        InvalidRequest: A mask with anything but `title` and `project`, or a text over its limit.
    """
    title = fields.title(request.conversation.title)
    project = fields.project(request.conversation.project)
    paths = list(request.update_mask.paths)
    if paths in ([], ["*"]):
        paths = ["title"] if title else []
    changed: set[Literal["title", "project"]] = set()
    for path in paths:
        match path:
            case "title" | "project":
                changed.add(path)
            case _:
                raise fields.malformed(
                    InvalidRequest,
                    "updateMask",
                    Code.INVALID_ENUM,
                    f"updateMask names {quoted(path)}, which can't be changed.",
                    "Name title, project or both.",
                )
    return ConversationChanges(fields=frozenset(changed), title=title, project=project)


def _conversation_id(text: str) -> UUID:
    """Returns the id that a request names, which is on the call's log lines from now on."""
    conversation_id = fields.conversation_id(text)
    bind_contextvars(conversation_id=str(conversation_id))
    return conversation_id

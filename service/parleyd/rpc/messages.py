"""The rows of a conversation on the wire (spec turns 4.3, 7.3)."""

from typing import assert_never

from parley.v1 import blocks_pb2, conversations_pb2
from parleyd.contract.asks.ask import Ask, AskStatus
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.safe_document import safe_document
from parleyd.contract.errors import InvalidRating
from parleyd.contract.field_errors import Code
from parleyd.contract.json import compact
from parleyd.contract.messages import (
    Content,
    MediaContent,
    Message,
    MessageType,
    Rating,
    ReplyStatus,
    TextContent,
)
from parleyd.rpc import fields
from parleyd.rpc.answers import answer_to_proto
from parleyd.rpc.ask_inputs import ask_input_to_proto
from parleyd.rpc.asks import guarded_args, origin_to_proto
from parleyd.rpc.blocks import document_to_proto
from parleyd.rpc.kinds import kind_to_proto
from parleyd.rpc.times import time_to_proto


def message_to_proto(
    message: Message, blocks: BlockOptions | None = None
) -> conversations_pb2.Message:
    """Returns a stored row. `seq` is its id within the conversation.

    With `blocks` a reply that is a valid document comes with it, read from its text.
    """
    return conversations_pb2.Message(
        conversation_id=str(message.conversation_id),
        message_id=str(message.seq),
        turn_id=str(message.turn_id),
        type=message_type_to_proto(message.type),
        text=message.text,
        blocks=_document_of(message, blocks) if blocks else None,
        content=map(content_to_proto, message.content or ()),
        model=message.model or "",
        status=reply_status_to_proto(message.status),
        superseded=message.superseded,
        rating=rating_to_proto(message.rating),
        tool_call_id=message.tool_call_id or "",
        tool_name=message.tool_name or "",
        args_json=compact(message.args) if message.type == "tool_call" else "",
        result_json=compact(message.result) if message.type == "tool_result" else "",
        ask=_ask_to_proto(message.ask, message.type) if message.ask else None,
        create_time=time_to_proto(message.create_time),
    )


def content_to_proto(content: Content) -> conversations_pb2.ContentPart:
    """Returns a part of a message that came with attachments: where its bytes are, never them."""
    match content:
        case TextContent():
            return conversations_pb2.ContentPart(text=content.text)
        case MediaContent():
            media = conversations_pb2.MediaPart(
                file_id=str(content.file_id or ""),
                mime_type=content.mime_type,
                filename=content.filename or "",
                size_bytes=content.size,
            )
        case _:
            assert_never(content)
    match content.type:
        case "image":
            return conversations_pb2.ContentPart(image=media)
        case "file":
            return conversations_pb2.ContentPart(file=media)
        case _:
            assert_never(content.type)


def _document_of(message: Message, blocks: BlockOptions) -> blocks_pb2.BlockDocument | None:
    if message.type != "assistant" or message.status != "complete":
        return None
    # A text of the days before replies were documents was never cleaned.
    document = safe_document(message.text, blocks).document
    return document_to_proto(document) if document else None


def message_type_to_proto(of: MessageType) -> conversations_pb2.Message.Type.ValueType:
    """Returns the enum value of a row's type."""
    match of:
        case "user":
            return conversations_pb2.Message.TYPE_USER
        case "assistant":
            return conversations_pb2.Message.TYPE_ASSISTANT
        case "tool_call":
            return conversations_pb2.Message.TYPE_TOOL_CALL
        case "tool_result":
            return conversations_pb2.Message.TYPE_TOOL_RESULT
        case _:
            assert_never(of)


def reply_status_to_proto(
    status: ReplyStatus | None,
) -> conversations_pb2.Message.Status.ValueType:
    """Returns the enum value of a reply's status; no other row has one."""
    match status:
        case None:
            return conversations_pb2.Message.STATUS_UNSPECIFIED
        case "complete":
            return conversations_pb2.Message.STATUS_COMPLETE
        case "error":
            return conversations_pb2.Message.STATUS_ERROR
        case _:
            assert_never(status)


def rating_to_proto(rating: Rating | None) -> conversations_pb2.Rating.ValueType:
    """Returns the enum value of what a person thinks of a message."""
    match rating:
        case None:
            return conversations_pb2.RATING_UNSPECIFIED
        case "up":
            return conversations_pb2.RATING_UP
        case "down":
            return conversations_pb2.RATING_DOWN
        case _:
            assert_never(rating)


def rating_from_proto(rating: conversations_pb2.Rating.ValueType) -> Rating | None:
    """Returns a rating, none for an unspecified one.

    Raises:
        InvalidRating: A number that is none.
    """
    match rating:
        case conversations_pb2.RATING_UNSPECIFIED:
            return None
        case conversations_pb2.RATING_UP:
            return "up"
        case conversations_pb2.RATING_DOWN:
            return "down"
        case _:
            raise fields.malformed(
                InvalidRating,
                "rating",
                Code.INVALID_ENUM,
                f"rating is {rating}, which is no rating.",
                "Send RATING_UP or RATING_DOWN, or leave it out to take the rating back.",
            )


def ask_status_to_proto(status: AskStatus) -> conversations_pb2.MessageAsk.Status.ValueType:
    """Returns the enum value of where an ask stands."""
    match status:
        case "pending":
            return conversations_pb2.MessageAsk.STATUS_PENDING
        case "answered":
            return conversations_pb2.MessageAsk.STATUS_ANSWERED
        case "cancelled":
            return conversations_pb2.MessageAsk.STATUS_CANCELLED
        case _:
            assert_never(status)


def _ask_to_proto(ask: Ask, row: MessageType) -> conversations_pb2.MessageAsk:
    """Returns the ask of a row: the question on its call, the answer on its result."""
    answer = ask.answer if row == "tool_result" else None
    return conversations_pb2.MessageAsk(
        kind=kind_to_proto(ask.kind),
        status=ask_status_to_proto(ask.status),
        origin=origin_to_proto(ask.origin),
        input=ask_input_to_proto(ask.kind, ask.input) if row == "tool_call" else None,
        tool_args_json=guarded_args(ask) if row == "tool_call" else "",
        answer=answer_to_proto(ask.kind, answer) if answer else None,
    )

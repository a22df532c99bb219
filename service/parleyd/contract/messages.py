"""The rows of a conversation (spec turns 4.3)."""

from datetime import datetime
from typing import Annotated, Literal, TypeAlias
from uuid import UUID

from pydantic import Field, JsonValue

from parleyd.contract.asks.ask import Ask
from parleyd.contract.value import Value

MessageType: TypeAlias = Literal["user", "assistant", "tool_call", "tool_result"]
ReplyStatus: TypeAlias = Literal["complete", "error"]
Rating: TypeAlias = Literal["up", "down"]


class TextContent(Value):
    """What the person wrote, as a part of a message that came with attachments."""

    type: Literal["text"] = "text"
    text: str


class MediaContent(Value):
    """An image or a file of a message: where its bytes are, never the bytes (spec turns 11.5).

    Without `file_id` the deployment keeps no files: the bytes were for one turn alone.
    """

    type: Literal["image", "file"]
    file_id: UUID | None
    mime_type: str
    filename: str | None
    size: int


Content: TypeAlias = Annotated[TextContent | MediaContent, Field(discriminator="type")]


class MessageDraft(Value):
    """What a turn has to say, before storing gives it its `seq` and `position`.

    `ask_id` marks the call row and the result row of an ask; `tool_call_id` and `tool_name` are set
    on rows of calls, `args` on calls, `result` on results, `model` and `status` on replies.
    `content` is set on messages that came with attachments: the text first, then each of them.
    """

    type: MessageType
    text: str = ""
    content: tuple[Content, ...] | None = None
    model: str | None = None
    status: ReplyStatus | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    args: JsonValue = None
    result: JsonValue = None
    ask_id: UUID | None = None


class Message(MessageDraft):
    """A stored row, named by `seq` and ordered by `turn_no`, then `position`.

    `ask` is the ask that `ask_id` names. `superseded` marks the text of a failed turn that was
    retried: clients hide it.
    """

    conversation_id: UUID
    seq: int
    turn_id: UUID
    turn_no: int
    position: int
    ask: Ask | None = None
    rating: Rating | None = None
    superseded: bool = False
    create_time: datetime

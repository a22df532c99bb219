"""What happened in a turn (spec turns 6). Stored events count 1, 2, 3 … without gaps."""

from datetime import datetime
from typing import Annotated, Literal, TypeAlias
from uuid import UUID

from pydantic import Field, JsonValue

from parleyd.contract.asks.ask import AskAction, AskKind, AskOrigin
from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.cards import SimpleCard
from parleyd.contract.reasons import Reason
from parleyd.contract.turns import Outcome
from parleyd.contract.value import Value


class Started(Value):
    """The turn was stored. Always the first event."""

    kind: Literal["started"] = "started"
    conversation_id: UUID
    conversation_created: bool
    retry_of_turn_id: UUID | None = None


class Resumed(Value):
    """Another process goes on with the turn; `attempt` counts 2, 3, …."""

    kind: Literal["resumed"] = "resumed"
    attempt: int


class AskResolved(Value):
    """The pending ask was answered, or dropped by a message."""

    kind: Literal["ask_resolved"] = "ask_resolved"
    tool_call_id: str
    action: AskAction


class Text(Value):
    """The agent replied; `text` is the whole reply."""

    kind: Literal["text"] = "text"
    text: str


class TextReplaced(Value):
    """The reply was mended after it had been sent; `text` is the whole of it now."""

    kind: Literal["text_replaced"] = "text_replaced"
    text: str


class BlocksChecked(Value):
    """The reply was checked as a document, which is here when it is valid. Sent once, after text.

    Errors and warnings are in order.
    """

    kind: Literal["blocks"] = "blocks"
    errors: tuple[BlockIssue, ...] = ()
    warnings: tuple[BlockIssue, ...] = ()
    document: dict[str, JsonValue] | None = None

    @property
    def ok(self) -> bool:
        """Tells whether the document keeps every rule."""
        return not self.errors


class ToolCalled(Value):
    """The agent called a tool that is no ask."""

    kind: Literal["tool_call"] = "tool_call"
    tool_call_id: str
    tool_name: str
    args: JsonValue


class ToolReturned(Value):
    """A tool call has its result.

    A failed call has `{"error": …}`; where nobody knows what became of it, `outcome` is `unknown`.
    One that was not approved has `{"approved": false, "reason": …}`, and that reason as `denied`.
    """

    kind: Literal["tool_result"] = "tool_result"
    tool_call_id: str
    tool_name: str
    result: JsonValue
    is_error: bool
    denied: str | None = None


class FileReturned(Value):
    """A tool returned a file. Its `ToolReturned` follows.

    Without `file_id` the deployment keeps no files, and the bytes are gone.
    """

    kind: Literal["file"] = "file"
    tool_call_id: str
    filename: str
    mime_type: str
    file_id: UUID | None = None


class Asked(Value):
    """The agent asks. The ask is stored: an answer sent on receipt can't be too early.

    `tool_name` and `tool_args` are those of an approval: what it guards and will run.
    """

    kind: Literal["ask"] = "ask"
    conversation_id: UUID
    tool_call_id: str
    ask_kind: AskKind
    input: dict[str, JsonValue]
    simple: SimpleCard
    origin: AskOrigin
    tool_name: str | None = None
    tool_args: JsonValue = None
    expire_time: datetime | None = None


class Failed(Value):
    """The turn failed. `Done` follows."""

    kind: Literal["error"] = "error"
    reason: Reason
    message: str


class Done(Value):
    """The turn ended. Always the last event."""

    kind: Literal["done"] = "done"
    conversation_id: UUID
    title: str | None
    pending_tool_call_id: str | None
    state: Outcome
    retryable: bool


EventBody: TypeAlias = (
    Started
    | AskResolved
    | Resumed
    | Text
    | TextReplaced
    | ToolCalled
    | FileReturned
    | ToolReturned
    | Asked
    | BlocksChecked
    | Failed
    | Done
)


class TurnEvent(Value):
    """A stored event of a turn."""

    turn_id: UUID
    sequence: int = Field(ge=1)
    body: Annotated[EventBody, Field(discriminator="kind")]

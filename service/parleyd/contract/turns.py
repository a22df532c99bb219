"""Turns: what starts one, and how it ends."""

from datetime import datetime
from typing import Literal, TypeAlias
from uuid import UUID

from pydantic import Field, JsonValue, SecretStr

from parleyd.contract.asks.ask import Ask
from parleyd.contract.attachments import Attachment
from parleyd.contract.reasons import Reason
from parleyd.contract.surfaces import Surface
from parleyd.contract.value import Value

TurnState: TypeAlias = Literal["running", "paused", "completed", "failed"]
Outcome: TypeAlias = Literal["paused", "completed", "failed"]


class PromptInput(Value):
    """Speaks to the agent. Cancels the pending ask, if there is one."""

    kind: Literal["prompt"] = "prompt"
    text: str
    attachments: tuple[Attachment, ...] = ()


class AnswerInput(Value):
    """Answers the pending ask. `answer` is an envelope as it came, not checked yet."""

    kind: Literal["answer"] = "answer"
    tool_call_id: str
    answer: JsonValue


class ButtonInput(Value):
    """Answers the pending ask with a button of its stored card.

    An action token that presses it is told by its hash, which nothing shows.
    """

    kind: Literal["button", "action_token"] = "button"
    tool_call_id: str
    button_id: str
    token_hash: bytes | None = Field(default=None, repr=False, exclude=True)


class RetryInput(Value):
    """Goes on where the conversation's latest turn failed (spec turns 3.7.2)."""

    kind: Literal["retry"] = "retry"
    turn_id: UUID


TurnInput: TypeAlias = PromptInput | AnswerInput | ButtonInput | RetryInput
InputKind: TypeAlias = Literal["prompt", "answer", "button", "action_token", "retry"]


class TurnRequest(Value):
    """A well-formed wish for a turn: what the person did, where, and on what surface.

    Without a conversation (a prompt alone may do without) the turn makes one. Without a surface it
    is the full one, and of a retry the failed turn's. A repeat with the same `request_id` gets the
    turn that the first one made. `caller_key` is a provider's key that is used for this turn alone
    and never stored.
    """

    owner: str
    conversation_id: UUID | None
    input: TurnInput
    surface: Surface | None = None
    model: str | None = None
    system_instruction: str | None = None
    project: str | None = None
    request_id: UUID | None = None
    caller_key: SecretStr | None = None


class TurnError(Value):
    """Why a turn failed after it started. `message` is safe to show."""

    reason: Reason
    message: str


class TurnResult(Value):
    """How a turn ended."""

    conversation_id: UUID
    turn_id: UUID
    state: Outcome
    text: str = ""
    title: str | None = None
    pending_ask: Ask | None = None
    error: TurnError | None = None
    retryable: bool = False


class Turn(Value):
    """A turn as its owner sees it. `result` is set once it is closed.

    `partial_text` is what the running step has said, at most a second old.
    """

    conversation_id: UUID
    id: UUID
    state: TurnState
    last_event: int
    partial_text: str = ""
    result: TurnResult | None = None
    retry_of: UUID | None = None
    retried_by: UUID | None = None
    create_time: datetime
    close_time: datetime | None = None

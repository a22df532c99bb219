"""Turns: what starts one, and how it ends."""

from typing import Literal, TypeAlias
from uuid import UUID

from pydantic import JsonValue

from parleyd.contract.asks.ask import Ask
from parleyd.contract.errors import Reason
from parleyd.contract.surfaces import Surface
from parleyd.contract.value import Value

TurnState: TypeAlias = Literal["running", "paused", "completed", "failed"]
Outcome: TypeAlias = Literal["paused", "completed", "failed"]


class PromptInput(Value):
    """Speaks to the agent. Cancels the pending ask, if there is one."""

    kind: Literal["prompt"] = "prompt"
    text: str


class AnswerInput(Value):
    """Answers the pending ask. `answer` is an envelope as it came, not checked yet."""

    kind: Literal["answer"] = "answer"
    tool_call_id: str
    answer: JsonValue


class ButtonInput(Value):
    """Answers the pending ask with a button of its stored card."""

    kind: Literal["button"] = "button"
    tool_call_id: str
    button_id: str


TurnInput: TypeAlias = PromptInput | AnswerInput | ButtonInput


class TurnRequest(Value):
    """A well-formed wish for a turn: what the person did, where, and on what surface.

    Without a conversation (a prompt alone may do without) the turn makes one.
    """

    owner: str
    conversation_id: UUID | None
    input: TurnInput
    surface: Surface = "full"
    model: str | None = None
    system_instruction: str | None = None
    project: str | None = None


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

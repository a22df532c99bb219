"""An ask as it is stored."""

from datetime import datetime
from typing import Literal, TypeAlias
from uuid import UUID

from pydantic import JsonValue

from parleyd.contract.answers import AskAction
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.cards import SimpleCard
from parleyd.contract.value import Value

__all__ = ["Ask", "AskAction", "AskKind", "AskOrigin", "AskStatus"]

AskOrigin: TypeAlias = Literal["model", "approval", "service"]
AskStatus: TypeAlias = Literal["pending", "answered", "cancelled"]


class Ask(Value):
    """A question of a conversation. `input` and `answer` are the contract's JSON, as stored.

    `answer` is the whole envelope, set once the ask is no longer pending. Of an approval
    `tool_name` is the tool that it guards and `tool_args` what that will run with.
    """

    id: UUID
    conversation_id: UUID
    chain_id: UUID
    owner: str
    tool_call_id: str
    provider_call_id: str | None = None
    kind: AskKind
    origin: AskOrigin = "model"
    tool_name: str
    tool_args: JsonValue = None
    input: dict[str, JsonValue]
    simple: SimpleCard
    status: AskStatus
    answer: dict[str, JsonValue] | None = None
    created_by_turn: UUID | None = None
    resolved_by_turn: UUID | None = None
    create_time: datetime
    resolve_time: datetime | None = None

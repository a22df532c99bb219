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
    `tool_name` is the tool that it guards and `tool_args` what that will run with. Of a service's
    ask `created_by_service` names the service, and with `visible_to_model` the conversation's own
    model is shown question and answer later. With `expire_time` it is cancelled at that moment of
    the database's clock.
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
    created_by_service: str | None = None
    visible_to_model: bool = False
    create_time: datetime
    resolve_time: datetime | None = None
    expire_time: datetime | None = None

    @property
    def expired(self) -> bool:
        """Tells whether its time was over before anybody resolved it (spec turns 16.5)."""
        if self.expire_time is None or self.resolve_time is None:
            return False
        return self.resolve_time >= self.expire_time

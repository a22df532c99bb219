"""The port of the request log: what was asked of the model (spec turns 12.1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol
from uuid import UUID

from pydantic import JsonValue


@dataclass(frozen=True)
class LoggedRequest:
    """A line of the request log (spec turns 12.1).

    `prompt` is what the person brought, of a retry what the retried turn had. A call of a host
    action is of no turn; a document that a service asked for is of no conversation either.
    """

    owner: str
    conversation_id: UUID | None
    turn_id: UUID | None
    request_type: Literal["general", "title", "ui_action", "ui_blocks"]
    ai_model: str
    prompt: str
    response: str | None
    error: str | None
    response_time_ms: int
    tokens_used: int | None
    metadata: Mapping[str, JsonValue] | None = None


class RequestLog(Protocol):
    """Keeps what was asked of the model, for those who run the service."""

    async def log_request(self, request: LoggedRequest) -> None:
        """Adds one line."""
        ...

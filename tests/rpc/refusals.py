"""Requests that must be refused, and the check that they are and that nothing is stored."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from grpc import StatusCode
from sqlalchemy.ext.asyncio import AsyncEngine

import parley
from parley.v1.ask_contract_pb2 import (
    DeriveCardRequest,
    ValidateAnswerRequest,
    ValidateAskRequest,
)
from parley.v1.conversations_pb2 import (
    CreateConversationRequest,
    ListConversationsRequest,
    UpdateConversationRequest,
)
from parley.v1.turns_pb2 import ListPendingAsksRequest
from tests.rpc.requests import Request, refusal, stored
from tests.server import Server

HERE = "the conversation that waits on PLAN"
"""Stands for its id in the tables below."""


class Bad(NamedTuple):
    """A request, and what becomes of it."""

    request: Request
    code: StatusCode
    reason: str
    field: tuple[str, str] | None = None
    """Path and code of the one fault."""


def invalid(request: Request, reason: str, path: str, code: str) -> Bad:
    return Bad(request, StatusCode.INVALID_ARGUMENT, reason, (path, code))


@dataclass
class Paused:
    """A conversation that waits on PLAN."""

    server: Server
    engine: AsyncEngine
    client: parley.Client
    conversation_id: str

    async def refuses(self, bad: Bad) -> None:
        """Checks that a request is refused as it must be, and that nothing is stored for it."""
        before = await stored(self.engine)
        error = await refusal(self.client, self.here(bad.request))
        assert (error.code, error.reason) == (bad.code, bad.reason)
        if bad.field:
            assert [(fault.path, fault.code) for fault in error.fields] == [bad.field]
            assert all(fault.message and fault.fix for fault in error.fields)
        assert await stored(self.engine) == before
        assert len(self.server.model.calls) == 1

    def here(self, request: Request) -> Request:
        """Returns a request with the id of this conversation in its place."""
        whole = type(request).FromString(request.SerializeToString())
        match whole:
            case UpdateConversationRequest():
                _fill_in(whole.conversation, self.conversation_id)
            case CreateConversationRequest() | ListConversationsRequest():
                pass
            case ListPendingAsksRequest():
                pass
            case ValidateAskRequest() | ValidateAnswerRequest() | DeriveCardRequest():
                pass
            case _:
                _fill_in(whole, self.conversation_id)
        return whole


class Named(Protocol):
    """A message that names a conversation."""

    conversation_id: str


def _fill_in(message: Named, conversation_id: str) -> None:
    if message.conversation_id == HERE:
        message.conversation_id = conversation_id

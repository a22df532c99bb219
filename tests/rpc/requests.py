"""Requests of every kind, sent by their type."""

from typing import Any, TypeAlias, assert_never

import pytest
from google.protobuf.message import Message
from grpc import aio
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

import parley
from parley.v1.ask_contract_pb2 import (
    DeriveCardRequest,
    ValidateAnswerRequest,
    ValidateAskRequest,
)
from parley.v1.conversations_pb2 import (
    CreateConversationRequest,
    DeleteConversationRequest,
    GetConversationRequest,
    ListConversationsRequest,
    ListMessagesRequest,
    RateMessageRequest,
    UpdateConversationRequest,
)
from parley.v1.turns_pb2 import (
    GetTurnRequest,
    ListPendingAsksRequest,
    StreamTurnRequest,
    TurnRequest,
    WatchTurnRequest,
)
from parleyd.store.tables import metadata

Request: TypeAlias = (
    StreamTurnRequest
    | TurnRequest
    | WatchTurnRequest
    | GetTurnRequest
    | ListPendingAsksRequest
    | CreateConversationRequest
    | GetConversationRequest
    | ListConversationsRequest
    | UpdateConversationRequest
    | DeleteConversationRequest
    | ListMessagesRequest
    | RateMessageRequest
    | ValidateAskRequest
    | ValidateAnswerRequest
    | DeriveCardRequest
)


async def send(client: parley.Client, request: Request) -> Message | list[Message]:
    """Sends a request and returns all that comes back."""
    match request:
        case StreamTurnRequest():
            return [response async for response in client.turns.StreamTurn(request)]
        case TurnRequest():
            return await client.turns.Turn(request)
        case WatchTurnRequest():
            return [response async for response in client.turns.WatchTurn(request)]
        case GetTurnRequest():
            return await client.turns.GetTurn(request)
        case ListPendingAsksRequest():
            return await client.turns.ListPendingAsks(request)
        case CreateConversationRequest():
            return await client.conversations.CreateConversation(request)
        case GetConversationRequest():
            return await client.conversations.GetConversation(request)
        case ListConversationsRequest():
            return await client.conversations.ListConversations(request)
        case UpdateConversationRequest():
            return await client.conversations.UpdateConversation(request)
        case DeleteConversationRequest():
            return await client.conversations.DeleteConversation(request)
        case ListMessagesRequest():
            return await client.conversations.ListMessages(request)
        case RateMessageRequest():
            return await client.conversations.RateMessage(request)
        case ValidateAskRequest():
            return await client.contract.ValidateAsk(request)
        case ValidateAnswerRequest():
            return await client.contract.ValidateAnswer(request)
        case DeriveCardRequest():
            return await client.contract.DeriveCard(request)
        case _:
            assert_never(request)


async def refusal(client: parley.Client, request: Request) -> parley.ParleyError:
    """Sends a request that must be refused, and returns why it was."""
    with pytest.raises(aio.AioRpcError) as raised:
        await send(client, request)
    return parley.error_of(raised.value)


async def stored(engine: AsyncEngine) -> dict[str, list[Any]]:
    """Returns every row of every table, as text."""
    rows: dict[str, list[Any]] = {}
    async with engine.connect() as connection:
        for table in metadata.tables:
            found = await connection.execute(text(f"SELECT t::text FROM {table} t ORDER BY 1"))
            rows[table] = list(found.scalars())
    return rows

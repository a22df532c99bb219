"""Action tokens as they are made and redeemed, through the generated client alone."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from grpc import aio

from parley.v1 import turns_pb2
from parley.v1.turns_pb2_grpc import TurnServiceStub
from tests.end_to_end.asking_service import duration
from tests.end_to_end.person import Person

if TYPE_CHECKING:
    from parley.v1.turns_pb2_grpc import TurnServiceAsyncStub

Token = turns_pb2.CreateActionTokenResponse
Redeemed = turns_pb2.RedeemActionTokenResponse


async def token_for(
    person: Person,
    conversation_id: str,
    tool_call_id: str,
    *button_ids: str,
    ttl: timedelta | None = None,
) -> Token:
    """Has a token made for buttons of an ask, by its owner or by a service."""
    return await person.client.turns.CreateActionToken(
        turns_pb2.CreateActionTokenRequest(
            conversation_id=conversation_id,
            tool_call_id=tool_call_id,
            button_ids=button_ids,
            ttl=None if ttl is None else duration(ttl),
        )
    )


class Notification:
    """Somebody without a session: whoever holds the phone."""

    def __init__(self, turns: "TurnServiceAsyncStub") -> None:
        self._turns = turns

    async def press(
        self, token: Token | str, button_id: str, *, wait: bool = True, metadata: Any = ()
    ) -> Redeemed:
        """Presses a button with a token, and waits for the end of its turn unless told not to."""
        request = turns_pb2.RedeemActionTokenRequest(
            token=token if isinstance(token, str) else token.token, button_id=button_id, wait=wait
        )
        return await self._turns.RedeemActionToken(request, metadata=metadata)


@asynccontextmanager
async def notification(address: str) -> AsyncGenerator[Notification]:
    """Yields a connection of its own, which brings no bearer token."""
    async with aio.insecure_channel(address) as channel:
        yield Notification(TurnServiceStub(channel))

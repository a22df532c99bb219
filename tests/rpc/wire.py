"""A real server with the real interceptors, around a servicer that does what a test says.

The contract of asks is served as it is: it needs nothing from elsewhere.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import UUID

from grpc import aio
from grpc_health.v1 import health, health_pb2_grpc
from typing_extensions import override

import parley
from parley.v1 import turns_pb2
from parley.v1.ask_contract_pb2_grpc import add_AskContractServiceServicer_to_server
from parley.v1.turns_pb2_grpc import TurnServiceServicer, add_TurnServiceServicer_to_server
from parleyd.app.development_key import ALGORITHM, AUDIENCE, ISSUER, DevelopmentKey
from parleyd.rpc.ask_contract import AskContractServicer
from parleyd.rpc.auth import Authenticator, caller
from parleyd.rpc.keys import Keys
from parleyd.rpc.open_calls import OpenCalls
from parleyd.rpc.server import OPTIONS, Serving, interceptors

HOUR = timedelta(hours=1)

Act = Callable[[], Awaitable[None]]


async def _nothing() -> None:
    pass


class ActingServicer(TurnServiceServicer):
    """Answers with the caller's name, after whatever `act` does; a stream says something before."""

    def __init__(self) -> None:
        self.act: Act = _nothing
        self.calls = 0
        self.entered = asyncio.Event()
        self.left = asyncio.Event()

    async def hang(self) -> None:
        """Waits for good; says when that begins, and when it was cancelled."""
        self.entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.left.set()

    def raises(self, error: Exception) -> None:
        """Makes every call fail."""

        async def act() -> None:
            raise error

        self.act = act

    @override
    async def Turn(self, request: turns_pb2.TurnRequest, context: Any) -> turns_pb2.TurnResponse:
        self.calls += 1
        await self.act()
        return turns_pb2.TurnResponse(result=turns_pb2.TurnResult(text=caller()))

    @override
    async def StreamTurn(
        self, request: turns_pb2.StreamTurnRequest, context: Any
    ) -> AsyncGenerator[turns_pb2.StreamTurnResponse, None]:
        self.calls += 1
        yield turns_pb2.StreamTurnResponse(event=turns_pb2.TurnEvent(sequence=1))
        await self.act()
        yield turns_pb2.StreamTurnResponse(event=turns_pb2.TurnEvent(turn_id=caller()))

    @override
    async def WatchTurn(
        self, request: turns_pb2.WatchTurnRequest, context: Any
    ) -> AsyncGenerator[turns_pb2.WatchTurnResponse, None]:
        self.calls += 1
        await self.act()
        yield turns_pb2.WatchTurnResponse(event=turns_pb2.TurnEvent(turn_id=caller()))

    @override
    async def GetTurn(
        self, request: turns_pb2.GetTurnRequest, context: Any
    ) -> turns_pb2.GetTurnResponse:
        self.calls += 1
        await self.act()
        return turns_pb2.GetTurnResponse(turn=turns_pb2.Turn(turn_id=caller()))

    @override
    async def ListPendingAsks(
        self, request: turns_pb2.ListPendingAsksRequest, context: Any
    ) -> turns_pb2.ListPendingAsksResponse:
        self.calls += 1
        return turns_pb2.ListPendingAsksResponse()


class CountedIds:
    """Ids that a test can tell."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def uuid(self) -> UUID:
        return UUID(int=next(self._numbers))

    def call_id(self) -> str:
        return f"call_{next(self._numbers)}"


@dataclass(frozen=True)
class Wire:
    """A running server, its servicer, and the key that signs its tokens."""

    serving: Serving
    servicer: ActingServicer
    target: str
    key: DevelopmentKey

    def client(self, token: parley.Token | None = None) -> parley.Client:
        """Returns a client; with a valid token of Ada's if none is given."""
        return parley.connect(self.target, token or self.key.issue("ada", HOUR))


@asynccontextmanager
async def serving(key: DevelopmentKey, keys: Keys | None = None) -> AsyncGenerator[Wire]:
    """Runs the server on a free port of this machine."""
    servicer = ActingServicer()
    authenticator = Authenticator(
        issuer=ISSUER, audience=AUDIENCE, keys=keys or key.keys, algorithms=[ALGORITHM, "RS256"]
    )
    open_calls = OpenCalls()
    server = aio.server(
        interceptors=interceptors(authenticator, CountedIds(), open_calls), options=OPTIONS
    )
    add_TurnServiceServicer_to_server(servicer, server)
    add_AskContractServiceServicer_to_server(AskContractServicer(), server)
    health_servicer = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(health_servicer, server)
    running = Serving(server, health_servicer, open_calls)
    target = running.listen("127.0.0.1", 0)
    await running.start()
    try:
        yield Wire(running, servicer, target, key)
    finally:
        await server.stop(None)

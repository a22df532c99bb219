"""A real server with the real interceptors, around servicers that do what a test says.

The contract of asks is served as it is: it needs nothing from elsewhere.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
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
from parley.v1 import files_pb2, turns_pb2
from parley.v1.ask_contract_pb2_grpc import add_AskContractServiceServicer_to_server
from parley.v1.files_pb2_grpc import FileServiceServicer, add_FileServiceServicer_to_server
from parley.v1.turns_pb2_grpc import TurnServiceServicer, add_TurnServiceServicer_to_server
from parleyd.app.development_key import ALGORITHM, AUDIENCE, ISSUER, DevelopmentKey
from parleyd.rpc.ask_contract import AskContractServicer
from parleyd.rpc.auth import Authenticator, calling_owner
from parleyd.rpc.keys import Keys
from parleyd.rpc.open_calls import OpenCalls
from parleyd.rpc.server import OPTIONS, Serving, interceptors

HOUR = timedelta(hours=1)

Act = Callable[[], Awaitable[None]]
Begin = Callable[[Any], Awaitable[None]]
"""Is given the call."""


async def _nothing(context: Any = None) -> None:
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
        return turns_pb2.TurnResponse(result=turns_pb2.TurnResult(text=calling_owner()))

    @override
    async def StreamTurn(
        self, request: turns_pb2.StreamTurnRequest, context: Any
    ) -> AsyncGenerator[turns_pb2.StreamTurnResponse, None]:
        self.calls += 1
        yield turns_pb2.StreamTurnResponse(event=turns_pb2.TurnEvent(sequence=1))
        await self.act()
        yield turns_pb2.StreamTurnResponse(event=turns_pb2.TurnEvent(turn_id=calling_owner()))

    @override
    async def WatchTurn(
        self, request: turns_pb2.WatchTurnRequest, context: Any
    ) -> AsyncGenerator[turns_pb2.WatchTurnResponse, None]:
        self.calls += 1
        await self.act()
        yield turns_pb2.WatchTurnResponse(event=turns_pb2.TurnEvent(turn_id=calling_owner()))

    @override
    async def GetTurn(
        self, request: turns_pb2.GetTurnRequest, context: Any
    ) -> turns_pb2.GetTurnResponse:
        self.calls += 1
        await self.act()
        return turns_pb2.GetTurnResponse(turn=turns_pb2.Turn(turn_id=calling_owner()))

    @override
    async def ListPendingAsks(
        self, request: turns_pb2.ListPendingAsksRequest, context: Any
    ) -> turns_pb2.ListPendingAsksResponse:
        self.calls += 1
        return turns_pb2.ListPendingAsksResponse()

    @override
    async def RunBlockAction(
        self, request: turns_pb2.RunBlockActionRequest, context: Any
    ) -> turns_pb2.RunBlockActionResponse:
        raise NotImplementedError

    @override
    async def WatchPendingAsks(
        self, request: turns_pb2.WatchPendingAsksRequest, context: Any
    ) -> AsyncGenerator[turns_pb2.WatchPendingAsksResponse, None]:
        raise NotImplementedError
        yield

    @override
    async def CreateActionToken(
        self, request: turns_pb2.CreateActionTokenRequest, context: Any
    ) -> turns_pb2.CreateActionTokenResponse:
        raise NotImplementedError

    @override
    async def RedeemActionToken(
        self, request: turns_pb2.RedeemActionTokenRequest, context: Any
    ) -> turns_pb2.RedeemActionTokenResponse:
        raise NotImplementedError


class ActingFileServicer(FileServiceServicer):
    """Takes uploads, answers with the caller's name and what came, and does `act` at each piece.

    Does `begin` at the beginning of each.
    """

    def __init__(self) -> None:
        self.begin: Begin = _nothing
        self.act: Act = _nothing
        self.calls = 0
        self.pieces = 0
        self.whole = 0
        """How many uploads seemed to be whole."""

    @override
    async def UploadFile(
        self, request_iterator: AsyncIterator[files_pb2.UploadFileRequest], context: Any
    ) -> files_pb2.UploadFileResponse:
        self.calls += 1
        await self.begin(context)
        size = 0
        async for request in request_iterator:
            self.pieces += 1
            size += len(request.chunk)
            await self.act()
        self.whole += 1
        return files_pb2.UploadFileResponse(
            file=files_pb2.File(filename=calling_owner(), size_bytes=size)
        )

    @override
    async def GetFile(
        self, request: files_pb2.GetFileRequest, context: Any
    ) -> files_pb2.GetFileResponse:
        raise NotImplementedError

    @override
    async def DownloadFile(
        self, request: files_pb2.DownloadFileRequest, context: Any
    ) -> AsyncGenerator[files_pb2.DownloadFileResponse, None]:
        raise NotImplementedError
        yield

    @override
    async def CreateFileUrl(
        self, request: files_pb2.CreateFileUrlRequest, context: Any
    ) -> files_pb2.CreateFileUrlResponse:
        raise NotImplementedError

    @override
    async def DeleteFile(
        self, request: files_pb2.DeleteFileRequest, context: Any
    ) -> files_pb2.DeleteFileResponse:
        raise NotImplementedError


class CountedIds:
    """Ids that a test can tell."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def uuid(self) -> UUID:
        return UUID(int=next(self._numbers))

    def ulid(self) -> str:
        return f"ulid_{next(self._numbers)}"

    def call_id(self) -> str:
        return f"call_{next(self._numbers)}"

    def approval_id(self) -> str:
        return f"apr_{next(self._numbers)}"

    def secret(self) -> str:
        return f"secret_{next(self._numbers)}"


@dataclass(frozen=True)
class Wire:
    """A running server, its servicers, and the key that signs its tokens."""

    serving: Serving
    servicer: ActingServicer
    files: ActingFileServicer
    target: str
    key: DevelopmentKey

    def client(self, token: parley.Token | None = None) -> parley.Client:
        """Returns a client; with a valid token of Ada's if none is given."""
        return parley.connect(self.target, token or self.key.issue("ada", HOUR))


@asynccontextmanager
async def serving(key: DevelopmentKey, keys: Keys | None = None) -> AsyncGenerator[Wire]:
    """Runs the server on a free port of this machine."""
    servicer, files = ActingServicer(), ActingFileServicer()
    authenticator = Authenticator(
        issuer=ISSUER, audience=AUDIENCE, keys=keys or key.keys, algorithms=[ALGORITHM, "RS256"]
    )
    open_calls = OpenCalls()
    server = aio.server(
        interceptors=interceptors(authenticator, CountedIds(), open_calls), options=OPTIONS
    )
    add_TurnServiceServicer_to_server(servicer, server)
    add_FileServiceServicer_to_server(files, server)
    add_AskContractServiceServicer_to_server(AskContractServicer(), server)
    health_servicer = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(health_servicer, server)
    running = Serving(server, health_servicer, open_calls)
    target = running.listen("127.0.0.1", 0)
    await running.start()
    try:
        yield Wire(running, servicer, files, target, key)
    finally:
        await server.stop(None)

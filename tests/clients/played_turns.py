"""A server that plays turns as a test says, with every way for a stream to break."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Literal, TypeAlias

from google.rpc.status_pb2 import Status
from grpc import StatusCode, aio
from grpc_status import rpc_status
from typing_extensions import override

from parley.v1 import turns_pb2 as pb
from parley.v1.turns_pb2_grpc import TurnServiceServicer, add_TurnServiceServicer_to_server
from parleyd.contract.errors import ParleyError
from parleyd.rpc.errors import status_of

Said: TypeAlias = pb.TurnEvent | ParleyError | StatusCode | Literal["nothing", "silence"]
"""An event, how the call ends, an empty response, or not a word any more."""

STARTED: Final = pb.TurnEvent(
    sequence=1, turn_id="t-1", started=pb.TurnStarted(conversation_id="c-1")
)
RESUMED: Final = pb.TurnEvent(sequence=2, turn_id="t-1", resumed=pb.TurnResumed(attempt=2))
TEXT: Final = pb.TurnEvent(sequence=3, turn_id="t-1", text=pb.TextChunk(text="Hello"))
DONE: Final = pb.TurnEvent(sequence=4, turn_id="t-1", done=pb.TurnDone(conversation_id="c-1"))
HEL: Final = pb.TurnEvent(turn_id="t-1", text_preview=pb.TextPreview(delta="Hel"))
DISCARDED: Final = pb.TurnEvent(turn_id="t-1", preview_discarded=pb.PreviewDiscarded())


class PlayedTurns(TurnServiceServicer):
    """Plays one list a call; keeps what it was sent."""

    def __init__(self, *plays: Sequence[Said]) -> None:
        self._plays = iter(plays)
        self.received: list[pb.StreamTurnRequest | pb.WatchTurnRequest] = []
        self.left = asyncio.Event()

    @override
    async def StreamTurn(
        self, request: pb.StreamTurnRequest, context: Any
    ) -> AsyncGenerator[pb.StreamTurnResponse, None]:
        self.received.append(request)
        async for event in self._play(context):
            yield pb.StreamTurnResponse(event=event)

    @override
    async def WatchTurn(
        self, request: pb.WatchTurnRequest, context: Any
    ) -> AsyncGenerator[pb.WatchTurnResponse, None]:
        self.received.append(request)
        async for event in self._play(context):
            yield pb.WatchTurnResponse(event=event)

    @override
    async def Turn(self, request: pb.TurnRequest, context: Any) -> pb.TurnResponse:
        raise NotImplementedError

    @override
    async def GetTurn(self, request: pb.GetTurnRequest, context: Any) -> pb.GetTurnResponse:
        raise NotImplementedError

    @override
    async def ListPendingAsks(
        self, request: pb.ListPendingAsksRequest, context: Any
    ) -> pb.ListPendingAsksResponse:
        raise NotImplementedError

    @override
    async def RunBlockAction(
        self, request: pb.RunBlockActionRequest, context: Any
    ) -> pb.RunBlockActionResponse:
        raise NotImplementedError

    @override
    async def WatchPendingAsks(
        self, request: pb.WatchPendingAsksRequest, context: Any
    ) -> AsyncGenerator[pb.WatchPendingAsksResponse, None]:
        raise NotImplementedError
        yield

    @override
    async def CreateActionToken(
        self, request: pb.CreateActionTokenRequest, context: Any
    ) -> pb.CreateActionTokenResponse:
        raise NotImplementedError

    @override
    async def RedeemActionToken(
        self, request: pb.RedeemActionTokenRequest, context: Any
    ) -> pb.RedeemActionTokenResponse:
        raise NotImplementedError

    async def _play(self, context: Any) -> AsyncGenerator[pb.TurnEvent | None, None]:
        for said in next(self._plays):
            match said:
                case "nothing":
                    yield None
                case "silence":
                    try:
                        await asyncio.Event().wait()
                    finally:
                        self.left.set()
                case StatusCode():
                    number, _ = said.value
                    await context.abort_with_status(_sendable(Status(code=number)))
                case ParleyError():
                    await context.abort_with_status(_sendable(status_of(said)))
                case event:
                    yield event


@asynccontextmanager
async def playing(turns: PlayedTurns) -> AsyncGenerator[str]:
    """Serves turns; yields the address."""
    server = aio.server()
    add_TurnServiceServicer_to_server(turns, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(None)


def _sendable(status: Status) -> Any:
    return rpc_status.to_status(status)  # pyright: ignore[reportUnknownMemberType] - untyped

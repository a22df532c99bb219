"""Connecting.

```python
async with parley.connect("localhost:50051", token) as client:
    request = StreamTurnRequest(prompt=PromptInput(text="Set up my plan"))
    async for response in client.turns.StreamTurn(request):
        print(response.event)
```
"""

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import grpc
from grpc import aio

from parley.repeats import Tries
from parley.v1.ask_contract_pb2_grpc import AskContractServiceStub
from parley.v1.block_generation_pb2_grpc import BlockGenerationServiceStub
from parley.v1.conversations_pb2_grpc import ConversationServiceStub
from parley.v1.datasets_pb2_grpc import DatasetServiceStub
from parley.v1.files_pb2_grpc import FileServiceStub
from parley.v1.service_asks_pb2_grpc import AskServiceStub
from parley.v1.turns_pb2_grpc import TurnServiceStub

if TYPE_CHECKING:
    from parley.v1.ask_contract_pb2_grpc import AskContractServiceAsyncStub
    from parley.v1.block_generation_pb2_grpc import BlockGenerationServiceAsyncStub
    from parley.v1.conversations_pb2_grpc import ConversationServiceAsyncStub
    from parley.v1.datasets_pb2_grpc import DatasetServiceAsyncStub
    from parley.v1.files_pb2_grpc import FileServiceAsyncStub
    from parley.v1.service_asks_pb2_grpc import AskServiceAsyncStub
    from parley.v1.turns_pb2_grpc import TurnServiceAsyncStub

Token: TypeAlias = str | Callable[[], str | Awaitable[str]]
"""A bearer token, or what returns one. It is asked before every call, so it can renew the token."""

_Continue: TypeAlias = Callable[[aio.ClientCallDetails, Any], Awaitable[Any]]


def connect(
    target: str, token: Token, *, credentials: grpc.ChannelCredentials | None = None
) -> "Client":
    """Returns a client of the server at `target`, `host:port`. It connects with the first call.

    A unary call that meets a server which stops or can't be reached is sent again, a few times
    after growing pauses, if it reads or its request has a `request_id`. A `timeout` is for all
    tries together. Streams are left alone: see `turn_events`.

    Without `credentials` nothing is encrypted, the token included: for this machine, or behind a
    proxy that encrypts. `grpc.ssl_channel_credentials()` encrypts.
    """
    interceptors = [_UnaryCalls(token), _StreamingCalls(token), _Uploads(token)]
    if credentials:
        return Client(aio.secure_channel(target, credentials, interceptors=interceptors))
    return Client(aio.insecure_channel(target, interceptors=interceptors))


class Client:
    """A connection with a stub for each service. Leaving `async with` ends it and its calls."""

    def __init__(self, channel: aio.Channel) -> None:
        self.channel = channel
        self.turns: TurnServiceAsyncStub = TurnServiceStub(channel)
        self.conversations: ConversationServiceAsyncStub = ConversationServiceStub(channel)
        self.files: FileServiceAsyncStub = FileServiceStub(channel)
        self.datasets: DatasetServiceAsyncStub = DatasetServiceStub(channel)
        self.contract: AskContractServiceAsyncStub = AskContractServiceStub(channel)
        self.asks: AskServiceAsyncStub = AskServiceStub(channel)
        self.generation: BlockGenerationServiceAsyncStub = BlockGenerationServiceStub(channel)

    async def close(self) -> None:
        """Ends the connection. Turns that run go on without it."""
        await self.channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def _authorized(
    token: Token, details: aio.ClientCallDetails, seconds: float | None
) -> aio.ClientCallDetails:
    value = token if isinstance(token, str) else token()
    if isawaitable(value):
        value = await value
    metadata = aio.Metadata(*(details.metadata or ()))
    metadata["authorization"] = f"Bearer {value}"
    return aio.ClientCallDetails(
        details.method, seconds, metadata, details.credentials, details.wait_for_ready
    )


class _UnaryCalls(aio.UnaryUnaryClientInterceptor):
    def __init__(self, token: Token) -> None:
        self._token = token

    async def intercept_unary_unary(
        self, continuation: _Continue, client_call_details: aio.ClientCallDetails, request: object
    ) -> Any:  # noqa: ANN401 - what `continuation` returns
        tries = Tries(client_call_details.method, request, client_call_details.timeout)
        while True:
            details = await _authorized(self._token, client_call_details, tries.timeout)
            call = await continuation(details, request)
            if not tries.repeatable:
                return call
            try:
                await call
            except aio.AioRpcError as failed:
                pause = tries.pause(failed)
                if pause is not None:
                    await asyncio.sleep(pause)
                    continue
            return call


class _StreamingCalls(aio.UnaryStreamClientInterceptor):
    def __init__(self, token: Token) -> None:
        self._token = token

    async def intercept_unary_stream(
        self, continuation: _Continue, client_call_details: aio.ClientCallDetails, request: object
    ) -> Any:  # noqa: ANN401 - what `continuation` returns
        details = await _authorized(self._token, client_call_details, client_call_details.timeout)
        return await continuation(details, request)


class _Uploads(aio.StreamUnaryClientInterceptor):
    def __init__(self, token: Token) -> None:
        self._token = token

    async def intercept_stream_unary(
        self,
        continuation: _Continue,
        client_call_details: aio.ClientCallDetails,
        request_iterator: object,
    ) -> Any:  # noqa: ANN401 - what `continuation` returns
        details = await _authorized(self._token, client_call_details, client_call_details.timeout)
        return await continuation(details, request_iterator)

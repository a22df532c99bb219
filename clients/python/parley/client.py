"""Connecting, and reading errors.

```python
async with parley.connect("localhost:50051", token) as client:
    request = StreamTurnRequest(prompt=PromptInput(text="Set up my plan"))
    async for response in client.turns.StreamTurn(request):
        print(response.event)
```
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

import grpc
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status
from grpc import aio

from parley.v1.ask_contract_pb2_grpc import AskContractServiceStub
from parley.v1.asks_pb2 import AskFieldErrors
from parley.v1.block_generation_pb2_grpc import BlockGenerationServiceStub
from parley.v1.conversations_pb2_grpc import ConversationServiceStub
from parley.v1.datasets_pb2_grpc import DatasetServiceStub
from parley.v1.files_pb2_grpc import FileServiceStub
from parley.v1.turns_pb2_grpc import TurnServiceStub

if TYPE_CHECKING:
    from parley.v1.ask_contract_pb2_grpc import AskContractServiceAsyncStub
    from parley.v1.block_generation_pb2_grpc import BlockGenerationServiceAsyncStub
    from parley.v1.conversations_pb2_grpc import ConversationServiceAsyncStub
    from parley.v1.datasets_pb2_grpc import DatasetServiceAsyncStub
    from parley.v1.files_pb2_grpc import FileServiceAsyncStub
    from parley.v1.turns_pb2_grpc import TurnServiceAsyncStub

Token: TypeAlias = str | Callable[[], str | Awaitable[str]]
"""A bearer token, or what returns one. It is asked before every call, so it can renew the token."""

_Continue: TypeAlias = Callable[[aio.ClientCallDetails, Any], Awaitable[Any]]


def connect(
    target: str, token: Token, *, credentials: grpc.ChannelCredentials | None = None
) -> "Client":
    """Returns a client of the server at `target`, `host:port`. It connects with the first call.

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
        self.generation: BlockGenerationServiceAsyncStub = BlockGenerationServiceStub(channel)

    async def close(self) -> None:
        """Ends the connection. Turns that run go on without it."""
        await self.channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class FieldFault(NamedTuple):
    """A fault of one field of a request. `path` is in camelCase, as in `content.selected[0]`."""

    path: str
    code: str
    message: str
    fix: str
    """Says how to mend it; empty where the server had to leave it out."""


@dataclass(eq=False)
class ParleyError(Exception):
    """Why a call failed, read from its status.

    `reason` is the name of an `ErrorReason` without its prefix; empty when the fault is not the
    server's word, as when it can't be reached. `metadata` holds the facts that `ErrorReason` lists
    for it, `fields` the faults of single fields.
    """

    code: grpc.StatusCode
    message: str
    reason: str
    metadata: dict[str, str]
    fields: tuple[FieldFault, ...]

    def __str__(self) -> str:
        return f"{self.reason or self.code.name}: {self.message}"


def error_of(error: aio.AioRpcError) -> ParleyError:
    """Returns what the server says of a failed call."""
    info, broken, fixable = ErrorInfo(), BadRequest(), AskFieldErrors()
    for detail in _status(error).details:
        for known in (info, broken, fixable):
            detail.Unpack(known)
    fields = [FieldFault(each.path, each.code, each.message, each.fix) for each in fixable.errors]
    if not fields:
        fields = [_without_fix(each) for each in broken.field_violations]
    reason = info.reason if info.domain == "parley" else ""
    message = error.details() or ""
    return ParleyError(error.code(), message, reason, dict(info.metadata), tuple(fields))


def _without_fix(violation: BadRequest.FieldViolation) -> FieldFault:
    code = str(getattr(violation, "reason"))  # noqa: B009 - newer than the message's stub
    return FieldFault(violation.field, code, violation.description, "")


def _status(error: aio.AioRpcError) -> Status:
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            try:
                return Status.FromString(value)
            except DecodeError:
                break
    return Status()


async def _authorized(token: Token, details: aio.ClientCallDetails) -> aio.ClientCallDetails:
    value = token if isinstance(token, str) else token()
    if isawaitable(value):
        value = await value
    metadata = aio.Metadata(*(details.metadata or ()))
    metadata["authorization"] = f"Bearer {value}"
    return aio.ClientCallDetails(
        details.method, details.timeout, metadata, details.credentials, details.wait_for_ready
    )


class _UnaryCalls(aio.UnaryUnaryClientInterceptor):
    def __init__(self, token: Token) -> None:
        self._token = token

    async def intercept_unary_unary(
        self, continuation: _Continue, client_call_details: aio.ClientCallDetails, request: object
    ) -> Any:  # noqa: ANN401 - what `continuation` returns
        return await continuation(await _authorized(self._token, client_call_details), request)


class _StreamingCalls(aio.UnaryStreamClientInterceptor):
    def __init__(self, token: Token) -> None:
        self._token = token

    async def intercept_unary_stream(
        self, continuation: _Continue, client_call_details: aio.ClientCallDetails, request: object
    ) -> Any:  # noqa: ANN401 - what `continuation` returns
        return await continuation(await _authorized(self._token, client_call_details), request)


class _Uploads(aio.StreamUnaryClientInterceptor):
    def __init__(self, token: Token) -> None:
        self._token = token

    async def intercept_stream_unary(
        self,
        continuation: _Continue,
        client_call_details: aio.ClientCallDetails,
        request_iterator: object,
    ) -> Any:  # noqa: ANN401 - what `continuation` returns
        details = await _authorized(self._token, client_call_details)
        return await continuation(details, request_iterator)

"""Connecting without asyncio."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import sleep
from typing import Any, Self, TypeAlias

import grpc

from parley.repeats import Tries
from parley.v1.ask_contract_pb2_grpc import AskContractServiceStub
from parley.v1.block_generation_pb2_grpc import BlockGenerationServiceStub
from parley.v1.conversations_pb2_grpc import ConversationServiceStub
from parley.v1.datasets_pb2_grpc import DatasetServiceStub
from parley.v1.files_pb2_grpc import FileServiceStub
from parley.v1.service_asks_pb2_grpc import AskServiceStub
from parley.v1.turns_pb2_grpc import TurnServiceStub

Token: TypeAlias = str | Callable[[], str]
"""A bearer token, or what returns one. It is asked before every call, so it can renew the token."""


def connect(
    target: str, token: Token, *, credentials: grpc.ChannelCredentials | None = None
) -> "Client":
    """Returns a client of the server at `target`, `host:port`. It connects with the first call.

    Calls are sent again as those of `parley.connect` are; `future` waits for the tries. Threads may
    share a client. Without `credentials` nothing is encrypted, the token included.
    """
    channel = (
        grpc.secure_channel(target, credentials) if credentials else grpc.insecure_channel(target)
    )
    return Client(channel, token)


class Client:
    """A connection with a stub for each service. Leaving `with` ends it and its calls."""

    def __init__(self, channel: grpc.Channel, token: Token) -> None:
        self.channel = grpc.intercept_channel(channel, _Calls(token))
        self.turns = TurnServiceStub(self.channel)
        self.conversations = ConversationServiceStub(self.channel)
        self.files = FileServiceStub(self.channel)
        self.datasets = DatasetServiceStub(self.channel)
        self.contract = AskContractServiceStub(self.channel)
        self.asks = AskServiceStub(self.channel)
        self.generation = BlockGenerationServiceStub(self.channel)

    def close(self) -> None:
        """Ends the connection. Turns that run go on without it."""
        self.channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_Continue: TypeAlias = Callable[[grpc.ClientCallDetails, Any], Any]


class _Calls(
    grpc.UnaryUnaryClientInterceptor,
    grpc.UnaryStreamClientInterceptor,
    grpc.StreamUnaryClientInterceptor,
):
    def __init__(self, token: Token) -> None:
        self._token = token

    def intercept_unary_unary(
        self, continuation: _Continue, client_call_details: grpc.ClientCallDetails, request: object
    ) -> Any:  # noqa: ANN401 - what `continuation` returns
        tries = Tries(client_call_details.method, request, client_call_details.timeout)
        while True:
            call = continuation(self._authorized(client_call_details, tries.timeout), request)
            failed = call.exception() if tries.repeatable else None
            pause = tries.pause(failed) if isinstance(failed, grpc.RpcError) else None
            if pause is None:
                return call
            sleep(pause)

    def intercept_unary_stream(
        self, continuation: _Continue, client_call_details: grpc.ClientCallDetails, request: object
    ) -> Any:  # noqa: ANN401 - what `continuation` returns
        details = self._authorized(client_call_details, client_call_details.timeout)
        return continuation(details, request)

    def intercept_stream_unary(
        self,
        continuation: _Continue,
        client_call_details: grpc.ClientCallDetails,
        request_iterator: Iterator[object],
    ) -> Any:  # noqa: ANN401 - what `continuation` returns
        details = self._authorized(client_call_details, client_call_details.timeout)
        return continuation(details, request_iterator)

    def _authorized(
        self, details: grpc.ClientCallDetails, seconds: float | None
    ) -> grpc.ClientCallDetails:
        value = self._token if isinstance(self._token, str) else self._token()
        kept = [(key, of) for key, of in details.metadata or () if key.lower() != "authorization"]
        return _Details(
            method=details.method,
            timeout=seconds,
            metadata=(*kept, ("authorization", f"Bearer {value}")),
            credentials=details.credentials,
            wait_for_ready=details.wait_for_ready,
            compression=details.compression,
        )


@dataclass(repr=False)  # it holds the token
class _Details(grpc.ClientCallDetails):
    method: str
    timeout: float | None
    metadata: tuple[tuple[str, str | bytes], ...] | None
    credentials: grpc.CallCredentials | None
    wait_for_ready: bool | None
    compression: grpc.Compression | None

"""The gRPC server: what is served, what stands before it, and how it stops."""

from pathlib import Path
from typing import Final

from grpc import aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from parley.v1 import (
    ask_contract_pb2,
    block_generation_pb2,
    conversations_pb2,
    datasets_pb2,
    files_pb2,
    service_asks_pb2,
    turns_pb2,
)
from parley.v1.ask_contract_pb2_grpc import add_AskContractServiceServicer_to_server
from parley.v1.block_generation_pb2_grpc import add_BlockGenerationServiceServicer_to_server
from parley.v1.conversations_pb2_grpc import add_ConversationServiceServicer_to_server
from parley.v1.datasets_pb2_grpc import add_DatasetServiceServicer_to_server
from parley.v1.files_pb2_grpc import add_FileServiceServicer_to_server
from parley.v1.service_asks_pb2_grpc import add_AskServiceServicer_to_server
from parley.v1.turns_pb2_grpc import add_TurnServiceServicer_to_server
from parleyd.contract import limits
from parleyd.rpc.action_tokens import ActionTokenCalls
from parleyd.rpc.ask_contract import AskContractServicer
from parleyd.rpc.auth import Authenticator, authenticate_calls
from parleyd.rpc.block_generation import BlockGenerationServicer
from parleyd.rpc.calls import Interceptor
from parleyd.rpc.conversations import ConversationServicer
from parleyd.rpc.datasets import DatasetServicer
from parleyd.rpc.errors import answer_errors
from parleyd.rpc.files import FileServicer
from parleyd.rpc.log import log_calls
from parleyd.rpc.open_calls import OpenCalls
from parleyd.rpc.service_asks import AskServicer
from parleyd.rpc.tls import Tls
from parleyd.rpc.turns import TurnServicer
from parleyd.turns.block_actions import BlockActions
from parleyd.turns.block_generation import BlockWriter
from parleyd.turns.conversations import ConversationStore
from parleyd.turns.datasets import Datasets
from parleyd.turns.files import Files
from parleyd.turns.pending_watch import PendingWatch
from parleyd.turns.ports import Ids
from parleyd.turns.service_asks import ServiceAsks
from parleyd.turns.turns import Turns

SERVICES: Final = tuple(
    service.full_name
    for file in (
        turns_pb2.DESCRIPTOR,
        conversations_pb2.DESCRIPTOR,
        files_pb2.DESCRIPTOR,
        datasets_pb2.DESCRIPTOR,
        ask_contract_pb2.DESCRIPTOR,
        block_generation_pb2.DESCRIPTOR,
        service_asks_pb2.DESCRIPTOR,
    )
    for service in file.services_by_name.values()
)
"""The full names of our services."""

OPTIONS: Final = (
    ("grpc.max_receive_message_length", limits.RECEIVE_BYTES),
    # A second server on a port fails to start, where it would otherwise take every other call.
    ("grpc.so_reuseport", 0),
    # A turn may be silent for minutes: the connection of a client that is gone is found out, and a
    # client may do the same as often as every 10 seconds.
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
)

FLUSH_SECONDS: Final = 5.0
"""How long a call that was ended may take to tell its client so."""


def interceptors(
    authenticator: Authenticator, ids: Ids, open_calls: OpenCalls
) -> list[Interceptor]:
    """Returns what stands before every call, the outermost first.

    The log sees the status that a client is sent, so it is around the errors; a server that stops
    and a token that is not valid are errors like any other, so the errors are around them; who is
    not let in needs no token.
    """
    return [
        Interceptor(log_calls(ids)),
        Interceptor(answer_errors),
        Interceptor(open_calls.admit),
        Interceptor(authenticate_calls(authenticator)),
    ]


class Serving:
    """A server of all our services, with health and reflection."""

    def __init__(
        self, server: aio.Server, health_servicer: health.aio.HealthServicer, open_calls: OpenCalls
    ) -> None:
        self._server = server
        self._health = health_servicer
        self._open_calls = open_calls
        self._started = False

    def listen(self, host: str, port: int, tls: Tls | None = None) -> str:
        """Takes an address, before the start, and returns it as `host:port`. Port 0 is a free one.

        With `tls` it speaks TLS there, and nothing else.

        Raises:
            OSError: It can't be had.
        """
        host = f"[{host}]" if ":" in host else host
        asked = f"{host}:{port}"
        try:
            if tls:
                taken = self._server.add_secure_port(asked, tls.credentials())
            else:
                taken = self._server.add_insecure_port(asked)
        except RuntimeError as error:
            raise OSError(f"The address {asked} can't be had.") from error
        return f"{host}:{taken}"

    def listen_on(self, path: Path) -> str:
        """Takes a unix socket too, before the start, and returns what a channel to it names.

        Nothing is encrypted there: who may reach the path decides who may call.

        Raises:
            OSError: It can't be had.
        """
        target = f"unix:{path}"
        try:
            self._server.add_insecure_port(target)
        except RuntimeError as error:
            raise OSError(f"The socket {path} can't be had.") from error
        return target

    async def start(self) -> None:
        """Answers calls from now on."""
        await self._server.start()
        self._started = True

    async def refuse_new_calls(self) -> None:
        """Tells that the server stops: health says NOT_SERVING, new calls are UNAVAILABLE.

        Calls that are open go on, and connections stay. A repeat changes nothing.
        """
        self._open_calls.refuse()
        await self._health.enter_graceful_shutdown()

    async def stop(self, grace: float) -> None:
        """Refuses new calls, closes connections without calls, and ends when the open calls have.

        What is still open after `grace` seconds is told UNAVAILABLE. Sends connections away at
        once, so that who tries again does so elsewhere. A call that is on its way in that very
        moment is answered CANCELLED by grpc. A repeat with a shorter grace makes it shorter. A
        server that never started gives its addresses up.
        """
        await self.refuse_new_calls()
        if not self._started:
            await self.start()  # else grpc would keep the addresses
        self._open_calls.end(grace)
        await self._server.stop(grace + FLUSH_SECONDS)


async def build_server(
    *,
    turns: Turns,
    conversations: ConversationStore,
    pending: PendingWatch,
    files: Files | None,
    uploads: bool,
    datasets: Datasets | None,
    authenticator: Authenticator,
    ids: Ids,
    block_writer: BlockWriter,
    service_asks: ServiceAsks,
    action_tokens: ActionTokenCalls,
    block_actions: BlockActions | None = None,
) -> Serving:
    """Returns a server that has no address yet. The caller gives it one, starts it and stops it.

    Without `files` the deployment keeps none; with `uploads` off it takes none from its clients.
    Without `datasets` its replies are no documents.
    Without `block_actions` replies are no documents.
    """
    open_calls = OpenCalls()
    server = aio.server(interceptors=interceptors(authenticator, ids, open_calls), options=OPTIONS)
    add_TurnServiceServicer_to_server(
        TurnServicer(turns, conversations, pending, action_tokens, block_actions), server
    )
    blocks = turns.options.blocks
    add_ConversationServiceServicer_to_server(
        ConversationServicer(conversations, ids, blocks.options if blocks else None), server
    )
    add_FileServiceServicer_to_server(FileServicer(files, uploads=uploads), server)
    add_DatasetServiceServicer_to_server(DatasetServicer(datasets), server)
    add_AskContractServiceServicer_to_server(AskContractServicer(), server)
    add_BlockGenerationServiceServicer_to_server(BlockGenerationServicer(block_writer), server)
    add_AskServiceServicer_to_server(AskServicer(service_asks, turns.options.ask_kinds), server)
    health_servicer = health.aio.HealthServicer()
    for service in SERVICES:
        await health_servicer.set(service, health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(health_servicer, server)
    reflection.enable_server_reflection(
        [*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME], server
    )
    return Serving(server, health_servicer, open_calls)

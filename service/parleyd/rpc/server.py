"""The gRPC server: what is served, and what stands before it."""

from typing import Final

from grpc import aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from parley.v1 import ask_contract_pb2, conversations_pb2, turns_pb2
from parley.v1.ask_contract_pb2_grpc import add_AskContractServiceServicer_to_server
from parley.v1.conversations_pb2_grpc import add_ConversationServiceServicer_to_server
from parley.v1.turns_pb2_grpc import add_TurnServiceServicer_to_server
from parleyd.contract import limits
from parleyd.rpc.ask_contract import AskContractServicer
from parleyd.rpc.auth import Authenticator, authenticate_calls
from parleyd.rpc.calls import Interceptor
from parleyd.rpc.conversations import ConversationServicer
from parleyd.rpc.errors import answer_errors
from parleyd.rpc.log import log_calls
from parleyd.rpc.turns import TurnServicer
from parleyd.turns.ports import ConversationStore, Ids
from parleyd.turns.turns import Turns

SERVICES: Final = tuple(
    service.full_name
    for file in (turns_pb2.DESCRIPTOR, conversations_pb2.DESCRIPTOR, ask_contract_pb2.DESCRIPTOR)
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


def interceptors(authenticator: Authenticator, ids: Ids) -> list[Interceptor]:
    """Returns what stands before every call, the outermost first.

    The log sees the status that a client is sent, so it is around the errors; a token that is not
    valid is an error like any other, so the errors are around it.
    """
    return [
        Interceptor(log_calls(ids)),
        Interceptor(answer_errors),
        Interceptor(authenticate_calls(authenticator)),
    ]


async def build_server(
    *,
    turns: Turns,
    conversations: ConversationStore,
    authenticator: Authenticator,
    ids: Ids,
) -> aio.Server:
    """Returns a server of all our services, with health and reflection, that has no port yet.

    The caller adds the port, starts it and stops it.
    """
    server = aio.server(interceptors=interceptors(authenticator, ids), options=OPTIONS)
    add_TurnServiceServicer_to_server(TurnServicer(turns, conversations), server)
    add_ConversationServiceServicer_to_server(ConversationServicer(conversations, ids), server)
    add_AskContractServiceServicer_to_server(AskContractServicer(), server)
    health_servicer = health.aio.HealthServicer()
    for service in SERVICES:
        await health_servicer.set(service, health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(health_servicer, server)
    reflection.enable_server_reflection(
        [*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME], server
    )
    return server

from collections.abc import AsyncIterator

import pytest
from grpc import StatusCode, aio
from grpc_health.v1.health_pb2 import HealthCheckRequest as Check
from grpc_health.v1.health_pb2 import HealthCheckResponse as Checked
from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest as Look
from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionResponse as Seen

from parley.v1.turns_pb2 import PromptInput, StreamTurnRequest
from parleyd.contract import limits
from parleyd.models.scripted import in_turn
from parleyd.rpc.server import OPTIONS, SERVICES
from tests.rpc.requests import refusal
from tests.server import Server, StartServer


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return await start_server(in_turn())


@pytest.fixture
async def stranger(server: Server) -> AsyncIterator[aio.Channel]:
    """A connection of somebody without a token."""
    async with aio.insecure_channel(server.address) as channel:
        yield channel


def checks(channel: aio.Channel) -> "aio.UnaryUnaryMultiCallable[Check, Checked]":
    return channel.unary_unary(
        "/grpc.health.v1.Health/Check", Check.SerializeToString, Checked.FromString
    )


def watches(channel: aio.Channel) -> "aio.UnaryStreamMultiCallable[Check, Checked]":
    return channel.unary_stream(
        "/grpc.health.v1.Health/Watch", Check.SerializeToString, Checked.FromString
    )


def reflects(channel: aio.Channel) -> "aio.StreamStreamMultiCallable[Look, Seen]":
    return channel.stream_stream(
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        Look.SerializeToString,
        Seen.FromString,
    )


@pytest.mark.parametrize("service", ["", *SERVICES])
async def test_health_needs_no_token_and_names_every_service(
    stranger: aio.Channel, service: str
) -> None:
    checked = await checks(stranger)(Check(service=service))
    watching = watches(stranger)(Check(service=service))
    assert checked.status == Checked.SERVING
    assert (await anext(aiter(watching))).status == Checked.SERVING
    watching.cancel()


async def test_the_health_of_what_is_not_served_is_not_found(stranger: aio.Channel) -> None:
    with pytest.raises(aio.AioRpcError) as raised:
        await checks(stranger)(Check(service="parley.v1.NoSuchService"))
    assert raised.value.code() is StatusCode.NOT_FOUND


async def test_reflection_needs_no_token_and_shows_every_service(stranger: aio.Channel) -> None:
    looks = [Look(list_services=""), Look(file_containing_symbol="parley.v1.TurnService")]
    listed, file = [seen async for seen in reflects(stranger)(iter(looks))]
    assert {service.name for service in listed.list_services_response.service} == {
        "parley.v1.TurnService",
        "parley.v1.ConversationService",
        "parley.v1.FileService",
        "parley.v1.DatasetService",
        "parley.v1.AskContractService",
        "parley.v1.BlockGenerationService",
        "parley.v1.AskService",
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
    }
    assert file.file_descriptor_response.file_descriptor_proto


async def test_a_method_that_is_not_there_is_unimplemented(stranger: aio.Channel) -> None:
    nothing: aio.UnaryUnaryMultiCallable[bytes, bytes] = stranger.unary_unary(
        "/parley.v1.TurnService/NoSuchMethod"
    )
    with pytest.raises(aio.AioRpcError) as raised:
        await nothing(b"")
    assert raised.value.code() is StatusCode.UNIMPLEMENTED


async def test_a_message_over_the_limit_is_refused_and_the_connection_stays(
    server: Server,
) -> None:
    noor = await server.person()
    huge = StreamTurnRequest(prompt=PromptInput(text="x" * limits.RECEIVE_BYTES))
    large = StreamTurnRequest(prompt=PromptInput(text="x" * (limits.RECEIVE_BYTES - 1000)))
    error = await refusal(noor.client, huge)
    assert (error.code, error.reason) == (StatusCode.RESOURCE_EXHAUSTED, "")
    error = await refusal(noor.client, large)
    assert (error.code, error.reason) == (StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert await noor.pending() == []


async def test_a_second_server_can_not_have_the_port_of_the_first(server: Server) -> None:
    second = aio.server(options=OPTIONS)
    with pytest.raises(RuntimeError, match="bind"):
        second.add_insecure_port(server.address)
    await second.stop(None)

"""People call what is for people, services what is for services (spec turns 13.1)."""

from collections.abc import AsyncIterator
from typing import Any, Final, TypeAlias

import pytest
from google.protobuf.descriptor import MethodDescriptor
from grpc import StatusCode, aio

import parley
from parley.v1 import (
    ask_contract_pb2,
    block_generation_pb2,
    conversations_pb2,
    datasets_pb2,
    files_pb2,
    service_asks_pb2,
    turns_pb2,
)
from parley.v1.block_generation_pb2 import GenerateBlocksRequest
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from parleyd.rpc.callers import INTERNAL as OF_SERVICES
from parleyd.rpc.callers import SHARED
from parleyd.rpc.server import SERVICES
from tests.rpc.wire import HOUR, Wire
from tests.server import Server, StartServer

Metadata: TypeAlias = tuple[tuple[str, str], ...]

DOCUMENT: Final = '{"v": 1, "blocks": [{"type": "divider"}]}'
INTERNAL: Final = "parley-internal"
SCOPE: Final = "blocks.generate"
METHODS: Final[list[MethodDescriptor]] = [
    method
    for file in (
        turns_pb2,
        conversations_pb2,
        files_pb2,
        datasets_pb2,
        ask_contract_pb2,
        block_generation_pb2,
        service_asks_pb2,
    )
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
]


OPEN: Final = "RedeemActionToken"
"""Whoever has an action token may redeem it, whatever else they have."""


def is_internal(method: MethodDescriptor) -> bool:
    return method.containing_service.full_name in OF_SERVICES


def path_of(method: MethodDescriptor) -> str:
    return f"/{method.containing_service.full_name}/{method.name}"


def scope_of(method: MethodDescriptor) -> str:
    """Returns the scope with which a service may call a method that it may call."""
    access = SHARED.get(path_of(method)) or OF_SERVICES[method.containing_service.full_name]
    assert access.scope
    return access.scope


def named(chosen: list[MethodDescriptor]) -> Any:
    return pytest.mark.parametrize("method", chosen, ids=lambda method: method.name)


CLOSED: Final = [method for method in METHODS if method.name != OPEN]
INTERNAL_METHODS: Final = [method for method in CLOSED if is_internal(method)]
SHARED_METHODS: Final = [method for method in CLOSED if path_of(method) in SHARED]
PEOPLES: Final = [method for method in CLOSED if method not in INTERNAL_METHODS + SHARED_METHODS]


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return await start_server(in_turn(*[[Text(DOCUMENT)]] * 3))


@pytest.fixture
async def channel(server: Server) -> AsyncIterator[aio.Channel]:
    async with aio.insecure_channel(server.address) as channel:
        yield channel


def bearer(server: Server, **claims: object) -> Metadata:
    return (("authorization", f"Bearer {server.key.issue('ada', HOUR, claims=claims)}"),)


async def send(channel: aio.Channel, method: MethodDescriptor, metadata: Metadata) -> None:
    """Sends one empty message, and waits for a reply."""
    path = path_of(method)
    if method.client_streaming:
        await channel.stream_unary(path)(iter([b""]), metadata=metadata)
    elif method.server_streaming:
        await channel.unary_stream(path)(b"", metadata=metadata).read()
    else:
        await channel.unary_unary(path)(b"", metadata=metadata)


async def refusal(
    channel: aio.Channel, method: MethodDescriptor, metadata: Metadata
) -> parley.ParleyError:
    with pytest.raises(aio.AioRpcError) as raised:
        await send(channel, method, metadata)
    return parley.error_of(raised.value)


def test_every_method_that_is_served_is_looked_at_here() -> None:
    assert {method.containing_service.full_name for method in METHODS} == {*SERVICES}
    assert OF_SERVICES.keys() <= {*SERVICES}
    assert {scope_of(method) for method in INTERNAL_METHODS} == {SCOPE, "asks.write"}
    assert {method.name: scope_of(method) for method in SHARED_METHODS} == {
        "CreateActionToken": "asks.tokens",
        "DownloadFile": "asks.write",
    }
    assert len(SHARED_METHODS) == len(SHARED)


@named(PEOPLES)
async def test_what_is_for_people_is_refused_to_a_service(
    server: Server, channel: aio.Channel, method: MethodDescriptor
) -> None:
    error = await refusal(channel, method, bearer(server, aud=INTERNAL, scope=SCOPE))
    assert (error.code, error.reason) == (StatusCode.PERMISSION_DENIED, "TOKEN_FORBIDDEN")
    assert "people" in error.message


@named(INTERNAL_METHODS)
@pytest.mark.parametrize("claims", [{}, {"scope": SCOPE}], ids=["plain", "with the scope"])
async def test_what_is_for_services_is_refused_to_a_person(
    server: Server, channel: aio.Channel, method: MethodDescriptor, claims: dict[str, str]
) -> None:
    error = await refusal(channel, method, bearer(server, **claims))
    assert (error.code, error.reason) == (StatusCode.PERMISSION_DENIED, "SERVICE_ONLY")
    assert error.metadata == {}


@named(INTERNAL_METHODS + SHARED_METHODS)
async def test_a_service_needs_the_scope(
    server: Server, channel: aio.Channel, method: MethodDescriptor
) -> None:
    scope = scope_of(method)
    spoilt = [None, "", "asks.read", scope[:-1], scope.title(), f"{scope},asks.read", [scope]]
    for claim in spoilt:
        error = await refusal(channel, method, bearer(server, aud=INTERNAL, scope=claim))
        assert (error.code, error.reason) == (StatusCode.PERMISSION_DENIED, "SCOPE_REQUIRED")
        assert error.metadata == {"scope": scope}
        assert f"'{scope}'" in error.message


@named(INTERNAL_METHODS + SHARED_METHODS)
async def test_a_service_with_the_scope_gets_past_its_token(
    server: Server, channel: aio.Channel, method: MethodDescriptor
) -> None:
    """What it sends is empty, which is another fault."""
    who = bearer(server, aud=INTERNAL, scope=f"other {scope_of(method)}")
    error = await refusal(channel, method, who)
    assert error.code == StatusCode.INVALID_ARGUMENT


@named(CLOSED)
async def test_a_token_for_people_and_services_at_once_is_refused_by_every_method(
    server: Server, channel: aio.Channel, method: MethodDescriptor
) -> None:
    audiences = ["parley", "elsewhere", INTERNAL]
    for _ in range(2):
        error = await refusal(channel, method, bearer(server, aud=audiences, scope=SCOPE))
        assert (error.code, error.reason) == (StatusCode.PERMISSION_DENIED, "TOKEN_FORBIDDEN")
        assert "either 'parley' or 'parley-internal'" in error.message


@named(CLOSED)
async def test_every_method_needs_a_token(
    server: Server, channel: aio.Channel, method: MethodDescriptor
) -> None:
    elsewhere = bearer(server, aud="elsewhere", scope=SCOPE)
    expired = bearer(server, aud=INTERNAL, scope=SCOPE, exp=1)
    for metadata in ((), elsewhere, expired):
        error = await refusal(channel, method, metadata)
        assert (error.code, error.reason) == (StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": INTERNAL, "scope": SCOPE},
        {"aud": [INTERNAL], "scope": f"asks.write {SCOPE}"},
        {"aud": ["elsewhere", INTERNAL], "scope": f"{SCOPE}  asks.write"},
    ],
    ids=["one scope", "two scopes", "another audience"],
)
async def test_a_service_with_the_scope_is_let_in(server: Server, claims: dict[str, Any]) -> None:
    service = await server.person("reports", **claims)
    written = await service.client.generation.GenerateBlocks(GenerateBlocksRequest(prompt="Go."))
    assert len(written.document.blocks) == 1


async def test_a_person_and_a_service_of_one_name_are_told_apart_however_often_they_call(
    server: Server,
) -> None:
    person = await server.person("reports", scope=SCOPE)
    service = await server.person("reports", aud=INTERNAL, scope=SCOPE)
    for _ in range(3):  # their tokens are known then
        await service.client.generation.GenerateBlocks(GenerateBlocksRequest(prompt="Go."))
        assert await person.pending() == []
        with pytest.raises(aio.AioRpcError) as raised:
            await service.pending()
        assert parley.error_of(raised.value).reason == "TOKEN_FORBIDDEN"
        with pytest.raises(aio.AioRpcError) as raised:
            await person.client.generation.GenerateBlocks(GenerateBlocksRequest(prompt="Go."))
        assert parley.error_of(raised.value).reason == "SERVICE_ONLY"


async def test_a_servicer_never_hears_of_a_caller_that_is_not_for_it(wire: Wire) -> None:
    token = wire.key.issue("reports", HOUR, audience=INTERNAL, claims={"scope": SCOPE})
    async with wire.client(token) as client:
        with pytest.raises(aio.AioRpcError) as raised:
            await client.turns.Turn(turns_pb2.TurnRequest())
    assert parley.error_of(raised.value).reason == "TOKEN_FORBIDDEN"
    assert wire.servicer.calls == 0


async def test_both_audiences_are_those_of_the_settings(start_server: StartServer) -> None:
    server = await start_server(
        in_turn([Text(DOCUMENT)]), jwt_audience="app", jwt_service_audience="inside"
    )
    person = await server.person(aud="app")
    service = await server.person("reports", aud="inside", scope=SCOPE)
    stranger = await server.person("reports", aud=INTERNAL, scope=SCOPE)
    assert await person.pending() == []
    await service.client.generation.GenerateBlocks(GenerateBlocksRequest(prompt="Go."))
    with pytest.raises(aio.AioRpcError) as raised:
        await stranger.client.generation.GenerateBlocks(GenerateBlocksRequest(prompt="Go."))
    assert parley.error_of(raised.value).reason == "UNAUTHENTICATED"

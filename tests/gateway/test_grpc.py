"""Native gRPC through the gateway: all that a client sees without it."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import TypeAlias

import grpc
import pytest

import parley
from parley.v1 import turns_pb2 as pb
from parleyd.contract import limits
from parleyd.models.script import Hold, Text
from parleyd.models.scripted import by_progress, in_turn
from tests.app.health import is_healthy
from tests.end_to_end.person import Person, accept, refused, upload_requests
from tests.gateway.conftest import StartGateway
from tests.refused_uploads import refused_upload
from tests.scripts import HELLO, SET_UP
from tests.server import Server, StartServer
from tests.standard_asks import ask_plan

DEADLINE = 20
Raw: TypeAlias = "grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]"


@pytest.fixture
async def connect(start_gateway: StartGateway) -> AsyncIterator["Connect"]:
    """Connects people through gateways of their own."""
    connecting = Connect(start_gateway)
    yield connecting
    await connecting.close()


class Connect:
    def __init__(self, start_gateway: StartGateway) -> None:
        self._start_gateway = start_gateway
        self._clients: list[parley.Client] = []

    async def __call__(self, server: Server, subject: str = "noor") -> Person:
        gateway = await self._start_gateway(server)
        client = parley.connect(str(gateway.address), server.token(subject))
        self._clients.append(client)
        return Person(client)

    async def close(self) -> None:
        for client in self._clients:
            await client.close()


async def test_a_conversation_goes_through(start_server: StartServer, connect: Connect) -> None:
    noor = await connect(await start_server(by_progress([ask_plan()], [SET_UP]), web=True))
    asked = await noor.prompt("Set up my plan")
    assert asked.names == ["started", "ask", "done"]
    played = await noor.answer(asked.conversation_id, asked.ask.tool_call_id, accept("team"))
    assert played.names == ["started", "ask_resolved", "text", "done"]
    assert await noor.pending() == []


async def test_events_come_as_they_are_written(start_server: StartServer, connect: Connect) -> None:
    server = await start_server(in_turn([Text("Hel"), Hold("thinking"), Text("lo.")]), web=True)
    noor = await connect(server)
    names: list[str | None] = []
    async with asyncio.timeout(DEADLINE):
        request = pb.StreamTurnRequest(prompt=pb.PromptInput(text="Hello?"))
        async for event in noor.stream_all(request):
            names.append(event.WhichOneof("event"))
            if event.HasField("text_preview"):
                server.model.holds.release("thinking")
    assert [name for name in names if name != "text_preview"] == ["started", "text", "done"]
    assert names[:2] == ["started", "text_preview"]


async def test_an_error_has_its_reason_and_facts(
    start_server: StartServer, connect: Connect
) -> None:
    noor = await connect(await start_server(by_progress([ask_plan()]), web=True))
    asked = await noor.prompt("Set up my plan")
    error = await refused(
        noor.answer(asked.conversation_id, asked.ask.tool_call_id, accept("gold"))
    )
    told = parley.error_of(error)
    assert (told.code, told.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_ANSWER")
    assert [fault.path for fault in told.fields] == ["content.selected[0]"]
    assert all(fault.fix for fault in told.fields)


async def test_a_deadline_is_kept_by_both_ends_and_not_by_the_gateway(
    start_server: StartServer, connect: Connect
) -> None:
    server = await start_server(in_turn([Hold("thinking"), HELLO]), web=True)
    noor = await connect(server)
    request = pb.StreamTurnRequest(prompt=pb.PromptInput(text="Hello?"))
    began = time.monotonic()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        async for _ in noor.client.turns.StreamTurn(request, timeout=0.5):
            pass
    assert caught.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    assert time.monotonic() - began < 5
    server.model.holds.release("thinking")


async def test_who_leaves_a_stream_leaves_the_turn_alone(
    start_server: StartServer, connect: Connect
) -> None:
    server = await start_server(in_turn([Hold("thinking"), HELLO]), web=True)
    noor = await connect(server)
    call = noor.client.turns.StreamTurn(pb.StreamTurnRequest(prompt=pb.PromptInput(text="Hello?")))
    first = await call.read()
    assert isinstance(first, pb.StreamTurnResponse)
    call.cancel()
    server.model.holds.release("thinking")
    started = first.event
    async with asyncio.timeout(DEADLINE):
        played = await noor.watch(started.started.conversation_id, started.turn_id)
    assert played.names == ["started", "text", "done"]
    assert played.text == "Hello."


async def test_health_and_unknown_methods_are_answered_as_they_are_without_it(
    start_server: StartServer, start_gateway: StartGateway
) -> None:
    server = await start_server(in_turn(), web=True)
    gateway = await start_gateway(server)
    assert await is_healthy(str(gateway.address))
    async with grpc.aio.insecure_channel(str(gateway.address)) as channel:
        for path in ("/parley.v1.TurnService/Sing", "/parley.v1.SongService/Sing", "/Sing"):
            call: Raw = channel.unary_unary(path, bytes, bytes)
            error = await refused(call(b""))
            assert error.code() == grpc.StatusCode.UNIMPLEMENTED, path


async def test_a_message_over_the_limit_is_refused_by_name(
    start_server: StartServer, connect: Connect
) -> None:
    noor = await connect(await start_server(in_turn([HELLO]), web=True))
    error = await refused(noor.prompt("a" * (limits.RECEIVE_BYTES + 1)))
    assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert str(limits.RECEIVE_BYTES) in (error.details() or "")


async def test_an_upload_goes_through_as_it_comes(
    start_server: StartServer, start_gateway: StartGateway
) -> None:
    server = await start_server(in_turn(), web=True)
    address = str((await start_gateway(server)).address)
    data = b"a" * limits.FILE_BYTES
    async with parley.connect(address, server.token()) as client:
        noor = Person(client)
        file = await noor.upload("notes.txt", "text/plain", data)
        assert (await noor.download(file.file_id))[1] == data
    large = upload_requests("notes.txt", "text/plain", data + b"a")
    assert (await refused_upload(address, server.token(), large)).reason == "FILE_TOO_LARGE"


async def test_without_a_server_calls_are_unavailable(start_gateway: StartGateway) -> None:
    gateway = await start_gateway()
    async with parley.connect(str(gateway.address), "token") as client:
        error = await refused(Person(client).pending())
    assert error.code() == grpc.StatusCode.UNAVAILABLE
    assert error.details() == "The service can't be reached; try again."

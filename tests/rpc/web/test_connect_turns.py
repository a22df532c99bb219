"""Turns over Connect, with the whole service: the same as over gRPC."""

import asyncio
import json

import pytest
from structlog.testing import capture_logs

from parley.v1 import conversations_pb2, turns_pb2
from parleyd.models.script import Hold, Text
from parleyd.models.scripted import by_progress, in_turn
from tests.end_to_end.person import FULL, Person, Played, accept
from tests.rpc.web.connect_client import (
    END,
    SERVICE,
    ConnectClient,
    ConnectFault,
    Encoding,
    connected,
)
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, ask_plan

DEADLINE = 30
SOON = 1.0
CLIENTS = 500
AT_ONCE = 10
"""Of those; fewer than one person's streams at once, so that one left open would be missed soon."""

SET_UP = Text("Setting up the Team plan.")
HELD_REPLY = by_progress([Text("Hel"), Hold("thinking"), Text("lo.")])


async def stream(client: ConnectClient, request: turns_pb2.StreamTurnRequest) -> Played:
    """Runs a turn to its end, without previews."""
    replies = await client.all_of("StreamTurn", request, turns_pb2.StreamTurnResponse)
    return Played([each.event for each in replies if each.event.sequence])


def prompt(text: str) -> turns_pb2.StreamTurnRequest:
    return turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text=text), surface=FULL)


def answer(conversation_id: str, *selected: str) -> turns_pb2.StreamTurnRequest:
    return turns_pb2.StreamTurnRequest(
        conversation_id=conversation_id,
        answer=turns_pb2.AnswerInput(tool_call_id=PLAN_ID, answer=accept(*selected)),
        surface=FULL,
    )


async def seen_natively(noor: Person, played: Played, conversation_id: str) -> Played:
    """Returns what gRPC tells of the same turn."""
    return await noor.watch(conversation_id, played.turn_id)


@pytest.mark.parametrize("encoding", ["json", "proto"])
async def test_a_conversation_is_the_same_over_connect_as_over_grpc(
    start_server: StartServer, encoding: Encoding
) -> None:
    server = await start_server(in_turn([ask_plan()], [SET_UP]), web=True)
    native = await server.person()
    async with connected(server.web_address, server.token(), encoding) as noor:
        asked = await stream(noor, prompt("Set up my plan"))
        where = asked.conversation_id
        read = await noor.get(
            "/parley.v1.ConversationService/GetConversation",
            conversations_pb2.GetConversationRequest(conversation_id=where),
            conversations_pb2.GetConversationResponse,
        )
        answered = await stream(noor, answer(where, "team"))
        watched = await noor.all_of(
            "WatchTurn",
            turns_pb2.WatchTurnRequest(conversation_id=where, turn_id=answered.turn_id),
            turns_pb2.WatchTurnResponse,
        )
        messages = await noor.get(
            "/parley.v1.ConversationService/ListMessages",
            conversations_pb2.ListMessagesRequest(conversation_id=where),
            conversations_pb2.ListMessagesResponse,
        )
    assert asked.names == ["started", "ask", "done"]
    assert read.conversation.pending_ask.tool_call_id == PLAN_ID
    assert answered.names == ["started", "ask_resolved", "text", "done"]
    for played in (asked, answered):
        assert played.events == (await seen_natively(native, played, where)).events
    assert [each.event for each in watched] == answered.events
    assert list(messages.messages) == await native.messages(where)


async def test_a_wrong_answer_is_refused_with_all_its_details(start_server: StartServer) -> None:
    server = await start_server(in_turn([ask_plan()], [SET_UP]), web=True)
    async with connected(server.web_address, server.token()) as noor:
        asked = await stream(noor, prompt("Set up my plan"))
        with pytest.raises(ConnectFault) as raised:
            await stream(noor, answer(asked.conversation_id, "gold"))
        error = raised.value
        assert (error.code, error.reason) == ("invalid_argument", "INVALID_ANSWER")
        assert error.fixes == error.violations == ["content.selected[0]"]
        answered = await stream(noor, answer(asked.conversation_id, "team"))
    assert answered.names[-1] == "done"


async def test_a_turn_goes_on_although_its_client_left(start_server: StartServer) -> None:
    server = await start_server(HELD_REPLY, web=True)
    native = await server.person()
    async with asyncio.timeout(DEADLINE):
        async with connected(server.web_address, server.token()) as noor:
            body = b'{"prompt": {"text": "Hello?"}}'
            async with noor.frames("StreamTurn", body) as frames:
                started = json.loads((await anext(frames)).data)["event"]
                await server.model.holds.reached("thinking")
        server.model.holds.release("thinking")
        conversation_id = started["started"]["conversationId"]
        played = await native.watch(conversation_id, started["turnId"])
    assert played.names == ["started", "text", "done"]
    assert played.text == "Hello."


async def test_bc_108_clients_that_are_killed_leave_nothing_behind(
    start_server: StartServer,
) -> None:
    server = await start_server(HELD_REPLY, web=True)
    native = await server.person()
    events = native.stream(prompt("Hello?"))
    started = await anext(events)
    request = json.dumps(
        {"conversationId": started.started.conversation_id, "turnId": started.turn_id}
    ).encode()
    await server.model.holds.reached("thinking")
    before = len(asyncio.all_tasks())

    with capture_logs() as lines:
        for _ in range(CLIENTS // AT_ONCE):
            await _killed(server, request, AT_ONCE)
        async with asyncio.timeout(SOON):
            while len(lines) < CLIENTS or len(asyncio.all_tasks()) > before:
                await asyncio.sleep(0.01)
    assert [line["status"] for line in lines] == ["CANCELLED"] * CLIENTS

    server.model.holds.release("thinking")
    async with asyncio.timeout(DEADLINE):
        rest = Played([started, *[event async for event in events]])
    assert rest.names == ["started", "text", "done"]
    assert rest.text == "Hello."
    assert len(server.model.calls) == 1


async def _killed(server: Server, request: bytes, clients: int) -> None:
    """Lets some clients attach to a turn and see its start, and cuts their connections.

    One person may have 16 streams open: were they left open, the next would be refused.
    """
    async with asyncio.timeout(DEADLINE):
        writers = await asyncio.gather(*(_attached(server, request) for _ in range(clients)))
        for writer in writers:
            writer.transport.abort()
        await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)


async def _attached(server: Server, request: bytes) -> asyncio.StreamWriter:
    host, _, port = server.web_address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    body = bytes(1) + len(request).to_bytes(4, "big") + request
    writer.write(
        f"POST {SERVICE}/WatchTurn HTTP/1.1\r\nhost: {host}\r\n"
        "content-type: application/connect+json\r\n"
        f"authorization: Bearer {server.token()}\r\n"
        f"content-length: {len(body)}\r\n\r\n".encode()
        + body
    )
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    await reader.readuntil(b"\r\n")  # the size of a chunk
    flags = (await reader.readexactly(5))[0]
    assert not flags & END
    assert b'"started"' in await reader.readuntil(b"\r\n")
    return writer


async def test_a_server_that_stops_tells_who_follows_a_turn(start_server: StartServer) -> None:
    server = await start_server(HELD_REPLY, web=True)
    async with asyncio.timeout(DEADLINE), connected(server.web_address, server.token()) as noor:
        following = asyncio.create_task(stream(noor, prompt("Hello?")))
        await server.model.holds.reached("thinking")
        await server.stop()
        with pytest.raises(ConnectFault) as raised:
            await following
    assert (raised.value.code, raised.value.reason) == ("unavailable", "UNAVAILABLE")

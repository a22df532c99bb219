"""gRPC-Web through the gateway, as a page in a browser calls it."""

import asyncio

import grpc
import httpx2
from google.rpc.error_details_pb2 import ErrorInfo

from parley.v1 import turns_pb2 as pb
from parleyd.contract import limits
from parleyd.models.script import Hold, Text
from parleyd.models.scripted import in_turn
from tests.gateway.conftest import StartGateway
from tests.gateway.grpc_web import GrpcWebEnding, call
from tests.scripts import HELLO
from tests.server import StartServer

APP = "https://app.example.org"
TURNS = "/parley.v1.TurnService"
HELLO_REQUEST = pb.StreamTurnRequest(prompt=pb.PromptInput(text="Hello?"))
DEADLINE = 20


async def test_a_stream_comes_as_it_is_written_and_ends_with_its_status(
    start_server: StartServer, start_gateway: StartGateway, http: httpx2.AsyncClient
) -> None:
    server = await start_server(in_turn([Text("Hel"), Hold("thinking"), Text("lo.")]), web=True)
    gateway = await start_gateway(server)
    ending, names = GrpcWebEnding(), list[str | None]()
    token = f"Bearer {server.token()}"
    async with asyncio.timeout(DEADLINE):
        url = f"{gateway.url}{TURNS}/StreamTurn"
        async for message in call(http, url, HELLO_REQUEST, ending, authorization=token):
            event = pb.StreamTurnResponse.FromString(message).event
            names.append(event.WhichOneof("event"))
            if event.HasField("text_preview"):
                server.model.holds.release("thinking")
    assert [name for name in names if name != "text_preview"] == ["started", "text", "done"]
    assert names[1] == "text_preview"
    assert ending.code == grpc.StatusCode.OK


async def test_a_deadline_counts(
    start_server: StartServer, start_gateway: StartGateway, http: httpx2.AsyncClient
) -> None:
    server = await start_server(in_turn([Hold("thinking"), HELLO]), web=True)
    gateway = await start_gateway(server)
    ending = GrpcWebEnding()
    token = f"Bearer {server.token()}"
    url = f"{gateway.url}{TURNS}/StreamTurn"
    async with asyncio.timeout(DEADLINE):
        async for _ in call(
            http, url, HELLO_REQUEST, ending, authorization=token, grpc_timeout="500m"
        ):
            pass
    assert ending.code == grpc.StatusCode.DEADLINE_EXCEEDED
    server.model.holds.release("thinking")


async def test_bc_104_a_page_of_another_origin_reads_what_an_error_says_that_comes_first(
    start_server: StartServer, start_gateway: StartGateway, http: httpx2.AsyncClient
) -> None:
    gateway = await start_gateway(await start_server(in_turn(), web=True), cors_origins=(APP,))
    for method in ("StreamTurn", "ListPendingAsks"):
        ending = GrpcWebEnding()
        url = f"{gateway.url}{TURNS}/{method}"
        messages = [each async for each in call(http, url, HELLO_REQUEST, ending, origin=APP)]

        assert messages == []
        assert ending.headers["access-control-allow-origin"] == APP
        exposed = ending.headers["access-control-expose-headers"].split(", ")
        # All of it is in the headers, where a page reads what is exposed alone.
        assert {"grpc-status", "grpc-message", "grpc-status-details-bin"} < {*exposed}
        assert {"grpc-status", "grpc-message", "grpc-status-details-bin"} < {*ending.headers}
        assert {"x-request-id", "retry-after"} < {*exposed}
        assert ending.code == grpc.StatusCode.UNAUTHENTICATED
        assert "token" in ending.message
        info = ErrorInfo()
        assert ending.status.details[0].Unpack(info)
        assert (info.reason, info.domain) == ("UNAUTHENTICATED", "parley")


async def test_a_message_over_the_limit_is_refused(
    start_server: StartServer, start_gateway: StartGateway, http: httpx2.AsyncClient
) -> None:
    server = await start_server(in_turn(), web=True)
    gateway = await start_gateway(server)
    ending = GrpcWebEnding()
    large = pb.StreamTurnRequest(prompt=pb.PromptInput(text="a" * (limits.RECEIVE_BYTES + 1)))
    token = f"Bearer {server.token()}"
    url = f"{gateway.url}{TURNS}/StreamTurn"
    assert [each async for each in call(http, url, large, ending, authorization=token)] == []
    assert ending.code == grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_without_a_server_a_call_is_unavailable(
    start_gateway: StartGateway, http: httpx2.AsyncClient
) -> None:
    gateway = await start_gateway(cors_origins=(APP,))
    ending = GrpcWebEnding()
    url = f"{gateway.url}{TURNS}/StreamTurn"
    assert [each async for each in call(http, url, HELLO_REQUEST, ending, origin=APP)] == []
    assert ending.code == grpc.StatusCode.UNAVAILABLE
    assert ending.headers["access-control-allow-origin"] == APP
    assert "grpc-status" in ending.headers["access-control-expose-headers"]

"""Connect on the wire, before a server whose servicer does what a test says."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from uuid import UUID

import httpx2
import pytest
from google.protobuf import descriptor_pool
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from parley.v1 import files_pb2, turns_pb2
from parleyd.contract import limits
from parleyd.contract.errors import InvalidAnswer, TurnNotFound
from parleyd.contract.field_errors import Code, Fault, in_order
from parleyd.rpc.server import SERVICES
from tests.rpc.web.connect_client import (
    END,
    SERVICE,
    ConnectClient,
    ConnectFault,
    Encoding,
    connected,
    fault_of,
)
from tests.rpc.web.fronts import web_before
from tests.rpc.wire import HOUR, Wire

DEADLINE = 10
SOON = 1.0
"""How soon a call has to be over after its client left."""

CALL = ("Turn", turns_pb2.TurnRequest(), turns_pb2.TurnResponse)
READ = ("GetTurn", turns_pb2.GetTurnRequest(), turns_pb2.GetTurnResponse)
STREAM = ("StreamTurn", turns_pb2.StreamTurnRequest(), turns_pb2.StreamTurnResponse)


@pytest.fixture
async def address(wire: Wire) -> AsyncIterator[str]:
    """Where the wire is reached over HTTP."""
    async with web_before(wire.target) as here:
        yield here


@pytest.fixture(params=["json", "proto"])
async def ada(
    wire: Wire, address: str, request: pytest.FixtureRequest
) -> AsyncIterator[ConnectClient]:
    """Ada, in either encoding."""
    encoding: Encoding = request.param
    async with connected(address, wire.key.issue("ada", HOUR), encoding) as client:
        yield client


@pytest.fixture
async def bob(wire: Wire, address: str) -> AsyncIterator[ConnectClient]:
    """Bob, who speaks JSON."""
    async with connected(address, wire.key.issue("bob", HOUR)) as client:
        yield client


async def test_a_call_comes_back(ada: ConnectClient) -> None:
    assert (await ada.call(*CALL)).result.text == "ada"


async def test_what_has_no_side_effects_can_be_got(ada: ConnectClient) -> None:
    assert (await ada.call(*READ)).turn.turn_id == "ada"
    assert (await ada.get(*READ)).turn.turn_id == "ada"


async def test_what_has_side_effects_can_not_be_got(ada: ConnectClient, wire: Wire) -> None:
    response = await ada.http.get(f"{SERVICE}/Turn", params={"encoding": "json", "message": "{}"})
    assert (response.status_code, response.headers["allow"]) == (405, "POST")
    assert wire.servicer.calls == 0


async def test_a_stream_comes_message_by_message_and_says_that_it_ends(
    ada: ConnectClient, wire: Wire
) -> None:
    seen = asyncio.Event()

    async def act() -> None:
        await seen.wait()

    wire.servicer.act = act
    async with asyncio.timeout(DEADLINE), ada.frames("StreamTurn", b"") as frames:
        first = await anext(frames)
        seen.set()  # the server says nothing more before the first message is here
        second, end = [frame async for frame in frames]
    assert (first.flags, second.flags) == (0, 0)
    assert (end.flags, json.loads(end.data)) == (END, {})


async def test_json_has_the_names_and_words_of_proto3(bob: ConnectClient) -> None:
    async with bob.frames("StreamTurn", b"{}") as frames:
        first = await anext(frames)
    assert json.loads(first.data) == {"event": {"sequence": 1}}


# ---------------------------------------------------------------- errors


async def test_an_error_has_its_code_its_message_and_its_details(
    ada: ConnectClient, wire: Wire
) -> None:
    fault = Fault(("content", "selected"), Code.TOO_FEW, "Nothing is selected.", "Select one.")
    wire.servicer.raises(InvalidAnswer("Grün reicht nicht: 100 %.", in_order([fault])))
    for method in (CALL, READ):
        with pytest.raises(ConnectFault) as raised:
            await ada.call(*method)
        error = raised.value
        assert (error.status, error.code) == (400, "invalid_argument")
        assert error.message == "Grün reicht nicht: 100 %."
        assert error.reason == "INVALID_ANSWER"
        assert error.violations == error.fixes == ["content.selected"]
        assert [each["type"] for each in error.details] == [
            "google.rpc.ErrorInfo",
            "google.rpc.BadRequest",
            "parley.v1.AskFieldErrors",
        ]


async def test_a_stream_tells_its_error_at_its_end(ada: ConnectClient, wire: Wire) -> None:
    wire.servicer.raises(TurnNotFound(UUID(int=1)))
    async with ada.frames("StreamTurn", b"") as frames:
        first, end = [frame async for frame in frames]
    assert (first.flags, end.flags) == (0, END)
    with pytest.raises(ConnectFault) as raised:
        await ada.all_of(*STREAM)
    assert (raised.value.code, raised.value.reason) == ("not_found", "TURN_NOT_FOUND")


async def test_a_stream_that_is_refused_tells_so_too(ada: ConnectClient, wire: Wire) -> None:
    wire.servicer.raises(TurnNotFound(UUID(int=1)))
    request, reply = turns_pb2.WatchTurnRequest(), turns_pb2.WatchTurnResponse
    with pytest.raises(ConnectFault) as raised:
        await ada.all_of("WatchTurn", request, reply)
    assert raised.value.reason == "TURN_NOT_FOUND"


async def test_the_unforeseen_is_told_without_a_word_of_what_it_was(
    ada: ConnectClient, wire: Wire
) -> None:
    wire.servicer.raises(RuntimeError("secret"))
    with pytest.raises(ConnectFault) as raised:
        await ada.call(*CALL)
    assert (raised.value.status, raised.value.code) == (500, "internal")
    assert raised.value.reason == "INTERNAL"
    assert "secret" not in raised.value.message


async def test_a_server_that_is_gone_is_unavailable_and_its_socket_is_not_told(
    wire: Wire, bob: ConnectClient
) -> None:
    await wire.serving.stop(0)
    with pytest.raises(ConnectFault) as raised:
        await bob.call(*CALL)
    assert (raised.value.status, raised.value.code) == (503, "unavailable")
    assert "127.0.0.1" not in raised.value.message


@pytest.mark.parametrize(
    ("body", "violations"),
    [
        pytest.param(b'{"nope": 1}', ["nope"], id="an unknown key"),
        pytest.param(b'{"prompt": {"text": "Hi", "txt": 1}}', ["prompt.txt"], id="one further in"),
        pytest.param(b'{"prompt": {"text": 7}}', ["prompt.text"], id="a wrong type"),
        pytest.param(b"[]", [], id="no object"),
        pytest.param(b'{"prompt": ', [], id="half an object"),
        pytest.param(b"\xff\xfe", [], id="no text"),
        pytest.param(b'{"a":' * 50_000, [], id="nested too deep"),
    ],
)
async def test_json_that_is_no_request_is_refused_with_a_hint(
    bob: ConnectClient, wire: Wire, body: bytes, violations: list[str]
) -> None:
    error = fault_of(await bob.post("Turn", body))
    assert (error.status, error.code, error.reason) == (400, "invalid_argument", "INVALID_REQUEST")
    assert error.message
    assert [each for each in error.violations if each] == violations
    async with bob.frames("StreamTurn", body) as frames:
        end = await anext(frames)
    assert end.flags == END
    assert json.loads(end.data)["error"]["details"][0] == error.details[0]
    assert wire.servicer.calls == 0


async def test_bytes_that_are_no_message_are_refused_as_over_grpc(wire: Wire, address: str) -> None:
    async with connected(address, wire.key.issue("ada", HOUR), "proto") as ada:
        error = fault_of(await ada.post("Turn", b"\xff\xff"))
    assert (error.code, error.reason) == ("invalid_argument", "INVALID_REQUEST")


async def test_an_empty_body_is_an_empty_message(ada: ConnectClient) -> None:
    assert (await ada.post("Turn", b"")).status_code == 200


@pytest.mark.parametrize("encoding", ["json", "proto"])
async def test_who_has_no_token_is_told_so(address: str, wire: Wire, encoding: Encoding) -> None:
    async with connected(address, "no token", encoding) as nobody:
        with pytest.raises(ConnectFault) as raised:
            await nobody.call(*CALL)
    assert (raised.value.status, raised.value.code) == (401, "unauthenticated")
    assert raised.value.reason == "UNAUTHENTICATED"
    assert wire.servicer.calls == 0


# ---------------------------------------------------------------- limits


async def test_a_message_over_the_limit_is_refused_as_over_grpc(
    ada: ConnectClient, wire: Wire
) -> None:
    error = fault_of(await ada.post("Turn", b"x" * (limits.RECEIVE_BYTES + 1)))
    assert (error.status, error.code) == (429, "resource_exhausted")
    assert wire.servicer.calls == 0


async def test_a_message_of_twelve_megabytes_comes_through(ada: ConnectClient) -> None:
    text = "x" * (12 * 1024 * 1024)
    request = turns_pb2.TurnRequest(prompt=turns_pb2.PromptInput(text=text))
    assert (await ada.call("Turn", request, turns_pb2.TurnResponse)).result.text == "ada"


async def test_what_unpacks_to_more_than_the_limit_is_refused(
    bob: ConnectClient, wire: Wire
) -> None:
    bomb = gzip.compress(b" " * (limits.RECEIVE_BYTES + 1))
    response = await bob.http.post(
        f"{SERVICE}/Turn",
        content=bomb,
        headers={"content-type": "application/json", "content-encoding": "gzip"},
    )
    assert fault_of(response).code == "resource_exhausted"
    assert wire.servicer.calls == 0


async def test_requests_and_replies_may_be_packed(wire: Wire, address: str) -> None:
    async with (
        httpx2.AsyncClient(base_url=f"http://{address}") as http,
        http.stream(
            "POST",
            f"{SERVICE}/Turn",
            content=gzip.compress(b"{}"),
            headers={
                "content-type": "application/json",
                "content-encoding": "gzip",
                "accept-encoding": "gzip",
                "authorization": f"Bearer {wire.key.issue('ada', HOUR)}",
            },
        ) as response,
    ):
        packed = b"".join([part async for part in response.aiter_raw()])
    assert response.headers["content-encoding"] == "gzip"
    assert json.loads(gzip.decompress(packed)) == {"result": {"text": "ada"}}


# ---------------------------------------------------------------- deadlines, and clients that leave


async def test_a_deadline_ends_the_call(wire: Wire, address: str) -> None:
    wire.servicer.act = wire.servicer.hang
    token = wire.key.issue("ada", HOUR)
    async with (
        asyncio.timeout(DEADLINE),
        connected(address, token, connect_timeout_ms="300") as hasty,
    ):
        with pytest.raises(ConnectFault) as unary:
            await hasty.call(*CALL)
        await wire.servicer.left.wait()
        wire.servicer.left.clear()
        with pytest.raises(ConnectFault) as stream:
            await hasty.all_of(*STREAM)
        await wire.servicer.left.wait()
    assert (unary.value.status, unary.value.code) == (504, "deadline_exceeded")
    assert stream.value.code == "deadline_exceeded"


@pytest.mark.parametrize("method", ["Turn", "GetTurn", "StreamTurn", "WatchTurn"])
async def test_a_client_that_leaves_ends_its_call(
    ada: ConnectClient, wire: Wire, method: str
) -> None:
    wire.servicer.act = wire.servicer.hang

    async def call() -> None:
        if method in {"Turn", "GetTurn"}:
            await ada.post(method, b"")
        async with ada.frames(method, b"") as frames:
            async for _ in frames:
                pass

    async with asyncio.timeout(DEADLINE):
        calling = asyncio.create_task(call())
        await wire.servicer.entered.wait()
        calling.cancel()
        async with asyncio.timeout(SOON):
            await wire.servicer.left.wait()
        await asyncio.wait([calling])


# ---------------------------------------------------------------- metadata, and other paths


async def test_the_request_id_goes_on_and_cookies_do_not(wire: Wire, address: str) -> None:
    """Ten thousand bytes of cookies would be more metadata than gRPC takes."""
    token, cookie = wire.key.issue("ada", HOUR), "c" * 10_000
    with capture_logs([merge_contextvars]) as lines:
        async with connected(address, token, x_request_id="req-7", cookie=cookie) as ada:
            await ada.call(*CALL)
    (line,) = [line for line in lines if line["event"] == "call"]
    assert (line["status"], line["request_id"]) == ("OK", "req-7")


async def test_two_tokens_are_none(wire: Wire, address: str) -> None:
    token = f"Bearer {wire.key.issue('ada', HOUR)}"
    async with httpx2.AsyncClient(base_url=f"http://{address}") as http:
        response = await http.post(
            f"{SERVICE}/Turn",
            content=b"{}",
            headers=[
                ("content-type", "application/json"),
                ("authorization", token),
                ("authorization", token),
            ],
        )
    assert fault_of(response).code == "unauthenticated"


async def test_a_header_that_is_no_text_is_left_out(wire: Wire, address: str) -> None:
    async with httpx2.AsyncClient(base_url=f"http://{address}") as http:
        response = await http.post(
            f"{SERVICE}/Turn",
            content=b"{}",
            headers=[
                (b"content-type", b"application/json"),
                (b"authorization", f"Bearer {wire.key.issue('ada', HOUR)}".encode()),
                (b"x-request-id", b"\xff\xfe"),
                (b"x-ai-api-key", "schl\u00fcssel".encode()),
            ],
        )
    assert response.json() == {"result": {"text": "ada"}}


async def test_files_are_uploaded_another_way_which_is_said(ada: ConnectClient, wire: Wire) -> None:
    method = "/parley.v1.FileService/UploadFile"
    request = files_pb2.UploadFileRequest(chunk=b"x")
    with pytest.raises(ConnectFault) as raised:
        await ada.all_of(method, request, files_pb2.UploadFileResponse)
    assert raised.value.code == "unimplemented"
    assert "/v1/files:upload" in raised.value.message
    assert wire.files.calls == 0


@pytest.mark.parametrize(
    "path", [f"{SERVICE}/Nope", "/parley.v1.AskContractService/Turn"], ids=["none", "another's"]
)
async def test_a_method_that_there_is_not_is_unimplemented(ada: ConnectClient, path: str) -> None:
    error = fault_of(await ada.post(path, b""))
    assert (error.status, error.code) == (404, "unimplemented")


@pytest.mark.parametrize("path", ["/", "/parley.v1.NopeService/Turn", SERVICE, "/grpc.health.v1"])
async def test_a_path_that_there_is_not_is_not_found(ada: ConnectClient, path: str) -> None:
    response = await ada.post(path, b"")
    assert response.status_code == 404
    assert response.json()["status"] == "NOT_FOUND"


@pytest.mark.parametrize(
    "content_type", ["application/grpc", "application/grpc-web+proto", "text/plain", "nonsense"]
)
async def test_another_protocol_is_not_spoken(address: str, wire: Wire, content_type: str) -> None:
    async with httpx2.AsyncClient(base_url=f"http://{address}") as http:
        response = await http.post(
            f"{SERVICE}/Turn", content=b"", headers={"content-type": content_type}
        )
    assert response.status_code == 415
    assert wire.servicer.calls == 0


async def test_every_service_is_there(ada: ConnectClient) -> None:
    for service in SERVICES:
        for method in descriptor_pool.Default().FindServiceByName(service).methods:
            response = await ada.post(f"/{service}/{method.name}", b"")
            assert response.status_code != 404, method.full_name

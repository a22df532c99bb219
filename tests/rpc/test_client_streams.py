"""Calls whose request is a stream: what stands around every call stands around these."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence

import grpc
import pytest
from grpc import StatusCode, aio
from structlog.testing import capture_logs
from structlog.typing import EventDict

import parley
import parley.sync
from parley.v1.files_pb2 import FileHeader, UploadFileRequest
from parleyd.contract.errors import FileTooLarge
from tests.clients.cutting_proxy import cutting_proxy
from tests.refused_uploads import refused_upload
from tests.rpc.wire import HOUR, Wire

SOON = 10
HEADER = UploadFileRequest(header=FileHeader(filename="a.txt", mime_type="text/plain"))
CHUNK = UploadFileRequest(chunk=b"x" * 1000)


def endless() -> Iterator[UploadFileRequest]:
    """Yields an upload that has no end."""
    yield HEADER
    while True:
        yield UploadFileRequest(chunk=b"x" * 64 * 1024)


async def failure(
    wire: Wire, requests: Iterable[UploadFileRequest], token: str = ""
) -> parley.ParleyError:
    """Returns how an upload fails; with a valid token of Ada's if none is given."""
    return await refused_upload(wire.target, token or wire.key.issue("ada", HOUR), requests)


async def until(*, of: Wire, pieces: int) -> None:
    """Waits until so many pieces have come."""
    async with asyncio.timeout(SOON):
        while of.files.pieces < pieces:
            await asyncio.sleep(0.01)


async def logged(lines: Sequence[EventDict]) -> None:
    """Waits until the end of a call is in the log, which its client may hear of before."""
    async with asyncio.timeout(SOON):
        while not any(line["event"] == "call" for line in lines):
            await asyncio.sleep(0.01)


async def test_a_stream_arrives_whole_with_its_caller(wire: Wire) -> None:
    async with wire.client() as client:
        response = await client.files.UploadFile(iter([HEADER, *[CHUNK] * 300]))
    assert (response.file.filename, response.file.size_bytes) == ("ada", 300_000)


async def test_an_empty_stream_is_whole_too(wire: Wire) -> None:
    async with wire.client() as client:
        assert (await client.files.UploadFile(iter([]))).file.size_bytes == 0


async def test_a_stream_without_a_valid_token_is_not_read(wire: Wire) -> None:
    error = await failure(wire, [HEADER, CHUNK], "nonsense")
    assert (error.code, error.reason) == (StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")
    assert wire.files.calls == 0


async def test_bytes_in_a_stream_that_are_no_message_are_a_malformed_request(wire: Wire) -> None:
    def upload() -> parley.ParleyError:
        with parley.sync.connect(wire.target, wire.key.issue("ada", HOUR)) as client:
            raw: grpc.StreamUnaryMultiCallable[bytes, bytes] = client.channel.stream_unary(
                "/parley.v1.FileService/UploadFile"
            )
            with pytest.raises(grpc.RpcError) as raised:
                raw(iter([CHUNK.SerializeToString(), b"\xff\xff\xff"]), timeout=SOON)
        return parley.error_of(raised.value)

    error = await asyncio.to_thread(upload)
    assert (error.code, error.reason) == (StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert (wire.files.pieces, wire.files.whole) == (1, 0)


async def test_an_error_reaches_a_client_that_goes_on_sending(wire: Wire) -> None:
    async def act() -> None:
        if wire.files.pieces == 3:
            raise FileTooLarge(1000)

    wire.files.act = act
    with capture_logs() as lines:
        error = await failure(wire, endless())
        await logged(lines)
    assert (error.code, error.reason) == (StatusCode.RESOURCE_EXHAUSTED, "FILE_TOO_LARGE")
    assert error.metadata == {"limit": "1000", "http_status": "413"}
    assert wire.files.pieces == 3
    assert [line["status"] for line in lines] == ["RESOURCE_EXHAUSTED"]


async def test_the_unforeseen_in_a_stream_is_told_as_internal(wire: Wire) -> None:
    error = RuntimeError("a secret")

    async def act() -> None:
        raise error

    wire.files.act = act
    with capture_logs() as lines:
        told = await failure(wire, [HEADER])
        await logged(lines)
    assert (told.code, told.reason) == (StatusCode.INTERNAL, "INTERNAL")
    assert "secret" not in str(lines)


async def test_half_a_stream_of_a_client_that_is_gone_never_passes_for_the_whole(
    wire: Wire,
) -> None:
    with capture_logs() as lines:
        for attempt in range(1, 11):
            async with (
                asyncio.timeout(SOON),
                cutting_proxy(wire.target) as (proxy, address),
                parley.connect(address, wire.key.issue("ada", HOUR)) as client,
            ):
                call = client.files.UploadFile()
                await call.write(HEADER)
                await until(of=wire, pieces=attempt)
                proxy.cut()
                with pytest.raises(aio.AioRpcError):
                    await call
                while len(lines) < attempt:
                    await asyncio.sleep(0.01)
    assert wire.files.whole == 0
    assert {line["status"] for line in lines} == {"CANCELLED"}


async def test_a_client_that_cancels_its_stream_is_no_error(wire: Wire) -> None:
    with capture_logs() as lines:
        async with asyncio.timeout(SOON), wire.client() as client:
            call = client.files.UploadFile()
            await call.write(HEADER)
            await until(of=wire, pieces=1)
            call.cancel()
            while not lines:
                await asyncio.sleep(0.01)
    assert wire.files.whole == 0
    assert [(line["status"], line["log_level"]) for line in lines] == [("CANCELLED", "info")]


async def test_a_server_that_stops_tells_an_open_stream(wire: Wire) -> None:
    async with asyncio.timeout(SOON), wire.client() as client:
        call = client.files.UploadFile()
        await call.write(HEADER)
        await until(of=wire, pieces=1)
        await wire.serving.stop(0.1)
        with pytest.raises(aio.AioRpcError) as raised:
            await call
    error = parley.error_of(raised.value)
    assert (error.code, error.reason) == (StatusCode.UNAVAILABLE, "UNAVAILABLE")
    assert wire.files.whole == 0

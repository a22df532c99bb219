"""HTTP in our event loop: the address, the limits, and how it stops."""

import asyncio
import signal
import socket
import stat
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx2
import pytest
from starlette.types import Receive, Scope, Send

from parleyd.rpc.web.private_socket import PATH_BYTES, private_socket
from parleyd.rpc.web.web_server import HEAD_BYTES, WebServer

DEADLINE = 10
GRACE = 5.0
SOON = 2.5
"""How soon all has to be over once nothing may go on."""
DELAYED = 0.04
"""How long a client's system waits before it acknowledges half a reply."""


class App:
    """Answers at once, except at `/slow`, which waits for `free`; cancelling does not free it."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.free = asyncio.Event()
        self.stubborn = False
        self.ended = 0
        self.requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del receive
        self.requests += 1
        if scope["path"] == "/slow":
            self.entered.set()
            try:
                await self.free.wait()
            except asyncio.CancelledError:
                self.ended += 1
                raise
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"all of it"})


@pytest.fixture
def app() -> App:
    return App()


@asynccontextmanager
async def running(app: App) -> AsyncGenerator[tuple[WebServer, httpx2.AsyncClient]]:
    server = WebServer(app)
    address = server.listen("127.0.0.1", 0)
    await server.start()
    try:
        async with httpx2.AsyncClient(base_url=f"http://{address}", timeout=DEADLINE) as http:
            yield server, http
    finally:
        await server.stop(0)


@pytest.fixture
async def server(app: App) -> AsyncIterator[tuple[WebServer, httpx2.AsyncClient]]:
    async with running(app) as both:
        yield both


async def until_refused(http: httpx2.AsyncClient) -> None:
    """Waits until nobody is let in any more."""
    while True:
        try:
            await http.get("/", headers={"connection": "close"})
        except httpx2.ConnectError:
            return
        except httpx2.TransportError:
            continue  # it was let in, in the very moment of the stop


async def test_an_address_that_is_taken_can_not_be_had(app: App) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(OSError, match="in use"),
    ):
        WebServer(app).listen("127.0.0.1", taken.getsockname()[1])


async def test_a_host_that_there_is_not_can_not_be_had(app: App) -> None:
    with pytest.raises(socket.gaierror):
        WebServer(app).listen("no.such.host.invalid", 0)


async def test_an_address_that_is_given_up_can_be_had_again(app: App) -> None:
    first, second = WebServer(app), WebServer(app)
    port = int(first.listen("127.0.0.1", 0).rpartition(":")[2])
    await first.stop(0)
    assert second.listen("127.0.0.1", port) == f"127.0.0.1:{port}"
    await second.stop(0)


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
async def test_an_address_of_ipv6_is_told_in_brackets(app: App) -> None:
    server = WebServer(app)
    address = server.listen("::1", 0)
    await server.start()
    async with httpx2.AsyncClient(base_url=f"http://{address}") as http:
        assert (await http.get("/")).text == "all of it"
    await server.stop(0)
    assert address.startswith("[::1]:")


async def test_signals_are_left_alone(app: App) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    async with running(app) as (_, http):
        await http.get("/")
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


async def test_a_reply_is_not_held_back_for_its_second_half(
    server: tuple[WebServer, httpx2.AsyncClient],
) -> None:
    _, http = server
    await http.get("/")
    start = time.perf_counter()
    for _ in range(20):
        await http.post("/", content=b"some of it")
    assert time.perf_counter() - start < 20 * DELAYED


async def test_headers_over_the_limit_do_not_reach_the_app(
    app: App, server: tuple[WebServer, httpx2.AsyncClient]
) -> None:
    _, http = server
    with suppress(httpx2.TransportError):  # it may be cut off before it has sent them all
        response = await http.get("/", headers={"cookie": "x" * (HEAD_BYTES * 2)})
        assert response.status_code == 400
    assert app.requests == 0
    await http.get("/", headers={"cookie": "x" * (HEAD_BYTES // 2)})
    assert app.requests == 1


async def test_a_server_that_stops_lets_open_requests_end_and_nobody_in(
    app: App, server: tuple[WebServer, httpx2.AsyncClient]
) -> None:
    web, http = server
    async with asyncio.timeout(DEADLINE):
        slow = asyncio.create_task(http.get("/slow"))
        await app.entered.wait()
        stopping = asyncio.create_task(web.stop(GRACE))
        await until_refused(http)
        assert not stopping.done()
        app.free.set()
        assert (await slow).text == "all of it"
        await stopping
    assert app.ended == 0


async def test_idle_connections_do_not_hold_a_stop_up(
    server: tuple[WebServer, httpx2.AsyncClient],
) -> None:
    web, http = server
    await http.get("/")  # its connection stays open
    async with asyncio.timeout(SOON):
        await web.stop(GRACE)


async def test_what_does_not_end_is_cut_after_the_grace(
    app: App, server: tuple[WebServer, httpx2.AsyncClient]
) -> None:
    web, http = server
    async with asyncio.timeout(DEADLINE):
        slow = asyncio.create_task(http.get("/slow"))
        await app.entered.wait()
        async with asyncio.timeout(SOON):
            await web.stop(0.2)
        with pytest.raises(httpx2.TransportError):
            await slow
        while not app.ended:
            await asyncio.sleep(0)


async def test_a_second_stop_makes_the_grace_shorter(
    app: App, server: tuple[WebServer, httpx2.AsyncClient]
) -> None:
    web, http = server
    async with asyncio.timeout(DEADLINE):
        slow = asyncio.create_task(http.get("/slow"))
        await app.entered.wait()
        patient = asyncio.create_task(web.stop(300))
        async with asyncio.timeout(SOON):
            await web.stop(0)
            await patient
        with pytest.raises(httpx2.TransportError):
            await slow


# ---------------------------------------------------------------- the socket to the gRPC server


def test_the_socket_is_this_users_alone_and_goes_away() -> None:
    with private_socket() as path:
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        path.touch()
    assert not path.parent.exists()


def test_where_temporary_files_have_long_paths_a_short_one_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * PATH_BYTES)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with private_socket() as path:
        assert len(str(path)) <= PATH_BYTES
        assert list(long.iterdir()) == []


def test_without_any_short_path_the_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * PATH_BYTES)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    monkeypatch.setattr("parleyd.rpc.web.private_socket._SHORT", ())
    with pytest.raises(OSError, match="TMPDIR"), private_socket():
        pass
    assert list(long.iterdir()) == []

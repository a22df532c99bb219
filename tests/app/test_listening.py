"""Where the service answers: both ports, and what encrypts them."""

import asyncio
import re
import socket
import ssl
import tempfile
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import httpx2
import pytest
from structlog.testing import capture_logs

import parley
from parleyd.app.faults import CommandFailed, ConfigurationError
from parleyd.app.identity import authenticator_of, development_token
from parleyd.app.settings import Settings
from parleyd.app.wiring import Replacements, RunningService, running_service
from tests.app.processes import COMMAND, DEADLINE, environment, names_in, stop
from tests.certificates import Authority, Pair
from tests.end_to_end.person import Person, refused

PENDING = "/parley.v1.TurnService/ListPendingAsks"
NOWHERE = "203.0.113.1"
"""An address of nobody's (RFC 5737), so not this machine's either."""


def here(folder: Path, **settings: Any) -> Settings:
    """Returns the settings of somebody's own machine."""
    return Settings(environment="development", port=0, data_dir=folder, **settings)


@asynccontextmanager
async def serving(settings: Settings, database_url: str) -> AsyncGenerator[RunningService]:
    async with running_service(settings, database_url=database_url) as service:
        yield service


async def pending_over_http(service: RunningService, settings: Settings, **tls: Any) -> str:
    """Returns what the service answers over HTTP; with `verify` by TLS."""
    scheme = "https" if tls else "http"
    headers = {"authorization": f"Bearer {development_token(settings)}"}
    async with httpx2.AsyncClient(base_url=f"{scheme}://{service.web_address}", **tls) as http:
        response = await http.post(PENDING, json={}, headers=headers)
    assert response.status_code == 200
    return response.text


async def pending_over_grpc(
    service: RunningService, settings: Settings, credentials: grpc.ChannelCredentials | None = None
) -> Any:
    token = development_token(settings)
    async with parley.connect(service.address, token, credentials=credentials) as client:
        return await Person(client).pending()


async def refused_over_grpc(
    service: RunningService, settings: Settings, credentials: grpc.ChannelCredentials | None = None
) -> None:
    """Checks that no connection comes about."""
    error = await refused(pending_over_grpc(service, settings, credentials))
    assert error.code() == grpc.StatusCode.UNAVAILABLE


# ---------------------------------------------------------------- two ports


async def test_the_service_answers_on_two_ports(database_url: str, tmp_path: Path) -> None:
    settings = here(tmp_path)
    async with serving(settings, database_url) as service:
        assert await pending_over_http(service, settings) == "{}"
        assert await pending_over_grpc(service, settings) == []


async def test_without_the_web_there_is_one(database_url: str, tmp_path: Path) -> None:
    async with serving(here(tmp_path, web=False), database_url) as service:
        assert service.web_address is None


@pytest.mark.parametrize(
    ("given", "port"),
    [
        ({}, 50052),
        ({"port": 7}, 8),
        ({"port": 0}, 0),
        ({"port": 0, "web_port": 9}, 9),
        ({"web_port": 0}, 0),
    ],
    ids=str,
)
def test_the_web_is_on_the_next_port_unless_told_else(given: dict[str, Any], port: int) -> None:
    assert Settings(**given).own_web_port == port


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody has."""
    with socket.create_server(("127.0.0.1", 0)) as somebody:
        yield somebody.getsockname()[1]


async def test_a_web_port_that_is_taken_is_said_so(
    database_url: str, tmp_path: Path, taken: int
) -> None:
    with pytest.raises(CommandFailed, match=f"127.0.0.1:{taken}.*PARLEY_WEB_PORT"):
        async with serving(here(tmp_path, web_port=taken), database_url):
            pass


@pytest.mark.parametrize(("one", "other"), [("port", "web_port"), ("web_port", "port")])
async def test_where_one_port_is_taken_the_other_is_given_back(
    database_url: str, tmp_path: Path, taken: int, one: str, other: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as somebody:
        free = somebody.getsockname()[1]
    settings = here(tmp_path).model_copy(update={one: taken, other: free})
    with pytest.raises(CommandFailed, match=f"127.0.0.1:{taken}.*PARLEY_{one.upper()},"):
        async with serving(settings, database_url):
            pass
    socket.create_server(("127.0.0.1", free)).close()


async def test_a_second_service_with_the_same_settings_is_told_of_its_first_port(
    database_url: str, tmp_path: Path
) -> None:
    async with serving(here(tmp_path), database_url) as service:
        port = int(service.address.rpartition(":")[2])
        web_port = int((service.web_address or "").rpartition(":")[2])
        same = here(tmp_path).model_copy(update={"port": port, "web_port": web_port})
        with pytest.raises(CommandFailed, match=f"127.0.0.1:{port}.*PARLEY_PORT,"):
            async with serving(same, database_url):
                pass


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where temporary files go."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


async def test_nothing_is_left_of_the_socket_between_the_two(
    database_url: str, tmp_path: Path, temporary: Path
) -> None:
    settings = here(tmp_path)
    async with serving(settings, database_url) as service:
        await pending_over_http(service, settings)
        (private,) = names_in(temporary)
        assert names_in(temporary / private) == ["grpc.sock"]
    assert names_in(temporary) == []


async def test_serve_says_where_it_answers(database_url: str, tmp_path: Path) -> None:
    env = environment(tmp_path, PARLEY_DATABASE_URL=database_url, PARLEY_WEB="true")
    process = await asyncio.create_subprocess_exec(
        COMMAND, "serve", "--development", "--port", "0", env=env, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout
        async with asyncio.timeout(DEADLINE):
            first, second = [(await process.stdout.readline()).decode() for _ in range(2)]
        assert first.startswith("Parley listens on 127.0.0.1:")
        said = re.fullmatch(r"It serves JSON and Connect on (http://127\.0\.0\.1:\d+)\.\n", second)
        assert said, second
        async with httpx2.AsyncClient(base_url=said[1]) as http:
            assert (await http.post(PENDING, json={})).status_code == 401
    finally:
        assert await stop(process) == 0


# ---------------------------------------------------------------- TLS


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "authority")


@pytest.fixture
def pair(authority: Authority) -> Pair:
    return authority.issue("server")


def encrypted(folder: Path, pair: Pair, **settings: Any) -> Settings:
    return here(folder, tls_cert=pair.cert, tls_key=pair.key, **settings)


def trusting(authority: Authority, client: Pair | None = None) -> grpc.ChannelCredentials:
    """Returns what a client over gRPC needs: whom it trusts, and perhaps who it is."""
    own = (client.key.read_bytes(), client.cert.read_bytes()) if client else (None, None)
    return grpc.ssl_channel_credentials(authority.cert.read_bytes(), *own)


def context(authority: Authority, client: Pair | None = None) -> ssl.SSLContext:
    """Returns the same for HTTP."""
    trusted = ssl.create_default_context(cafile=authority.cert)
    if client:
        trusted.load_cert_chain(client.cert, client.key)
    return trusted


async def test_with_a_certificate_both_ports_speak_tls_alone(
    database_url: str, tmp_path: Path, authority: Authority, pair: Pair
) -> None:
    settings = encrypted(tmp_path, pair)
    async with serving(settings, database_url) as service:
        assert await pending_over_grpc(service, settings, trusting(authority)) == []
        assert await pending_over_http(service, settings, verify=context(authority)) == "{}"
        await refused_over_grpc(service, settings)
        with pytest.raises(httpx2.TransportError):
            await pending_over_http(service, settings)


async def test_a_client_that_trusts_somebody_else_does_not_connect(
    database_url: str, tmp_path: Path, pair: Pair
) -> None:
    settings, other = encrypted(tmp_path, pair), Authority(tmp_path, "other")
    async with serving(settings, database_url) as service:
        await refused_over_grpc(service, settings, trusting(other))
        with pytest.raises(httpx2.ConnectError):
            await pending_over_http(service, settings, verify=context(other))


async def test_clients_that_have_to_show_a_certificate_are_known_by_it(
    database_url: str, tmp_path: Path, authority: Authority, pair: Pair
) -> None:
    clients = Authority(tmp_path, "clients")
    known, stranger = clients.issue("known"), authority.issue("stranger")
    settings = encrypted(tmp_path, pair, tls_client_ca=clients.cert)
    async with serving(settings, database_url) as service:
        assert await pending_over_grpc(service, settings, trusting(authority, known)) == []
        ours = context(authority, known)
        assert await pending_over_http(service, settings, verify=ours) == "{}"
        for other in (None, stranger):
            await refused_over_grpc(service, settings, trusting(authority, other))
            with pytest.raises(httpx2.TransportError):
                await pending_over_http(service, settings, verify=context(authority, other))


async def test_a_key_of_another_certificate_stops_the_start(
    database_url: str, tmp_path: Path, authority: Authority, pair: Pair
) -> None:
    mixed = Pair(pair.cert, authority.issue("other").key)
    with pytest.raises(ConfigurationError, match=r"TLS can't be had: .* don't go together"):
        async with serving(encrypted(tmp_path, mixed), database_url):
            pass


@pytest.mark.parametrize(
    ("host", "files", "warned"),
    [
        (NOWHERE, (), [NOWHERE]),
        (NOWHERE, ("tls_cert", "tls_key"), []),
        ("127.0.0.1", (), []),
    ],
    ids=["from elsewhere", "from elsewhere, encrypted", "from this machine"],
)
async def test_tokens_that_can_be_read_on_the_way_are_warned_of(
    database_url: str,
    tmp_path: Path,
    pair: Pair,
    host: str,
    files: tuple[str, ...],
    warned: list[str],
) -> None:
    tls: dict[str, Any] = dict(zip(files, (pair.cert, pair.key), strict=False))
    settings = Settings(host=host, port=0, data_dir=tmp_path, model="demo", **tls)
    trusted = Replacements(authenticator=authenticator_of(here(tmp_path)))
    with capture_logs() as lines:
        try:
            async with running_service(settings, database_url=database_url, replacements=trusted):
                assert host != NOWHERE
        except CommandFailed:
            assert host == NOWHERE
    assert [line["host"] for line in lines if line["event"] == "not_encrypted"] == warned

"""TLS on both sides of the gateway."""

import ssl
from pathlib import Path

import grpc
import httpx2

import parley
from parleyd.app.gateway.plan import Certificate
from parleyd.models.scripted import in_turn
from tests.certificates import Authority
from tests.end_to_end.person import Person, refused
from tests.gateway.conftest import StartGateway
from tests.scripts import HELLO
from tests.server import StartServer


async def test_a_gateway_with_a_certificate_speaks_tls_alone(
    start_server: StartServer, start_gateway: StartGateway, tmp_path: Path
) -> None:
    authority = Authority(tmp_path, "ca")
    pair = authority.issue("gateway")
    server = await start_server(in_turn([HELLO]), web=True)
    gateway = await start_gateway(server, certificate=Certificate(pair.cert, pair.key))
    assert gateway.url.startswith("https://127.0.0.1:")
    trusted = grpc.ssl_channel_credentials(authority.cert.read_bytes())
    async with parley.connect(str(gateway.address), server.token(), credentials=trusted) as client:
        assert (await Person(client).prompt("Hello?")).text == "Hello."
    async with httpx2.AsyncClient(
        verify=ssl.create_default_context(cafile=str(authority.cert))
    ) as http:
        assert (await http.get(f"{gateway.url}/readyz")).status_code == 200
        plain = gateway.url.replace("https", "http")
        try:
            answer = await http.get(f"{plain}/readyz")
        except httpx2.TransportError:
            pass
        else:
            raise AssertionError(f"it answered without TLS: {answer}")


async def test_a_service_that_encrypts_is_trusted_by_its_authority_alone(
    start_server: StartServer, start_gateway: StartGateway, tmp_path: Path
) -> None:
    ours, strange = Authority(tmp_path, "ours"), Authority(tmp_path, "strange")
    pair = ours.issue("service")
    server = await start_server(in_turn(), web=True, tls_cert=pair.cert, tls_key=pair.key)
    trusting = await start_gateway(server, upstream_ca=ours.cert)
    doubting = await start_gateway(server, upstream_ca=strange.cert)
    path = "/parley.v1.TurnService/ListPendingAsks"
    headers = {"authorization": f"Bearer {server.token()}"}
    async with httpx2.AsyncClient() as http:
        answer = await http.post(f"{trusting.url}{path}", json={}, headers=headers)
        assert (answer.status_code, answer.json()) == (200, {})
        assert (await http.post(f"{doubting.url}{path}", json={})).status_code == 503
    async with parley.connect(str(trusting.address), server.token()) as client:
        assert await Person(client).pending() == []
    async with parley.connect(str(doubting.address), server.token()) as client:
        error = await refused(Person(client).pending())
    assert error.code() is grpc.StatusCode.UNAVAILABLE

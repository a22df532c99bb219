"""What the gateway says itself, and to whom."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from parleyd.app.gateway.envoy import Envoy
from parleyd.app.gateway.routes import BODY_BYTES
from parleyd.models.script import Hold
from parleyd.models.scripted import in_turn
from tests.gateway.conftest import StartGateway
from tests.scripts import HELLO
from tests.server import Server, StartServer

APP = "https://app.example.org"


@pytest.fixture
async def alone(start_gateway: StartGateway) -> Envoy:
    """A gateway without a server behind it."""
    return await start_gateway(cors_origins=(APP,))


UNREACHABLE: dict[str, Any] = {
    "code": 14,
    "status": "UNAVAILABLE",
    "message": "The service can't be reached; try again.",
    "details": [],
    "title": "Service Unavailable",
    "fields": [],
}


async def test_health_is_the_gateway_s_own_and_readiness_the_service_s(
    alone: Envoy,
    start_server: StartServer,
    start_gateway: StartGateway,
    http: httpx2.AsyncClient,
) -> None:
    assert (await http.get(f"{alone.url}/healthz")).text == "ok\n"
    assert (await http.get(f"{alone.url}/readyz")).status_code == 503
    gateway = await start_gateway(await start_server(in_turn(), web=True))
    assert (await http.get(f"{gateway.url}/readyz")).status_code == 200


@pytest.mark.parametrize("path", ["/", "/v2/turns", "/parley.v1.SongService/Sing", "/grpc/"])
async def test_a_path_that_is_none_of_ours_is_not_found_here(
    alone: Envoy, http: httpx2.AsyncClient, path: str
) -> None:
    answer = await http.post(f"{alone.url}{path}", json={}, headers={"origin": APP})
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["access-control-allow-origin"] == APP
    told = answer.json()
    if path.startswith("/parley.v1."):
        assert told["code"] == "not_found"  # as a Connect client reads it
    else:
        assert (told["code"], told["status"], told["details"]) == (5, "NOT_FOUND", [])


async def test_a_service_that_can_not_be_reached_is_said_so_in_our_words(
    alone: Envoy, http: httpx2.AsyncClient
) -> None:
    answer = await http.get(f"{alone.url}/v1/pendingAsks", headers={"origin": APP})
    assert (answer.status_code, answer.json()) == (503, UNREACHABLE)
    assert answer.headers["access-control-allow-origin"] == APP
    assert answer.headers["x-request-id"]
    assert not {"server", "x-envoy-upstream-service-time"} & {*answer.headers}
    connect = await http.post(f"{alone.url}/parley.v1.TurnService/ListPendingAsks", json={})
    assert connect.status_code == 503
    assert connect.json() == {"code": "unavailable", "message": UNREACHABLE["message"]}


async def test_what_is_malformed_or_too_large_is_said_so(
    alone: Envoy, http: httpx2.AsyncClient
) -> None:
    for path in ("/v1/files/a%2Fb", "/v1/files/a%5Cb"):
        slashed = await http.get(f"{alone.url}{path}")
        assert (slashed.status_code, slashed.json()["status"]) == (400, "INVALID_ARGUMENT")
    headers = {"x-much": "a" * 40_000}
    much = await http.get(f"{alone.url}/v1/pendingAsks", headers=headers)
    assert (much.status_code, much.json()["status"]) == (431, "INVALID_ARGUMENT")


async def test_a_path_can_not_be_spelled_around_the_routes(
    alone: Envoy, http: httpx2.AsyncClient
) -> None:
    for path in ("/v1/../healthz", "//healthz", "/%76%31/../healthz"):
        request = http.build_request("GET", f"{alone.url}/x")
        request.url = request.url.copy_with(raw_path=path.encode())
        answer = await http.send(request)
        assert answer.text == "ok\n", path


async def test_a_body_over_the_limit_is_told_413(
    start_server: StartServer, start_gateway: StartGateway, http: httpx2.AsyncClient
) -> None:
    gateway = await start_gateway(await start_server(in_turn(), web=True))
    answer = await http.post(f"{gateway.url}/v1/turns:stream", content=b"a" * (BODY_BYTES + 1))
    assert answer.status_code == 413
    told = answer.json()
    assert (told["code"], told["status"], told["details"]) == (8, "RESOURCE_EXHAUSTED", [])
    connect = await http.post(
        f"{gateway.url}/parley.v1.TurnService/Turn", content=b"a" * (BODY_BYTES + 1)
    )
    assert (connect.status_code, connect.json()["code"]) == (413, "resource_exhausted")


async def test_a_preflight_is_answered_for_the_origins_that_are_let_in(
    alone: Envoy, http: httpx2.AsyncClient
) -> None:
    for origin in (APP, "https://evil.example.org", "null"):
        answer = await http.options(
            f"{alone.url}/v1/turns:stream",
            headers={
                "origin": origin,
                "access-control-request-method": "POST",
                "access-control-request-headers": "authorization,content-type",
            },
        )
        assert answer.status_code == 200
        if origin == APP:
            assert answer.headers["access-control-allow-origin"] == APP
            assert "POST" in answer.headers["access-control-allow-methods"]
            allowed = answer.headers["access-control-allow-headers"].split(", ")
            assert {"authorization", "content-type", "connect-protocol-version"} < {*allowed}
        else:
            assert "access-control-allow-origin" not in answer.headers


async def test_in_development_all_origins_may_be_let_in(
    start_gateway: StartGateway, http: httpx2.AsyncClient
) -> None:
    gateway = await start_gateway(cors_origins=("*",))
    answer = await http.get(f"{gateway.url}/v1/pendingAsks", headers={"origin": APP})
    assert answer.headers["access-control-allow-origin"] == APP


async def test_a_request_keeps_the_id_that_its_client_gave(
    alone: Envoy, http: httpx2.AsyncClient
) -> None:
    answer = await http.get(f"{alone.url}/v1/pendingAsks", headers={"x-request-id": "r-1"})
    assert answer.headers["x-request-id"] == "r-1"


async def test_a_client_can_not_tell_envoy_what_to_do(
    start_server: StartServer, start_gateway: StartGateway, http: httpx2.AsyncClient
) -> None:
    server = await start_server(in_turn([Hold("long"), HELLO]), web=True)
    gateway = await start_gateway(server)
    headers = {
        "authorization": f"Bearer {server.token()}",
        "x-envoy-upstream-rq-timeout-ms": "1",
        "x-envoy-expected-rq-timeout-ms": "1",
        "x-envoy-max-retries": "3",
        "x-envoy-retry-on": "5xx",
    }
    body = {"prompt": {"text": "Hello?"}}
    url = f"{gateway.url}/v1/turns:stream"
    async with http.stream("POST", url, json=body, headers=headers) as response:
        assert response.status_code == 200
        lines = [line async for line in released(server, response.aiter_lines())]
    assert any('"done":true' in line for line in lines)


async def released(server: Server, lines: AsyncIterator[str]) -> AsyncIterator[str]:
    """Yields the lines of a stream, whose model goes on from the first."""
    async for line in lines:
        server.model.holds.release("long")
        yield line

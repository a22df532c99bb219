"""Streams that wait behind a proxy which ends what is idle, whatever its connection is pinged.

All is 60 times faster than it is outside: the proxy takes a stream for idle after one second, not
after 60, the server sends an empty response every quarter of a second, and five seconds stand for
five minutes.
"""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from pydantic import JsonValue

from parley.v1 import turns_pb2 as pb
from parleyd.app.gateway.configuration import configuration_of
from parleyd.app.gateway.envoy import envoy_binary, running_envoy
from parleyd.app.gateway.plan import Address, GatewayPlan
from parleyd.contract import limits
from parleyd.models.script import Hold
from parleyd.models.scripted import in_turn
from tests.gateway.conftest import StartGateway
from tests.gateway.transports import TRANSPORTS, Refused
from tests.scripts import HELLO
from tests.server import Server, StartServer

FASTER = 60
IDLE_SECONDS = 60 / FASTER
FIVE_MINUTES = 300 / FASTER
DEADLINE = 20
REQUEST = pb.StreamTurnRequest(prompt=pb.PromptInput(text="Hello?"))


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return await start_server(in_turn([Hold("long"), HELLO]), web=True)


@pytest.fixture
async def proxy(
    server: Server, start_gateway: StartGateway, tmp_path: Path
) -> AsyncIterator[Address]:
    """A proxy before a gateway, that ends streams which are idle."""
    gateway = await start_gateway(server)
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = Address(*free.getsockname())
    plan = GatewayPlan(address, (gateway.address,), (gateway.address,))
    impatient = json.dumps(configuration_of(plan)).replace(
        'idle_timeout": "0s"', f'idle_timeout": "{IDLE_SECONDS}s"'
    )
    async with running_envoy(json.loads(impatient), envoy_binary(None), tmp_path):
        async with asyncio.timeout(DEADLINE), httpx2.AsyncClient() as client:
            while not await answers(client, f"http://{address}/readyz"):
                await asyncio.sleep(0.02)
        yield address


async def answers(client: httpx2.AsyncClient, url: str) -> bool:
    try:
        return (await client.get(url)).status_code == httpx2.codes.OK.value
    except httpx2.TransportError:
        return False


@pytest.fixture
def quiet_for_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "QUIET_SECONDS", limits.QUIET_SECONDS / FASTER)


@pytest.mark.parametrize("name", TRANSPORTS)
@pytest.mark.usefixtures("quiet_for_less")
async def test_bc_103_a_stream_that_waits_outlives_a_proxy_that_ends_idle_ones(
    name: str, server: Server, proxy: Address
) -> None:
    began, stills, shapes = time.monotonic(), 0, list[JsonValue]()
    async with TRANSPORTS[name](proxy, server.token()) as transport:
        async for event in transport.stream(REQUEST):
            if event and event.sequence:
                shapes.append(event.shape)
            elif event is None:
                stills += 1
                if time.monotonic() - began > FIVE_MINUTES:
                    server.model.holds.release("long")
    assert [next(iter(shape)) for shape in shapes if isinstance(shape, dict)] == [
        *("started", "text", "done")
    ]
    assert stills > FIVE_MINUTES / IDLE_SECONDS


async def test_without_a_word_such_a_proxy_does_end_a_stream(
    server: Server, proxy: Address
) -> None:
    began = time.monotonic()
    async with TRANSPORTS["gRPC"](proxy, server.token()) as transport:
        stream = aiter(transport.stream(REQUEST))
        await anext(stream)
        with pytest.raises(Refused):
            await anext(stream)
    assert time.monotonic() - began < FIVE_MINUTES
    server.model.holds.release("long")

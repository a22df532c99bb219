"""Real gateways in front of real servers."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any, Protocol

import httpx2
import pytest

from parleyd.app.gateway.envoy import Envoy, envoy_binary, running_gateway
from parleyd.app.gateway.plan import Address, GatewayPlan
from tests.server import Server

NOWHERE = "127.0.0.1:1"
"""An address that nobody listens on."""


class StartGateway(Protocol):
    """Starts a gateway on a free port; `plan` is more of what it is to do.

    The server has a web front; without a server there is none behind the gateway.
    """

    async def __call__(self, server: Server | None = None, **plan: Any) -> Envoy: ...


@pytest.fixture
async def start_gateway() -> AsyncIterator[StartGateway]:
    async with AsyncExitStack() as gateways:

        async def start(server: Server | None = None, **plan: Any) -> Envoy:
            grpc = server.address if server else NOWHERE
            web = server.web_address if server else NOWHERE
            made = GatewayPlan(
                Address("127.0.0.1", 0), (Address.read(grpc),), (Address.read(web),), **plan
            )
            return await gateways.enter_async_context(running_gateway(made, envoy_binary(None)))

        yield start


@pytest.fixture
async def http() -> AsyncIterator[httpx2.AsyncClient]:
    """A client of HTTP/1.1."""
    async with httpx2.AsyncClient(timeout=30) as client:
        yield client

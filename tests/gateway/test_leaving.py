"""Clients that leave streams through the gateway."""

import asyncio
import time
from uuid import uuid4

import pytest

from parley.v1 import turns_pb2 as pb
from parleyd.app.gateway.plan import Address
from parleyd.models.script import Hold
from parleyd.models.scripted import in_turn
from tests.gateway.conftest import StartGateway
from tests.gateway.transports import TRANSPORTS, Connects, Refused
from tests.scripts import HELLO
from tests.server import StartServer

TIMES = 20
AT_ONCE = 1.0
DEADLINE = 30


@pytest.mark.parametrize("connects", TRANSPORTS.values(), ids=TRANSPORTS)
async def test_bc_108_the_stream_of_a_client_that_left_is_closed_at_once_and_the_turn_goes_on(
    connects: Connects, start_server: StartServer, start_gateway: StartGateway
) -> None:
    # One stream that watches may be open, so each needs the one before it to be closed.
    server = await start_server(in_turn([Hold("long"), HELLO]), web=True, owner_streams=1)
    gateway = await start_gateway(server)
    request = pb.StreamTurnRequest(prompt=pb.PromptInput(text="Hello?"), request_id=str(uuid4()))
    async with asyncio.timeout(DEADLINE):
        for _ in range(TIMES):
            left = time.monotonic()
            while not await looked_in(connects, gateway.address, server.token(), request):
                assert time.monotonic() - left < AT_ONCE
        async with connects(gateway.address, server.token()) as transport:
            sequences = list[int]()
            async for event in transport.stream(request):
                if not sequences:
                    # Who stays is in the way of the next, so those before had gone.
                    assert not await looked_in(connects, gateway.address, server.token(), request)
                    server.model.holds.release("long")
                sequences += [event.sequence] if event and event.sequence else []
    assert sequences == [1, 2, 3]
    assert len(server.model.calls) == 1


async def looked_in(
    connects: Connects, address: Address, token: str, request: pb.StreamTurnRequest
) -> bool:
    """Reads the first event and leaves; says no if another stream is open still."""
    async with connects(address, token) as transport:
        try:
            assert await anext(aiter(transport.stream(request)))
        except Refused as refused:
            if refused.reason != "RATE_LIMITED":
                raise
            return False
    return True

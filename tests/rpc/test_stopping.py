"""How a server stops: what it says to whom, and what becomes of the calls that are open."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing

import pytest
from grpc import StatusCode, aio
from grpc_health.v1.health_pb2 import HealthCheckRequest as Check
from grpc_health.v1.health_pb2 import HealthCheckResponse as Checked

import parley
from parley.v1.turns_pb2 import ListPendingAsksRequest, StreamTurnRequest, TurnRequest
from tests.rpc.requests import refusal
from tests.rpc.wire import Wire

SOON = 10
LONG = 300.0


async def healths(channel: aio.Channel) -> AsyncGenerator[Checked, None]:
    """Watches the health of a server."""
    watch: aio.UnaryStreamMultiCallable[Check, Checked] = channel.unary_stream(
        "/grpc.health.v1.Health/Watch", Check.SerializeToString, Checked.FromString
    )
    call = watch(Check())
    try:
        async for checked in call:
            yield checked
    finally:
        call.cancel()


async def told(call: Awaitable[object]) -> parley.ParleyError:
    """Returns how a call that must fail ends."""
    with pytest.raises(aio.AioRpcError) as raised:
        await call
    return parley.error_of(raised.value)


async def test_a_server_that_is_to_stop_says_so_and_goes_on_with_what_is_open(wire: Wire) -> None:
    gone_on = asyncio.Event()

    async def act() -> None:
        wire.servicer.entered.set()
        await gone_on.wait()

    wire.servicer.act = act
    async with (
        asyncio.timeout(SOON),
        wire.client() as client,
        aclosing(healths(client.channel)) as health,
    ):
        assert (await anext(health)).status == Checked.SERVING
        running = client.turns.Turn(TurnRequest())
        await wire.servicer.entered.wait()
        await wire.serving.refuse_new_calls()
        assert (await anext(health)).status == Checked.NOT_SERVING
        for request in (TurnRequest(), StreamTurnRequest(), ListPendingAsksRequest()):
            error = await refusal(client, request)
            assert (error.code, error.reason) == (StatusCode.UNAVAILABLE, "UNAVAILABLE")
        gone_on.set()
        assert (await running).result.text == "ada"
    assert wire.servicer.calls == 1


async def test_who_is_not_let_in_needs_no_token(wire: Wire) -> None:
    await wire.serving.refuse_new_calls()
    async with wire.client("nonsense") as client:
        error = await refusal(client, TurnRequest())
    assert error.code is StatusCode.UNAVAILABLE


async def test_stopping_waits_for_the_calls_that_are_open(wire: Wire) -> None:
    gone_on = asyncio.Event()

    async def act() -> None:
        wire.servicer.entered.set()
        await gone_on.wait()

    wire.servicer.act = act
    async with asyncio.timeout(SOON), wire.client() as client:
        running = client.turns.Turn(TurnRequest())
        await wire.servicer.entered.wait()
        stopping = asyncio.create_task(wire.serving.stop(LONG))
        await _refused(wire)
        assert not stopping.done()
        gone_on.set()
        assert (await running).result.text == "ada"
        await stopping


async def test_a_call_that_is_open_too_long_is_told_unavailable(wire: Wire) -> None:
    wire.servicer.act = wire.servicer.hang
    async with asyncio.timeout(SOON), wire.client() as client:
        running = client.turns.Turn(TurnRequest())
        stream = client.turns.StreamTurn(StreamTurnRequest())
        await stream.read()
        await wire.servicer.entered.wait()
        await asyncio.gather(wire.serving.stop(0.1), wire.serving.stop(LONG))
        ends = [await told(running), await told(stream.read())]
    for each in ends:
        assert (each.code, each.reason) == (StatusCode.UNAVAILABLE, "UNAVAILABLE")


async def test_a_second_stop_can_make_it_shorter(wire: Wire) -> None:
    wire.servicer.act = wire.servicer.hang
    async with asyncio.timeout(SOON), wire.client() as client:
        running = client.turns.Turn(TurnRequest())
        await wire.servicer.entered.wait()
        stopping = asyncio.create_task(wire.serving.stop(LONG))
        await _refused(wire)
        await wire.serving.stop(0)
        await stopping
        assert (await told(running)).code is StatusCode.UNAVAILABLE


async def test_who_watches_health_does_not_hold_up_the_stop(wire: Wire) -> None:
    async with (
        asyncio.timeout(SOON),
        wire.client() as client,
        aclosing(healths(client.channel)) as health,
    ):
        assert (await anext(health)).status == Checked.SERVING
        await wire.serving.stop(LONG)
        assert (await anext(health)).status == Checked.NOT_SERVING
        assert (await told(anext(health))).code is StatusCode.UNAVAILABLE


async def test_an_address_that_is_taken_can_not_be_had(wire: Wire) -> None:
    host, _, port = wire.target.rpartition(":")
    with pytest.raises(OSError, match=f"The address {wire.target} can't be had"):
        wire.serving.listen(host, int(port))


async def _refused(wire: Wire) -> None:
    """Waits until the server takes no more calls."""
    while True:
        async with wire.client() as client:
            try:
                await client.turns.ListPendingAsks(ListPendingAsksRequest())
            except aio.AioRpcError:
                return

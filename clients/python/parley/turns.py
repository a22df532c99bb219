"""The events of a turn to its end, whatever becomes of servers and connections on the way."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from grpc import aio

from parley.client import Client
from parley.errors import error_of
from parley.following import SILENCE_SECONDS, Following, TurnCall, broke_off, fell_silent
from parley.v1 import turns_pb2 as pb


async def turn_events(
    client: Client, request: TurnCall, *, patience: float = 60
) -> AsyncGenerator[pb.TurnEvent, None]:
    """Starts a turn, or watches one, and yields its events up to `done`: each once, in order.

    Where the stream breaks it goes on with `WatchTurn`, after growing pauses, until no server has
    said a word for `patience` seconds. A request without a `request_id` gets one, so that the turn
    is started once. Leaving early leaves the turn running.

    Previews are among the events. Before a broken stream goes on they are withdrawn by a
    `preview_discarded`, since a server begins them anew. Events newer than these
    stubs are left out.

    Raises:
        ParleyError: The server refuses, or patience is at its end; the turn may run nevertheless.
    """
    following = Following(request, patience)
    while True:
        error = broke_off()
        try:
            async with aclosing(_responses(client, following.request)) as responses:
                async for response in responses:
                    if event := following.news(response):
                        yield event
                    if following.done:
                        return
        except aio.AioRpcError as failed:
            error = error_of(failed)
        except TimeoutError:
            error = fell_silent()
        pause = following.pause(error)
        if event := following.withdrawn():
            yield event
        await asyncio.sleep(pause)


async def _responses(
    client: Client, request: TurnCall
) -> AsyncGenerator[pb.StreamTurnResponse | pb.WatchTurnResponse, None]:
    match request:
        case pb.StreamTurnRequest():
            call = client.turns.StreamTurn(request)
        case _:
            call = client.turns.WatchTurn(request)
    try:
        while True:
            async with asyncio.timeout(SILENCE_SECONDS):
                response = await call.read()
            if not isinstance(response, pb.StreamTurnResponse | pb.WatchTurnResponse):
                return
            yield response
    finally:
        call.cancel()

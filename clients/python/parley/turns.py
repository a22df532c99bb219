"""The events of a turn to its end, whatever becomes of servers and connections on the way."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing
from copy import copy
from time import monotonic
from typing import Final
from uuid import uuid4

from grpc import StatusCode, aio

from parley.client import Client, ParleyError, error_of
from parley.v1 import turns_pb2 as pb

SILENCE_SECONDS: Final = 45.0
"""A connection without a word for so long is dead: a server says something every 15 seconds."""

_PREVIEWS: Final = {"text_preview", "blocks_preview"}
_BROKEN: Final = {
    StatusCode.UNAVAILABLE,  # the server stops, or can't be reached
    StatusCode.CANCELLED,  # the call met a server in the very moment of its stop
    StatusCode.INTERNAL,  # something on the way broke the stream, as in the next
    StatusCode.UNKNOWN,
}


async def turn_events(
    client: Client, request: pb.StreamTurnRequest | pb.WatchTurnRequest, *, patience: float = 60
) -> AsyncGenerator[pb.TurnEvent, None]:
    """Starts a turn, or watches one, and yields its events up to `done`: each once, in order.

    Where the stream breaks it goes on with `WatchTurn`, after growing pauses, until no server has
    said a word for `patience` seconds. A request without a `request_id` gets one, so that the turn
    is started once. Leaving early leaves the turn running.

    Previews are among the events. Before a broken stream goes on they are withdrawn by a
    `preview_discarded`, since a server begins them anew.

    Raises:
        ParleyError: The server refuses, or patience is at its end; the turn may run nevertheless.
    """
    place = _Place(request)
    tries, heard = 0, monotonic()
    while True:
        error = ParleyError(StatusCode.UNAVAILABLE, "The stream ended too early.", "", {}, ())
        try:
            async with aclosing(_responses(client, place)) as responses:
                async for response in responses:
                    tries, heard = 0, monotonic()
                    if response.HasField("event") and place.takes(response.event):
                        yield response.event
                    if place.done:
                        return
        except aio.AioRpcError as failed:
            error = error_of(failed)
            if error.code not in _BROKEN or error.reason not in ("", "UNAVAILABLE"):
                raise error from failed
        except TimeoutError:
            error.message = "The server said nothing for too long."
        if monotonic() - heard > patience:
            raise error
        if place.previewing:
            place.previewing = False
            yield pb.TurnEvent(turn_id=place.turn_id, preview_discarded=pb.PreviewDiscarded())
        await asyncio.sleep(min(0.1 * 2**tries, 5) * random.uniform(0.5, 1))  # noqa: S311 - no secret
        tries += 1


class _Place:
    """Where a client is in a turn: what it sends next, and what is news to it."""

    def __init__(self, request: pb.StreamTurnRequest | pb.WatchTurnRequest) -> None:
        self.request = copy(request)
        self.turn_id, self.sequence = "", 0
        self.previewing = self.done = False
        match self.request:
            case pb.StreamTurnRequest() as own:
                own.request_id = own.request_id or str(uuid4())
            case own:
                self.sequence = own.after_sequence

    def takes(self, event: pb.TurnEvent) -> bool:
        """Moves on by an event. Returns whether it is news."""
        self.turn_id = event.turn_id
        if event.sequence == 0:
            self.previewing = event.WhichOneof("event") in _PREVIEWS
            return True
        if event.sequence <= self.sequence:
            return False
        self.sequence, self.previewing = event.sequence, False
        self.done = event.HasField("done")
        if conversation_id := event.started.conversation_id:
            self.request = pb.WatchTurnRequest(
                conversation_id=conversation_id, turn_id=event.turn_id
            )
        if isinstance(self.request, pb.WatchTurnRequest):
            self.request.after_sequence = event.sequence
        return True


async def _responses(
    client: Client, place: _Place
) -> AsyncGenerator[pb.StreamTurnResponse | pb.WatchTurnResponse, None]:
    match place.request:
        case pb.StreamTurnRequest() as request:
            call = client.turns.StreamTurn(request)
        case request:
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

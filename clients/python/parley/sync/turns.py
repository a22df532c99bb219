"""The events of a turn to its end, without asyncio."""

from collections.abc import Generator
from contextlib import closing
from threading import Event, Timer
from time import sleep

import grpc

from parley.errors import error_of
from parley.following import SILENCE_SECONDS, Following, TurnCall, broke_off, fell_silent
from parley.sync.client import Client
from parley.v1 import turns_pb2 as pb


def turn_events(
    client: Client, request: TurnCall, *, patience: float = 60
) -> Generator[pb.TurnEvent, None, None]:
    """Starts a turn, or watches one, and yields its events up to `done`: each once, in order.

    It does what `parley.turn_events` does, and waits in the calling thread.

    Raises:
        ParleyError: The server refuses, or patience is at its end; the turn may run nevertheless.
    """
    following = Following(request, patience)
    while True:
        error = broke_off()
        try:
            with closing(_responses(client, following.request)) as responses:
                for response in responses:
                    if event := following.news(response):
                        yield event
                    if following.done:
                        return
        except grpc.RpcError as failed:
            error = error_of(failed)
        except TimeoutError:
            error = fell_silent()
        pause = following.pause(error)
        if event := following.withdrawn():
            yield event
        sleep(pause)


def _responses(
    client: Client, request: TurnCall
) -> Generator[pb.StreamTurnResponse | pb.WatchTurnResponse, None, None]:
    match request:
        case pb.StreamTurnRequest():
            call = client.turns.StreamTurn(request)
        case _:
            call = client.turns.WatchTurn(request)
    silent = Event()

    def hush() -> None:
        silent.set()
        call.cancel()

    try:
        while True:
            # For the reading alone: who takes long over an event may.
            silence = Timer(SILENCE_SECONDS, hush)
            silence.daemon = True
            silence.start()
            try:
                response = next(call, None)
            finally:
                silence.cancel()
            if response is None:
                return
            yield response
    except grpc.RpcError as failed:
        if silent.is_set():
            raise TimeoutError from failed
        raise
    finally:
        call.cancel()

"""The events of a turn to its end, without asyncio."""

from collections.abc import Generator
from contextlib import closing, contextmanager
from threading import Event, Thread
from time import monotonic, sleep

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
    silence = _Silence(call)
    try:
        while True:
            with silence.watched():
                response = next(call, None)
            if response is None:
                return
            yield response
    except grpc.RpcError as failed:
        if silence.fell:
            raise TimeoutError from failed
        raise
    finally:
        silence.over.set()
        call.cancel()


class _Silence:
    """Cancels a call that says nothing for too long, from one thread, until it is `over`.

    The time counts while it is read from: who takes long over an event may.
    """

    def __init__(self, call: grpc.RpcContext) -> None:
        self.fell = False
        """Whether it was cancelled for that."""
        self.over = Event()
        self._call = call
        self._since: float | None = None
        Thread(target=self._watch, name="parley-silence", daemon=True).start()

    @contextmanager
    def watched(self) -> Generator[None]:
        """Counts the time of one reading."""
        self._since = monotonic()
        try:
            yield
        finally:
            self._since = None

    def _watch(self) -> None:
        # A reading that begins while this waits is not over its time before this looks again.
        left = SILENCE_SECONDS
        while not self.over.wait(left):
            since = self._since
            left = SILENCE_SECONDS + (0 if since is None else since - monotonic())
            if left <= 0:
                self.fell = True
                self._call.cancel()
                return

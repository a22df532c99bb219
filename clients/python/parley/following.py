"""What following a turn needs to know, however its calls are made."""

from copy import copy
from time import monotonic
from typing import Final, TypeAlias
from uuid import uuid4

from grpc import StatusCode

from parley.errors import ParleyError, is_unavailable
from parley.repeats import pause_seconds
from parley.v1 import turns_pb2 as pb

SILENCE_SECONDS: Final = 45.0
"""A connection without a word for so long is dead: a server says something every 15 seconds."""

TurnCall: TypeAlias = pb.StreamTurnRequest | pb.WatchTurnRequest
"""Starts a turn, or watches one."""

_BROKEN: Final = {
    StatusCode.CANCELLED,  # the call met a server in the very moment of its stop
    StatusCode.INTERNAL,  # something on the way broke the stream, as in the next
    StatusCode.UNKNOWN,
}


def broke_off(why: str = "The stream ended too early.") -> ParleyError:
    """Returns the error of a stream that broke without a status."""
    return ParleyError(StatusCode.UNAVAILABLE, why, "", {}, ())


def fell_silent() -> ParleyError:
    """Returns the error of a stream that said nothing for `SILENCE_SECONDS`."""
    return broke_off("The server said nothing for too long.")


class Following:
    """Where a client is in a turn: what it sends next, what is news to it, when it gives up."""

    def __init__(self, request: TurnCall, patience: float) -> None:
        self.done = False
        """Whether the turn has ended."""
        self._request = copy(request)
        self._patience = patience
        self._turn_id, self._sequence = "", 0
        self._previewing = False
        self._tries, self._heard = 0, monotonic()
        match self._request:
            case pb.StreamTurnRequest() as own:
                own.request_id = own.request_id or str(uuid4())
            case own:
                self._sequence = own.after_sequence

    @property
    def request(self) -> TurnCall:
        """The request to send, or to send next."""
        request = copy(self._request)
        if isinstance(request, pb.WatchTurnRequest):
            request.after_sequence = self._sequence
        return request

    def news(self, response: pb.StreamTurnResponse | pb.WatchTurnResponse) -> pb.TurnEvent | None:
        """Moves on by what a server said. Returns the event in it, if there is one to pass on."""
        self._tries, self._heard = 0, monotonic()
        return self._moved(response.event) if response.HasField("event") else None

    def pause(self, error: ParleyError) -> float:
        """Returns how long to wait before the stream that broke goes on.

        Raises:
            ParleyError: It does not: the server refuses, or patience is at its end.
        """
        broken = is_unavailable(error) or (error.reason == "" and error.code in _BROKEN)
        if not broken or monotonic() - self._heard > self._patience:
            raise error
        self._tries += 1
        return pause_seconds(self._tries - 1)

    def withdrawn(self) -> pb.TurnEvent | None:
        """Returns the event that withdraws previews, if there are any: a server begins anew."""
        if not self._previewing:
            return None
        self._previewing = False
        return pb.TurnEvent(turn_id=self._turn_id, preview_discarded=pb.PreviewDiscarded())

    def _moved(self, event: pb.TurnEvent) -> pb.TurnEvent | None:
        name = event.WhichOneof("event")
        self._turn_id = event.turn_id
        if event.sequence == 0:
            if name:
                self._previewing = name != "preview_discarded"
            return event if name else None
        if event.sequence <= self._sequence:
            return None
        self._sequence = event.sequence
        self.done = name == "done"
        if name == "started":
            self._request = pb.WatchTurnRequest(
                conversation_id=event.started.conversation_id, turn_id=event.turn_id
            )
        if not name:  # a newer server's: it ends previews, as every event with a number does
            return self.withdrawn()
        self._previewing = False
        return event

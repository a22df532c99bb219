"""Asking a person on behalf of an agent that runs elsewhere, and waiting for what they say.

Beside the client's package this needs nothing; the adapters for agent frameworks are built on it.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import Final, TypeAlias

from google.protobuf.duration_pb2 import Duration
from grpc import StatusCode, aio

from parley.client import Client
from parley.errors import ParleyError, error_of, is_unavailable
from parley.repeats import pause_seconds
from parley.v1.asks_pb2 import AcceptAnswer, AskInput
from parley.v1.service_asks_pb2 import (
    Ask,
    CancelAskRequest,
    CreateAskRequest,
    WaitAskRequest,
)
from parley.v1.turns_pb2 import Surface

_CREATE_SECONDS: Final = 15
_WAIT_SECONDS: Final = 30
_ANSWER_SECONDS: Final = 15
"""How much later than it should a call of a wait may come back: the connection is dead then."""
_EXPIRED: Final = "expired"


@dataclass(frozen=True)
class Accepted:
    """The person answered. That may be a no: see `answer`."""

    answer: AcceptAnswer


@dataclass(frozen=True)
class Declined:
    """The person skipped the question."""


@dataclass(frozen=True)
class Cancelled:
    """The question was dropped: `user_sent_message` says that the person wrote something else."""

    reason: str


@dataclass(frozen=True)
class Expired:
    """Nobody answered in time. It is not a no."""


Outcome: TypeAlias = Accepted | Declined | Cancelled | Expired


def outcome_of(ask: Ask) -> Outcome:
    """Returns what became of an ask that is pending no more.

    Raises:
        ValueError: It is pending.
    """
    match ask.answer.WhichOneof("action"):
        case "accept":
            return Accepted(ask.answer.accept)
        case "decline":
            return Declined()
        case "cancel" if ask.answer.cancel.reason == _EXPIRED:
            return Expired()
        case "cancel":
            return Cancelled(ask.answer.cancel.reason)
        case _:
            raise ValueError(f"The ask {ask.ask_id} is not resolved yet.")


@dataclass(frozen=True)
class Asker:
    """Asks the owner of one conversation, with a client whose token is that of a service.

    `ttl` says how long the person may take, for good when absent. With `visible_to_model` the
    conversation's own model sees question and answer later. `patience` is for how many seconds no
    server may say a word before waiting is given up, `slot_patience` for how many the conversation
    may wait on another question before this one is given up.
    """

    client: Client
    conversation_id: str
    owner: str
    ttl: timedelta | None = None
    surface: Surface.ValueType = Surface.SURFACE_UNSPECIFIED
    visible_to_model: bool = False
    patience: float = 60
    slot_patience: float = 0

    async def ask(self, question: AskInput, *, request_id: str) -> Ask:
        """Asks, and returns the ask once it is pending no more, however long that takes.

        A repeat with the same request id, a UUID, is about the same ask: while that waits, and for
        24 hours after it was made. So a process that died while it waited asks again, and is told
        what the person said meanwhile. The ask stays when waiting is given up.

        Raises:
            ParleyError: The question is refused, as with ASK_ALREADY_PENDING where the conversation
                waits on another one for longer than `slot_patience`, or no server can be reached.
        """
        return await self.wait(await self.create(question, request_id=request_id))

    async def create(self, question: AskInput, *, request_id: str) -> Ask:
        """Asks, and returns the ask at once. See `ask` for a repeat.

        Raises:
            ParleyError: The question is refused, or no server can be reached.
        """
        request = CreateAskRequest(
            conversation_id=self.conversation_id,
            owner=self.owner,
            input=question,
            surface=self.surface,
            ttl=None if self.ttl is None else _duration(self.ttl),
            request_id=request_id,
            visible_to_model=self.visible_to_model,
        )
        silence = _Patience(self.patience, _is_silence)
        slot = _Patience(self.slot_patience, _is_taken)
        while True:
            try:
                return (await self.client.asks.CreateAsk(request, timeout=_CREATE_SECONDS)).ask
            except aio.AioRpcError as failed:
                error = error_of(failed)
            if _is_taken(error):
                silence = _Patience(self.patience, _is_silence)
                await asyncio.sleep(slot.pause(error))
            else:
                await asyncio.sleep(silence.pause(error))

    async def wait(self, ask: Ask) -> Ask:
        """Returns an ask as soon as it is pending no more. Servers may come and go meanwhile.

        Raises:
            ParleyError: No server can be reached, or the token is refused.
        """
        request = WaitAskRequest(ask_id=ask.ask_id, timeout=Duration(seconds=_WAIT_SECONDS))
        silence = _Patience(self.patience, _is_silence)
        while ask.status == Ask.STATUS_PENDING:
            try:
                call = self.client.asks.WaitAsk(request, timeout=_WAIT_SECONDS + _ANSWER_SECONDS)
                ask = (await call).ask
                silence = _Patience(self.patience, _is_silence)
            except aio.AioRpcError as failed:
                await asyncio.sleep(silence.pause(error_of(failed)))
        return ask

    async def cancel(self, ask: Ask, reason: str = "") -> Ask:
        """Withdraws an ask. One that was resolved before is returned as it is.

        Raises:
            ParleyError: No server can be reached.
        """
        request = CancelAskRequest(ask_id=ask.ask_id, reason=reason)
        try:
            return (await self.client.asks.CancelAsk(request)).ask
        except aio.AioRpcError as failed:
            raise error_of(failed) from failed


class _Patience:
    """How long one obstacle is waited out: no server says a word, or the slot is taken."""

    def __init__(self, seconds: float, obstacle: Callable[[ParleyError], bool]) -> None:
        self._ends = monotonic() + seconds
        self._obstacle = obstacle
        self._tries = 0

    def pause(self, error: ParleyError) -> float:
        """Returns how long to wait before the next try.

        Raises:
            ParleyError: There is none: a server refuses, or patience is at its end.
        """
        if not self._obstacle(error) or monotonic() > self._ends:
            raise error
        self._tries += 1
        return pause_seconds(self._tries - 1)


def _is_silence(error: ParleyError) -> bool:
    lost = (StatusCode.DEADLINE_EXCEEDED, StatusCode.CANCELLED, StatusCode.INTERNAL)
    return is_unavailable(error) or (error.reason == "" and error.code in lost)


def _is_taken(error: ParleyError) -> bool:
    return error.reason == "ASK_ALREADY_PENDING"


def _duration(span: timedelta) -> Duration:
    duration = Duration()
    duration.FromTimedelta(span)
    return duration

"""One call of the model, repeated where it failed before it said anything (spec turns 3.4.5)."""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

import structlog

from parleyd.contract import limits
from parleyd.turns.model import (
    CallPart,
    Model,
    ModelCall,
    ModelFailed,
    Part,
    StreamPart,
    TextPart,
    UsagePart,
)
from parleyd.turns.stops import Stops, is_stopped

PASSING = frozenset({"rate_limit", "server", "timeout"})
"""Failures that may be over in a moment."""

log = structlog.stdlib.get_logger()


@dataclass
class Spoken:
    """What a model call has said so far: its parts as they came, and the tokens it used."""

    parts: list[Part] = field(default_factory=list[Part])
    tokens: int | None = None

    @property
    def text(self) -> str:
        """Returns the text for the person."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def calls(self) -> list[CallPart]:
        """Returns the tool calls, in order."""
        return [part for part in self.parts if isinstance(part, CallPart)]


class ModelCaller:
    """Makes the model calls of one turn.

    `heard` is told of every part of the message as it comes. `tokens` sums up what all calls used.
    """

    def __init__(
        self, model: Model, stops: Stops, idle_seconds: float, heard: Callable[[Part], None]
    ) -> None:
        self._model = model
        self._stops = stops
        self._idle_seconds = idle_seconds
        self._heard = heard
        self.tokens: int | None = None

    async def call(self, call: ModelCall, heard: Callable[[Part], None] | None = None) -> Spoken:
        """Returns all that one call said. Its parts are told to `heard` instead, if there is one.

        Raises:
            ModelFailed: It failed after a part, or in a way that won't pass, or too often.
            HandedOver, Fenced, TimeOver: The turn is stopped; what was said is nothing then.
        """
        for waits in limits.MODEL_REPEAT_WAITS:
            spoken = Spoken()
            try:
                return await self._stream(call, spoken, heard or self._heard)
            except ModelFailed as error:
                seconds = _wait_before_repeat(error, spoken, waits)
                if seconds is None:
                    raise
                log.info("model_call_repeated", kind=error.kind, after_seconds=round(seconds, 2))
            async with self._stops.within():
                await asyncio.sleep(seconds)
        return await self._stream(call, Spoken(), heard or self._heard)

    async def _stream(
        self, call: ModelCall, spoken: Spoken, heard: Callable[[Part], None]
    ) -> Spoken:
        await self._stops.sure()
        try:
            async with (
                self._stops.within(self._idle_seconds) as stop,
                aclosing(_told(self._model.stream(call))) as stream,
            ):
                async for part in stream:
                    self._stops.renew(stop)
                    if isinstance(part, UsagePart):
                        spoken.tokens = part.tokens
                        continue
                    spoken.parts.append(part)
                    heard(part)
                stop.check()  # an adapter may end early for it, and not say so
        except TimeoutError as error:
            raise ModelFailed(
                "timeout", f"The model said nothing for {self._idle_seconds} s."
            ) from error
        finally:
            if spoken.tokens is not None:
                self.tokens = (self.tokens or 0) + spoken.tokens
        return spoken


async def _told(stream: AsyncGenerator[StreamPart, None]) -> AsyncGenerator[StreamPart, None]:
    """Yields parts, and closes their stream.

    What means a stop where we raise it is a failure like any other where an adapter does.

    Raises:
        ModelFailed: The adapter says so, ran out of its own time, or had a task cancelled.
    """
    try:
        async with aclosing(stream):
            async for part in stream:
                yield part
    except TimeoutError as error:
        if is_stopped():
            raise
        raise ModelFailed("timeout", str(error) or "The adapter ran out of time.") from error
    except asyncio.CancelledError as error:
        if is_stopped():
            raise
        raise ModelFailed("other", "A task of the adapter's own was cancelled.") from error


def _wait_before_repeat(
    error: ModelFailed, spoken: Spoken, waits: tuple[float, float]
) -> float | None:
    """Returns how long to wait before the call is repeated; None where it must not be."""
    if spoken.parts or error.kind not in PASSING:
        return None
    seconds = random.uniform(*waits)  # noqa: S311 - spreads repeats, guards nothing
    if error.wait_seconds is None or error.wait_seconds <= seconds:
        return seconds
    return error.wait_seconds if error.wait_seconds <= limits.MODEL_WAIT_SECONDS else None

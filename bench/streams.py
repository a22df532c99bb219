"""Very many streams that are open at once: what they do, and when they hear of something."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import grpc

OPENING_AT_ONCE = 50
Hears: TypeAlias = Callable[[], AsyncIterator[None]]
"""Opens a stream that yields once when it is attached, and again for what it has waited for."""


@dataclass
class Stream:
    """An open stream: when it heard of what it waited for, and whether it broke before."""

    heard: float | None = None
    broken: grpc.StatusCode | None = None
    attached: asyncio.Event = field(default_factory=asyncio.Event)

    async def follow(self, hears: Hears) -> None:
        """Follows the stream to its end."""
        try:
            async for _ in hears():
                if self.attached.is_set():
                    self.heard = self.heard or time.perf_counter()
                self.attached.set()
        except grpc.aio.AioRpcError as error:
            self.broken = error.code()
        finally:
            self.attached.set()


class Streams:
    """Streams of one server. They are all followed by tasks of `group`."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self._group = group
        self._streams: list[Stream] = []
        self._following: list[asyncio.Task[None]] = []

    async def open(self, hears: Sequence[Hears]) -> None:
        """Opens more streams, some at a time, and returns when all are attached."""
        for start in range(0, len(hears), OPENING_AT_ONCE):
            opened = [(Stream(), each) for each in hears[start : start + OPENING_AT_ONCE]]
            for stream, each in opened:
                self._following.append(self._group.create_task(stream.follow(each)))
            await asyncio.gather(*(stream.attached.wait() for stream, _ in opened))
            self._streams += [stream for stream, _ in opened]

    async def latencies(self, since: float) -> list[float]:
        """Waits until all have ended; returns how long after `since` each heard, in seconds."""
        await asyncio.gather(*self._following)
        return [stream.heard - since for stream in self._streams if stream.heard]

    @property
    def count(self) -> int:
        """Counts the streams."""
        return len(self._streams)

    @property
    def broken(self) -> int:
        """Counts those that broke."""
        return sum(stream.broken is not None for stream in self._streams)

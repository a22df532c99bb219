"""Runs a coroutine many times at a fixed concurrency and keeps the latencies."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Measured:
    """What a run took: its wall time and each repetition's latency, in seconds."""

    wall: float
    latencies: tuple[float, ...]

    @property
    def per_second(self) -> float:
        """Returns repetitions per second of wall time."""
        return len(self.latencies) / self.wall

    def percentile(self, percent: float) -> float:
        """Returns the latency that `percent` of the repetitions stay within, in milliseconds."""
        return percentile(self.latencies, percent) * 1000


def percentile(values: Sequence[float], percent: float) -> float:
    """Returns the value that `percent` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


async def measure(once: Callable[[], Awaitable[None]], *, times: int, concurrency: int) -> Measured:
    """Runs `once` `times` times, `concurrency` of them at a time."""
    latencies: list[float] = []
    left = times

    async def worker() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            start = time.perf_counter()
            await once()
            latencies.append(time.perf_counter() - start)

    start = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(concurrency):
            group.create_task(worker())
    return Measured(time.perf_counter() - start, tuple(latencies))

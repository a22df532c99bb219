"""What moving the bytes of files costs without Parley, measured in the run it is compared with."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TypeAlias

import grpc

from bench.echo import POUR, SINK
from bench.servers import server_process
from parley.transfers import CHUNK_BYTES

Floor: TypeAlias = Callable[[], Awaitable[None]]
_Sink: TypeAlias = "grpc.aio.StreamUnaryMultiCallable[bytes, bytes]"
_Pour: TypeAlias = "grpc.aio.UnaryStreamMultiCallable[bytes, bytes]"


class Floors:
    """A bare grpc.aio server, and a folder on the disk that Parley's files are on."""

    def __init__(self, channel: grpc.aio.Channel, folder: Path) -> None:
        self._sink: _Sink = channel.stream_unary(SINK)
        self._pour: _Pour = channel.unary_stream(POUR)
        self._folder = folder

    async def streamed(self, data: bytes) -> None:
        """Sends bytes as an upload does, to a server that drops them."""
        await self._sink(_pieces(data, CHUNK_BYTES))

    async def streamed_at_once(self, data: bytes, count: int) -> None:
        """Sends bytes as several uploads do, side by side."""
        await asyncio.gather(*(self.streamed(data) for _ in range(count)))

    async def sent(self, data: bytes) -> None:
        """Sends bytes in one message."""
        await self._sink(_pieces(data, len(data)))

    async def poured(self, size: int) -> None:
        """Gets so many bytes as a download does."""
        async for _ in self._pour(str(size).encode()):
            pass

    async def written(self, data: bytes, *, synced: bool) -> None:
        """Writes a file."""
        await asyncio.to_thread(_write, self._folder / "written", data, synced=synced)

    async def read(self, data: bytes, count: int) -> None:
        """Reads a file of such bytes so many times, one after the other."""
        path = self._folder / "read"
        if not path.exists():
            path.write_bytes(data)
        for _ in range(count):
            await asyncio.to_thread(path.read_bytes)


@asynccontextmanager
async def floors() -> AsyncGenerator[Floors]:
    """Yields floors, which end with the context."""
    with TemporaryDirectory(prefix="parley-bench-") as folder:
        async with (
            server_process("bench.echo") as server,
            grpc.aio.insecure_channel(server.address) as channel,
        ):
            yield Floors(channel, Path(folder))


async def median_seconds(floor: Floor, times: int) -> float:
    """Returns what a floor takes, without its first time."""
    await floor()
    seconds: list[float] = []
    for _ in range(times):
        start = time.perf_counter()
        await floor()
        seconds.append(time.perf_counter() - start)
    return median(seconds)


async def _pieces(data: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


def _write(path: Path, data: bytes, *, synced: bool) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        if synced:
            os.fsync(file.fileno())

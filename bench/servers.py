"""Server processes of the benchmarks: started, spoken to, looked at and killed."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

import parley
from parley import Client
from parleyd.app.development_key import DevelopmentKey

LIFETIME = timedelta(hours=1)
OWNER = "noor"
CHANNELS = 8
"""Connections of a client that does much at once."""
PATIENT: dict[str, float] = {
    "owner_turns": 100_000,
    "owner_streams": 100_000,
    "turn_seconds": 3600,
    "model_idle_seconds": 3600,
}
"""Limits that no benchmark is to meet."""


class ServerProcess:
    """A server of ours that listens at `address`."""

    def __init__(self, process: asyncio.subprocess.Process, address: str) -> None:
        self.address = address
        self._process = process
        self._seen = psutil.Process(process.pid)

    @property
    def pid(self) -> int:
        """Returns the id of the process."""
        return self._process.pid

    @property
    def cpu_seconds(self) -> float:
        """Returns the processor time that the process has had so far."""
        times = self._seen.cpu_times()
        return times.user + times.system

    @property
    def resident_bytes(self) -> int:
        """Returns the memory that the process holds."""
        return self._seen.memory_info().rss

    async def tell(self, line: str) -> None:
        """Sends a line to the process: of Parley, the name of a hold to release."""
        assert self._process.stdin
        self._process.stdin.write(f"{line}\n".encode())
        await self._process.stdin.drain()

    def kill(self) -> None:
        """Ends the process at once, as a crash does."""
        self._process.kill()

    def terminate(self) -> None:
        """Tells the process to stop, as an init system does."""
        self._process.send_signal(signal.SIGTERM)


@asynccontextmanager
async def server_process(*command: str) -> AsyncGenerator[ServerProcess]:
    """Runs a server, `python -m …`, which prints its address first and stops with its input."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        *command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin
    assert process.stdout
    try:
        address = (await process.stdout.readline()).decode().strip()
        assert address, f"it did not start: python -m {command[0]}"
        yield ServerProcess(process, address)
    finally:
        process.stdin.close()
        await process.wait()


class Fleet:
    """Servers of Parley that trust the same tokens."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = DevelopmentKey.in_folder(folder)

    def token(self, owner: str = OWNER) -> str:
        """Returns a token of somebody."""
        return self._key.issue(owner, LIFETIME)

    @asynccontextmanager
    async def server(
        self, url: str, script: str = "ask", **settings: float
    ) -> AsyncGenerator[ServerProcess]:
        """Runs a server with a script of `bench.scripts` on the database at `url`."""
        patient = json.dumps(PATIENT | settings)
        command = ("bench.server", url, str(self._folder))
        async with server_process(*command, "--script", script, "--settings", patient) as server:
            yield server

    @asynccontextmanager
    async def clients(
        self, server: ServerProcess, count: int = 1, owner: str = OWNER
    ) -> AsyncGenerator[list[Client]]:
        """Yields connections of one person."""
        token = self.token(owner)
        async with AsyncExitStack() as stack:
            yield [
                await stack.enter_async_context(parley.connect(server.address, token))
                for _ in range(count)
            ]


@asynccontextmanager
async def fleet() -> AsyncGenerator[Fleet]:
    """Yields a fleet without servers yet."""
    with TemporaryDirectory(prefix="parley-bench-") as folder:
        yield Fleet(Path(folder))

"""`parleyd` as its users start it: a process of its own."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

COMMAND = Path(sys.executable).with_name("parleyd")
DEADLINE = 60


@dataclass(frozen=True)
class Ended:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Serving:
    """A service that has said where it listens. `token` is empty outside development."""

    process: asyncio.subprocess.Process
    address: str
    token: str


def environment(folder: Path, **variables: str) -> dict[str, str]:
    """Returns an environment without settings but these; the data folder is `folder`.

    A service serves gRPC alone then, unless a variable says else.
    """
    ours = ("PARLEY_", "GEMINI_")
    plain = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**plain, "PARLEY_DATA_DIR": str(folder), "PARLEY_WEB": "false", **variables}


async def run(*arguments: str, env: dict[str, str], typed: bytes = b"") -> Ended:
    """Runs a command to its end; `typed` is its standard input."""
    process = await asyncio.create_subprocess_exec(
        COMMAND,
        *arguments,
        env=env,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(DEADLINE):
            out, err = await process.communicate(typed)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())


@asynccontextmanager
async def serve(*arguments: str, env: dict[str, str]) -> AsyncGenerator[Serving]:
    """Runs `parleyd serve` and yields once it listens; stops it unless the test did."""
    process = await asyncio.create_subprocess_exec(
        COMMAND, "serve", *arguments, env=env, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout
        async with asyncio.timeout(DEADLINE):
            first = (await process.stdout.readline()).decode()
            assert first.startswith("Parley listens on "), "see standard error"
            address = first.removeprefix("Parley listens on ").removesuffix(".\n")
            token = ""
            if "--development" in arguments:
                await process.stdout.readline()
                token = (await process.stdout.readline()).decode().strip()
        yield Serving(process, address, token)
    finally:
        await stop(process)


async def stop(process: asyncio.subprocess.Process) -> int:
    """Tells a process to stop, as an init system does, and returns its exit code."""
    if process.returncode is None:
        process.send_signal(signal.SIGTERM)
    try:
        async with asyncio.timeout(DEADLINE):
            return await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise


def processes_in(folder: Path) -> list[str]:
    """Returns the command lines of the processes that name a folder: a server's, for one."""
    lines = [
        " ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])
    ]
    return [line for line in lines if str(folder) in line]


def names_in(folder: Path) -> list[str]:
    """Returns what a folder holds."""
    return sorted(path.name for path in folder.iterdir())

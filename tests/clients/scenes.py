"""Programs of clients in other languages: scenes, which say what they see, and those of pages."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.clients.cutting_proxy import CuttingProxy
from tests.server import Server

SOON = 30


class Scene:
    """A scene that plays. Every word is a line of JSON."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def word(self) -> Any:
        """Returns the next word."""
        assert self._process.stdout
        async with asyncio.timeout(SOON):
            line = await self._process.stdout.readline()
        assert line, "the scene is over"
        return json.loads(line)

    async def hear_of(self, name: str) -> None:
        """Waits for the event with this name."""
        while (await self.word())["name"] != name:
            pass

    async def words(self) -> list[Any]:
        """Returns all words that are still to come, once the scene has ended well."""
        assert self._process.stdout
        async with asyncio.timeout(SOON):
            lines = (await self._process.stdout.read()).splitlines()
            assert await self._process.wait() == 0, "the scene failed: see standard error"
        return [json.loads(line) for line in lines]


@asynccontextmanager
async def scene_of(*command: str, **environment: str) -> AsyncGenerator[Scene]:
    """Plays the scene that a command runs, until it is left."""
    process = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, **environment}, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield Scene(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def ran(*command: str, folder: Path, **environment: str) -> list[str]:
    """Runs a program that ends by itself, and returns the lines that it prints."""
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env={**os.environ, **environment}, stdout=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(SOON):
            printed, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, "the program failed: see standard error"
    return printed.decode().splitlines()


async def stop_and_cut(server: Server, proxy: CuttingProxy) -> None:
    """Stops a server, and then what keeps connections with its gateway."""
    await server.stop()
    proxy.cut()

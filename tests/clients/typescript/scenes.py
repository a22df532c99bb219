"""Scenes of the TypeScript client: programs of its own, which say what they see."""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

REPOSITORY: Final = Path(__file__).parents[3]
CLIENT: Final = REPOSITORY / "clients" / "typescript"
PROGRAM: Final = CLIENT / "build" / "tests" / "scenes.js"

SOON = 30


def npm(*arguments: str) -> None:
    """Runs npm in the client's folder.

    Raises:
        AssertionError: It fails; says what it said.
    """
    run = subprocess.run(
        ["npm", *arguments], cwd=CLIENT, check=False, capture_output=True, text=True
    )
    assert run.returncode == 0, f"npm {' '.join(arguments)}\n{run.stdout}\n{run.stderr}"


@pytest.fixture(scope="session")
def built() -> Path:
    """Installs what the client needs, checks all its types, and compiles it with its tests.

    Returns the folder with what came of it.
    """
    install = ["make", "--silent", "typescript"]
    made = subprocess.run(install, cwd=REPOSITORY, check=True, capture_output=True, text=True)
    if "Node 20 or newer is not here" in made.stdout:
        pytest.skip(made.stdout.strip())
    npm("run", "build:tests")
    return CLIENT / "build"


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

    async def words(self) -> list[Any]:
        """Returns all words that are still to come, once the scene has ended well."""
        assert self._process.stdout
        async with asyncio.timeout(SOON):
            lines = (await self._process.stdout.read()).splitlines()
            assert await self._process.wait() == 0, "the scene failed: see standard error"
        return [json.loads(line) for line in lines]


@asynccontextmanager
async def scene(
    name: str, protocol: str, base_url: str, *tokens: str, **environment: str
) -> AsyncGenerator[Scene]:
    """Plays a scene of the client's `tests/scenes.ts` until it is left."""
    process = await asyncio.create_subprocess_exec(
        *("node", str(PROGRAM), name, protocol, base_url, *tokens),
        env={**os.environ, **environment},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield Scene(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def played(
    name: str, protocol: str, base_url: str, *tokens: str, **environment: str
) -> list[Any]:
    """Plays a scene and returns what it said."""
    async with scene(name, protocol, base_url, *tokens, **environment) as playing:
        return await playing.words()


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

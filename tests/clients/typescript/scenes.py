"""Scenes of the TypeScript client: programs of its own, which say what they see."""

import subprocess
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final

import pytest

from tests.clients.scenes import Scene, scene_of

REPOSITORY: Final = Path(__file__).parents[3]
CLIENT: Final = REPOSITORY / "clients" / "typescript"
PROGRAM: Final = CLIENT / "build" / "tests" / "scenes.js"


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


def scene(
    name: str, protocol: str, base_url: str, *tokens: str, **environment: str
) -> AbstractAsyncContextManager[Scene]:
    """Plays a scene of the client's `tests/scenes.ts` until it is left."""
    return scene_of("node", str(PROGRAM), name, protocol, base_url, *tokens, **environment)


async def played(
    name: str, protocol: str, base_url: str, *tokens: str, **environment: str
) -> list[Any]:
    """Plays a scene and returns what it said."""
    async with scene(name, protocol, base_url, *tokens, **environment) as playing:
        return await playing.words()

"""Scenes of the Kotlin client: programs of its own, which say what they see."""

import os
import re
import shutil
import subprocess
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final

import pytest

from tests.clients.scenes import Scene, scene_of

REPOSITORY: Final = Path(__file__).parents[3]
CLIENT: Final = REPOSITORY / "clients" / "kotlin"
TARGET: Final = CLIENT / "target"
UNRESOLVED: Final = re.compile(r"could not (be resolved|resolve|transfer|find artifact)", re.I)


def maven(*arguments: str, folder: Path = CLIENT) -> None:
    """Runs Maven in the client's folder, or in another.

    Raises:
        AssertionError: It fails; says what it said.
    """
    run = subprocess.run(
        ["mvn", "--quiet", "--batch-mode", *arguments],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
    )
    said = f"mvn {' '.join(arguments)}\n{run.stdout}\n{run.stderr}"
    if run.returncode and UNRESOLVED.search(said):
        pytest.skip(f"Maven can't get what the Kotlin client is built with:\n{said}")
    assert run.returncode == 0, said


@pytest.fixture(scope="session")
def built() -> str:
    """Compiles the client with its tests. Returns the class path of what came of it."""
    if not (shutil.which("mvn") and shutil.which("java")):
        pytest.skip("Maven is not here: install it, and Java 17, to test the Kotlin client.")
    maven("test-compile")
    others = (TARGET / "classpath").read_text(encoding="utf-8")
    return os.pathsep.join([str(TARGET / "classes"), str(TARGET / "test-classes"), others])


def java(class_path: str, program: str, *arguments: str) -> list[str]:
    """Returns how to run a compiled program; short-lived as it is, it is started quickly."""
    return ["java", "-XX:TieredStopAtLevel=1", "-cp", class_path, program, *arguments]


def scene(
    class_path: str, name: str, base_url: str, *tokens: str
) -> AbstractAsyncContextManager[Scene]:
    """Plays a scene of the client's `Scenes.kt` until it is left."""
    return scene_of(*java(class_path, "parley.ScenesKt", name, base_url, *tokens))


async def played(class_path: str, name: str, base_url: str, *tokens: str) -> list[Any]:
    """Plays a scene and returns what it said."""
    async with scene(class_path, name, base_url, *tokens) as playing:
        return await playing.words()

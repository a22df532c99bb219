"""The person's own editor, in which they write what is longer than a line."""

import asyncio
import os
import shlex
import tempfile
from pathlib import Path

_NAME = "draft.md"


class EditorFailed(Exception):
    """The person gave up in the editor, or it did; what was written there is gone."""


class EditorMissing(Exception):
    """There is no such editor."""


def editor_command() -> str | None:
    """Returns the command of the person's editor, where they name one."""
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or None


async def edited(text: str, command: str) -> str:
    """Returns `text` as the person leaves it in an editor. Cancelling ends the editor.

    Editors end a file with a line break; one that was not there before is taken off again.

    Raises:
        EditorMissing: It can't be started.
        EditorFailed: It ended with a fault, or wrote something that is no UTF-8.
    """
    with tempfile.TemporaryDirectory(prefix="parley-") as folder:
        path = Path(folder, _NAME)
        _write(path, text)
        await _run(command, path)
        try:
            left = _read(path)
        except (OSError, UnicodeDecodeError) as error:
            raise EditorFailed(f"What {command} wrote can't be read: {error}") from error
    return left if text.endswith("\n") else left.removesuffix("\n")


async def _run(command: str, path: Path) -> None:
    try:
        process = await asyncio.create_subprocess_exec(*shlex.split(command), path)
    except (OSError, ValueError) as error:
        raise EditorMissing(f"The editor {command} can't be started: {error}") from error
    try:
        code = await process.wait()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
    if code:
        raise EditorFailed(f"The editor {command} ended with {code}; the text stays as it was.")


def _write(path: Path, text: str) -> None:
    """Writes a text byte for byte, line breaks included."""
    path.write_bytes(text.encode())


def _read(path: Path) -> str:
    return path.read_bytes().decode()

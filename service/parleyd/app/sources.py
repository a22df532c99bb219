"""What the commands read: files, and standard input under the name `-`."""

import os
from pathlib import Path
from typing import Final

from parleyd.app.faults import CommandFailed

STANDARD_INPUT: Final = "-"


def named(file: str) -> str:
    """Returns a file as sentences name it."""
    return "standard input" if file == STANDARD_INPUT else file


def read_bytes(file: str) -> bytes:
    """Returns all that a file holds.

    Raises:
        OSError: It can't be read.
    """
    if file != STANDARD_INPUT:
        return Path(file).read_bytes()
    with os.fdopen(0, "rb", closefd=False) as standard_input:
        return standard_input.read()


def read_text(file: str) -> str:
    """Returns the text that a file holds, with the line ends that it has.

    Raises:
        CommandFailed: It can't be read, or is no UTF-8.
    """
    try:
        return read_bytes(file).decode("utf-8")
    except OSError as error:
        raise CommandFailed(f"{named(file)}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise CommandFailed(f"{named(file)}: This is no UTF-8.") from error

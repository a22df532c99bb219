"""A unix socket that this process alone may reach: between the web front and the gRPC server."""

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

PATH_BYTES: Final = 103
"""How long a socket's path may be: the least that a system of ours takes, without the NUL."""

_NAME: Final = "grpc.sock"
_SHORT: Final = ("/tmp", "/var/tmp")  # noqa: S108 - the folder that is made there is private
"""Where to look when the folder for temporary files has a long path."""


@contextmanager
def private_socket() -> Generator[Path]:
    """Yields the path of a socket in a folder that nobody else may enter; removes both then.

    Raises:
        OSError: There is no folder for temporary files whose path is short enough.
    """
    folder = _folder()
    try:
        yield folder / _NAME
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _folder() -> Path:
    parents = [tempfile.gettempdir(), *_SHORT]
    for parent in parents:
        if not Path(parent).is_dir():
            continue
        folder = Path(tempfile.mkdtemp(prefix="parley-", dir=parent))
        if len(os.fsencode(folder / _NAME)) <= PATH_BYTES:
            return folder
        folder.rmdir()
    raise OSError(
        f"A unix socket needs a folder with a short path, and {', '.join(parents)} won't do: name "
        "one in TMPDIR."
    )

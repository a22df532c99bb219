"""Files of this machine, read to be sent."""

from pathlib import Path
from typing import Final

from parley.v1.asks_pb2 import FileRef
from parleyd.contract import limits
from parleyd.contract.file_types import FILE_TYPES, JSON_TYPE, TEXT_TYPES, is_of_type
from parleyd.contract.text import storable, trim

_UNKNOWN: Final = "application/octet-stream"
_PLAIN: Final = "text/plain"
_TEXT_TYPES_BY_ENDING: Final = {".csv": "text/csv", ".json": JSON_TYPE}


class FileUnreadable(Exception):
    """There is no such file, or it can't be read."""


def read_file(written: str, most: int = limits.FILE_BYTES) -> FileRef:
    """Returns a file of this machine with its bytes. Blocks while it reads.

    `written` is a path, in which `~` is the person's home. A file of more than `most` bytes comes
    with its real size and as few bytes more than that as it takes to be refused.

    Raises:
        FileUnreadable: There is no such file, or it can't be read.
    """
    try:
        path = Path(trim(written)).expanduser()
        if not path.is_file():
            raise FileUnreadable(f"{path} is no file.")
        with path.open("rb") as file:
            data = file.read(most + 1)
        size = len(data) if len(data) <= most else path.stat().st_size
    except (OSError, RuntimeError, ValueError) as error:
        raise FileUnreadable(f"{trim(written)} can't be read: {error}") from error
    return FileRef(
        filename=storable(path.name),
        mime_type=type_of(path.name, data),
        size=size,
        data=data,
    )


def type_of(name: str, data: bytes) -> str:
    """Returns the type of a file by what it holds; its name only tells texts apart."""
    for known in FILE_TYPES:
        if known not in TEXT_TYPES and is_of_type(data, known):
            return known
    if not is_of_type(data, _PLAIN):
        return _UNKNOWN
    return _TEXT_TYPES_BY_ENDING.get(Path(name).suffix.lower(), _PLAIN)

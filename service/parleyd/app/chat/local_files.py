"""Files of this machine, read and sent."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import grpc

from parley import Client, ParleyError, upload_file
from parley.v1.asks_pb2 import FileRef
from parleyd.app.chat.faults import fixes_of
from parleyd.contract import limits
from parleyd.contract.file_types import FILE_TYPES, JSON_TYPE, TEXT_TYPES, is_of_type
from parleyd.contract.text import storable, trim

_UNKNOWN: Final = "application/octet-stream"
_PLAIN: Final = "text/plain"
_TEXT_TYPES_BY_ENDING: Final = {".csv": "text/csv", ".json": JSON_TYPE}
_NO_UPLOADS: Final = frozenset({"FILES_DISABLED", "UPLOADS_DISABLED"})
"""Why a service takes no uploads. An answer may bring the bytes of its files all the same."""


class FileUnreadable(Exception):
    """There is no such file, or it can't be read."""


class FileRefused(Exception):
    """A file was not uploaded. The text says why, `fixes` say how to mend it."""

    def __init__(self, text: str, fixes: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.fixes = fixes


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


async def uploaded(client: Client, file: FileRef) -> FileRef:
    """Returns a file by the id of its upload; as it is where the service takes no uploads.

    A file that no answer names is removed after a day, by the service.

    Raises:
        FileRefused: The service does not take it, or can't be reached.
    """
    try:
        kept = await upload_file(
            client, file.data, filename=file.filename, mime_type=file.mime_type
        )
    except ParleyError as error:
        if error.reason in _NO_UPLOADS or error.code == grpc.StatusCode.UNIMPLEMENTED:
            return file
        why = f"“{file.filename}” was not taken: {_why(error)}"
        raise FileRefused(why, fixes_of(error)) from error
    return FileRef(
        filename=file.filename, mime_type=file.mime_type, size=file.size, file_id=kept.file_id
    )


def _why(error: ParleyError) -> str:
    if error.reason:
        return error.message
    if error.code == grpc.StatusCode.UNAVAILABLE:
        return "the service can't be reached."
    return f"the upload failed ({error.message or error.code.name})."


def type_of(name: str, data: bytes) -> str:
    """Returns the type of a file by what it holds; its name only tells texts apart."""
    for known in FILE_TYPES:
        if known not in TEXT_TYPES and is_of_type(data, known):
            return known
    if not is_of_type(data, _PLAIN):
        return _UNKNOWN
    return _TEXT_TYPES_BY_ENDING.get(Path(name).suffix.lower(), _PLAIN)

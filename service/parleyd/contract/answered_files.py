"""What is kept of the files of an answer, and what the model sees of them (spec asks FI7)."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.answers import accepted
from parleyd.contract.json import JsonObject, objects_at, string_at


class KeptFile(NamedTuple):
    """A file once its bytes are loaded: how many they are, and the id under which they are kept.

    That is the answer's own id, or the one its inline bytes were given; None if they are not kept.
    """

    size: int
    file_id: str | None = None


def stored_answer(response: JsonObject, kept: Sequence[KeptFile]) -> dict[str, JsonValue]:
    """Returns the form of an accepted files answer that is stored, logged and replayed.

    It holds neither data URLs nor bytes, and the measured sizes, not the declared ones. `kept` has
    one entry for every file, in the order of the answer. The form is an envelope that no check
    takes again: a file of it may have no reference.

    Raises:
        ValueError: `kept` is longer or shorter than the answer's list.
    """
    content = response.get("content")
    answered = objects_at(content, "files") if isinstance(content, dict) else ()
    files: list[JsonValue] = [
        {
            **({} if file.file_id is None else {"fileId": file.file_id}),
            "filename": string_at(declared, "filename"),
            "mimeType": string_at(declared, "mimeType"),
            "size": file.size,
        }
        for declared, file in zip(answered, kept, strict=True)
    ]
    return accepted({"files": files})


def kept_files(envelope: JsonObject) -> tuple[UUID, ...]:
    """Returns where the files of a stored answer are kept, in its order; some may not be kept."""
    content = envelope.get("content")
    listed = objects_at(content, "files") if isinstance(content, dict) else ()
    return tuple(UUID(kept) for file in listed if (kept := string_at(file, "fileId")))


def shown_text(data: bytes) -> str:
    """Returns what the model reads of a file that is text.

    Above `SHOWN_FILE_BYTES` it is cut, at the start of a character, and a note says so.

    Raises:
        UnicodeDecodeError: The bytes are no UTF-8, so `is_of_type` has not taken them for text.
    """
    if len(data) <= limits.SHOWN_FILE_BYTES:
        return data.decode("utf-8")
    end = limits.SHOWN_FILE_BYTES
    while end > 0 and _goes_on(data[end]):
        end -= 1
    note = f"[The file is cut to its first {end} of {len(data)} bytes.]"
    return f"{data[:end].decode('utf-8')}\n{note}"


def _goes_on(byte: int) -> bool:
    """Tells whether a byte of UTF-8 belongs to the character before it."""
    return byte & 0b1100_0000 == 0b1000_0000

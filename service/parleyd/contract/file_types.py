"""The types of file an answer may hold, and what their bytes begin with (spec asks FI2, FI6)."""

from codecs import BOM_UTF8, getincrementaldecoder
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Final, Literal, TypeAlias

from parleyd.contract import limits
from parleyd.contract.field_errors import Code, Fault, FieldError, in_order, quoted
from parleyd.contract.json_text import is_json
from parleyd.contract.text import clip

AcceptValue: TypeAlias = Literal["image", "pdf", "text", "csv", "json"]

TYPES_BY_ACCEPT: Final[Mapping[AcceptValue, tuple[str, ...]]] = {
    "image": ("image/jpeg", "image/png", "image/gif", "image/webp"),
    "pdf": ("application/pdf",),
    "text": ("text/plain",),
    "csv": ("text/csv",),
    "json": ("application/json",),
}
"""What each value of `accept` lets in."""

FILE_TYPES: Final = tuple(name for types in TYPES_BY_ACCEPT.values() for name in types)
"""Every type a file may have."""
JSON_TYPE: Final = "application/json"
TEXT_TYPES: Final = frozenset({"text/plain", "text/csv", JSON_TYPE})
"""The types of files that are text."""

_SIGNATURES: Final = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)
_SIGN_BYTES: Final = 12
"""What the longest of the signs takes, that of WebP."""
_PIECE: Final = 64 * 1024


def check_file_bytes(
    data: bytes, position: int, mime_type: str, cap: int
) -> tuple[FieldError, ...]:
    """Returns what is wrong with the bytes of a file of an answer: at most one error (FI6).

    `position` is the file's in the answer, `mime_type` its declared type, `cap` the most bytes it
    may have. May take seconds on megabytes of JSON.
    """
    file = ("content", "files", position)
    if len(data) > cap:
        fault = too_large(position, len(data), cap)
    elif not is_of_type(data, mime_type):
        fault = Fault(
            (*file, "mimeType"),
            Code.MIME_MISMATCH,
            f"`content.files[{position}].mimeType` is {quoted(mime_type)}, but the bytes of the "
            "file are not.",
            f"Send a file that is {quoted(mime_type)}, or declare its real type.",
        )
    else:
        return ()
    return in_order([fault])


def too_large(position: int, size: int, cap: int) -> Fault:
    """Returns the fault of a file of more than `cap` bytes (FI5, FI6)."""
    shown = clip(str(size), limits.QUOTE)
    return Fault(
        ("content", "files", position, "size"),
        Code.FILE_TOO_LARGE,
        f"The file of `content.files[{position}].size` has {shown} bytes, too many.",
        f"Send as `content.files[{position}]` a file of at most {cap} bytes.",
    )


def is_of_type(data: bytes, mime_type: str) -> bool:
    """Tells whether bytes are what `mime_type` says; of types but `FILE_TYPES` none are (FI6)."""
    return pieces_are_of_type((data,), mime_type)


def pieces_are_of_type(pieces: Iterable[bytes], mime_type: str) -> bool:
    """Tells of bytes that come in pieces whether they are what `mime_type` says (FI6).

    Takes no more of them than it needs, and holds all at once only to read JSON: then twice.
    """
    if mime_type == JSON_TYPE:
        data = b"".join(pieces)
        if _signed_type(data) or not _is_text(_cut(data)):
            return False
        # What gives JSON its form is ASCII, and within its strings any character will do. In
        # Latin-1 none takes more than a byte; else a wide one would make each take four.
        return is_json(data.removeprefix(BOM_UTF8).decode("latin-1"))
    left, start = iter(pieces), b""
    while len(start) < _SIGN_BYTES and (piece := next(left, None)) is not None:
        start += piece
    signed = _signed_type(start)
    if mime_type in TEXT_TYPES:
        return signed is None and _is_text(chain((start,), left))
    return signed is not None and signed == mime_type


def _signed_type(data: bytes) -> str | None:
    """Returns the type that the first bytes are the sign of."""
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return next((name for sign, name in _SIGNATURES if data.startswith(sign)), None)


def _cut(data: bytes) -> Iterator[bytes]:
    return (data[start : start + _PIECE] for start in range(0, len(data), _PIECE))


def _is_text(pieces: Iterable[bytes]) -> bool:
    """Tells whether bytes are text: strict UTF-8 without U+0000."""
    decoder = getincrementaldecoder("utf-8")()
    try:
        for piece in pieces:
            if b"\0" in piece:
                return False
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True

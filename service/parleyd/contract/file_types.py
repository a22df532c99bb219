"""The types of file an answer may hold, and what their bytes begin with (spec asks FI2, FI6)."""

from collections.abc import Mapping
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
_BYTE_ORDER_MARK: Final = "\ufeff"


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
    signed = _signed_type(data)
    if mime_type not in TEXT_TYPES:
        return signed is not None and signed == mime_type
    text = None if signed else _text(data)
    if text is None:
        return False
    return mime_type != JSON_TYPE or is_json(text.removeprefix(_BYTE_ORDER_MARK))


def _signed_type(data: bytes) -> str | None:
    """Returns the type that the first bytes are the sign of."""
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return next((name for sign, name in _SIGNATURES if data.startswith(sign)), None)


def _text(data: bytes) -> str | None:
    """Returns bytes as the text they are, or None: text is strict UTF-8 without U+0000."""
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None

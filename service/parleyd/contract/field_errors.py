"""Faults of single fields: path, code, message, fix, and their order (spec asks 2 and 3)."""

from collections.abc import Iterable
from enum import StrEnum, unique

from parleyd.contract.limits import QUOTE
from parleyd.contract.text import cut
from parleyd.contract.value import Value


@unique
class Code(StrEnum):
    """The rule that a value broke."""

    CHANGED_MISMATCH = "CHANGED_MISMATCH"
    DECLINE_NOT_ALLOWED = "DECLINE_NOT_ALLOWED"
    DEFAULT_NOT_IN_OPTIONS = "DEFAULT_NOT_IN_OPTIONS"
    DUPLICATE_ID = "DUPLICATE_ID"
    DUPLICATE_LABEL = "DUPLICATE_LABEL"
    FIELD_TYPE_MISMATCH = "FIELD_TYPE_MISMATCH"
    FILE_COUNT = "FILE_COUNT"
    FILE_NOT_OWNED = "FILE_NOT_OWNED"
    FILE_TOO_LARGE = "FILE_TOO_LARGE"
    FILE_TYPE_NOT_ACCEPTED = "FILE_TYPE_NOT_ACCEPTED"
    INVALID_DATE = "INVALID_DATE"
    INVALID_ENUM = "INVALID_ENUM"
    INVALID_FORMAT = "INVALID_FORMAT"
    INVALID_TYPE = "INVALID_TYPE"
    MIME_MISMATCH = "MIME_MISMATCH"
    MISSING_REQUIRED = "MISSING_REQUIRED"
    OPTION_NOT_OFFERED = "OPTION_NOT_OFFERED"
    OTHER_NOT_ALLOWED = "OTHER_NOT_ALLOWED"
    OUT_OF_RANGE = "OUT_OF_RANGE"
    RANGE_INVALID = "RANGE_INVALID"
    REQUIRED_FIELD = "REQUIRED_FIELD"
    SELECTION_COUNT = "SELECTION_COUNT"
    TOO_FEW = "TOO_FEW"
    TOO_LONG = "TOO_LONG"
    TOO_MANY = "TOO_MANY"
    TOO_SHORT = "TOO_SHORT"
    UNKNOWN_BUTTON = "UNKNOWN_BUTTON"
    UNKNOWN_KEY = "UNKNOWN_KEY"


class FieldError(Value):
    """One fault. `path` is the contract's camelCase path; empty for the value itself (V1, V2)."""

    path: str
    code: Code
    message: str
    fix: str


Path = tuple[str | int, ...]
"""A path in pieces: keys and list positions."""


class PathError(Value):
    """A fault whose path is still in pieces, so that it can be sorted whatever its keys contain."""

    at: Path
    code: Code
    message: str
    fix: str


def dotted(at: Path) -> str:
    """Returns a path as text: `options[2].id` (V2). Keys appear raw."""
    text = ""
    for index, piece in enumerate(at):
        if isinstance(piece, int):
            text += f"[{piece}]"
        else:
            text += f".{piece}" if index else piece
    return text


def in_order(errors: Iterable[PathError]) -> tuple[FieldError, ...]:
    """Returns the faults sorted by path, then code, equal ones once (V4)."""
    unique_errors = {(error.at, error.code): error for error in reversed(list(errors))}
    return tuple(
        FieldError(path=dotted(error.at), code=error.code, message=error.message, fix=error.fix)
        for error in sorted(unique_errors.values(), key=_rank)
    )


def quoted(value: object) -> str:
    """Returns `value` as an error's text shows it, cut to the limit of V1."""
    return cut(f"{value}", QUOTE)


def _rank(error: PathError) -> tuple[tuple[tuple[int, int, bytes], ...], str]:
    pieces = tuple(
        (0, piece, b"") if isinstance(piece, int) else (1, 0, _by_units(piece))
        for piece in error.at
    )
    return pieces, error.code


def _by_units(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")

"""Faults of single fields: path, code, message, fix, and their order (spec asks 2 and 3)."""

import json
from collections.abc import Iterable, Sequence
from enum import StrEnum, unique
from itertools import islice
from typing import NamedTuple, TypeAlias

from parleyd.contract.limits import FAULTS_REPORTED, FAULTS_TOLD, LISTED, QUOTE
from parleyd.contract.text import clip, storable
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


Path: TypeAlias = tuple[str | int, ...]
"""A path in pieces: keys and list positions."""


class Fault(NamedTuple):
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


def found(faults: Iterable[Fault]) -> list[Fault]:
    """Returns the faults, and of more than `FAULTS_REPORTED` the first alone.

    That bound is ours: it keeps the work on hostile input small, and no other input meets it.
    """
    return [*islice(faults, FAULTS_REPORTED)]


def in_order(faults: Iterable[Fault]) -> tuple[FieldError, ...]:
    """Returns the faults `found`, sorted by path, then code (V4).

    Of equal path and code the first alone is told.
    """
    reported: dict[tuple[str, Code], FieldError] = {}
    for fault in sorted(found(faults), key=_rank):
        path = dotted(fault.at)
        if (path, fault.code) not in reported:
            reported[path, fault.code] = FieldError(
                path=path, code=fault.code, message=fault.message, fix=fault.fix
            )
    return tuple(reported.values())


def named(at: Path) -> str:
    """Returns a path as an error's text names it, each key cut to the limit of V1."""
    if not at:
        return "the value itself"
    if at == ("",):
        return '`""`'
    short = tuple([clip(piece, QUOTE) if isinstance(piece, str) else piece for piece in at])
    return f"`{storable(dotted(short))}`"


def quoted(text: str) -> str:
    """Returns `text` as an error's text quotes it: cut to the limit of V1, on one line."""
    return storable(json.dumps(clip(text, QUOTE), ensure_ascii=False))


def listed(texts: Sequence[str]) -> str:
    """Returns the first of `texts` as an error's text lists them."""
    once = [*dict.fromkeys(texts)]
    more = ", …" if len(once) > LISTED else ""
    return ", ".join(quoted(text) for text in once[:LISTED]) + more


def as_tool_error(errors: Sequence[FieldError]) -> str:
    """Returns what the model reads when its ask has these errors (spec asks 12, turns 3.4.3).

    Of more than `FAULTS_TOLD` it reads the first and how many there are: who breaks that many rules
    has not understood the tool, and the rest would only cost tokens.
    """
    heading = (
        "The question was not shown to the person: its arguments break the rules below. "
        "Follow every fix and call the tool again."
    )
    lines = [_line(error) for error in errors[:FAULTS_TOLD]]
    if more := len(errors) - len(lines):
        lines.append(f"- There are {more} more.")
    return "\n".join([heading, *lines])


def _line(error: FieldError) -> str:
    place = storable(error.path) or "(the arguments)"
    return f"- {place}: {error.code}. {error.message} {error.fix}"


def _rank(fault: Fault) -> tuple[list[tuple[int, int | bytes]], str]:
    return [
        (0, piece) if isinstance(piece, int) else (1, piece.encode("utf-16-be", "surrogatepass"))
        for piece in fault.at
    ], fault.code

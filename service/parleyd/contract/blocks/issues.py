"""What is wrong with a document, or doubtful: path, code, message, fix (spec blocks 11)."""

import re
from collections.abc import Iterable
from enum import StrEnum, unique
from functools import cmp_to_key
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias

from parleyd.contract.field_errors import Path, dotted
from parleyd.contract.value import Value


@unique
class BlockCode(StrEnum):
    """The rule that a document broke, or what a warning is about (spec blocks 10)."""

    COLUMN_NOT_FOUND = "COLUMN_NOT_FOUND"
    COLUMN_TYPE_MISMATCH = "COLUMN_TYPE_MISMATCH"
    DATASET_NOT_FOUND = "DATASET_NOT_FOUND"
    DATASET_TOO_LARGE = "DATASET_TOO_LARGE"
    DEPTH_EXCEEDED = "DEPTH_EXCEEDED"
    DUPLICATE_ID = "DUPLICATE_ID"
    HTML_DISABLED = "HTML_DISABLED"
    HTML_TOO_LARGE = "HTML_TOO_LARGE"
    IMAGE_HOST_NOT_ALLOWED = "IMAGE_HOST_NOT_ALLOWED"
    INVALID_ENUM = "INVALID_ENUM"
    INVALID_FORMAT = "INVALID_FORMAT"
    INVALID_TYPE = "INVALID_TYPE"
    KEY_ORDER = "KEY_ORDER"
    MISSING_REQUIRED = "MISSING_REQUIRED"
    NOT_A_DOCUMENT = "NOT_A_DOCUMENT"
    ROW_ARITY_MISMATCH = "ROW_ARITY_MISMATCH"
    SELECT_TARGET_INVALID = "SELECT_TARGET_INVALID"
    TABLE_TOO_WIDE = "TABLE_TOO_WIDE"
    TOO_FEW = "TOO_FEW"
    TOO_LONG = "TOO_LONG"
    TOO_MANY = "TOO_MANY"
    TOO_MANY_BLOCKS = "TOO_MANY_BLOCKS"
    TOO_MANY_POINTS = "TOO_MANY_POINTS"
    TOO_SHORT = "TOO_SHORT"
    UNKNOWN_HOST_ACTION = "UNKNOWN_HOST_ACTION"
    UNKNOWN_KEY = "UNKNOWN_KEY"
    UNSUPPORTED_VERSION = "UNSUPPORTED_VERSION"
    YAML_FEATURE_DISALLOWED = "YAML_FEATURE_DISALLOWED"
    BAR_TOO_MANY_CATEGORIES = "BAR_TOO_MANY_CATEGORIES"
    DONUT_TOO_MANY_SLICES = "DONUT_TOO_MANY_SLICES"
    LINE_SINGLE_POINT = "LINE_SINGLE_POINT"


WARNING_CODES: Final = frozenset(
    {
        BlockCode.BAR_TOO_MANY_CATEGORIES,
        BlockCode.DONUT_TOO_MANY_SLICES,
        BlockCode.LINE_SINGLE_POINT,
    }
)
"""The codes of warnings; all others are errors."""


class BlockIssue(Value):
    """One error or warning. `path` is empty for the document itself."""

    path: str
    code: BlockCode
    message: str
    fix: str


class Issue(NamedTuple):
    """An issue whose path is still in pieces."""

    at: Path
    code: BlockCode
    message: str
    fix: str


_SEGMENT: Final = re.compile(r"\[([0-9]+)\]|([^.\[\]]+)")

_Segment: TypeAlias = tuple[int, int, bytes, bytes]
"""A number as 0, how many digits it has, its digits, and those as they were written; a name as 1,
0, nothing, and its code units. Texts are in UTF-16."""


class _Ranked(NamedTuple):
    """What orders an issue, and the issue."""

    segments: tuple[_Segment, ...]
    code: str
    path: bytes
    issue: BlockIssue


def in_order(issues: Iterable[Issue]) -> tuple[BlockIssue, ...]:
    """Returns issues sorted by path, then code; of equal path and code the first alone.

    Positions compare as numbers, a position and a name as texts. Where keys that begin with a digit
    or hold brackets make that order go in a circle, equal issues still give equal results.
    """
    told: dict[tuple[str, BlockCode], BlockIssue] = {}
    for issue in issues:
        path = dotted(issue.at)
        if (path, issue.code) not in told:
            told[path, issue.code] = BlockIssue(
                path=path, code=issue.code, message=issue.message, fix=issue.fix
            )
    # Tuples sort fast and put positions before names. That is nearly always right already, and then
    # the slow comparison runs once for each issue.
    nearly = sorted((_ranked(issue) for issue in told.values()), key=itemgetter(0, 1, 2))
    return tuple(ranked.issue for ranked in sorted(nearly, key=cmp_to_key(_compare)))


def _ranked(issue: BlockIssue) -> _Ranked:
    segments = tuple(
        _number(position) if position else (1, 0, b"", _coded(name))
        for position, name in _SEGMENT.findall(issue.path)
    )
    return _Ranked(segments, issue.code, _coded(issue.path), issue)


def _number(position: str) -> _Segment:
    """Returns the segment of a number, which may have more digits than Python makes a number of."""
    digits = position.lstrip("0")
    return (0, len(digits), _coded(digits), _coded(position))


def _compare(one: _Ranked, other: _Ranked) -> int:
    for mine, its in zip(one.segments, other.segments, strict=False):
        if mine[0] != its[0]:
            # A number and a name: as texts.
            if mine[3] != its[3]:
                return -1 if mine[3] < its[3] else 1
        elif mine[:3] != its[:3] or (mine[0] == 1 and mine[3] != its[3]):
            return -1 if mine < its else 1
    mine_last = (len(one.segments), one.code, one.path)
    its_last = (len(other.segments), other.code, other.path)
    return (mine_last > its_last) - (mine_last < its_last)


def _coded(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")

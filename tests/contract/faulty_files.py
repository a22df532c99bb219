"""Every code that drafts, files and their answers can give, with values as long as can be."""

from collections.abc import Callable, Sequence
from typing import Final

from pydantic import JsonValue

from parleyd.contract.answers import accepted, check_answer, declined
from parleyd.contract.asks.kinds import check_ask
from parleyd.contract.field_errors import Code, FieldError
from parleyd.contract.file_types import check_file_bytes

Case = tuple[Code, Callable[[], Sequence[FieldError]]]

HUGE: Final = 10**308
LONG: Final = "\U0001f6a2" * 20_000
MANY: Final[list[JsonValue]] = [LONG] * 99
DRAFT: Final[dict[str, JsonValue]] = {"prompt": "Write."}
SCANS: Final[dict[str, JsonValue]] = {"prompt": "Send.", "accept": ["image", "text", "csv", "json"]}
SCAN: Final[dict[str, JsonValue]] = {
    "fileId": "f1",
    "filename": "s.png",
    "mimeType": "image/png",
    "size": 8,
}
INLINE: Final[dict[str, JsonValue]] = {
    "url": "data:image/png;base64,AAAA",
    "filename": "s.png",
    "mimeType": "image/png",
    "size": 3,
}


def _draft(code: Code, **keys: JsonValue) -> Case:
    return code, lambda: check_ask("markdown", {**DRAFT, **keys})


def _edited(code: Code, **content: JsonValue) -> Case:
    bounded: dict[str, JsonValue] = {**DRAFT, "minLength": 2, "maxLength": 9}
    return code, lambda: check_answer("markdown", bounded, accepted(content))


def _files(code: Code, **keys: JsonValue) -> Case:
    return code, lambda: check_ask("files", {**SCANS, **keys})


def _sent(code: Code, *files: JsonValue) -> Case:
    return code, lambda: check_answer("files", SCANS, accepted({"files": [*files]}))


ON_DRAFTS: Final[list[Case]] = [
    _draft(Code.INVALID_TYPE, initial=HUGE),
    (Code.MISSING_REQUIRED, lambda: check_ask("markdown", {})),
    _draft(Code.RANGE_INVALID, minLength=HUGE),
    _draft(Code.RANGE_INVALID, minLength=9, maxLength=8),
    _draft(Code.TOO_LONG, initial=LONG),
    _draft(Code.TOO_SHORT, placeholder=""),
    _draft(Code.UNKNOWN_KEY, **{LONG: 1}),
    _edited(Code.CHANGED_MISMATCH, markdown="text", changed=False),
    _edited(Code.CHANGED_MISMATCH, markdown="", changed=True),
    (Code.DECLINE_NOT_ALLOWED, lambda: check_answer("markdown", _must(DRAFT), declined())),
    _edited(Code.INVALID_TYPE, markdown="text", changed=LONG),
    _edited(Code.MISSING_REQUIRED, markdown="text"),
    _edited(Code.TOO_LONG, markdown=LONG, changed=True),
    _edited(Code.TOO_LONG, markdown=LONG[:5000], changed=True),
    _edited(Code.TOO_SHORT, markdown="x", changed=True),
    _edited(Code.UNKNOWN_KEY, markdown="text", changed=True, **{LONG: 1}),
]

ON_FILES: Final[list[Case]] = [
    _files(Code.DUPLICATE_ID, accept=["csv", "csv"]),
    _files(Code.INVALID_ENUM, accept=[LONG]),
    _files(Code.INVALID_TYPE, minFiles=LONG),
    (Code.MISSING_REQUIRED, lambda: check_ask("files", {"prompt": "Send."})),
    _files(Code.RANGE_INVALID, maxFiles=HUGE),
    _files(Code.RANGE_INVALID, minFiles=9, maxFiles=8),
    _files(Code.TOO_FEW, accept=[]),
    _files(Code.TOO_LONG, submitLabel=LONG),
    _files(Code.TOO_MANY, accept=MANY),
    _files(Code.TOO_SHORT, title=""),
    _files(Code.UNKNOWN_KEY, **{LONG: 1}),
    (Code.DECLINE_NOT_ALLOWED, lambda: check_answer("files", _must(SCANS), declined())),
    _sent(Code.FILE_COUNT, *[SCAN] * 11),
    _sent(Code.FILE_TOO_LARGE, {**SCAN, "size": HUGE}),
    (Code.FILE_TOO_LARGE, lambda: check_file_bytes(b"text", 1, "text/plain", 3)),
    _sent(Code.FILE_TYPE_NOT_ACCEPTED, {**SCAN, "mimeType": LONG[:63]}),
    _sent(Code.INVALID_FORMAT, {**INLINE, "url": LONG}),
    _sent(Code.INVALID_FORMAT, {**INLINE, "fileId": "f"}),
    _sent(Code.INVALID_TYPE, LONG),
    (Code.MIME_MISMATCH, lambda: check_file_bytes(b"\0", 1, LONG, 3)),
    _sent(Code.MIME_MISMATCH, {**INLINE, "url": f"data:{LONG};base64,AAAA"}),
    _sent(Code.MISSING_REQUIRED, {"filename": "f", "mimeType": "image/png", "size": 1}),
    _sent(Code.RANGE_INVALID, {**SCAN, "size": -HUGE}),
    _sent(Code.TOO_LONG, {**SCAN, "fileId": LONG}),
    _sent(Code.TOO_SHORT, {**SCAN, "mimeType": ""}),
    _sent(Code.UNKNOWN_KEY, {**SCAN, LONG: 1}),
]


def _must(ask: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {**ask, "allowDecline": False}

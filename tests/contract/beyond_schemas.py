"""What the JSON Schemas let pass and the check refuses: for every such code a value that shows it.

This is the whole list; the reference page repeats it.
"""

from typing import Final, NamedTuple

from pydantic import JsonValue

from parleyd.contract.answers import accepted, declined
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.field_errors import Code
from tests.contract.faulty_files import INLINE, SCAN, SCANS
from tests.contract.valid_asks import POST, SEEDS, TRIP, options
from tests.contract.valid_texts import AskInput

SHIP: Final = "\U0001f6a2"
"""One code point of two UTF-16 units."""


class FaultyAsk(NamedTuple):
    """An ask with one fault."""

    kind: AskKind
    input: JsonValue


class FaultyAnswer(NamedTuple):
    """An answer with one fault to a valid ask."""

    kind: AskKind
    input: AskInput
    response: JsonValue


def _field(**keys: JsonValue) -> FaultyAsk:
    return FaultyAsk("form", {"prompt": "Fill in.", "fields": [{"id": "a", "label": "A", **keys}]})


def _value(value: JsonValue, **keys: JsonValue) -> FaultyAnswer:
    ask: AskInput = {"prompt": "Fill in.", "fields": [{"id": "a", "label": "A", **keys}]}
    return FaultyAnswer("form", ask, accepted({"values": {"a": value}}))


def _picks(selected: list[JsonValue], **content: JsonValue) -> FaultyAnswer:
    return FaultyAnswer("choice", SEEDS, accepted({"selected": selected, **content}))


def _file(file: JsonValue) -> FaultyAnswer:
    return FaultyAnswer("files", SCANS, accepted({"files": [file]}))


def _draft(text: str, *, changed: bool) -> FaultyAnswer:
    ask: AskInput = {"prompt": "Write.", "minLength": 2}
    return FaultyAnswer("markdown", ask, accepted({"markdown": text, "changed": changed}))


ON_ASKS: Final = {
    Code.DEFAULT_NOT_IN_OPTIONS: FaultyAsk("choice", {**TRIP, "default": ["plane"]}),
    Code.DUPLICATE_ID: FaultyAsk("choice", {**TRIP, "options": options("a", "a")}),
    Code.DUPLICATE_LABEL: FaultyAsk("confirm", {**POST, "denyLabel": "Confirm"}),
    Code.FIELD_TYPE_MISMATCH: _field(type="email", default="nobody"),
    Code.INVALID_DATE: _field(type="date", default="2027-02-30"),
    Code.INVALID_TYPE: _field(type="number", min=10**400),
    Code.OTHER_NOT_ALLOWED: FaultyAsk("choice", {**TRIP, "allowOther": True}),
    Code.OUT_OF_RANGE: _field(type="number", max=3, default=4),
    Code.RANGE_INVALID: FaultyAsk("markdown", {"prompt": "Write.", "minLength": 2, "maxLength": 1}),
    Code.SELECTION_COUNT: FaultyAsk("choice", {**TRIP, "default": ["bus", "ferry"]}),
    Code.TOO_LONG: FaultyAsk("confirm", {"prompt": SHIP * 251}),
    Code.TOO_SHORT: _field(type="text", default=" "),
}
"""By code: an ask that its schema accepts and the check refuses with this code alone."""

ON_ANSWERS: Final = {
    Code.CHANGED_MISMATCH: _draft("A text", changed=False),
    Code.DECLINE_NOT_ALLOWED: FaultyAnswer("confirm", POST, declined()),
    Code.DUPLICATE_ID: _picks(["kale", "kale"]),
    Code.FIELD_TYPE_MISMATCH: _value(1, type="text"),
    Code.FILE_COUNT: FaultyAnswer("files", SCANS, accepted({"files": []})),
    Code.FILE_TOO_LARGE: _file({**SCAN, "size": 2**40}),
    Code.FILE_TYPE_NOT_ACCEPTED: _file({**SCAN, "mimeType": "application/pdf"}),
    Code.INVALID_DATE: _value("24:00", type="time"),
    Code.INVALID_FORMAT: _file({**INLINE, "url": "https://example.org/s.png"}),
    Code.INVALID_TYPE: _file({**SCAN, "size": 10**400}),
    Code.MIME_MISMATCH: _file({**INLINE, "url": "data:image/gif;base64,AAAA"}),
    Code.OPTION_NOT_OFFERED: _picks(["mint"]),
    Code.OTHER_NOT_ALLOWED: _picks(["kale"], other="Mint"),
    Code.OUT_OF_RANGE: _value(4, type="number", max=3),
    Code.REQUIRED_FIELD: _value("", type="text", required=True),
    Code.SELECTION_COUNT: _picks([]),
    Code.TOO_LONG: FaultyAnswer("choice", TRIP, {"action": "cancel", "reason": SHIP * 101}),
    Code.TOO_MANY: _value([*["a"] * 51], type="multiselect", options=options("a", "b")),
    Code.TOO_SHORT: _draft("A", changed=True),
    Code.UNKNOWN_KEY: FaultyAnswer(
        "form", _value(1, type="number").input, accepted({"values": {"b": 1}})
    ),
}
"""By code: an answer that its schema accepts and the check refuses with this code alone."""

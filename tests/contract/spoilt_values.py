"""Asks and answers that are mostly wrong somewhere, by hypothesis."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from pydantic import JsonValue

from parleyd.contract.asks.kind import AskKind
from tests.contract.valid_asks import AskInput, asks

ANY_ASK = st.one_of(asks("full"), asks("compact"))

SCALARS: st.SearchStrategy[JsonValue] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**308, 10**309, 10**4000, -(10**4000)]),
    st.floats(),
    st.text(st.characters(), max_size=8),
    st.sampled_from(["", "one", "many", "accept", "a", "\ud83d", "x" * 600, "\U0001f6a2" * 90]),
)
KNOWN = [
    "prompt",
    "title",
    "select",
    "options",
    "default",
    "minSelected",
    "maxSelected",
    "allowOther",
    "otherLabel",
    "id",
    "label",
    "description",
    "submitLabel",
    "allowDecline",
    "confirmLabel",
    "denyLabel",
    "destructive",
    "action",
    "content",
    "reason",
    "selected",
    "other",
    "confirmed",
    "fields",
    "type",
    "helperText",
    "required",
    "minLength",
    "maxLength",
    "min",
    "max",
    "integer",
    "values",
    "initial",
    "placeholder",
    "markdown",
    "changed",
    "accept",
    "minFiles",
    "maxFiles",
    "files",
    "filename",
    "mimeType",
    "size",
    "fileId",
    "url",
]
KEYS = st.one_of(
    st.text(st.characters(), max_size=4),
    st.sampled_from(KNOWN),
)
ANYTHING: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(KEYS, inner, max_size=8)),
    max_leaves=30,
)


@st.composite
def spoilt(draw: st.DrawFn, whole: JsonValue) -> JsonValue:
    """Draws a value like `whole` of which some parts are anything, gone, or new."""
    if draw(st.integers(0, 7)) == 0:
        return draw(ANYTHING)
    if isinstance(whole, dict):
        kept = {key: draw(spoilt(value)) for key, value in whole.items() if draw(st.integers(0, 9))}
        if draw(st.integers(0, 3)) == 0:
            kept[draw(KEYS)] = draw(SCALARS)
        return kept
    if isinstance(whole, list):
        return [draw(spoilt(item)) for item in whole] * draw(st.sampled_from([1, 1, 1, 2, 30]))
    return whole


@st.composite
def spoilt_asks(draw: st.DrawFn) -> tuple[AskKind, JsonValue]:
    """Draws asks that are mostly wrong somewhere."""
    kind, ask = draw(ANY_ASK)
    return kind, draw(st.one_of(ANYTHING, spoilt(ask)))


DOT = "data:image/png;base64,iVBORw0KGgo="


def values_of(ask: AskInput) -> JsonValue:
    """Returns a content that has for each field its default, or a string that fits some types."""
    fields: Any = ask["fields"]
    return {"values": {field["id"]: field.get("default", "09:05") for field in fields}}


CONTENTS: dict[AskKind, Callable[[AskInput], JsonValue]] = {
    "choice": lambda _: {"selected": ["a", "a", "zz"], "other": "x"},
    "confirm": lambda _: {"confirmed": True},
    "markdown": lambda ask: {"markdown": ask.get("initial", ""), "changed": False},
    "form": values_of,
    "files": lambda _: {
        "files": [
            {"fileId": "f", "filename": "a.png", "mimeType": "image/png", "size": 1},
            {"url": DOT, "filename": "b.png", "mimeType": "image/png", "size": 8.0},
        ]
    },
}
"""The content of an answer to an ask of each kind."""

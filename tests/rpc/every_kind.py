"""Asks of every kind, and answers to them."""

from typing import Any, Final, TypeAlias

from pydantic import JsonValue

from parleyd.contract.asks.kind import AskKind

Json: TypeAlias = dict[str, JsonValue]

OPTIONS: Final[list[JsonValue]] = [
    {"id": "train", "label": "Night train", "description": "Leaves at 22:10"},
    {"id": "ferry", "label": "Ferry"},
    {"id": "bus", "label": "Coach bus"},
]
_PICKS: Final[list[JsonValue]] = [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]
_EVERY_ASK: Final[Json] = {"title": "Coast trip", "submitLabel": "Go", "allowDecline": False}

FIELDS: Final[dict[str, Json]] = {
    "text": {"default": "x", "minLength": 0, "maxLength": 2000},
    "textarea": {"default": "x\ny", "minLength": 1, "maxLength": 10_000},
    "email": {"default": "a@example.org"},
    "url": {"default": "https://example.org"},
    "phone": {"default": "+49 30 123456"},
    "number": {"default": 2.5, "min": -3, "max": 2**53, "integer": False},
    "date": {"default": "2026-03-29"},
    "time": {"default": "09:05"},
    "datetime": {"default": "2026-03-29T09:05:00+02:00"},
    "boolean": {"default": False},
    "select": {"default": "b", "options": _PICKS},
    "multiselect": {"default": ["b", "a"], "options": _PICKS},
}
"""What a field of each type has of its own, all of it."""


def field_of(type_: str, **keys: Any) -> Json:
    """Returns a field with these keys of its own."""
    return {"id": f"the_{type_}", "type": type_, "label": type_.title(), **keys}


def form_of(*fields: Json) -> Json:
    """Returns a form with these fields."""
    return {"prompt": "Fill in.", "fields": [*fields]}


INPUTS: Final[dict[str, tuple[AskKind, Json]]] = {
    "choice_with_everything": (
        "choice",
        {
            "prompt": "How do you want to travel?",
            **_EVERY_ASK,
            "select": "many",
            "options": OPTIONS,
            "default": ["bus", "ferry"],
            "minSelected": 0,
            "maxSelected": 2.0,
            "allowOther": True,
            "otherLabel": "Else",
        },
    ),
    "choice_with_nothing_more": (
        "choice",
        {"prompt": "Which?", "select": "one", "options": OPTIONS},
    ),
    "choice_with_what_equals_absent": (
        "choice",
        {
            "prompt": "Which?",
            "select": "one",
            "options": OPTIONS,
            "allowOther": False,
            "allowDecline": True,
        },
    ),
    "confirm_with_everything": (
        "confirm",
        {
            "prompt": "Delete 12 todos?",
            "title": "Clean up",
            "confirmLabel": "Delete",
            "denyLabel": "Keep",
            "destructive": True,
            "allowDecline": True,
        },
    ),
    "confirm_with_nothing_more": ("confirm", {"prompt": "Sure?"}),
    "confirm_with_false": ("confirm", {"prompt": "Sure?", "destructive": False}),
    "markdown_with_everything": (
        "markdown",
        {
            "prompt": "Check the letter.",
            **_EVERY_ASK,
            "initial": "# Dear all\n",
            "placeholder": "Write here",
            "minLength": 1,
            "maxLength": 20_000.0,
        },
    ),
    "markdown_with_nothing_more": ("markdown", {"prompt": "Write."}),
    "markdown_with_what_equals_absent": (
        "markdown",
        {"prompt": "Write.", "initial": "", "minLength": 0, "allowDecline": True},
    ),
    "form_of_one_half": (
        "form",
        {
            **_EVERY_ASK,
            **form_of(*[field_of(type_, **own) for type_, own in [*FIELDS.items()][:6]]),
        },
    ),
    "form_of_the_other_half": (
        "form",
        form_of(
            *[
                field_of(type_, **own, helperText="Which?", required=True)
                for type_, own in [*FIELDS.items()][6:]
            ]
        ),
    ),
    "form_with_nothing_more": ("form", form_of(field_of("number"), field_of("text"))),
    "form_with_what_equals_absent": (
        "form",
        form_of(
            field_of("multiselect", options=_PICKS, default=[], required=False),
            field_of("number", default=0, integer=False),
        ),
    ),
    "files_with_everything": (
        "files",
        {
            "prompt": "Send the scans.",
            **_EVERY_ASK,
            "accept": ["pdf", "image", "json", "csv", "text"],
            "minFiles": 2,
            "maxFiles": 3.0,
        },
    ),
    "files_with_nothing_more": ("files", {"prompt": "Send it.", "accept": ["pdf"]}),
}

CONTENTS: Final[dict[str, tuple[AskKind, Json]]] = {
    "choice": ("choice", {"selected": ["b", "a"]}),
    "choice_with_another_answer": ("choice", {"selected": [], "other": "By bike"}),
    "confirm": ("confirm", {"confirmed": True}),
    "confirm_denied": ("confirm", {"confirmed": False}),
    "markdown": ("markdown", {"markdown": "# Hello", "changed": True}),
    "markdown_empty": ("markdown", {"markdown": "", "changed": False}),
    "form": (
        "form",
        {"values": {"n": 3, "f": 2.5, "z": 0, "s": "", "b": False, "l": ["x", "y"], "e": []}},
    ),
    "form_empty": ("form", {"values": {}}),
    "files": (
        "files",
        {
            "files": [
                {"filename": "a.png", "mimeType": "image/png", "size": 2**40, "fileId": "f1"},
                {"filename": "b.txt", "mimeType": "text/plain", "size": 0},
            ]
        },
    ),
    "files_inline": (
        "files",
        {
            "files": [
                {"filename": "a", "mimeType": "text/csv", "size": 1, "url": "data:text/csv;base64,"}
            ]
        },
    ),
}
"""What an accepted answer holds: as it was sent, or as it is stored (FI7)."""

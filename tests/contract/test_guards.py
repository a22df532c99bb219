"""What may be asked on a small screen: a destructive confirm is shown whole and plainly."""

import pytest
from pydantic import JsonValue

from parleyd.contract.guards import check_on_small_screen

BASE: dict[str, JsonValue] = {"prompt": "Delete them?", "destructive": True}

FITS: dict[str, dict[str, JsonValue]] = {
    "at both limits": {"prompt": "x" * 140, "title": "x" * 40},
    "a line break": {"prompt": "Delete\nthem?"},
    "beside the hidden ranges": {
        "prompt": "\x20\x7e\xa0\u200a\u2010\u2029\u202f\u205f\u2065\u206a"
    },
    "astral characters beside the tags": {"prompt": "\U000dffff\U000e1000"},
    "not destructive": {"destructive": False, "prompt": "x" * 141, "title": "\u202e"},
}

FAULTS: dict[str, tuple[dict[str, JsonValue], list[tuple[str, str]]]] = {
    "prompt too long": ({"prompt": "x" * 141}, [("prompt", "TOO_LONG")]),
    "emoji count two": ({"prompt": "\U0001f600" * 71}, [("prompt", "TOO_LONG")]),
    "title too long": ({"title": "x" * 41}, [("title", "TOO_LONG")]),
    "both faults of one text": (
        {"title": "\u202e" + "x" * 41},
        [("title", "INVALID_FORMAT"), ("title", "TOO_LONG")],
    ),
    "in order": (
        {"prompt": "\t", "denyLabel": "a\u200bb", "confirmLabel": "\ufeff", "title": "\x00"},
        [
            ("confirmLabel", "INVALID_FORMAT"),
            ("denyLabel", "INVALID_FORMAT"),
            ("prompt", "INVALID_FORMAT"),
            ("title", "INVALID_FORMAT"),
        ],
    ),
}

HIDDEN = (
    *"\x00\x09\x0b\x1f\x7f\x9f\u115f\u1160\u200b\u200f\u202a\u202e\u2060\u2064\u2066\u2069",
    *"\u3164\ufeff\U000e0000\U000e0fff",
)


@pytest.mark.parametrize("more", FITS.values(), ids=[*FITS])
def test_what_is_whole_and_plain_may_be_asked(more: dict[str, JsonValue]) -> None:
    assert check_on_small_screen("confirm", BASE | more) == ()


@pytest.mark.parametrize(("more", "faults"), FAULTS.values(), ids=[*FAULTS])
def test_what_is_not_is_told(more: dict[str, JsonValue], faults: list[tuple[str, str]]) -> None:
    errors = check_on_small_screen("confirm", BASE | more)
    assert [(error.path, error.code) for error in errors] == faults


@pytest.mark.parametrize("key", ["prompt", "title", "confirmLabel", "denyLabel"])
@pytest.mark.parametrize("character", HIDDEN, ids=lambda character: f"U+{ord(character):04X}")
def test_a_hidden_character_is_told_wherever_it_stands(key: str, character: str) -> None:
    (error,) = check_on_small_screen("confirm", BASE | {key: f"a{character}b"})
    assert (error.path, error.code) == (key, "INVALID_FORMAT")
    assert f"U+{ord(character):04X}" in error.message


def test_another_kind_is_never_refused() -> None:
    assert check_on_small_screen("choice", {"prompt": "x" * 500, "destructive": True}) == ()

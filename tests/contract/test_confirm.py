"""The rules of a confirm and of its answer (spec asks 6, 11)."""

from typing import get_args

import pytest
from pydantic import JsonValue

from parleyd.contract.answers import accepted, check_answer
from parleyd.contract.asks.kinds import check_ask
from parleyd.contract.surfaces import Surface
from tests.contract.reported import reported
from tests.contract.valid_asks import POST

SHIP = "\U0001f6a2"


@pytest.mark.parametrize("surface", get_args(Surface))
@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        pytest.param({}, [], id="a prompt is enough"),
        pytest.param(
            {"confirmLabel": "c" * 20, "denyLabel": SHIP * 10, "destructive": True},
            [],
            id="labels at their limit",
        ),
        pytest.param({"confirmLabel": "confirm", "denyLabel": "Confirm"}, [], id="case differs"),
        pytest.param({"confirmLabel": "Go\x85", "denyLabel": "Go"}, [], id="U+0085 differs"),
        pytest.param(
            {"denyLabel": SHIP * 10 + "a"}, [("denyLabel", "TOO_LONG")], id="a label too long"
        ),
        pytest.param(
            {"confirmLabel": "Go\ufeff", "denyLabel": "\u3000Go"},
            [("denyLabel", "DUPLICATE_LABEL")],
            id="labels that read alike",
        ),
        pytest.param(
            {"confirmLabel": " Cancel"},
            [("confirmLabel", "DUPLICATE_LABEL")],
            id="like the default",
        ),
        pytest.param(
            {"denyLabel": "Confirm"},
            [("denyLabel", "DUPLICATE_LABEL")],
            id="like the other default",
        ),
        pytest.param(
            {"confirmLabel": "", "denyLabel": " "},
            [
                ("confirmLabel", "TOO_SHORT"),
                ("denyLabel", "DUPLICATE_LABEL"),
                ("denyLabel", "TOO_SHORT"),
            ],
            id="two blank labels are equal too",
        ),
        pytest.param(
            {"confirmLabel": "Cancel", "denyLabel": None},
            [("denyLabel", "INVALID_TYPE")],
            id="a null stops the rule",
        ),
        pytest.param({"submitLabel": "Go"}, [("submitLabel", "UNKNOWN_KEY")], id="no submit label"),
        pytest.param(
            {"destructive": 1, "allowDecline": "yes"},
            [("allowDecline", "INVALID_TYPE"), ("destructive", "INVALID_TYPE")],
            id="nothing is coerced",
        ),
    ],
)
def test_a_confirm_is_checked_alike_on_both_surfaces(
    surface: Surface, changes: dict[str, JsonValue], errors: list[tuple[str, str]]
) -> None:
    assert reported(check_ask("confirm", {**POST, **changes}, surface)) == errors


@pytest.mark.parametrize(
    ("content", "errors"),
    [
        pytest.param({"confirmed": True}, [], id="yes"),
        pytest.param({"confirmed": False}, [], id="no is a full answer"),
        pytest.param({}, [("content.confirmed", "MISSING_REQUIRED")], id="neither"),
        pytest.param({"confirmed": None}, [("content.confirmed", "INVALID_TYPE")], id="null"),
        pytest.param({"confirmed": 1}, [("content.confirmed", "INVALID_TYPE")], id="one"),
        pytest.param(
            {"selected": ["yes"]},
            [("content.confirmed", "MISSING_REQUIRED"), ("content.selected", "UNKNOWN_KEY")],
            id="the content of another kind",
        ),
    ],
)
def test_an_answer_to_a_confirm(
    content: dict[str, JsonValue], errors: list[tuple[str, str]]
) -> None:
    assert reported(check_answer("confirm", POST, accepted(content))) == errors

"""The answer envelope (spec asks 9, V10)."""

from math import nan

import pytest
from pydantic import JsonValue

from parleyd.contract.answers import (
    CONVERSATION_DELETED,
    ONE_ASK_AT_A_TIME,
    USER_SENT_MESSAGE,
    accepted,
    action_of,
    cancelled,
    check_answer,
    declined,
)
from parleyd.contract.asks.kind import AskKind
from tests.contract.reported import reported
from tests.contract.valid_asks import POST, TRIP

Faults = list[tuple[str, str]]


@pytest.mark.parametrize(
    "response",
    [None, True, 3, nan, "accept", ["accept"], []],
    ids=["null", "boolean", "number", "nan", "string", "list", "empty list"],
)
def test_what_is_no_object_is_no_envelope(response: JsonValue) -> None:
    assert reported(check_answer("choice", TRIP, response)) == [("", "INVALID_TYPE")]


@pytest.mark.parametrize(
    ("response", "errors"),
    [
        pytest.param({}, [("action", "MISSING_REQUIRED")], id="no action"),
        pytest.param(
            {"content": 1, "toolCallId": "c", "": 2},
            [("action", "MISSING_REQUIRED")],
            id="no action: nothing else is looked at",
        ),
        pytest.param({"action": None}, [("action", "INVALID_ENUM")], id="null"),
        pytest.param({"action": ["accept"]}, [("action", "INVALID_ENUM")], id="a list"),
        pytest.param({"action": {"accept": 1}}, [("action", "INVALID_ENUM")], id="an object"),
        pytest.param(
            {"action": "Accept", "content": 1, "x": 1},
            [("action", "INVALID_ENUM")],
            id="an unknown action: nothing else is looked at",
        ),
        pytest.param({"action": "accept"}, [("content", "MISSING_REQUIRED")], id="no content"),
        pytest.param(
            {"action": "accept", "content": None}, [("content", "INVALID_TYPE")], id="null content"
        ),
        pytest.param(
            {"action": "accept", "content": {"selected": []}, "toolCallId": "c", "reason": "r"},
            [("reason", "UNKNOWN_KEY"), ("toolCallId", "UNKNOWN_KEY")],
            id="faults of the envelope hide those of the content",
        ),
        pytest.param(
            {"action": "accept", "content": {"selected": [1], "x": 1}},
            [("content.selected[0]", "INVALID_TYPE"), ("content.x", "UNKNOWN_KEY")],
            id="faults of the shape hide those of the rules",
        ),
        pytest.param({"action": "decline"}, [], id="skipped"),
        pytest.param(
            {"action": "decline", "reason": "r"}, [("reason", "UNKNOWN_KEY")], id="with a reason"
        ),
        pytest.param({"action": "cancel"}, [], id="dropped"),
        pytest.param({"action": "cancel", "reason": "r" * 200}, [], id="dropped with a reason"),
        pytest.param(
            {"action": "cancel", "reason": " " * 201},
            [("reason", "TOO_LONG"), ("reason", "TOO_SHORT")],
            id="a reason of nothing, at length",
        ),
        pytest.param(
            {"action": "cancel", "reason": None, "content": {}},
            [("content", "UNKNOWN_KEY"), ("reason", "INVALID_TYPE")],
            id="a null reason and a content",
        ),
    ],
)
def test_an_envelope_is_checked_before_its_content(response: JsonValue, errors: Faults) -> None:
    assert reported(check_answer("choice", TRIP, response)) == errors


@pytest.mark.parametrize(
    ("kind", "ask", "allowed"),
    [
        pytest.param("choice", TRIP, True, id="a choice by default"),
        pytest.param("choice", {**TRIP, "allowDecline": True}, True, id="a choice that says so"),
        pytest.param("choice", {**TRIP, "allowDecline": False}, False, id="a choice that must be"),
        pytest.param("confirm", POST, False, id="a confirm by default"),
        pytest.param("confirm", {**POST, "allowDecline": True}, True, id="a confirm that says so"),
        pytest.param(
            "confirm", {**POST, "allowDecline": False}, False, id="a confirm that must be"
        ),
    ],
)
def test_an_ask_is_skipped_only_if_it_may_be(
    kind: AskKind, ask: dict[str, JsonValue], *, allowed: bool
) -> None:
    expected = [] if allowed else [("action", "DECLINE_NOT_ALLOWED")]
    assert reported(check_answer(kind, ask, declined())) == expected
    malformed: JsonValue = {**declined(), "content": {}}
    assert reported(check_answer(kind, ask, malformed)) == [("content", "UNKNOWN_KEY")]


@pytest.mark.parametrize(
    "reason", [USER_SENT_MESSAGE, ONE_ASK_AT_A_TIME, CONVERSATION_DELETED], ids=str
)
def test_the_servers_own_cancels_fit_every_ask(reason: str) -> None:
    assert cancelled(reason) == {"action": "cancel", "reason": reason}
    assert check_answer("choice", {**TRIP, "allowDecline": False}, cancelled(reason)) == ()
    assert check_answer("confirm", POST, cancelled(reason)) == ()


def test_the_action_of_an_envelope() -> None:
    envelopes = [accepted({"confirmed": True}), declined(), cancelled("r")]
    assert [action_of(envelope) for envelope in envelopes] == ["accept", "decline", "cancel"]


@pytest.mark.parametrize("envelope", [{}, {"action": "skip"}, {"action": None}], ids=str)
def test_what_is_no_envelope_has_no_action(envelope: dict[str, JsonValue]) -> None:
    with pytest.raises(ValueError, match="not valid"):
        action_of(envelope)

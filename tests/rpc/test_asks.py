from datetime import UTC, datetime
from typing import Any, get_args
from uuid import UUID

import pytest
from google.protobuf.json_format import MessageToDict
from pydantic import JsonValue

from parley.v1 import asks_pb2
from parleyd.contract.answers import AskAction
from parleyd.contract.asks.ask import Ask, AskOrigin
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import ASK_KINDS, check_ask
from parleyd.contract.cards import to_simple_card
from parleyd.contract.conversations import PendingAsk
from parleyd.rpc.asks import (
    action_to_proto,
    ask_input_to_proto,
    origin_to_proto,
    pending_ask_to_proto,
    pending_summary_to_proto,
    pending_view_to_proto,
)
from parleyd.rpc.cards import card_to_proto
from parleyd.rpc.kinds import kind_to_proto

MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)

OPTIONS: list[JsonValue] = [
    {"id": "train", "label": "Night train", "description": "Leaves at 22:10"},
    {"id": "ferry", "label": "Ferry"},
    {"id": "bus", "label": "Coach bus"},
]

INPUTS: dict[str, tuple[AskKind, dict[str, JsonValue]]] = {
    "choice_with_everything": (
        "choice",
        {
            "prompt": "How do you want to travel?",
            "title": "Coast trip",
            "submitLabel": "Go",
            "allowDecline": False,
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
            "default": [],
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
}


def from_proto(message: asks_pb2.AskInput) -> dict[str, Any]:
    """Returns an input as the contract's JSON, by protobuf's own JSON mapping (spec asks W1)."""
    whole = MessageToDict(asks_pb2.AskInput.FromString(message.SerializeToString()))
    kind = message.WhichOneof("kind")
    assert kind
    whole |= whole.pop(kind)
    if "select" in whole:
        whole["select"] = whole["select"].removeprefix("SELECT_").lower()
    return whole


@pytest.mark.parametrize(("kind", "ask_input"), INPUTS.values(), ids=INPUTS.keys())
def test_an_ask_arrives_whole(kind: AskKind, ask_input: dict[str, JsonValue]) -> None:
    assert check_ask(kind, ask_input) == ()
    message = ask_input_to_proto(kind, ask_input)
    assert message.WhichOneof("kind") == kind
    expected = {key: value for key, value in ask_input.items() if value != []}
    assert from_proto(message) == expected


def test_every_kind_that_is_built_is_mapped_in_these_tests() -> None:
    assert {kind for kind, _ in INPUTS.values()} == set(ASK_KINDS)


@pytest.mark.parametrize("kind", sorted({*get_args(AskKind)} - {*ASK_KINDS}))
def test_a_kind_that_is_not_built_is_refused_rather_than_sent_half(kind: AskKind) -> None:
    with pytest.raises(ValueError, match=kind):
        ask_input_to_proto(kind, {"prompt": "Which?"})


def test_each_kind_origin_and_action_has_its_own_enum_value() -> None:
    kinds = {asks_pb2.AskKind.Name(kind_to_proto(kind)) for kind in get_args(AskKind)}
    origins = {asks_pb2.AskOrigin.Name(origin_to_proto(of)) for of in get_args(AskOrigin)}
    actions = {asks_pb2.AskAction.Name(action_to_proto(of)) for of in get_args(AskAction)}
    assert kinds == {f"ASK_KIND_{kind.upper()}" for kind in get_args(AskKind)}
    assert origins == {f"ASK_ORIGIN_{of.upper()}" for of in get_args(AskOrigin)}
    assert actions == {f"ASK_ACTION_{of.upper()}" for of in get_args(AskAction)}


def ask() -> Ask:
    kind, ask_input = INPUTS["choice_with_everything"]
    return Ask(
        id=UUID(int=1),
        conversation_id=UUID(int=2),
        chain_id=UUID(int=3),
        owner="ada",
        tool_call_id="call_plan",
        provider_call_id="secret-of-the-provider",
        kind=kind,
        origin="approval",
        tool_name="ask_choice",
        input=ask_input,
        simple=to_simple_card(kind, ask_input, "call_plan"),
        status="pending",
        create_time=MOMENT,
    )


def test_a_listed_ask_has_its_card_and_never_its_input() -> None:
    listed = pending_ask_to_proto(PendingAsk(ask=ask(), title="Trip"))
    assert listed.conversation_id == str(UUID(int=2))
    assert (listed.title, listed.tool_call_id) == ("Trip", "call_plan")
    assert listed.kind == asks_pb2.ASK_KIND_CHOICE
    assert listed.simple == card_to_proto(ask().simple)
    assert listed.create_time.ToDatetime(UTC) == MOMENT
    assert pending_ask_to_proto(PendingAsk(ask=ask(), title=None)).title == ""


def test_a_conversation_shows_its_ask_whole_but_nothing_of_the_provider() -> None:
    view = pending_view_to_proto(ask())
    assert view.tool_call_id == "call_plan"
    assert view.kind == asks_pb2.ASK_KIND_CHOICE
    assert view.input == ask_input_to_proto("choice", ask().input)
    assert view.simple == card_to_proto(ask().simple)
    assert view.origin == asks_pb2.ASK_ORIGIN_APPROVAL
    assert view.create_time.ToDatetime(UTC) == MOMENT
    assert "secret" not in str(view)


def test_a_small_client_gets_the_card() -> None:
    summary = pending_summary_to_proto(ask())
    assert (summary.tool_call_id, summary.kind) == ("call_plan", asks_pb2.ASK_KIND_CHOICE)
    assert summary.simple == card_to_proto(ask().simple)

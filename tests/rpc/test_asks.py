from datetime import UTC, datetime
from typing import get_args
from uuid import UUID

import pytest

from parley.v1 import asks_pb2
from parleyd.contract.answers import AskAction
from parleyd.contract.asks.ask import Ask, AskOrigin
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.cards import to_simple_card
from parleyd.contract.conversations import PendingAsk
from parleyd.rpc.ask_inputs import ask_input_from_proto
from parleyd.rpc.asks import (
    action_to_proto,
    origin_to_proto,
    pending_ask_to_proto,
    pending_summary_to_proto,
    pending_view_to_proto,
)
from parleyd.rpc.cards import card_to_proto
from parleyd.rpc.kinds import kind_to_proto
from tests.rpc.every_kind import INPUTS, Json
from tests.rpc.json_values import card_of, exact

MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


def test_each_kind_origin_and_action_has_its_own_enum_value() -> None:
    kinds = {asks_pb2.AskKind.Name(kind_to_proto(kind)) for kind in get_args(AskKind)}
    origins = {asks_pb2.AskOrigin.Name(origin_to_proto(of)) for of in get_args(AskOrigin)}
    actions = {asks_pb2.AskAction.Name(action_to_proto(of)) for of in get_args(AskAction)}
    assert kinds == {f"ASK_KIND_{kind.upper()}" for kind in get_args(AskKind)}
    assert origins == {f"ASK_ORIGIN_{of.upper()}" for of in get_args(AskOrigin)}
    assert actions == {f"ASK_ACTION_{of.upper()}" for of in get_args(AskAction)}


def ask(kind: AskKind, ask_input: Json) -> Ask:
    return Ask(
        id=UUID(int=1),
        conversation_id=UUID(int=2),
        chain_id=UUID(int=3),
        owner="ada",
        tool_call_id="call_plan",
        provider_call_id="secret-of-the-provider",
        kind=kind,
        origin="approval",
        tool_name=f"ask_{kind}",
        input=ask_input,
        simple=to_simple_card(kind, ask_input, "call_plan"),
        status="pending",
        create_time=MOMENT,
    )


CHOICE = ask(*INPUTS["choice_with_everything"])


def test_a_listed_ask_has_its_card_and_never_its_input() -> None:
    listed = pending_ask_to_proto(PendingAsk(ask=CHOICE, title="Trip"))
    assert listed.conversation_id == str(UUID(int=2))
    assert (listed.title, listed.tool_call_id) == ("Trip", "call_plan")
    assert listed.kind == asks_pb2.ASK_KIND_CHOICE
    assert listed.simple == card_to_proto(CHOICE.simple)
    assert listed.create_time.ToDatetime(UTC) == MOMENT
    assert pending_ask_to_proto(PendingAsk(ask=CHOICE, title=None)).title == ""


@pytest.mark.parametrize(("kind", "ask_input"), INPUTS.values(), ids=INPUTS.keys())
def test_a_conversation_shows_its_ask_whole_but_nothing_of_the_provider(
    kind: AskKind, ask_input: Json
) -> None:
    stored = ask(kind, ask_input)
    view = pending_view_to_proto(stored)
    came_kind, came = ask_input_from_proto(view.input)
    assert view.tool_call_id == "call_plan"
    assert view.kind == kind_to_proto(kind)
    assert (came_kind, exact(came)) == (kind, exact(ask_input))
    assert exact(card_of(view.simple)) == exact(
        stored.simple.model_dump(mode="json", by_alias=True, exclude_none=True)
    )
    assert view.origin == asks_pb2.ASK_ORIGIN_APPROVAL
    assert view.create_time.ToDatetime(UTC) == MOMENT
    assert "secret" not in str(view)


def test_a_small_client_gets_the_card() -> None:
    summary = pending_summary_to_proto(CHOICE)
    assert (summary.tool_call_id, summary.kind) == ("call_plan", asks_pb2.ASK_KIND_CHOICE)
    assert summary.simple == card_to_proto(CHOICE.simple)


APPROVAL = ask(*INPUTS["confirm_with_everything"]).model_copy(
    update={"tool_name": "delete", "tool_args": {"id": 9007199254740993, "é": [1.0, None]}}
)
ARGS = '{"id":9007199254740993,"é":[1.0,null]}'


def test_an_approval_shows_what_will_run_digit_for_digit() -> None:
    view = pending_view_to_proto(APPROVAL)
    assert (view.tool_name, view.tool_args_json) == ("delete", ARGS)


@pytest.mark.parametrize("origin", [of for of in get_args(AskOrigin) if of != "approval"])
def test_another_ask_shows_no_tool(origin: AskOrigin) -> None:
    view = pending_view_to_proto(APPROVAL.model_copy(update={"origin": origin}))
    assert (view.tool_name, view.tool_args_json) == ("", "")


def test_neither_list_nor_summary_shows_what_an_approval_runs() -> None:
    listed = pending_ask_to_proto(PendingAsk(ask=APPROVAL, title="Trip"))
    for shown in (listed, pending_summary_to_proto(APPROVAL)):
        assert "9007199254740993" not in str(shown)

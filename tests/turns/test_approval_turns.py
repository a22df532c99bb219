"""Approvals as a turn is opened with their answers, and as it ends with them (spec turns 9)."""

from dataclasses import replace
from uuid import UUID

import pytest
from pydantic import JsonValue

from parleyd.contract.answers import action_of, cancelled, declined
from parleyd.contract.errors import AskNotPending
from parleyd.contract.events import Asked, AskResolved, Started, ToolCalled, ToolReturned
from parleyd.contract.messages import MessageDraft
from parleyd.turns.endings import plan_ending
from parleyd.turns.openings import plan_opening
from parleyd.turns.ports import PromptOpening, RetryOpening
from parleyd.turns.situations import FailedTurn, NamedAsks
from tests.turns.turn_values import (
    APPROVED,
    CONVERSATION,
    DELETE_ARGS,
    DENIED,
    LOCKED,
    OPENED,
    PLACE,
    ROOT,
    TEAM,
    WORDED,
    answer,
    collected,
    collected_approval,
    guarded_call,
    meeting,
    opening,
    pausing,
    stored_approval,
    stored_ask,
)

# ---------------------------------------------------------------- answered

FIRST = UUID(int=31)
GUARDED = (guarded_call("call_delete", FIRST), guarded_call("call_archive", None, "archive"))
DENIALS: dict[str, tuple[dict[str, JsonValue], str]] = {
    "not confirmed": (DENIED, "user_denied"),
    "declined": (declined(), "user_declined"),
    "cancelled": ({"action": "cancel"}, "user_cancelled"),
    "cancelled with a reason": (cancelled("Not now."), "Not now."),
}


def denied(call_id: str, tool_name: str, reason: str) -> ToolReturned:
    return ToolReturned(
        tool_call_id=call_id,
        tool_name=tool_name,
        result={"approved": False, "reason": reason},
        is_error=False,
        denied=reason,
    )


@pytest.mark.parametrize(("envelope", "reason"), DENIALS.values(), ids=DENIALS)
def test_v3_a_denial_is_told_with_the_answer_itself(
    envelope: dict[str, JsonValue], reason: str
) -> None:
    asks = NamedAsks(stored_approval(FIRST), 1, GUARDED[:1])

    plan = plan_opening(answer("apr_1", envelope), meeting(asks))

    assert plan.events == (
        Started(conversation_id=CONVERSATION, conversation_created=False),
        AskResolved(tool_call_id="apr_1", action=action_of(envelope)),
        denied("call_delete", "delete", reason),
    )
    assert [(row.type, row.tool_call_id, row.tool_name, row.result) for row in plan.rows] == [
        ("tool_result", "apr_1", "delete", envelope)
    ]


def test_v2_what_is_approved_has_no_result_yet() -> None:
    asks = NamedAsks(stored_approval(FIRST), 1, GUARDED[:1])
    plan = plan_opening(answer("apr_1", APPROVED), meeting(asks))
    assert [event.kind for event in plan.events] == ["started", "ask_resolved"]


@pytest.mark.parametrize("envelope", [APPROVED, *(one for one, _ in DENIALS.values())], ids=str)
def test_v6_further_approvals_of_the_step_are_denied_whatever_the_answer(
    envelope: dict[str, JsonValue],
) -> None:
    asks = NamedAsks(stored_approval(FIRST), 1, GUARDED)

    plan = plan_opening(answer("apr_1", envelope), meeting(asks))

    own = () if envelope is APPROVED else ("call_delete",)
    told = [event for event in plan.events if isinstance(event, ToolReturned)]
    assert tuple(event.tool_call_id for event in told) == (*own, "call_archive")
    assert told[-1] == denied("call_archive", "archive", "one_ask_at_a_time")
    assert plan.events[1].kind == "ask_resolved"


@pytest.mark.parametrize("envelope", [TEAM, declined(), cancelled("no")], ids=str)
def test_v7_approvals_behind_an_ask_are_denied_when_that_is_answered(
    envelope: dict[str, JsonValue],
) -> None:
    guarded = (guarded_call("call_delete", None), guarded_call("call_archive", None, "archive"))
    asks = NamedAsks(stored_ask(), 1, guarded)

    plan = plan_opening(answer(envelope=envelope), meeting(asks))

    assert plan.events[2:] == (
        denied("call_delete", "delete", "one_ask_at_a_time"),
        denied("call_archive", "archive", "one_ask_at_a_time"),
    )


def test_v9_a_message_cancels_an_approval_and_nothing_is_told_of_its_call() -> None:
    asks = NamedAsks(stored_approval(FIRST), 1, GUARDED)

    plan = plan_opening(opening(PromptOpening("Never mind")), meeting(asks))

    assert plan.resolved
    assert (plan.resolved.status, plan.resolved.answer) == (
        "cancelled",
        cancelled("user_sent_message"),
    )
    assert plan.ended_chain == ROOT
    assert [event.kind for event in plan.events] == ["started", "ask_resolved"]
    assert [(row.type, row.tool_call_id) for row in plan.rows] == [
        ("tool_result", "apr_1"),
        ("user", None),
    ]


def test_a_retry_settles_no_approval() -> None:
    failed = FailedTurn(
        turn_id=UUID(int=8),
        state="failed",
        retryable=True,
        chain_id=UUID(int=9),
        context_max_seq=5,
        surface="full",
        model=None,
        system_instruction=None,
        retried_by=None,
    )
    asks = NamedAsks(stored_approval(FIRST), 1, GUARDED)
    plan = plan_opening(opening(RetryOpening(failed.turn_id)), meeting(asks, failed))
    assert [event.kind for event in plan.events] == ["started"]
    assert plan.slot_taken


def test_v10_the_id_of_the_guarded_call_is_not_that_of_its_approval() -> None:
    asks = NamedAsks(stored_approval(FIRST), 1, GUARDED)
    with pytest.raises(AskNotPending) as refused:
        plan_opening(answer("call_delete", APPROVED), meeting(asks))
    assert refused.value.metadata == {
        "tool_call_id": "call_delete",
        "current_tool_call_id": "apr_1",
    }


# ---------------------------------------------------------------- asked for


def test_v1_an_approval_pauses_the_turn_and_says_what_it_guards() -> None:
    asked = collected_approval()
    called = ToolCalled(tool_call_id="call_delete", tool_name="delete", args=DELETE_ARGS)
    row = MessageDraft(
        type="tool_call", tool_call_id="call_delete", tool_name="delete", args=DELETE_ARGS
    )
    ending = replace(pausing(asked), rows=(row,), events=(called,))

    plan = plan_ending(OPENED, ending, LOCKED, PLACE)

    (ask,) = plan.asks
    assert (ask.id, ask.kind, ask.origin, ask.status) == (
        asked.ask_id,
        "confirm",
        "approval",
        "pending",
    )
    assert (ask.tool_call_id, ask.provider_call_id) == ("apr_own", None)
    assert (ask.tool_name, ask.tool_args, ask.input) == ("delete", DELETE_ARGS, WORDED)
    assert [button.id for button in ask.simple.buttons] == ["approve", "deny"]
    assert ask.simple.tool_call_id == "apr_own"
    assert [
        (row.type, row.tool_call_id, row.tool_name, row.args, row.ask_id) for row in plan.rows
    ] == [
        ("tool_call", "call_delete", "delete", DELETE_ARGS, None),
        ("tool_call", "apr_own", "delete", WORDED, asked.ask_id),
    ]
    assert [event.kind for event in plan.events] == ["tool_call", "ask", "done"]
    told = plan.events[1]
    assert isinstance(told, Asked)
    assert (told.tool_call_id, told.origin, told.tool_name, told.tool_args) == (
        "apr_own",
        "approval",
        "delete",
        DELETE_ARGS,
    )
    assert plan.result.pending_ask == ask


def test_an_ask_of_the_model_names_no_tool_that_it_guards() -> None:
    plan = plan_ending(OPENED, pausing(collected("call_plan")), LOCKED, PLACE)
    assert (plan.asks[0].origin, plan.asks[0].tool_args) == ("model", None)
    told = plan.events[0]
    assert isinstance(told, Asked)
    assert (told.tool_name, told.tool_args) == (None, None)


def test_a_step_keeps_the_id_of_a_guarded_call_beside_that_of_its_approval() -> None:
    asked = collected_approval()
    plan = plan_ending(OPENED, pausing(asked), LOCKED, PLACE)
    assert plan.step
    assert plan.step.calls == (asked.call,)


NARROWED = {
    "too long": "x" * 141,
    "a hidden character": "Delete \u202e?",
    "a tab": "Delete\tall?",
}


@pytest.mark.parametrize("prompt", NARROWED.values(), ids=NARROWED)
def test_v19_what_its_card_does_not_show_plainly_can_only_be_denied_there(prompt: str) -> None:
    asked = collected_approval(worded={"prompt": prompt})
    plan = plan_ending(OPENED, pausing(asked), LOCKED, PLACE)
    card = plan.asks[0].simple
    assert ([button.id for button in card.buttons], card.handoff) == (["deny"], True)


def test_v19_a_plain_confirm_of_the_model_is_not_guarded() -> None:
    confirm = replace(collected("call_sure"), kind="confirm", input={"prompt": "x" * 141})
    plan = plan_ending(OPENED, pausing(confirm), LOCKED, PLACE)
    assert [button.id for button in plan.asks[0].simple.buttons] == ["approve", "deny"]


@pytest.mark.parametrize(
    ("taken", "deleted", "reason"),
    [
        pytest.param(True, False, "one_ask_at_a_time", id="slot taken"),
        pytest.param(False, True, "conversation_deleted", id="deleted"),
    ],
)
def test_an_approval_that_gets_no_slot_is_stored_cancelled_and_ends_the_turn(
    *, taken: bool, deleted: bool, reason: str
) -> None:
    asked = collected_approval()

    plan = plan_ending(
        OPENED, pausing(asked), replace(LOCKED, deleted=deleted), replace(PLACE, slot_taken=taken)
    )

    assert (plan.outcome, plan.step, plan.ended_chain) == ("completed", None, ROOT)
    assert [(ask.status, ask.answer) for ask in plan.asks] == [("cancelled", cancelled(reason))]
    assert [(row.type, row.tool_call_id, row.result) for row in plan.rows] == [
        ("tool_call", "apr_own", None),
        ("tool_result", "apr_own", cancelled(reason)),
    ]
    assert [event.kind for event in plan.events] == ["done"]


def test_v8_an_ask_behind_an_approval_is_stored_cancelled() -> None:
    plan = plan_ending(OPENED, pausing(collected_approval(), collected("call_plan")), LOCKED, PLACE)

    assert [(ask.origin, ask.status) for ask in plan.asks] == [
        ("approval", "pending"),
        ("model", "cancelled"),
    ]
    assert plan.asks[1].answer == cancelled("one_ask_at_a_time")
    assert [(row.type, row.tool_call_id) for row in plan.rows] == [
        ("tool_call", "apr_own"),
        ("tool_call", "call_plan"),
        ("tool_result", "call_plan"),
    ]
    assert plan.result.pending_ask == plan.asks[0]


def test_v7_an_approval_behind_an_ask_leaves_no_row_and_stays_in_the_step() -> None:
    asked, further = collected("call_plan"), guarded_call("call_delete", None)
    ending = pausing(asked)
    assert ending.step
    step = ending.step.model_copy(update={"calls": (asked.call, further)})

    plan = plan_ending(OPENED, replace(ending, step=step), LOCKED, PLACE)

    assert [ask.tool_call_id for ask in plan.asks] == ["call_plan"]
    assert [row.tool_call_id for row in plan.rows] == ["call_plan"]
    assert plan.step == step

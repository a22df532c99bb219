"""What ending a turn writes, given what it read."""

from dataclasses import replace

import pytest

from parleyd.contract.answers import cancelled
from parleyd.contract.blocks.issues import BlockCode, BlockIssue
from parleyd.contract.events import (
    BlocksChecked,
    Done,
    Failed,
    Text,
    TextReplaced,
    ToolCalled,
    ToolReturned,
)
from parleyd.contract.executions import UNKNOWN_RESULT, Execution
from parleyd.contract.messages import MessageDraft
from parleyd.contract.reasons import Reason
from parleyd.contract.turns import TurnError, TurnResult
from parleyd.turns.endings import plan_closing, plan_ending, plan_failure
from parleyd.turns.ports import Ending
from tests.turns.turn_values import (
    CONVERSATION,
    LOCKED,
    NOW,
    OPENED,
    PLACE,
    ROOT,
    TURN,
    collected,
    invalid,
    pausing,
)


def test_a_reply_finishes_the_turn_and_ends_the_chain() -> None:
    called = MessageDraft(type="tool_call", tool_call_id="c", tool_name="lookup", args={})

    plan = plan_ending(OPENED, Ending(rows=(called,), text="Done."), LOCKED, PLACE)

    assert (plan.outcome, plan.closed, plan.ended_chain) == ("completed", True, ROOT)
    assert [(row.type, row.seq, row.position) for row in plan.rows] == [
        ("tool_call", 8, 1),
        ("assistant", 9, 2),
    ]
    assert (plan.rows[1].model, plan.rows[1].status) == ("scripted-1", "complete")
    assert [event.kind for event in plan.events] == ["text", "done"]
    assert plan.result == TurnResult(
        conversation_id=CONVERSATION, turn_id=TURN, state="completed", text="Done."
    )


def test_a_turn_without_a_word_writes_no_row() -> None:
    plan = plan_ending(OPENED, Ending(), LOCKED, PLACE)

    assert (plan.rows, plan.last_seq) == ((), 7)
    assert [event.kind for event in plan.events] == ["done"]


@pytest.mark.parametrize(
    ("due", "title", "deleted", "closed"),
    [
        pytest.param(True, None, False, False, id="due"),
        pytest.param(False, None, False, True, id="not due"),
        pytest.param(True, "Trip", False, True, id="there is a title"),
        pytest.param(True, None, True, True, id="deleted"),
    ],
)
def test_a_turn_stays_open_for_a_title_only_where_one_can_be_set(
    *, due: bool, title: str | None, deleted: bool, closed: bool
) -> None:
    conversation = replace(LOCKED, title=title, deleted=deleted)

    plan = plan_ending(OPENED, Ending(text="Hi", title_due=due), conversation, PLACE)

    assert plan.closed is closed
    assert (plan.events[-1].kind == "done") is closed
    assert plan.result.title == title


def test_the_first_ask_gets_the_slot_and_the_others_are_cancelled() -> None:
    first, second = collected("call_plan"), collected("call_region")

    plan = plan_ending(OPENED, pausing(first, second), LOCKED, PLACE)

    assert plan.outcome == "paused"
    assert [(ask.tool_call_id, ask.status, ask.answer) for ask in plan.asks] == [
        ("call_plan", "pending", None),
        ("call_region", "cancelled", cancelled("one_ask_at_a_time")),
    ]
    assert plan.asks[1].resolved_by_turn == TURN
    assert [(row.type, row.tool_call_id, row.ask_id) for row in plan.rows] == [
        ("tool_call", "call_plan", first.ask_id),
        ("tool_call", "call_region", second.ask_id),
        ("tool_result", "call_region", second.ask_id),
    ]
    assert plan.rows[0].text == "Tool call: ask_choice"
    assert [event.kind for event in plan.events] == ["ask", "done"]
    assert isinstance(plan.events[1], Done)
    assert plan.events[1].pending_tool_call_id == "call_plan"
    assert plan.result.pending_ask == plan.asks[0]
    assert (plan.step is not None, plan.ended_chain) == (True, None)


@pytest.mark.parametrize(
    ("taken", "deleted", "reason"),
    [
        pytest.param(True, False, "one_ask_at_a_time", id="slot taken"),
        pytest.param(False, True, "conversation_deleted", id="deleted"),
        pytest.param(True, True, "conversation_deleted", id="both"),
    ],
)
def test_an_ask_that_gets_no_slot_ends_the_turn(*, taken: bool, deleted: bool, reason: str) -> None:
    ending = pausing(collected("call_plan"))

    plan = plan_ending(
        OPENED, ending, replace(LOCKED, deleted=deleted), replace(PLACE, slot_taken=taken)
    )

    assert (plan.outcome, plan.step, plan.ended_chain) == ("completed", None, ROOT)
    assert plan.asks[0].answer == cancelled(reason)
    assert (plan.asks[0].resolved_by_turn, plan.asks[0].resolve_time) == (TURN, NOW)
    assert [row.type for row in plan.rows] == ["tool_call", "tool_result"]
    assert [event.kind for event in plan.events] == ["done"]
    assert plan.result.pending_ask is None


@pytest.mark.parametrize(
    ("taken", "ids", "public"),
    [
        pytest.param(set[str](), ["a", "b"], ["a", "b"], id="free"),
        pytest.param({"a"}, ["a", "b"], ["spare_of_a", "b"], id="taken in the conversation"),
        pytest.param(set[str](), ["a", "a"], ["a", "spare_of_a"], id="twice in a step"),
        pytest.param({"\ufffd"}, ["\x00"], ["spare_of_\x00"], id="taken in its storable form"),
    ],
)
def test_no_two_asks_of_a_conversation_share_a_public_id(
    taken: set[str], ids: list[str], public: list[str]
) -> None:
    ending = pausing(*(collected(each) for each in ids))

    plan = plan_ending(OPENED, ending, LOCKED, replace(PLACE, taken_call_ids=frozenset(taken)))

    assert [ask.tool_call_id for ask in plan.asks] == public
    assert [ask.simple.tool_call_id for ask in plan.asks] == public
    assert plan.step
    assert [call.tool_call_id for call in plan.step.calls] == public
    assert [call.provider_call_id for call in plan.step.calls] == ids


def test_a_call_that_was_shown_in_the_turn_keeps_its_id() -> None:
    shown = MessageDraft(type="tool_call", tool_call_id="a", tool_name="lookup", args={})
    ending = replace(pausing(collected("a")), rows=(shown,))

    plan = plan_ending(OPENED, ending, LOCKED, PLACE)

    assert plan.asks[0].tool_call_id == "spare_of_a"


def test_a_step_that_is_journaled_already_is_not_written_again() -> None:
    asked = collected("a")
    ending = replace(pausing(asked), step=None)

    plan = plan_ending(OPENED, ending, LOCKED, replace(PLACE, taken_call_ids=frozenset({"a"})))

    assert (plan.outcome, plan.step, plan.ended_chain) == ("paused", None, None)
    assert [(ask.id, ask.tool_call_id) for ask in plan.asks] == [(asked.ask_id, "spare_of_a")]


def test_a_step_keeps_its_bytes_and_its_invalid_calls() -> None:
    ask = collected("call_plan")
    ending = pausing(ask, more=(invalid("call_bad"),))

    plan = plan_ending(OPENED, ending, LOCKED, PLACE)

    assert plan.step
    assert plan.step.messages == b"\x00raw\xff"
    assert plan.step.calls == (invalid("call_bad"), ask.call)


def test_what_a_step_has_to_tell_comes_before_its_ask() -> None:
    told = ToolCalled(tool_call_id="c", tool_name="lookup", args={"a": "\x00"})
    ending = replace(pausing(collected("call_plan")), events=(told,), text="So:")

    plan = plan_ending(OPENED, ending, LOCKED, PLACE)

    assert [event.kind for event in plan.events] == ["tool_call", "text", "ask", "done"]
    assert plan.events[0] == told.model_copy(update={"args": {"a": "\ufffd"}})
    assert [row.type for row in plan.rows] == ["assistant", "tool_call"]


# ---------------------------------------------------------------- documents

FAULT = BlockIssue(
    path="blocks[0]", code=BlockCode.MISSING_REQUIRED, message="There is none.", fix="Write one."
)
VALID = BlocksChecked(document={"v": 1, "blocks": []})
INVALID = BlocksChecked(errors=(FAULT,))


@pytest.mark.parametrize(
    ("sent", "kinds"),
    [
        pytest.param(None, ["text", "blocks", "done"], id="not sent before"),
        pytest.param("v: 1", ["blocks", "done"], id="sent before"),
        pytest.param("v: 2", ["text_replaced", "blocks", "done"], id="mended since"),
    ],
)
def test_a_document_is_told_with_its_check_once(sent: str | None, kinds: list[str]) -> None:
    plan = plan_ending(OPENED, Ending(text="v: 1", sent=sent, blocks=VALID), LOCKED, PLACE)

    assert [event.kind for event in plan.events] == kinds
    assert plan.events[-2] == VALID
    assert plan.result.text == "v: 1"
    for event in plan.events:
        if isinstance(event, Text | TextReplaced):
            assert event.text == "v: 1"


@pytest.mark.parametrize("sent", ["v: \x00", "v: \ufffd"], ids=["raw", "stored"])
def test_what_was_sent_counts_as_it_was_stored(sent: str) -> None:
    ending = Ending(text="v: \x00", sent=sent, blocks=VALID)
    plan = plan_ending(OPENED, ending, LOCKED, PLACE)
    assert [event.kind for event in plan.events] == ["blocks", "done"]


@pytest.mark.parametrize(
    ("sent", "kinds"),
    [
        pytest.param(None, ["text", "ask", "blocks", "done"], id="not sent before"),
        pytest.param("v: 1", ["ask", "blocks", "done"], id="sent before"),
        pytest.param("v: 2", ["text_replaced", "ask", "blocks", "done"], id="mended since"),
    ],
)
def test_a_document_beside_an_ask_comes_before_it_and_its_check_after(
    sent: str | None, kinds: list[str]
) -> None:
    ending = replace(pausing(collected("call_plan")), text="v: 1", sent=sent, blocks=VALID)

    plan = plan_ending(OPENED, ending, LOCKED, PLACE)

    assert plan.outcome == "paused"
    assert [event.kind for event in plan.events] == kinds
    assert [row.type for row in plan.rows] == ["assistant", "tool_call"]


def test_a_document_beside_an_ask_without_a_slot_is_the_reply_all_the_same() -> None:
    ending = replace(pausing(collected("call_plan")), text="v: 1", blocks=VALID)

    plan = plan_ending(OPENED, ending, LOCKED, replace(PLACE, slot_taken=True))

    assert plan.outcome == "completed"
    assert [event.kind for event in plan.events] == ["text", "blocks", "done"]
    assert [row.type for row in plan.rows] == ["assistant", "tool_call", "tool_result"]


def test_a_note_is_for_the_row_alone() -> None:
    ending = Ending(text="v: 1", note="\n\nErrors: \x00", blocks=INVALID)

    plan = plan_ending(OPENED, ending, LOCKED, PLACE)

    assert [row.text for row in plan.rows] == ["v: 1\n\nErrors: \ufffd"]
    assert plan.events[0] == Text(text="v: 1")
    assert plan.events[1] == INVALID
    assert plan.result.text == "v: 1"


def test_a_document_is_stored_without_what_cannot_be_stored() -> None:
    blocks = BlocksChecked(document={"v": 1, "blocks": [{"text": "a\x00b"}]})

    plan = plan_ending(OPENED, Ending(text="v: 1", blocks=blocks), LOCKED, PLACE)

    (told,) = [event for event in plan.events if isinstance(event, BlocksChecked)]
    assert told.document == {"v": 1, "blocks": [{"text": "a\ufffdb"}]}


ERROR = TurnError(reason=Reason.MODEL_ERROR, message="The model could not answer.")


@pytest.mark.parametrize(
    ("newer", "deleted", "retryable"),
    [
        pytest.param(False, False, True, id="the latest turn"),
        pytest.param(True, False, False, id="a newer turn exists"),
        pytest.param(False, True, False, id="deleted"),
    ],
)
def test_a_failed_turn_may_be_retried_while_it_is_the_latest(
    *, newer: bool, deleted: bool, retryable: bool
) -> None:
    plan = plan_failure(
        OPENED,
        ERROR,
        (),
        "",
        replace(LOCKED, deleted=deleted),
        replace(PLACE, newer_turn=newer),
        (),
    )

    assert (plan.outcome, plan.closed, plan.retryable) == ("failed", True, retryable)
    assert plan.ended_chain == (None if retryable else ROOT)
    assert plan.result.retryable is retryable
    assert plan.events == (
        Failed(reason=Reason.MODEL_ERROR, message="The model could not answer."),
        Done(
            conversation_id=CONVERSATION,
            title=None,
            pending_tool_call_id=None,
            state="failed",
            retryable=retryable,
        ),
    )


def test_what_a_failed_turn_said_is_kept_as_an_error() -> None:
    called = MessageDraft(type="tool_call", tool_call_id="c", tool_name="lookup", args={})

    plan = plan_failure(OPENED, ERROR, (called,), "I was ab\x00", LOCKED, PLACE, ())

    assert [(row.type, row.status, row.text) for row in plan.rows] == [
        ("tool_call", None, ""),
        ("assistant", "error", "I was ab\ufffd"),
    ]
    assert plan.result.text == ""
    assert plan.result.error == ERROR


def test_a_call_that_was_running_when_its_turn_failed_ends_unknown() -> None:
    running = tuple(
        Execution(
            step_no=1,
            call_index=index,
            tool_call_id=f"c{index}",
            tool_name="lookup",
            args={},
            turn_id=TURN,
            state="started",
        )
        for index in range(2)
    )
    called = MessageDraft(type="tool_call", tool_call_id="c0", tool_name="lookup", args={})

    plan = plan_failure(OPENED, ERROR, (called,), "I was", LOCKED, PLACE, running)

    assert plan.unknown == running
    assert [event.kind for event in plan.events] == [
        "tool_result",
        "tool_result",
        "error",
        "done",
    ]
    assert plan.events[0] == ToolReturned(
        tool_call_id="c0", tool_name="lookup", result=UNKNOWN_RESULT, is_error=True
    )
    assert [(row.type, row.tool_call_id, row.result) for row in plan.rows] == [
        ("tool_call", "c0", None),
        ("tool_result", "c0", UNKNOWN_RESULT),
        ("tool_result", "c1", UNKNOWN_RESULT),
        ("assistant", None, None),
    ]
    assert plan.rows[1].text == "Tool result: lookup"


@pytest.mark.parametrize(
    ("there", "deleted", "made", "stored", "shown"),
    [
        pytest.param(None, False, "Trip", "Trip", "Trip", id="first title"),
        pytest.param("Mine", False, "Trip", None, "Mine", id="renamed meanwhile"),
        pytest.param(None, False, None, None, None, id="no title made"),
        pytest.param(None, True, "Trip", None, None, id="deleted meanwhile"),
    ],
)
def test_a_title_is_set_once(
    *, there: str | None, deleted: bool, made: str | None, stored: str | None, shown: str | None
) -> None:
    result = TurnResult(conversation_id=CONVERSATION, turn_id=TURN, state="completed", text="Hi")

    plan = plan_closing(result, replace(LOCKED, title=there, deleted=deleted), made)

    assert plan.title == stored
    assert plan.result == result.model_copy(update={"title": shown})
    assert isinstance(plan.events[-1], Done)
    assert plan.events[-1].title == shown

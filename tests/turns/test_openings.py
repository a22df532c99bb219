"""What opening a turn writes, given what it read."""

from dataclasses import replace
from uuid import UUID

import pytest
from pydantic import JsonValue

from parleyd.contract.answers import accepted, cancelled, declined
from parleyd.contract.errors import (
    AskNotPending,
    ConversationNotFound,
    ParleyError,
    TurnNotFound,
    TurnNotRetryable,
)
from parleyd.contract.events import AskResolved, Started
from parleyd.contract.messages import MediaContent, TextContent
from parleyd.turns.openings import (
    cancelled_by_deletion,
    outlook_after,
    plan_new_conversation,
    plan_opening,
    said_in,
)
from parleyd.turns.ports import Opening, PromptOpening, RetryOpening
from parleyd.turns.situations import FailedTurn, NamedAsks, Situation
from parleyd.turns.state import TurnPlace
from tests.turns.turn_values import (
    CONVERSATION,
    LOCKED,
    NOW,
    ROOT,
    TEAM,
    TURN,
    answer,
    meeting,
    opening,
    stored_ask,
)


def test_a_message_without_a_conversation_makes_one() -> None:
    plan = plan_new_conversation(opening(PromptOpening("Hello")))

    assert plan.conversation_id == UUID(int=5)
    assert (plan.turn_no, plan.chain_id, plan.context_max_seq, plan.last_seq) == (1, TURN, 1, 1)
    assert [(row.type, row.text, row.seq, row.position) for row in plan.rows] == [
        ("user", "Hello", 1, 0)
    ]
    assert plan.events == (Started(conversation_id=UUID(int=5), conversation_created=True),)


def test_a_new_conversation_waits_on_no_answer() -> None:
    with pytest.raises(AskNotPending):
        plan_new_conversation(answer())


def test_a_message_is_seen_up_to_itself_and_begins_a_chain() -> None:
    plan = plan_opening(opening(PromptOpening("Hello")), meeting())

    assert (plan.turn_no, plan.chain_id, plan.context_max_seq, plan.last_seq) == (4, TURN, 8, 8)
    assert plan.resolved is None
    assert plan.ended_chain is None
    assert plan.events == (Started(conversation_id=CONVERSATION, conversation_created=False),)


def test_a_message_cancels_the_pending_ask_and_ends_its_chain() -> None:
    ask = stored_ask()

    plan = plan_opening(opening(PromptOpening("Never mind")), meeting(NamedAsks(ask, 1)))

    assert plan.resolved
    assert plan.resolved.status == "cancelled"
    assert plan.resolved.answer == cancelled("user_sent_message")
    assert (plan.resolved.resolved_by_turn, plan.resolved.resolve_time) == (TURN, NOW)
    assert (plan.ended_chain, plan.answered_ask_id) == (ROOT, None)
    assert (plan.chain_id, plan.context_max_seq) == (TURN, 9)
    assert [(row.type, row.seq, row.position) for row in plan.rows] == [
        ("tool_result", 8, 0),
        ("user", 9, 1),
    ]
    assert plan.events[1:] == (AskResolved(tool_call_id="call_plan", action="cancel"),)


@pytest.mark.parametrize(
    ("envelope", "status"),
    [
        pytest.param(TEAM, "answered", id="accepted"),
        pytest.param(declined(), "answered", id="declined"),
        pytest.param(cancelled("closed the card"), "cancelled", id="cancelled"),
        pytest.param({"action": "cancel"}, "cancelled", id="cancelled without a reason"),
    ],
)
def test_an_answer_resolves_its_ask_and_goes_on_with_its_chain(
    envelope: dict[str, JsonValue], status: str
) -> None:
    ask = stored_ask()

    plan = plan_opening(answer(envelope=envelope), meeting(NamedAsks(ask, 5, named=ask)))

    assert plan.resolved
    assert (plan.resolved.status, plan.resolved.answer) == (status, envelope)
    assert (plan.chain_id, plan.context_max_seq) == (ROOT, 5)
    assert (plan.answered_ask_id, plan.ended_chain) == (ask.id, None)
    assert [(row.type, row.tool_call_id, row.tool_name, row.result) for row in plan.rows] == [
        ("tool_result", "call_plan", "ask_choice", envelope)
    ]
    assert plan.rows[0].text == "Tool result: ask_choice"


@pytest.mark.parametrize(
    ("asks", "facts"),
    [
        pytest.param(NamedAsks(), {}, id="never asked"),
        pytest.param(
            NamedAsks(named=stored_ask(status="answered")),
            {
                "resolved_by_turn_id": str(UUID(int=9)),
                "action": "accept",
                "resolve_time": "2027-03-01T11:59:00Z",
            },
            id="answered",
        ),
        pytest.param(
            NamedAsks(stored_ask("call_other"), 1, named=stored_ask(status="cancelled")),
            {
                "resolved_by_turn_id": str(UUID(int=9)),
                "action": "cancel",
                "resolve_time": "2027-03-01T11:59:00Z",
                "current_tool_call_id": "call_other",
            },
            id="cancelled while another is pending",
        ),
        pytest.param(
            NamedAsks(stored_ask("call_other"), 1),
            {"current_tool_call_id": "call_other"},
            id="never asked while another is pending",
        ),
    ],
)
def test_an_answer_to_another_ask_learns_who_was_first(
    asks: NamedAsks, facts: dict[str, str]
) -> None:
    with pytest.raises(AskNotPending) as refused:
        plan_opening(answer(), meeting(asks))

    assert refused.value.metadata == {"tool_call_id": "call_plan", **facts}


def test_an_answer_refers_to_the_files_that_are_kept_of_it() -> None:
    kept: list[JsonValue] = [{"fileId": str(UUID(int=6)), "filename": "a.txt"}, {"filename": "b"}]
    envelope = accepted({"files": kept})
    files = stored_ask().model_copy(update={"kind": "files"})

    plan = plan_opening(answer(envelope=envelope), meeting(NamedAsks(files, 1)))
    other = plan_opening(answer(envelope=envelope), meeting(NamedAsks(stored_ask(), 1)))

    assert (plan.file_ids, other.file_ids) == ((UUID(int=6),), ())


@pytest.mark.parametrize("new", [True, False])
def test_a_message_refers_to_the_files_that_came_with_it(*, new: bool) -> None:
    content = (
        TextContent(text="See"),
        MediaContent(
            type="image", file_id=UUID(int=6), mime_type="image/png", filename=None, size=3
        ),
        MediaContent(type="file", file_id=None, mime_type="text/csv", filename="b", size=4),
    )
    said = opening(PromptOpening("See", content))
    plan = plan_new_conversation(said) if new else plan_opening(said, meeting())
    assert plan.file_ids == (UUID(int=6),)
    assert plan.rows[0].content == content


FAILED = FailedTurn(
    turn_id=UUID(int=8),
    state="failed",
    retryable=True,
    chain_id=ROOT,
    context_max_seq=5,
    surface="compact",
    model="scripted-1",
    system_instruction=None,
    retried_by=None,
)
RETRY = opening(RetryOpening(FAILED.turn_id))


def test_a_retry_goes_on_with_the_failed_turns_chain_and_says_nothing() -> None:
    plan = plan_opening(RETRY, meeting(failed=FAILED))

    assert (plan.turn_no, plan.input_kind, plan.retry_of) == (4, "retry", FAILED.turn_id)
    assert (plan.chain_id, plan.context_max_seq) == (ROOT, 5)
    assert (plan.rows, plan.last_seq) == ((), LOCKED.last_seq)
    assert plan.events == (
        Started(
            conversation_id=CONVERSATION,
            conversation_created=False,
            retry_of_turn_id=FAILED.turn_id,
        ),
    )
    assert (plan.resolved, plan.ended_chain, plan.slot_taken) == (None, None, False)
    assert said_in(RETRY, plan) == ""


def test_a_retry_leaves_another_chains_ask_pending() -> None:
    plan = plan_opening(RETRY, meeting(NamedAsks(stored_ask(), 1), FAILED))

    assert (plan.resolved, plan.rows, plan.slot_taken) == (None, (), True)
    assert len(plan.events) == 1


@pytest.mark.parametrize(
    ("failed", "fault", "facts"),
    [
        pytest.param(None, TurnNotFound, {}, id="no such turn"),
        pytest.param(
            replace(FAILED, retryable=False, state="running"),
            TurnNotRetryable,
            {"turn_id": str(FAILED.turn_id), "state": "running"},
            id="running",
        ),
        pytest.param(
            replace(FAILED, retryable=False, retried_by=ROOT),
            TurnNotRetryable,
            {
                "turn_id": str(FAILED.turn_id),
                "state": "failed",
                "retried_by_turn_id": str(ROOT),
            },
            id="retried",
        ),
    ],
)
def test_only_the_turn_that_may_be_retried_is(
    failed: FailedTurn | None, fault: type[ParleyError], facts: dict[str, str]
) -> None:
    with pytest.raises(fault) as refused:
        plan_opening(RETRY, meeting(failed=failed))

    assert refused.value.metadata == facts


def test_a_new_conversation_has_nothing_to_retry() -> None:
    with pytest.raises(TurnNotFound):
        plan_new_conversation(RETRY)


def test_there_is_no_turn_without_a_conversation() -> None:
    with pytest.raises(ConversationNotFound):
        plan_opening(opening(PromptOpening("Hello")), Situation())


@pytest.mark.parametrize(
    ("opened", "said"),
    [
        pytest.param(opening(PromptOpening("a\x00b")), "a\ufffdb", id="a message"),
        pytest.param(
            answer(envelope=cancelled("nó\x00")),
            '{"action":"cancel","reason":"nó\ufffd"}',
            id="an answer",
        ),
    ],
)
def test_what_was_said_is_what_is_stored(opened: Opening, said: str) -> None:
    plan = plan_opening(opened, meeting(NamedAsks(stored_ask(), 1)))

    assert said_in(opened, plan) == said


def test_the_outlook_of_a_turn_is_the_conversation_as_opening_it_left_it() -> None:
    said = opening(PromptOpening("Never mind"))
    plan = plan_opening(said, meeting(NamedAsks(stored_ask(), 1)))

    outlook = outlook_after(said, plan, "Trip", "home", NOW)

    assert outlook.conversation == replace(LOCKED, title="Trip", last_seq=9, last_turn_no=4)
    assert outlook.place == TurnPlace(next_position=2)


def test_what_cannot_be_stored_is_replaced_in_rows_and_names() -> None:
    ask = stored_ask("call_\ufffd")

    said = plan_opening(opening(PromptOpening("a\x00b\ud83d")), meeting())
    answered = plan_opening(
        answer("call_\x00", cancelled("\x00")), meeting(NamedAsks(ask, 1, named=ask))
    )

    assert said.rows[0].text == "a\ufffdb\ufffd"
    assert answered.resolved
    assert answered.resolved.answer == cancelled("\ufffd")


def test_a_deletion_is_nobodys_turn() -> None:
    ask = cancelled_by_deletion(stored_ask(), NOW)

    assert (ask.status, ask.answer) == ("cancelled", cancelled("conversation_deleted"))
    assert (ask.resolved_by_turn, ask.resolve_time) == (None, NOW)

"""What the transactions of a turn write, given what they read."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from pydantic import JsonValue

from parleyd.contract.answers import accepted, cancelled, declined
from parleyd.contract.asks.ask import Ask, AskStatus
from parleyd.contract.cards import to_simple_card
from parleyd.contract.errors import AskNotPending, Reason
from parleyd.contract.events import (
    Asked,
    AskResolved,
    Done,
    EventBody,
    Failed,
    Started,
    Text,
    ToolCalled,
    ToolReturned,
)
from parleyd.contract.messages import MessageDraft
from parleyd.contract.steps import Step, StepCall
from parleyd.contract.turns import TurnError, TurnResult
from parleyd.turns.ports import (
    AnswerOpening,
    CollectedAsk,
    Ending,
    Lease,
    OpenedTurn,
    Opening,
    PromptOpening,
)
from parleyd.turns.records import storable_event
from parleyd.turns.state import (
    LockedConversation,
    NamedAsks,
    TurnPlace,
    cancelled_by_deletion,
    plan_closing,
    plan_ending,
    plan_failure,
    plan_new_conversation,
    plan_opening,
)

NOW = datetime(2027, 3, 1, 12, tzinfo=UTC)
CONVERSATION = UUID(int=1)
TURN = UUID(int=2)
ROOT = UUID(int=3)
TEAM = accepted({"selected": ["team"]})
PLAN: dict[str, JsonValue] = {
    "prompt": "Which plan?",
    "select": "one",
    "options": [{"id": "team", "label": "Team"}, {"id": "solo", "label": "Solo"}],
}

LOCKED = LockedConversation(
    id=CONVERSATION,
    owner="ada",
    title=None,
    project="home",
    deleted=False,
    last_seq=7,
    last_turn_no=3,
    now=NOW,
)
OPENED = OpenedTurn(
    lease=Lease(TURN, CONVERSATION, "process-1"),
    owner="ada",
    turn_no=4,
    chain_id=ROOT,
    context_max_seq=1,
    project="home",
    surface="full",
    events=(),
)
PLACE = TurnPlace(model="scripted-1", next_position=1)


def stored_ask(call_id: str = "call_plan", status: AskStatus = "pending") -> Ask:
    resolved = status != "pending"
    return Ask(
        id=uuid4(),
        conversation_id=CONVERSATION,
        chain_id=ROOT,
        owner="ada",
        tool_call_id=call_id,
        kind="choice",
        tool_name="ask_choice",
        input=PLAN,
        simple=to_simple_card("choice", PLAN, call_id),
        status=status,
        answer={"answered": TEAM, "cancelled": cancelled("gone"), "pending": None}[status],
        resolved_by_turn=UUID(int=9) if resolved else None,
        create_time=NOW - timedelta(hours=1),
        resolve_time=NOW - timedelta(minutes=1) if resolved else None,
    )


def opening(turn_input: PromptOpening | AnswerOpening) -> Opening:
    return Opening(
        turn_id=TURN,
        owner="ada",
        conversation_id=CONVERSATION,
        new_conversation_id=UUID(int=5),
        input=turn_input,
        surface="full",
        model="scripted-1",
        holder="process-1",
        project="work",
    )


def answer(call_id: str = "call_plan", envelope: dict[str, JsonValue] = TEAM) -> Opening:
    return opening(AnswerOpening("answer", call_id, envelope))


def collected(call_id: str, *, provider_id: str | None = None) -> CollectedAsk:
    key = uuid4()
    call = StepCall(
        tool_call_id=call_id,
        provider_call_id=provider_id or call_id,
        tool_name="ask_choice",
        args=PLAN,
        role="ask",
        ask_id=key,
    )
    return CollectedAsk(call, key, "choice", PLAN, f"spare_of_{call_id}")


def invalid(call_id: str) -> StepCall:
    return StepCall(
        tool_call_id=call_id,
        provider_call_id=call_id,
        tool_name="ask_choice",
        args={},
        role="invalid",
        error="MISSING_REQUIRED at prompt",
    )


def pausing(*asks: CollectedAsk, more: tuple[StepCall, ...] = ()) -> Ending:
    step = Step(
        step_no=1,
        provider="scripted",
        model="scripted-1",
        codec="scripted/1",
        messages=b"\x00raw\xff",
        calls=(*more, *(ask.call for ask in asks)),
    )
    return Ending(step=step, asks=asks)


# ---------------------------------------------------------------- opening


def test_a_message_without_a_conversation_makes_one() -> None:
    plan = plan_new_conversation(opening(PromptOpening("Hello")))

    assert (plan.conversation_id, plan.project) == (UUID(int=5), "work")
    assert (plan.turn_no, plan.chain_id, plan.context_max_seq, plan.last_seq) == (1, TURN, 1, 1)
    assert [(row.type, row.text, row.seq, row.position) for row in plan.rows] == [
        ("user", "Hello", 1, 0)
    ]
    assert plan.events == (Started(conversation_id=UUID(int=5), conversation_created=True),)


def test_a_new_conversation_waits_on_no_answer() -> None:
    with pytest.raises(AskNotPending):
        plan_new_conversation(answer())


def test_a_message_is_seen_up_to_itself_and_begins_a_chain() -> None:
    plan = plan_opening(opening(PromptOpening("Hello")), LOCKED, NamedAsks())

    assert (plan.turn_no, plan.chain_id, plan.context_max_seq, plan.last_seq) == (4, TURN, 8, 8)
    assert plan.project == "home"
    assert plan.resolved is None
    assert plan.ended_chain is None
    assert plan.events == (Started(conversation_id=CONVERSATION, conversation_created=False),)


def test_a_message_cancels_the_pending_ask_and_ends_its_chain() -> None:
    ask = stored_ask()

    plan = plan_opening(opening(PromptOpening("Never mind")), LOCKED, NamedAsks(ask, 1))

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

    plan = plan_opening(answer(envelope=envelope), LOCKED, NamedAsks(ask, 5, ask))

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
            NamedAsks(stored_ask("call_other"), 1, stored_ask(status="cancelled")),
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
        plan_opening(answer(), LOCKED, asks)

    assert refused.value.metadata == {"tool_call_id": "call_plan", **facts}


def test_what_cannot_be_stored_is_replaced_in_rows_and_names() -> None:
    ask = stored_ask("call_\ufffd")

    said = plan_opening(opening(PromptOpening("a\x00b\ud83d")), LOCKED, NamedAsks())
    answered = plan_opening(answer("call_\x00", cancelled("\x00")), LOCKED, NamedAsks(ask, 1, ask))

    assert said.rows[0].text == "a\ufffdb\ufffd"
    assert answered.resolved
    assert answered.resolved.answer == cancelled("\ufffd")


def test_a_deletion_is_nobodys_turn() -> None:
    ask = cancelled_by_deletion(stored_ask(), NOW)

    assert (ask.status, ask.answer) == ("cancelled", cancelled("conversation_deleted"))
    assert (ask.resolved_by_turn, ask.resolve_time) == (None, NOW)


# ---------------------------------------------------------------- ending


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


# ---------------------------------------------------------------- failing, closing

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
        OPENED, ERROR, (), "", replace(LOCKED, deleted=deleted), replace(PLACE, newer_turn=newer)
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

    plan = plan_failure(OPENED, ERROR, (called,), "I was ab\x00", LOCKED, PLACE)

    assert [(row.type, row.status, row.text) for row in plan.rows] == [
        ("tool_call", None, ""),
        ("assistant", "error", "I was ab\ufffd"),
    ]
    assert plan.result.text == ""
    assert plan.result.error == ERROR


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


@pytest.mark.parametrize(
    "body",
    [
        Started(conversation_id=CONVERSATION, conversation_created=True),
        AskResolved(tool_call_id="a", action="accept"),
        Text(text="Hi"),
        ToolCalled(tool_call_id="a", tool_name="b", args=[1, {"c": None}]),
        ToolReturned(tool_call_id="a", tool_name="b", result=2**80, is_error=False),
        Asked(
            conversation_id=CONVERSATION,
            tool_call_id="a",
            ask_kind="choice",
            input=PLAN,
            simple=to_simple_card("choice", PLAN, "a"),
            origin="model",
        ),
        Failed(reason=Reason.INTERNAL, message="Sorry."),
        Done(
            conversation_id=CONVERSATION,
            title=None,
            pending_tool_call_id=None,
            state="completed",
            retryable=False,
        ),
    ],
    ids=lambda body: body.kind,
)
def test_an_event_that_can_be_stored_stays_as_it_is(body: EventBody) -> None:
    assert storable_event(body) == body


@pytest.mark.parametrize(
    ("body", "stored"),
    [
        pytest.param(Text(text="a\x00"), Text(text="a\ufffd"), id="text"),
        pytest.param(
            ToolCalled(tool_call_id="a", tool_name="b", args={"\ud83d": ["\x00"]}),
            ToolCalled(tool_call_id="a", tool_name="b", args={"\ufffd": ["\ufffd"]}),
            id="arguments",
        ),
        pytest.param(
            ToolReturned(tool_call_id="a", tool_name="b", result="\x00", is_error=True),
            ToolReturned(tool_call_id="a", tool_name="b", result="\ufffd", is_error=True),
            id="result",
        ),
    ],
)
def test_an_event_says_what_is_stored(body: EventBody, stored: EventBody) -> None:
    assert storable_event(body) == stored

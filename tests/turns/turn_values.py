"""A conversation, its asks and what a turn is given, for the tests of this folder."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from pydantic import JsonValue

from parleyd.contract.answers import accepted, cancelled
from parleyd.contract.asks.ask import Ask, AskStatus
from parleyd.contract.cards import to_simple_card
from parleyd.contract.steps import Step, StepCall
from parleyd.turns.ports import (
    AnswerOpening,
    CollectedAsk,
    Ending,
    Lease,
    OpenedTurn,
    Opening,
    PromptOpening,
    RetryOpening,
)
from parleyd.turns.situations import FailedTurn, NamedAsks, Situation
from parleyd.turns.state import SeenConversation, TurnPlace

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

LOCKED = SeenConversation(
    id=CONVERSATION,
    owner="ada",
    title=None,
    project="home",
    deleted=False,
    last_seq=7,
    last_turn_no=3,
    retryable_turn_id=None,
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
    model="scripted-1",
)
PLACE = TurnPlace(next_position=1)


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


APPROVED = accepted({"confirmed": True})
DENIED = accepted({"confirmed": False})
DELETE_ARGS: dict[str, JsonValue] = {"count": 9007199254740993}
WORDED: dict[str, JsonValue] = {
    "prompt": "Allow delete? Deletes todos.",
    "confirmLabel": "Allow",
    "denyLabel": "Deny",
}


def stored_approval(ask_id: UUID | None = None, call_id: str = "apr_1") -> Ask:
    """Returns the pending approval of a call of `delete`."""
    return Ask(
        id=ask_id or uuid4(),
        conversation_id=CONVERSATION,
        chain_id=ROOT,
        owner="ada",
        tool_call_id=call_id,
        kind="confirm",
        origin="approval",
        tool_name="delete",
        tool_args=DELETE_ARGS,
        input=WORDED,
        simple=to_simple_card("confirm", WORDED, call_id),
        status="pending",
        create_time=NOW - timedelta(hours=1),
    )


def guarded_call(call_id: str, ask_id: UUID | None, tool_name: str = "delete") -> StepCall:
    """Returns a call that needs an approval; without `ask_id` it is not the first of its step."""
    return StepCall(
        tool_call_id=call_id,
        provider_call_id=f"of_{call_id}",
        tool_name=tool_name,
        args=DELETE_ARGS,
        role="approval",
        ask_id=ask_id,
    )


def collected_approval(
    call_id: str = "call_delete", worded: dict[str, JsonValue] = WORDED
) -> CollectedAsk:
    key = uuid4()
    call = guarded_call(call_id, key)
    return CollectedAsk(call, key, "confirm", worded, "apr_own", "apr_spare", "approval")


NO_ASKS = NamedAsks()


def meeting(asks: NamedAsks = NO_ASKS, failed: FailedTurn | None = None) -> Situation:
    return Situation(conversation=LOCKED, asks=asks, failed=failed)


def opening(turn_input: PromptOpening | AnswerOpening | RetryOpening) -> Opening:
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
    return CollectedAsk(call, key, "choice", PLAN, call_id, f"spare_of_{call_id}")


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

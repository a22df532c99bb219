"""What each transaction of a turn writes, given what it read under the conversation's lock.

Pure: the store reads, calls these, and writes what they return (spec turns 3.5).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never
from uuid import UUID

from pydantic import JsonValue

from parleyd.contract.answers import (
    CONVERSATION_DELETED,
    ONE_ASK_AT_A_TIME,
    USER_SENT_MESSAGE,
    action_of,
    cancelled,
)
from parleyd.contract.asks.ask import Ask
from parleyd.contract.cards import to_simple_card
from parleyd.contract.errors import AskNotPending, Resolution
from parleyd.contract.events import EventBody, Failed, Started, Text
from parleyd.contract.json import storable_object
from parleyd.contract.messages import MessageDraft
from parleyd.contract.steps import Step
from parleyd.contract.text import storable
from parleyd.contract.turns import Outcome, TurnError, TurnResult
from parleyd.turns.ports import (
    AnswerOpening,
    Ending,
    OpenedTurn,
    Opening,
    PromptOpening,
)
from parleyd.turns.records import (
    PlacedRow,
    answer_row,
    ask_event,
    call_row,
    done_event,
    place_rows,
    resolution_event,
    storable_event,
)


@dataclass(frozen=True)
class LockedConversation:
    """A conversation while its lock is held. `now` is the transaction's time."""

    id: UUID
    owner: str
    title: str | None
    project: str | None
    deleted: bool
    last_seq: int
    last_turn_no: int
    now: datetime


# ---------------------------------------------------------------- TX1


@dataclass(frozen=True)
class NamedAsks:
    """The pending ask with the starting point of its chain, and the ask an answer names."""

    pending: Ask | None = None
    chain_start: int = 0
    named: Ask | None = None


@dataclass(frozen=True)
class OpeningPlan:
    """What TX1 writes. `resolved` is the pending ask as it becomes.

    `ended_chain` will never be resumed, so its steps go.
    """

    conversation_id: UUID
    project: str | None
    turn_no: int
    chain_id: UUID
    context_max_seq: int
    last_seq: int
    rows: tuple[PlacedRow, ...]
    events: tuple[EventBody, ...]
    resolved: Ask | None = None
    answered_ask_id: UUID | None = None
    ended_chain: UUID | None = None


def plan_new_conversation(opening: Opening) -> OpeningPlan:
    """Plans a turn that makes its conversation.

    Raises:
        AskNotPending: It is an answer; a new conversation waits on nothing.
    """
    if isinstance(opening.input, AnswerOpening):
        raise AskNotPending(opening.input.tool_call_id)
    return OpeningPlan(
        conversation_id=opening.new_conversation_id,
        project=opening.project,
        turn_no=1,
        chain_id=opening.turn_id,
        context_max_seq=1,
        last_seq=1,
        rows=(PlacedRow(type="user", text=storable(opening.input.text), seq=1, position=0),),
        events=(Started(conversation_id=opening.new_conversation_id, conversation_created=True),),
    )


def plan_opening(
    opening: Opening, conversation: LockedConversation, asks: NamedAsks
) -> OpeningPlan:
    """Plans a turn in a conversation that is locked.

    An answer resolves the ask it names, for good; a message cancels the pending one, whose chain is
    over then.

    Raises:
        AskNotPending: The answer names another ask than the pending one.
    """
    started = Started(conversation_id=conversation.id, conversation_created=False)
    drafts: list[MessageDraft] = []
    resolved: Ask | None = None
    match opening.input:
        case AnswerOpening(tool_call_id=named, envelope=envelope):
            if asks.pending is None or asks.pending.tool_call_id != storable(named):
                raise not_pending(named, pending=asks.pending, named=asks.named)
            resolved = _resolved(asks.pending, envelope, opening.turn_id, conversation.now)
            chain_id, ended_chain = resolved.chain_id, None
        case PromptOpening():
            if asks.pending:
                envelope = cancelled(USER_SENT_MESSAGE)
                resolved = _resolved(asks.pending, envelope, opening.turn_id, conversation.now)
            chain_id, ended_chain = opening.turn_id, resolved.chain_id if resolved else None
        case _:
            assert_never(opening.input)
    events: list[EventBody] = [started]
    if resolved:
        drafts.append(answer_row(resolved))
        events.append(resolution_event(resolved))
    if isinstance(opening.input, PromptOpening):
        drafts.append(MessageDraft(type="user", text=storable(opening.input.text)))
    rows = tuple(place_rows(drafts, conversation.last_seq, 0))
    last_seq = conversation.last_seq + len(rows)
    return OpeningPlan(
        conversation_id=conversation.id,
        project=conversation.project,
        turn_no=conversation.last_turn_no + 1,
        chain_id=chain_id,
        context_max_seq=last_seq if chain_id == opening.turn_id else asks.chain_start,
        last_seq=last_seq,
        rows=rows,
        events=tuple(events),
        resolved=resolved,
        answered_ask_id=(
            resolved.id if resolved and isinstance(opening.input, AnswerOpening) else None
        ),
        ended_chain=ended_chain,
    )


def not_pending(tool_call_id: str, *, pending: Ask | None, named: Ask | None) -> AskNotPending:
    """Returns the fault of an answer to `named`, which is not the pending ask (spec turns 8.2)."""
    resolution: Resolution | None = None
    if named and named.answer is not None and named.resolve_time:
        resolution = Resolution(named.resolved_by_turn, action_of(named.answer), named.resolve_time)
    current = pending.tool_call_id if pending else None
    return AskNotPending(tool_call_id, resolution, current)


def cancelled_by_deletion(ask: Ask, now: datetime) -> Ask:
    """Returns the pending ask of a conversation that is being deleted; no turn resolved it."""
    return _resolved(ask, cancelled(CONVERSATION_DELETED), None, now)


# ---------------------------------------------------------------- TX2, TX2f, TX4


@dataclass(frozen=True)
class TurnPlace:
    """What the end of a turn depends on. `taken_call_ids` are those of asks, as far as they matter.

    `newer_turn` says that the conversation has gone on, so that this turn can't be retried.
    """

    model: str | None
    next_position: int
    slot_taken: bool = False
    taken_call_ids: frozenset[str] = frozenset()
    newer_turn: bool = False


@dataclass(frozen=True)
class EndingPlan:
    """What TX2 or TX2f writes. Without `step` to keep, the steps of `ended_chain` go.

    `closed` is false where a title is still to come.
    """

    outcome: Outcome
    closed: bool
    rows: tuple[PlacedRow, ...]
    last_seq: int
    asks: tuple[Ask, ...]
    step: Step | None
    ended_chain: UUID | None
    events: tuple[EventBody, ...]
    result: TurnResult
    retryable: bool = False


def plan_ending(
    turn: OpenedTurn, ending: Ending, conversation: LockedConversation, place: TurnPlace
) -> EndingPlan:
    """Plans the end of a turn's work: it pauses, if it asks and the slot is free, or finishes."""
    text = storable(ending.text)
    asks = tuple(_asks_of(turn, ending, conversation, place))
    pending = asks[0] if asks and asks[0].status == "pending" else None
    outcome: Outcome = "paused" if pending else "completed"
    closed = not ending.title_due or conversation.title is not None or conversation.deleted
    drafts = list(ending.rows)
    if text:
        drafts.append(
            MessageDraft(type="assistant", text=text, model=place.model, status="complete")
        )
    drafts += [call_row(ask) for ask in asks]
    drafts += [answer_row(ask) for ask in asks if ask.answer is not None]
    rows = tuple(place_rows(drafts, conversation.last_seq, place.next_position))
    events: list[EventBody] = [storable_event(event) for event in ending.events]
    if text:
        events.append(Text(text=text))
    if pending:
        events.append(ask_event(pending))
    result = TurnResult(
        conversation_id=conversation.id,
        turn_id=turn.lease.turn_id,
        state=outcome,
        text=text,
        title=conversation.title,
        pending_ask=pending,
    )
    if closed:
        events.append(done_event(result))
    return EndingPlan(
        outcome=outcome,
        closed=closed,
        rows=rows,
        last_seq=conversation.last_seq + len(rows),
        asks=asks,
        step=_settled(ending.step, asks) if ending.step and pending else None,
        ended_chain=None if pending else turn.chain_id,
        events=tuple(events),
        result=result,
    )


def plan_failure(
    turn: OpenedTurn,
    error: TurnError,
    rows: Sequence[MessageDraft],
    partial_text: str,
    conversation: LockedConversation,
    place: TurnPlace,
) -> EndingPlan:
    """Plans the end of a failed turn: what there is of it is kept, its asks leave no trace.

    It may be retried, and keeps its chain's steps, while it is the latest of a conversation that is
    not deleted (spec turns 3.7.2).
    """
    drafts = list(rows)
    if text := storable(partial_text):
        drafts.append(MessageDraft(type="assistant", text=text, model=place.model, status="error"))
    placed = tuple(place_rows(drafts, conversation.last_seq, place.next_position))
    retryable = not (place.newer_turn or conversation.deleted)
    failure = TurnError(reason=error.reason, message=storable(error.message))
    result = TurnResult(
        conversation_id=conversation.id,
        turn_id=turn.lease.turn_id,
        state="failed",
        title=conversation.title,
        error=failure,
        retryable=retryable,
    )
    return EndingPlan(
        outcome="failed",
        closed=True,
        rows=placed,
        last_seq=conversation.last_seq + len(placed),
        asks=(),
        step=None,
        ended_chain=None if retryable else turn.chain_id,
        events=(Failed(reason=failure.reason, message=failure.message), done_event(result)),
        result=result,
        retryable=retryable,
    )


@dataclass(frozen=True)
class ClosingPlan:
    """What TX4 writes. `title` is set where the conversation gets one now."""

    title: str | None
    events: tuple[EventBody, ...]
    result: TurnResult


def plan_closing(
    result: TurnResult, conversation: LockedConversation, title: str | None
) -> ClosingPlan:
    """Plans the close of a turn whose rows are stored.

    A title that somebody gave meanwhile wins, and a deleted conversation gets none.
    """
    new = None
    if title and conversation.title is None and not conversation.deleted:
        new = storable(title)
    whole = result.model_copy(update={"title": new or conversation.title})
    return ClosingPlan(title=new, events=(done_event(whole),), result=whole)


# ---------------------------------------------------------------- asks


def _asks_of(
    turn: OpenedTurn, ending: Ending, conversation: LockedConversation, place: TurnPlace
) -> Iterator[Ask]:
    """Yields the asks of a step in call order: the first pending if it gets the slot.

    The card is made here, once the public id is settled, and never again.
    """
    taken = set(place.taken_call_ids)
    taken.update(row.tool_call_id for row in ending.rows if row.tool_call_id)
    for index, asked in enumerate(ending.asks):
        call_id = storable(asked.call.tool_call_id)
        if call_id in taken:
            call_id = asked.spare_call_id
        taken.add(call_id)
        provider_id = asked.call.provider_call_id
        ask_input = storable_object(asked.input)
        ask = Ask(
            id=asked.ask_id,
            conversation_id=conversation.id,
            chain_id=turn.chain_id,
            owner=turn.owner,
            tool_call_id=call_id,
            provider_call_id=storable(provider_id) if provider_id else None,
            kind=asked.kind,
            tool_name=asked.call.tool_name,
            input=ask_input,
            simple=to_simple_card(asked.kind, ask_input, call_id),
            status="pending",
            created_by_turn=turn.lease.turn_id,
            create_time=conversation.now,
        )
        reason = None
        if index == 0 and conversation.deleted:
            reason = CONVERSATION_DELETED
        elif index > 0 or place.slot_taken:
            reason = ONE_ASK_AT_A_TIME
        if reason:
            ask = _resolved(ask, cancelled(reason), turn.lease.turn_id, conversation.now)
        yield ask


def _settled(step: Step, asks: Sequence[Ask]) -> Step:
    """Returns a step whose calls bear the public ids that their asks got."""
    in_order = iter(asks)
    calls = tuple(
        call.model_copy(
            update={"tool_call_id": (ask := next(in_order)).tool_call_id, "ask_id": ask.id}
        )
        if call.role == "ask"
        else call
        for call in step.calls
    )
    return step.model_copy(update={"calls": calls})


def _resolved(ask: Ask, envelope: dict[str, JsonValue], turn_id: UUID | None, now: datetime) -> Ask:
    """Returns a pending ask as an envelope resolves it."""
    return ask.model_copy(
        update={
            "status": "cancelled" if action_of(envelope) == "cancel" else "answered",
            "answer": storable_object(envelope),
            "resolved_by_turn": turn_id,
            "resolve_time": now,
        }
    )

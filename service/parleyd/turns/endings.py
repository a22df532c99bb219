"""What ending a turn writes: TX2, TX2f and TX4 of spec turns 3.5."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from parleyd.contract.answers import CONVERSATION_DELETED, ONE_ASK_AT_A_TIME, cancelled
from parleyd.contract.asks.ask import Ask
from parleyd.contract.events import EventBody, Failed, Text, TextReplaced
from parleyd.contract.executions import Execution
from parleyd.contract.guards import guarded_card
from parleyd.contract.json import storable_object
from parleyd.contract.messages import MessageDraft
from parleyd.contract.steps import Step
from parleyd.contract.text import storable
from parleyd.contract.turns import Outcome, TurnError, TurnResult
from parleyd.turns.ports import Ending, OpenedTurn
from parleyd.turns.records import (
    PlacedRow,
    answer_row,
    ask_event,
    call_row,
    done_event,
    place_rows,
    returned_row,
    storable_event,
)
from parleyd.turns.state import SeenConversation, TurnPlace, expires, resolve
from parleyd.turns.takeovers import unknown_event


@dataclass(frozen=True)
class EndingPlan:
    """What TX2 or TX2f writes. Without `step` to keep, the steps of `ended_chain` go.

    `closed` is false where a title is still to come. `unknown` are the executions that become so.
    `seen` is the conversation that the plan is right for.
    """

    seen: SeenConversation

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
    unknown: tuple[Execution, ...] = ()


def plan_ending(
    turn: OpenedTurn, ending: Ending, conversation: SeenConversation, place: TurnPlace
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
            MessageDraft(
                type="assistant",
                text=text + storable(ending.note),
                model=turn.model,
                status="complete",
            )
        )
    drafts += [call_row(ask) for ask in asks]
    drafts += [answer_row(ask) for ask in asks if ask.answer is not None]
    rows = tuple(place_rows(drafts, conversation.last_seq, place.next_position))
    events: list[EventBody] = [storable_event(event) for event in ending.events]
    if text and ending.sent is None:
        events.append(Text(text=text))
    elif text and storable(ending.sent or "") != text:
        events.append(TextReplaced(text=text))
    if pending:
        events.append(ask_event(pending))
    if ending.blocks:
        events.append(storable_event(ending.blocks))
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
        seen=conversation,
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
    conversation: SeenConversation,
    place: TurnPlace,
    unfinished: Sequence[Execution],
) -> EndingPlan:
    """Plans the end of a failed turn: what there is of it is kept, its asks leave no trace.

    Calls of its chain that are still `unfinished` end with an unknown outcome.
    It may be retried, and keeps its chain's steps, while it is the latest of a conversation that is
    not deleted (spec turns 3.7.2).
    """
    lost = [unknown_event(each) for each in unfinished]
    drafts = [*rows, *(returned_row(each) for each in lost)]
    if text := storable(partial_text):
        drafts.append(MessageDraft(type="assistant", text=text, model=turn.model, status="error"))
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
        seen=conversation,
        outcome="failed",
        closed=True,
        rows=placed,
        last_seq=conversation.last_seq + len(placed),
        asks=(),
        step=None,
        ended_chain=None if retryable else turn.chain_id,
        events=(
            *lost,
            Failed(reason=failure.reason, message=failure.message),
            done_event(result),
        ),
        result=result,
        retryable=retryable,
        unknown=tuple(unfinished),
    )


@dataclass(frozen=True)
class ClosingPlan:
    """What TX4 writes. `title` is set where the conversation gets one now.

    `seen` is the conversation that the plan is right for.
    """

    seen: SeenConversation
    title: str | None
    events: tuple[EventBody, ...]
    result: TurnResult


def plan_closing(
    result: TurnResult, conversation: SeenConversation, title: str | None
) -> ClosingPlan:
    """Plans the close of a turn whose rows are stored.

    A title that somebody gave meanwhile wins, and a deleted conversation gets none.
    """
    new = None
    if title and conversation.title is None and not conversation.deleted:
        new = storable(title)
    whole = result.model_copy(update={"title": new or conversation.title})
    return ClosingPlan(seen=conversation, title=new, events=(done_event(whole),), result=whole)


def is_end(result: TurnResult, ending: Ending) -> bool:
    """Tells whether a stored result can be what `plan_ending` made of this ending."""
    asked = ending.asks[0].ask_id if ending.asks else None
    pending = result.pending_ask.id if result.pending_ask else None
    same = result.text == storable(ending.text) and pending in (None, asked)
    return same and result.error is None


def is_failure(result: TurnResult, error: TurnError) -> bool:
    """Tells whether a stored result is what `plan_failure` made of this error."""
    return result.error == error.model_copy(update={"message": storable(error.message)})


def _asks_of(
    turn: OpenedTurn, ending: Ending, conversation: SeenConversation, place: TurnPlace
) -> Iterator[Ask]:
    """Yields the asks of a step in call order: the first pending if it gets the slot.

    The card is made here, once the public id is settled, and guarded; and never again (9.3).
    """
    taken = set(place.taken_call_ids)
    taken.update(row.tool_call_id for row in ending.rows if row.tool_call_id)
    for index, asked in enumerate(ending.asks):
        call_id = storable(asked.tool_call_id)
        if call_id in taken:
            call_id = asked.spare_call_id
        taken.add(call_id)
        approval = asked.origin == "approval"
        provider_id = None if approval else asked.call.provider_call_id
        ask_input = storable_object(asked.input)
        ask = Ask(
            id=asked.ask_id,
            conversation_id=conversation.id,
            chain_id=turn.chain_id,
            owner=turn.owner,
            tool_call_id=call_id,
            provider_call_id=storable(provider_id) if provider_id else None,
            kind=asked.kind,
            origin=asked.origin,
            tool_name=asked.call.tool_name,
            tool_args=asked.call.args if approval else None,
            input=ask_input,
            simple=guarded_card(asked.kind, ask_input, call_id, approval=approval),
            status="pending",
            created_by_turn=turn.lease.turn_id,
            create_time=conversation.now,
            expire_time=expires(conversation.now, asked.seconds),
        )
        reason = None
        if index == 0 and conversation.deleted:
            reason = CONVERSATION_DELETED
        elif index > 0 or place.slot_taken:
            reason = ONE_ASK_AT_A_TIME
        if reason:
            ask = resolve(ask, cancelled(reason), turn.lease.turn_id, conversation.now)
        yield ask


def _settled(step: Step, asks: Sequence[Ask]) -> Step:
    """Returns a step whose asks bear the public ids that they got.

    An approval has an id of its own, beside that of the call it guards.
    """
    ids = {ask.id: ask.tool_call_id for ask in asks}
    calls = tuple(
        call.model_copy(update={"tool_call_id": ids[call.ask_id]})
        if call.role == "ask" and call.ask_id and call.ask_id in ids
        else call
        for call in step.calls
    )
    return step.model_copy(update={"calls": calls})

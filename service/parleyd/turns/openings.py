"""What opening a turn writes: TX1 of spec turns 3.5."""

from dataclasses import dataclass
from datetime import datetime
from typing import assert_never
from uuid import UUID

from parleyd.contract.answers import CONVERSATION_DELETED, USER_SENT_MESSAGE, action_of, cancelled
from parleyd.contract.asks.ask import Ask
from parleyd.contract.errors import AskNotPending, Resolution
from parleyd.contract.events import EventBody, Started
from parleyd.contract.messages import MessageDraft
from parleyd.contract.text import storable
from parleyd.turns.ports import AnswerOpening, Opening, PromptOpening
from parleyd.turns.records import PlacedRow, answer_row, place_rows, resolution_event
from parleyd.turns.state import LockedConversation, resolve


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
            resolved = resolve(asks.pending, envelope, opening.turn_id, conversation.now)
            chain_id, ended_chain = resolved.chain_id, None
        case PromptOpening():
            if asks.pending:
                envelope = cancelled(USER_SENT_MESSAGE)
                resolved = resolve(asks.pending, envelope, opening.turn_id, conversation.now)
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
    return resolve(ask, cancelled(CONVERSATION_DELETED), None, now)

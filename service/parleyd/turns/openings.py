"""What opening a turn writes: TX1 of spec turns 3.5."""

from dataclasses import dataclass
from datetime import datetime
from typing import assert_never
from uuid import UUID

from parleyd.contract.answered_files import kept_files
from parleyd.contract.answers import CONVERSATION_DELETED, USER_SENT_MESSAGE, action_of, cancelled
from parleyd.contract.asks.ask import Ask
from parleyd.contract.errors import (
    AskExpired,
    AskNotPending,
    ConversationNotFound,
    Resolution,
    TurnNotFound,
    TurnNotRetryable,
)
from parleyd.contract.events import EventBody, Started
from parleyd.contract.json import compact
from parleyd.contract.messages import MessageDraft
from parleyd.contract.text import storable
from parleyd.contract.turns import InputKind, TurnResult
from parleyd.turns.approvals import settled_calls
from parleyd.turns.ports import AnswerOpening, Opening, PromptOpening, RetryOpening
from parleyd.turns.records import (
    PlacedRow,
    answer_row,
    done_event,
    place_rows,
    resolution_event,
)
from parleyd.turns.situations import FailedTurn, Situation
from parleyd.turns.state import Outlook, SeenConversation, TurnPlace, resolve


@dataclass(frozen=True)
class OpeningPlan:
    """What TX1 writes. `resolved` is the pending ask as it becomes.

    `seen` is the conversation that the plan is right for; a turn that makes its conversation has
    none. `ended_chain` will never be resumed, so its steps go. `slot_taken` says that an ask stays
    pending, `slot_may_lapse` that it does so for a time. `file_ids` are the files that its message
    or answer refers to. With `result` the turn is closed as it is opened: no model runs.
    """

    conversation_id: UUID
    seen: SeenConversation | None
    turn_no: int
    input_kind: InputKind
    chain_id: UUID
    context_max_seq: int
    last_seq: int
    rows: tuple[PlacedRow, ...]
    events: tuple[EventBody, ...]
    resolved: Ask | None = None
    answered_ask_id: UUID | None = None
    retry_of: UUID | None = None
    ended_chain: UUID | None = None
    slot_taken: bool = False
    slot_may_lapse: bool = False
    file_ids: tuple[UUID, ...] = ()
    result: TurnResult | None = None


def plan_new_conversation(opening: Opening) -> OpeningPlan:
    """Plans a turn that makes its conversation.

    Raises:
        AskNotPending: It is an answer; a new conversation waits on nothing.
        TurnNotFound: It is a retry; a new conversation has no turns.
    """
    match opening.input:
        case AnswerOpening(tool_call_id=tool_call_id):
            raise AskNotPending(tool_call_id)
        case RetryOpening(turn_id=turn_id):
            raise TurnNotFound(turn_id)
        case PromptOpening() as prompt:
            pass
        case _:
            assert_never(opening.input)
    return OpeningPlan(
        conversation_id=opening.new_conversation_id,
        seen=None,
        turn_no=1,
        input_kind="prompt",
        chain_id=opening.turn_id,
        context_max_seq=1,
        last_seq=1,
        rows=tuple(place_rows([_message(prompt)], 0, 0)),
        events=(Started(conversation_id=opening.new_conversation_id, conversation_created=True),),
        file_ids=_files_of_message(prompt),
    )


def plan_opening(opening: Opening, situation: Situation) -> OpeningPlan:
    """Plans a turn in a conversation that stays as it was found, or is locked.

    An answer resolves the ask it names, for good; a message cancels the pending one, whose chain is
    over then; a retry goes on with the failed turn's chain and brings no word from the person. The
    answer to a service's ask is all there is of its turn (16.4).

    Raises:
        ConversationNotFound: There is none.
        AskNotPending: The answer names another ask than the pending one.
        TurnNotFound: The conversation has no such turn to retry.
        TurnNotRetryable: It is not the one that may be retried.
    """
    conversation, asks = situation.conversation, situation.asks
    if conversation is None:
        raise ConversationNotFound(opening.conversation_id or opening.new_conversation_id)
    drafts: list[MessageDraft] = []
    settled: list[EventBody] = []
    file_ids: tuple[UUID, ...] = ()
    resolved: Ask | None = None
    ended_chain: UUID | None = None
    start: int | None = None
    match opening.input:
        case PromptOpening() as prompt:
            kind, chain_id = "prompt", opening.turn_id
            file_ids = _files_of_message(prompt)
            if asks.pending:
                envelope = cancelled(USER_SENT_MESSAGE)
                resolved = resolve(asks.pending, envelope, opening.turn_id, conversation.now)
                ended_chain = resolved.chain_id
            drafts.append(_message(prompt))
        case AnswerOpening(kind=kind, tool_call_id=named, envelope=envelope):
            if asks.pending is None or asks.pending.tool_call_id != storable(named):
                raise not_pending(named, pending=asks.pending, named=asks.named)
            resolved = resolve(asks.pending, envelope, opening.turn_id, conversation.now)
            chain_id, start = resolved.chain_id, asks.chain_start
            settled += settled_calls(asks.guarded, resolved, envelope)
            if resolved.kind == "files":
                file_ids = kept_files(envelope)
        case RetryOpening(turn_id=turn_id):
            failed = check_retryable(turn_id, situation.failed)
            kind, chain_id, start = "retry", failed.chain_id, failed.context_max_seq
        case _:
            assert_never(opening.input)
    retry_of = opening.input.turn_id if isinstance(opening.input, RetryOpening) else None
    events: list[EventBody] = [
        Started(
            conversation_id=conversation.id, conversation_created=False, retry_of_turn_id=retry_of
        )
    ]
    if resolved:
        drafts.insert(0, answer_row(resolved))
        events.append(resolution_event(resolved))
    events += settled
    result: TurnResult | None = None
    if resolved and resolved.origin == "service" and isinstance(opening.input, AnswerOpening):
        result = TurnResult(
            conversation_id=conversation.id,
            turn_id=opening.turn_id,
            state="completed",
            title=conversation.title,
        )
        events.append(done_event(result))
    rows = tuple(place_rows(drafts, conversation.last_seq, 0))
    last_seq = conversation.last_seq + len(rows)
    return OpeningPlan(
        conversation_id=conversation.id,
        seen=conversation,
        turn_no=conversation.last_turn_no + 1,
        input_kind=kind,
        chain_id=chain_id,
        context_max_seq=last_seq if start is None else start,
        last_seq=last_seq,
        rows=rows,
        events=tuple(events),
        resolved=resolved,
        answered_ask_id=(
            resolved.id if resolved and isinstance(opening.input, AnswerOpening) else None
        ),
        retry_of=retry_of,
        ended_chain=ended_chain,
        slot_taken=asks.pending is not None and resolved is None,
        slot_may_lapse=asks.may_lapse and resolved is None,
        file_ids=file_ids,
        result=result,
    )


def _message(prompt: PromptOpening) -> MessageDraft:
    return MessageDraft(type="user", text=storable(prompt.text), content=prompt.content)


def _files_of_message(prompt: PromptOpening) -> tuple[UUID, ...]:
    parts = prompt.content or ()
    return tuple(part.file_id for part in parts if part.type != "text" and part.file_id)


def said_in(opening: Opening, plan: OpeningPlan) -> str:
    """Returns what the person brought: a text, or the stored envelope; of a retry nothing."""
    if isinstance(opening.input, PromptOpening):
        return storable(opening.input.text)
    return compact(plan.resolved.answer) if plan.resolved and plan.resolved.answer else ""


def outlook_after(
    opening: Opening, plan: OpeningPlan, title: str | None, project: str | None, now: datetime
) -> Outlook:
    """Returns what the end of the turn will meet, once its plan is stored.

    `title` and `project` are the conversation's at that moment, which is `now`.
    """
    conversation = SeenConversation(
        id=plan.conversation_id,
        owner=opening.owner,
        title=title,
        project=project,
        deleted=False,
        last_seq=plan.last_seq,
        last_turn_no=plan.turn_no,
        retryable_turn_id=None,
        now=now,
    )
    place = TurnPlace(
        len(plan.rows), slot_taken=plan.slot_taken, slot_may_lapse=plan.slot_may_lapse
    )
    return Outlook(conversation, place)


def not_pending(tool_call_id: str, *, pending: Ask | None, named: Ask | None) -> AskNotPending:
    """Returns the fault of an answer to `named`, which is not the pending ask (spec turns 8.2)."""
    resolution: Resolution | None = None
    if named and named.answer is not None and named.resolve_time:
        resolution = Resolution(named.resolved_by_turn, action_of(named.answer), named.resolve_time)
    current = pending.tool_call_id if pending else None
    fault = AskExpired if named and named.expired else AskNotPending
    return fault(tool_call_id, resolution, current)


def check_retryable(turn_id: UUID, failed: FailedTurn | None) -> FailedTurn:
    """Returns the turn that a retry names, if it is the one that may be retried (3.7.2).

    Raises:
        TurnNotFound: The conversation has no such turn.
        TurnNotRetryable: It has not failed, or is not the latest any more.
    """
    if failed is None:
        raise TurnNotFound(turn_id)
    if not failed.retryable:
        raise TurnNotRetryable(turn_id, failed.state, failed.retried_by)
    return failed


def cancelled_by_deletion(ask: Ask, now: datetime) -> Ask:
    """Returns the pending ask of a conversation that is being deleted; no turn resolved it."""
    return resolve(ask, cancelled(CONVERSATION_DELETED), None, now)

"""Ending a turn: TX2, TX2f and TX4 of spec turns 3.5. Lock, read, then one fenced statement."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import (
    Connection,
    Text,
    Uuid,
    and_,
    any_,
    exists,
    func,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY

from parleyd.contract.messages import MessageDraft
from parleyd.contract.turns import TurnError
from parleyd.store.asks import IS_PENDING, inserted_asks
from parleyd.store.columns import StorableText
from parleyd.store.events import inserted_events, numbered, payloads_of
from parleyd.store.locks import fence, lock_for_turn, state_of, within
from parleyd.store.messages import inserted_messages
from parleyd.store.statements import given, run
from parleyd.store.steps import deleted_steps, inserted_step, step_values
from parleyd.store.tables import asks, conversations, messages, turn_steps, turns
from parleyd.turns.endings import EndingPlan, TurnPlace, plan_closing, plan_ending, plan_failure
from parleyd.turns.ports import EndedTurn, Ending, Fenced, OpenedTurn
from parleyd.turns.state import LockedConversation


def end_turn(connection: Connection, turn: OpenedTurn, ending: Ending) -> EndedTurn:
    """Stores the rows of a turn and pauses or finishes it (TX2).

    Raises:
        Fenced: The lease is lost, or the turn has ended.
    """
    conversation = lock_for_turn(connection, turn.lease)
    place = _read_place(connection, turn, [asked.call.tool_call_id for asked in ending.asks])
    return _write(connection, turn, conversation, plan_ending(turn, ending, conversation, place))


def fail_turn(
    connection: Connection,
    turn: OpenedTurn,
    error: TurnError,
    rows: Sequence[MessageDraft],
    partial_text: str,
) -> EndedTurn:
    """Stores what there is of a failed turn and closes it (TX2f).

    Raises:
        Fenced: The lease is lost, or the turn has ended.
    """
    conversation = lock_for_turn(connection, turn.lease)
    place = _read_place(connection, turn, [])
    plan = plan_failure(turn, error, rows, partial_text, conversation, place)
    return _write(connection, turn, conversation, plan)


def close_turn(connection: Connection, turn: OpenedTurn, title: str | None) -> EndedTurn:
    """Closes a turn whose rows are stored, with the title the conversation then has (TX4).

    Raises:
        Fenced: The lease is lost, or the turn is not there yet or closed.
    """
    conversation = lock_for_turn(connection, turn.lease)
    result = run(connection, _RESULT, turn=turn.lease.turn_id).scalar_one()
    if result is None:
        raise Fenced
    plan = plan_closing(result, conversation, title)
    last_event = run(
        connection,
        _CLOSE,
        **within(turn.lease, len(plan.events)),
        conversation=conversation.id,
        title=plan.title,
        result=plan.result,
        events=payloads_of(plan.events),
    ).scalar_one_or_none()
    if last_event is None:
        raise Fenced
    return EndedTurn(numbered(turn.lease.turn_id, plan.events, last_event), plan.result)


def was_ended(connection: Connection, turn: OpenedTurn) -> bool:
    """Tells whether `end_turn` or `fail_turn` was committed, once its transaction has ended.

    Raises:
        Fenced: The lease is lost.
    """
    return state_of(connection, turn.lease) != "running"


def was_closed(connection: Connection, turn: OpenedTurn) -> bool:
    """Tells whether `close_turn` was committed, once its transaction has ended.

    Raises:
        Fenced: The lease is lost.
    """
    return state_of(connection, turn.lease) == "closed"


def _read_place(connection: Connection, turn: OpenedTurn, call_ids: list[str]) -> TurnPlace:
    row = run(
        connection,
        _PLACE,
        turn=turn.lease.turn_id,
        conversation=turn.lease.conversation_id,
        call_ids=call_ids,
    ).one_or_none()
    if row is None:
        raise Fenced
    model, next_position, slot_taken, taken, newer_turn = row
    return TurnPlace(model, next_position, slot_taken, frozenset(taken), newer_turn)


def _write(
    connection: Connection, turn: OpenedTurn, conversation: LockedConversation, plan: EndingPlan
) -> EndedTurn:
    error = plan.result.error
    last_event = run(
        connection,
        _END,
        **within(turn.lease, len(plan.events)),
        state="closed" if plan.closed else "committed",
        outcome=plan.outcome,
        result=plan.result,
        close_time=conversation.now if plan.closed else None,
        error_reason=error.reason if error else None,
        error_message=error.message if error else None,
        conversation=conversation.id,
        turn_no=turn.turn_no,
        last_seq=plan.last_seq,
        retryable=turn.lease.turn_id if plan.retryable else None,
        rows=plan.rows,
        asks=plan.asks,
        ended_chain=plan.ended_chain,
        events=payloads_of(plan.events),
        **step_values(turn.chain_id, plan.step),
    ).scalar_one_or_none()
    if last_event is None:
        raise Fenced
    events = numbered(turn.lease.turn_id, plan.events, last_event)
    return EndedTurn(events, plan.result if plan.closed else None)


# ---------------------------------------------------------------- statements

_NEWER: Final = turns.alias("newer")
_OF_CONVERSATION: Final = asks.c.conversation_id == given("conversation")
_CALL_IDS: Final = given("call_ids", ARRAY(StorableText))
_PLACE: Final = select(
    turns.c.model,
    select(func.coalesce(func.max(messages.c.position) + 1, 0))
    .where(messages.c.turn_id == turns.c.id)
    .scalar_subquery(),
    exists().where(_OF_CONVERSATION, IS_PENDING),
    func.array(
        select(asks.c.tool_call_id)
        .where(_OF_CONVERSATION, asks.c.tool_call_id == any_(_CALL_IDS))
        .scalar_subquery(),
        type_=ARRAY(Text),
    ),
    exists().where(
        _NEWER.c.conversation_id == turns.c.conversation_id,
        _NEWER.c.turn_no > turns.c.turn_no,
        _NEWER.c.input_kind.not_in([literal_column("'service'"), literal_column("'system'")]),
    ),
).where(turns.c.id == given("turn"))

_END_FENCE: Final = fence(
    "running",
    state=given("state"),
    outcome=given("outcome"),
    result=given("result"),
    close_time=given("close_time"),
    error_reason=given("error_reason"),
    error_message=given("error_message"),
)
_GROWN_CONVERSATION: Final = (
    update(conversations)
    .where(conversations.c.id == given("conversation"), exists().select_from(_END_FENCE))
    .values(
        last_seq=given("last_seq"),
        update_time=func.now(),
        retryable_turn_id=func.coalesce(
            given("retryable", Uuid()), conversations.c.retryable_turn_id
        ),
    )
    .cte("grown_conversation")
)
_END: Final = select(_END_FENCE.c.last_event).add_cte(
    _GROWN_CONVERSATION,
    inserted_asks(_END_FENCE),
    inserted_messages(_END_FENCE),
    inserted_step(_END_FENCE),
    deleted_steps(
        and_(turn_steps.c.chain_id == given("ended_chain"), exists().select_from(_END_FENCE))
    ),
    inserted_events(_END_FENCE),
)

_RESULT: Final = select(turns.c.result).where(turns.c.id == given("turn"))
_CLOSE_FENCE: Final = fence(
    "committed",
    state=literal_column("'closed'"),
    result=given("result"),
    close_time=func.now(),
)
_TITLED_CONVERSATION: Final = (
    update(conversations)
    .where(
        conversations.c.id == given("conversation"),
        given("title", StorableText()).is_not(None),
        exists().select_from(_CLOSE_FENCE),
    )
    .values(title=given("title"), update_time=func.now())
    .cte("titled_conversation")
)
_CLOSE: Final = select(_CLOSE_FENCE.c.last_event).add_cte(
    _TITLED_CONVERSATION, inserted_events(_CLOSE_FENCE)
)

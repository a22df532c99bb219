"""Ending a turn: TX2, TX2f and TX4 of spec turns 3.5.

One fenced statement writes it all where the conversation is as it was planned for, and nothing
where it is not. The common case is planned from what opening the turn left; else the conversation
is locked and read first. Either way locks are taken in the order conversation, turn, the rest.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy import (
    Connection,
    Text,
    Uuid,
    and_,
    any_,
    case,
    exists,
    func,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY

from parleyd.contract.messages import MessageDraft
from parleyd.contract.turns import TurnError, TurnResult
from parleyd.store.asks import HAS_LAPSED, IS_PENDING, inserted_asks, told
from parleyd.store.columns import StorableText
from parleyd.store.events import (
    inserted_events,
    notified,
    numbered,
    payloads_of,
    read_last_written,
)
from parleyd.store.executions import read_unfinished, unknown_executions, unknown_values
from parleyd.store.lapses import settle_lapsed
from parleyd.store.locks import LEASED, fence, lock_for_turn, state_of, within
from parleyd.store.messages import inserted_messages
from parleyd.store.statements import given, run
from parleyd.store.steps import deleted_steps, inserted_step, step_values
from parleyd.store.tables import asks, conversations, messages, turn_steps, turns
from parleyd.store.unchanged import AS_SEEN, AS_TITLED, seen_values
from parleyd.turns.endings import (
    ClosingPlan,
    EndingPlan,
    plan_closing,
    plan_ending,
    plan_failure,
)
from parleyd.turns.ports import EndedTurn, Ending, Fenced, OpenedTurn
from parleyd.turns.state import TurnPlace

# ---------------------------------------------------------------- TX2


def plan_end_ahead(turn: OpenedTurn, ending: Ending) -> EndingPlan | None:
    """Plans the end of a turn from what opening it left; None where a lock is needed to tell.

    Times of asks are told by the lock's own clock.
    """
    outlook = turn.outlook
    if outlook is None:
        return None
    timed = outlook.place.slot_may_lapse or any(ask.seconds is not None for ask in ending.asks)
    if ending.asks and timed:
        return None
    return plan_ending(turn, ending, outlook.conversation, outlook.place)


def end_as_seen(connection: Connection, turn: OpenedTurn, plan: EndingPlan) -> EndedTurn | None:
    """Stores the end of a turn by one statement.

    Returns None where the conversation is not as it was planned for, or the lease is lost: the lock
    tells which.
    """
    row = _write(connection, turn, plan)
    return _ended(turn, plan, *row) if row else None


def find_ended(connection: Connection, turn: OpenedTurn, plan: EndingPlan) -> EndedTurn | None:
    """Returns what `end_as_seen` would have returned, had its answer not been lost."""
    row = run(connection, _ENDED, **within(turn.lease, 0)).one_or_none()
    return _ended(turn, plan, *row) if row else None


def end_locked(connection: Connection, turn: OpenedTurn, ending: Ending) -> EndedTurn:
    """Stores the rows of a turn and pauses or finishes it, with the conversation locked first.

    Raises:
        Fenced: The lease is lost, or the turn has ended.
    """
    conversation = lock_for_turn(connection, turn.lease)
    call_ids = [asked.tool_call_id for asked in ending.asks]
    place = _read_place(connection, turn, call_ids)
    if ending.asks and place.slot_may_lapse:
        conversation = settle_lapsed(connection, conversation)
        place = _read_place(connection, turn, call_ids)
    return _end(connection, turn, plan_ending(turn, ending, conversation, place))


# ---------------------------------------------------------------- TX2f


def fail_turn(
    connection: Connection,
    turn: OpenedTurn,
    error: TurnError,
    rows: Sequence[MessageDraft],
    partial_text: str,
) -> EndedTurn:
    """Stores what there is of a failed turn and closes it.

    Raises:
        Fenced: The lease is lost, or the turn has ended.
    """
    conversation = lock_for_turn(connection, turn.lease)
    unfinished = read_unfinished(connection, turn)
    place = _read_place(connection, turn, [])
    plan = plan_failure(turn, error, rows, partial_text, conversation, place, unfinished)
    return _end(connection, turn, plan)


def was_ended(connection: Connection, turn: OpenedTurn) -> bool:
    """Tells whether `end_locked` or `fail_turn` was committed, once its transaction has ended.

    Raises:
        Fenced: The lease is lost.
    """
    return state_of(connection, turn.lease) != "running"


# ---------------------------------------------------------------- TX4


def plan_close_ahead(
    turn: OpenedTurn, title: str | None, committed: TurnResult | None
) -> ClosingPlan | None:
    """Plans the close of a turn from what ending it left; None where it has to be read first."""
    if committed is None or turn.outlook is None:
        return None
    seen = replace(turn.outlook.conversation, title=committed.title)
    return plan_closing(committed, seen, title)


def close_as_seen(connection: Connection, turn: OpenedTurn, plan: ClosingPlan) -> EndedTurn | None:
    """Closes a turn by one statement.

    Returns None where the conversation has got a title or was deleted, or the lease is lost: the
    lock tells which.
    """
    row = run(
        connection,
        _CLOSE,
        **within(turn.lease, len(plan.events)),
        **seen_values(plan.seen),
        title=plan.title,
        result=plan.result,
        events=payloads_of(plan.events),
    ).one_or_none()
    return _closed(turn, plan, row.last_event) if row else None


def find_closed(connection: Connection, turn: OpenedTurn, plan: ClosingPlan) -> EndedTurn | None:
    """Returns what `close_as_seen` would have returned, had its answer not been lost."""
    row = run(connection, _CLOSED, **within(turn.lease, 0)).one_or_none()
    return _closed(turn, plan, row.last_event) if row else None


def close_locked(connection: Connection, turn: OpenedTurn, title: str | None) -> EndedTurn:
    """Closes a turn whose rows are stored, with the title the conversation then has.

    Raises:
        Fenced: The lease is lost, or the turn is not there yet or closed.
    """
    conversation = lock_for_turn(connection, turn.lease)
    result = run(connection, _RESULT, turn=turn.lease.turn_id).scalar_one()
    if result is None:
        raise Fenced
    closed = close_as_seen(connection, turn, plan_closing(result, conversation, title))
    if closed is None:
        raise Fenced
    return closed


def was_closed(connection: Connection, turn: OpenedTurn) -> bool:
    """Tells whether `close_locked` was committed, once its transaction has ended.

    Raises:
        Fenced: The lease is lost.
    """
    return state_of(connection, turn.lease) == "closed"


# ---------------------------------------------------------------- repeats


def find_stored_end(connection: Connection, turn: OpenedTurn) -> EndedTurn | None:
    """Reads how the turn of a lease was ended or closed last; None where it runs or is lost."""
    row = run(connection, _STORED_END, **within(turn.lease, 0)).one_or_none()
    if row is None:
        return None
    closed, result = row
    events = read_last_written(connection, turn.lease.turn_id)
    return EndedTurn(events, result) if closed else EndedTurn(events, None, result)


# ---------------------------------------------------------------- both


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
    next_position, slot_taken, has_lapsed, taken, newer_turn = row
    return TurnPlace(next_position, slot_taken, has_lapsed, frozenset(taken), newer_turn)


def _end(connection: Connection, turn: OpenedTurn, plan: EndingPlan) -> EndedTurn:
    """Stores the end of a turn whose conversation is locked.

    Raises:
        Fenced: The lease is lost, or the turn has ended.
    """
    row = _write(connection, turn, plan)
    if row is None:
        raise Fenced
    return _ended(turn, plan, *row)


def _write(
    connection: Connection, turn: OpenedTurn, plan: EndingPlan
) -> tuple[int, datetime] | None:
    error = plan.result.error
    row = run(
        connection,
        _END,
        **within(turn.lease, len(plan.events)),
        **seen_values(plan.seen),
        state="closed" if plan.closed else "committed",
        outcome=plan.outcome,
        result=plan.result,
        error_reason=error.reason if error else None,
        error_message=error.message if error else None,
        turn_no=turn.turn_no,
        last_seq=plan.last_seq,
        retryable=turn.lease.turn_id if plan.retryable else None,
        rows=plan.rows,
        asks=plan.asks,
        ended_chain=plan.ended_chain,
        events=payloads_of(plan.events),
        **step_values(turn.chain_id, plan.step),
        **unknown_values(turn.chain_id, plan.unknown),
    ).one_or_none()
    return (row.last_event, row.now) if row else None


def _ended(turn: OpenedTurn, plan: EndingPlan, last_event: int, now: datetime) -> EndedTurn:
    """Returns a turn whose end was stored at `now`, which is when its ask was made."""
    result = plan.result
    if result.pending_ask:
        asked = result.pending_ask.model_copy(update={"create_time": now})
        result = result.model_copy(update={"pending_ask": asked})
    events = numbered(turn.lease.turn_id, plan.events, last_event)
    return EndedTurn(events, result) if plan.closed else EndedTurn(events, None, result)


def _closed(turn: OpenedTurn, plan: ClosingPlan, last_event: int) -> EndedTurn:
    return EndedTurn(numbered(turn.lease.turn_id, plan.events, last_event), plan.result)


# ---------------------------------------------------------------- statements

_NEWER: Final = turns.alias("newer")
_OF_CONVERSATION: Final = asks.c.conversation_id == given("conversation")
_CALL_IDS: Final = given("call_ids", ARRAY(StorableText))
_PLACE: Final = select(
    select(func.coalesce(func.max(messages.c.position) + 1, 0))
    .where(messages.c.turn_id == turns.c.id)
    .scalar_subquery(),
    exists().where(_OF_CONVERSATION, IS_PENDING),
    exists().where(_OF_CONVERSATION, HAS_LAPSED),
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

_LOCK: Final = select(conversations.c.id).with_for_update(key_share=True)
_SEEN: Final = _LOCK.where(AS_SEEN).cte("seen")
_RESULT_NOW: Final = func.jsonb_set(
    given("result", turns.c.result.type),
    literal_column("'{pending_ask,create_time}'"),
    func.to_jsonb(func.now()),
    literal_column("false"),
    type_=turns.c.result.type,
)
"""The result, its ask made now, if there is one."""

_END_FENCE: Final = fence(
    "running",
    _SEEN,
    state=given("state"),
    outcome=given("outcome"),
    result=_RESULT_NOW,
    close_time=case((given("state", Text()) == literal_column("'closed'"), func.now())),
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
_NEW_ASKS: Final = inserted_asks(_END_FENCE)
_END: Final = select(
    _END_FENCE.c.last_event, func.now().label("now"), notified(_END_FENCE), told(_NEW_ASKS)
).add_cte(
    _GROWN_CONVERSATION,
    _NEW_ASKS,
    inserted_messages(_END_FENCE),
    inserted_step(_END_FENCE),
    deleted_steps(
        and_(turn_steps.c.chain_id == given("ended_chain"), exists().select_from(_END_FENCE))
    ),
    unknown_executions(_END_FENCE),
    inserted_events(_END_FENCE),
)
_ENDED: Final = select(
    turns.c.last_event, func.coalesce(turns.c.close_time, turns.c.create_time).label("now")
).where(LEASED, turns.c.state != literal_column("'running'"))

_STORED_END: Final = select(turns.c.state == literal_column("'closed'"), turns.c.result).where(
    LEASED, turns.c.state != literal_column("'running'")
)

_RESULT: Final = select(turns.c.result).where(turns.c.id == given("turn"))
_TITLED: Final = _LOCK.where(AS_TITLED).cte("titled")
_CLOSE_FENCE: Final = fence(
    "committed",
    _TITLED,
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
_CLOSE: Final = select(_CLOSE_FENCE.c.last_event, notified(_CLOSE_FENCE)).add_cte(
    _TITLED_CONVERSATION, inserted_events(_CLOSE_FENCE)
)
_CLOSED: Final = select(turns.c.last_event).where(
    LEASED, turns.c.state == literal_column("'closed'")
)

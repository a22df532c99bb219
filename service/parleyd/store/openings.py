"""Opening a turn: TX1 of spec turns 3.5.

One statement writes it all where the conversation is as it was seen, and nothing where it is not.
Then the conversation is locked and read again, and the same statement finds it as it was read.
"""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import (
    CTE,
    ColumnElement,
    Connection,
    Integer,
    Select,
    Text,
    and_,
    case,
    exists,
    func,
    insert,
    literal,
    literal_column,
    select,
    update,
)

from parleyd.contract import limits
from parleyd.contract.text import storable
from parleyd.store.action_tokens import token_use, used_token
from parleyd.store.asks import resolution, resolved_ask, told
from parleyd.store.events import inserted_events, numbered, payloads_of
from parleyd.store.files import used_files
from parleyd.store.lapses import settle_lapsed
from parleyd.store.locks import LEASE_END, lock_conversation, lock_for_owner
from parleyd.store.messages import inserted_messages
from parleyd.store.sayings import read_said
from parleyd.store.situations import read_repeated, read_situation
from parleyd.store.statements import given, run
from parleyd.store.steps import deleted_steps
from parleyd.store.tables import conversations, turn_steps, turns
from parleyd.store.unchanged import AS_SEEN, seen_values
from parleyd.turns.openings import (
    OpeningPlan,
    outlook_after,
    plan_new_conversation,
    plan_opening,
    said_in,
)
from parleyd.turns.ports import (
    AnswerOpening,
    Lease,
    OpenedTurn,
    Opening,
    RequestSeen,
    RetryOpening,
)
from parleyd.turns.requests import RequestKey
from parleyd.turns.situations import RepeatedRequest, Wanted

# ---------------------------------------------------------------- as it was seen


def plan_ahead(opening: Opening) -> OpeningPlan | None:
    """Plans a turn from what was seen; None where a lock is needed to tell.

    Only under the lock the clock can't pass the time of the ask that is in the slot.

    Raises:
        AskNotPending: The answer's ask was not what the conversation waited on.
        TurnNotFound: The conversation has no such turn to retry.
        TurnNotRetryable: It was not the one that may be retried.
    """
    if opening.conversation_id is None:
        return plan_new_conversation(opening)
    seen = opening.seen
    return plan_opening(opening, seen) if seen and not seen.asks.may_lapse else None


def open_as_seen(connection: Connection, opening: Opening, plan: OpeningPlan) -> OpenedTurn | None:
    """Stores a turn by one statement; None where the conversation is not as it was seen."""
    said = _read_said(connection, opening)
    now = _write(connection, opening, plan)
    return _opened(opening, plan, said, now) if now else None


def find_opened(connection: Connection, opening: Opening, plan: OpeningPlan) -> OpenedTurn | None:
    """Returns what `open_as_seen` would have returned, had its answer not been lost."""
    now = run(connection, _OPENED, turn=opening.turn_id).scalar_one_or_none()
    return _opened(opening, plan, _read_said(connection, opening), now) if now else None


# ---------------------------------------------------------------- under the lock


def open_locked(connection: Connection, opening: Opening, conversation_id: UUID) -> OpenedTurn:
    """Stores a turn in a conversation that is locked first.

    Raises:
        ConversationNotFound: No such conversation, or it is deleted.
        NotOwner: It is someone else's.
        AskNotPending: The answer's ask is not what the conversation waits on.
        TurnNotFound: The conversation has no such turn to retry.
        TurnNotRetryable: It is not the one that may be retried.
        RequestSeen: The request id has made a turn already.
    """
    conversation = lock_for_owner(connection, conversation_id, opening.owner)
    named, retried = opening.input, opening.input
    wanted = Wanted(
        conversation_id,
        tool_call_id=named.tool_call_id if isinstance(named, AnswerOpening) else None,
        retry_turn_id=retried.turn_id if isinstance(retried, RetryOpening) else None,
        request=opening.request,
    )
    situation = read_situation(connection, opening.owner, wanted)
    if situation.repeated:
        raise RequestSeen(situation.repeated)
    if situation.asks.lapsed:
        settle_lapsed(connection, conversation)
        situation = read_situation(connection, opening.owner, wanted)
    plan = plan_opening(opening, situation)
    now = _write(connection, opening, plan)
    assert now, "a conversation that is locked stays as it was read"
    return _opened(opening, plan, _read_said(connection, opening), now)


def was_opened(connection: Connection, opening: Opening, conversation_id: UUID) -> bool:
    """Tells whether `open_locked` was committed, once the transaction that did it has ended."""
    lock_conversation(connection, conversation_id)
    return run(connection, _OPENED, turn=opening.turn_id).one_or_none() is not None


# ---------------------------------------------------------------- repeats


def read_or_free(connection: Connection, owner: str, key: RequestKey) -> RepeatedRequest | None:
    """Returns the turn that a request id has made, or frees the id where its time is over."""
    run(connection, _FREE, caller=owner, request_id=str(key.id))
    return read_repeated(connection, owner, str(key.id))


def was_freed(connection: Connection, owner: str, key: RequestKey) -> bool:
    """Tells whether no turn keeps a request id any more."""
    kept = run(connection, _KEPT, caller=owner, request_id=str(key.id))
    return kept.one_or_none() is None


# ---------------------------------------------------------------- both


def _read_said(connection: Connection, opening: Opening) -> str | None:
    retried = opening.input
    if not isinstance(retried, RetryOpening):
        return None
    return read_said(connection, retried.turn_id)


def _write(connection: Connection, opening: Opening, plan: OpeningPlan) -> datetime | None:
    told, key = opening.system_instruction, opening.request
    options = {
        **({} if told is None else {"system_instruction": told}),
        **({"caller_key": True} if opening.caller_key else {}),
    }
    values = {
        "turn": opening.turn_id,
        "conversation": plan.conversation_id,
        "owner": opening.owner,
        "turn_no": plan.turn_no,
        "chain": plan.chain_id,
        "retry_of": plan.retry_of,
        "input_kind": plan.input_kind,
        "surface": opening.surface,
        "model": opening.model,
        "options": options,
        "answered_ask": plan.answered_ask_id,
        "context_max_seq": plan.context_max_seq,
        "request_id": str(key.id) if key else None,
        "request_hash": key.digest if key else None,
        "holder": opening.holder,
        "state": "closed" if plan.result else "running",
        "outcome": plan.result.state if plan.result else None,
        "result": plan.result,
        "new_events": len(plan.events),
        "last_seq": plan.last_seq,
        "rows": plan.rows,
        "events": payloads_of(plan.events),
        "used_files": list(plan.file_ids),
    }
    if plan.seen is None:
        most = limits.ANY_NUMBER if opening.owner_turns is None else opening.owner_turns
        made = run(connection, _OPEN_IN_NEW, **values, project=opening.project, most=most)
        return made.scalar_one_or_none()
    made = opening.input
    return run(
        connection,
        _OPEN,
        **values | seen_values(plan.seen),
        ended_chain=plan.ended_chain,
        **resolution(plan.resolved),
        **token_use(made.token if isinstance(made, AnswerOpening) else None),
    ).scalar_one_or_none()


def _opened(opening: Opening, plan: OpeningPlan, said: str | None, now: datetime) -> OpenedTurn:
    seen = plan.seen
    title, project = (seen.title, seen.project) if seen else (None, opening.project)
    resolved = plan.resolved and plan.resolved.model_copy(update={"resolve_time": now})
    return OpenedTurn(
        lease=Lease(opening.turn_id, plan.conversation_id, opening.holder),
        owner=opening.owner,
        turn_no=plan.turn_no,
        chain_id=plan.chain_id,
        context_max_seq=plan.context_max_seq,
        project=project,
        surface=opening.surface,
        events=numbered(opening.turn_id, plan.events, len(plan.events)),
        input_kind=plan.input_kind,
        model=opening.model,
        system_instruction=opening.system_instruction and storable(opening.system_instruction),
        retry_of=plan.retry_of,
        said=said_in(opening, plan) if said is None else said,
        resolved=resolved,
        outlook=outlook_after(opening, plan, title, project, now),
        result=plan.result,
    )


# ---------------------------------------------------------------- statements

_TURN: Final = {
    "id": given("turn", turns.c.id.type),
    "conversation_id": given("conversation", turns.c.conversation_id.type),
    "turn_no": given("turn_no", turns.c.turn_no.type),
    "chain_id": given("chain", turns.c.chain_id.type),
    "retry_of": given("retry_of", turns.c.retry_of.type),
    "owner": given("owner", turns.c.owner.type),
    "input_kind": given("input_kind", turns.c.input_kind.type),
    "surface": given("surface", turns.c.surface.type),
    "model": given("model", turns.c.model.type),
    "options": given("options", turns.c.options.type),
    "answered_ask_id": given("answered_ask", turns.c.answered_ask_id.type),
    "context_max_seq": given("context_max_seq", turns.c.context_max_seq.type),
    "request_id": given("request_id", turns.c.request_id.type),
    "request_hash": given("request_hash", turns.c.request_hash.type),
    "last_event": given("new_events", turns.c.last_event.type),
    "lease_holder": given("holder", turns.c.lease_holder.type),
    "lease_until": LEASE_END,
    "state": given("state", turns.c.state.type),
    "outcome": given("outcome", turns.c.outcome.type),
    "result": given("result", turns.c.result.type),
    "close_time": case((given("state", Text()) == literal_column("'closed'"), func.now())),
}
_LAST_EVENT: Final = given("new_events", Integer()).label("last_event")

_CONVERSATION: Final = {
    "id": given("conversation", conversations.c.id.type),
    "owner": given("owner", conversations.c.owner.type),
    "project": given("project", conversations.c.project.type),
    "last_seq": given("last_seq", conversations.c.last_seq.type),
    "last_turn_no": given("turn_no", conversations.c.last_turn_no.type),
}
_RUNNING: Final = turns.alias("running")
_RUNNING_OF_OWNER: Final = (
    select(func.count())
    # The state is spelled out: so the partial index serves it whatever the plan.
    .where(_RUNNING.c.owner == given("owner"), _RUNNING.c.state == literal_column("'running'"))
    .scalar_subquery()
)
_NEW_CONVERSATION: Final = (
    insert(conversations)
    .from_select(
        list(_CONVERSATION),
        select(*_CONVERSATION.values()).where(given("most", Integer()) > _RUNNING_OF_OWNER),
    )
    .returning(_LAST_EVENT)
    .cte("new_conversation")
)
"""Made only while its owner has fewer turns running than they may: so nothing is read before."""
_GROWN_CONVERSATION: Final = (
    update(conversations)
    .where(AS_SEEN, conversations.c.owner == given("owner"))
    .values(
        last_seq=given("last_seq"),
        last_turn_no=given("turn_no"),
        retryable_turn_id=None,
        update_time=func.now(),
    )
    .returning(_LAST_EVENT)
    .cte("grown_conversation")
)
_RETRYABLE_CHAIN: Final = (
    select(turns.c.chain_id)
    .join_from(conversations, turns, turns.c.id == conversations.c.retryable_turn_id)
    .where(conversations.c.id == given("conversation"))
    .scalar_subquery()
)
"""The chain of a failed turn: a newer turn takes the right to retry it, and so its steps."""


def _ended_steps(behind: CTE) -> CTE:
    going_on = exists().select_from(behind)
    chain = turn_steps.c.chain_id
    return deleted_steps(
        and_(going_on, chain == given("ended_chain")),
        and_(going_on, chain == _RETRYABLE_CHAIN, chain != given("chain")),
    )


def _opening(behind: CTE, news: ColumnElement[int], *more: CTE) -> Select[datetime, int]:
    """Returns one statement that does all the writes, if `behind` has a row.

    Foreign keys are checked at its end. `news` are told as it commits.
    """
    new_turn = insert(turns).from_select(list(_TURN), select(*_TURN.values()).select_from(behind))
    return (
        select(func.now(), news)
        .select_from(behind)
        .add_cte(
            new_turn.cte("new_turn"),
            *more,
            inserted_messages(behind),
            inserted_events(behind),
            used_files(behind),
        )
    )


_OPEN_IN_NEW: Final = _opening(_NEW_CONVERSATION, literal_column("0", Integer()))
_RESOLVED: Final = resolved_ask(_GROWN_CONVERSATION)
_OPEN: Final = _opening(
    _GROWN_CONVERSATION,
    told(_RESOLVED),
    _RESOLVED,
    _ended_steps(_GROWN_CONVERSATION),
    used_token(_GROWN_CONVERSATION),
)

_OPENED: Final = select(turns.c.create_time).where(turns.c.id == given("turn"))

_OF_KEY: Final = and_(turns.c.owner == given("caller"), turns.c.request_id == given("request_id"))
_FREE: Final = select(literal(1)).add_cte(
    update(turns)
    .where(
        _OF_KEY,
        turns.c.create_time <= func.now() - literal(timedelta(hours=limits.REQUEST_ID_HOURS)),
    )
    .values(request_id=None, request_hash=None)
    .cte("freed_turn")
)
_KEPT: Final = select(turns.c.id).where(_OF_KEY).with_for_update(key_share=True)

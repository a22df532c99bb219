"""Opening a turn: TX1 of spec turns 3.5. Lock, read, then one statement that writes it all."""

from typing import Final

from sqlalchemy import CTE, Connection, Select, func, insert, literal, select, update

from parleyd.store.asks import read_named_asks, resolution, resolved_ask
from parleyd.store.events import inserted_events, numbered, payloads_of
from parleyd.store.locks import LEASE_END, is_free, lock_conversation, lock_for_owner
from parleyd.store.messages import inserted_messages
from parleyd.store.statements import given, run
from parleyd.store.steps import deleted_steps
from parleyd.store.tables import conversations, turn_steps, turns
from parleyd.turns.openings import OpeningPlan, plan_new_conversation, plan_opening
from parleyd.turns.ports import AnswerOpening, Lease, OpenedTurn, Opening


def open_turn(connection: Connection, opening: Opening) -> OpenedTurn:
    """Stores a turn with its first rows and events.

    Raises:
        ConversationNotFound: No such conversation, or it is deleted.
        NotOwner: It is someone else's.
        AskNotPending: The answer's ask is not what the conversation waits on.
    """
    if opening.conversation_id is None:
        plan = plan_new_conversation(opening)
        run(connection, _OPEN_IN_NEW, **_values(opening, plan))
    else:
        conversation = lock_for_owner(connection, opening.conversation_id, opening.owner)
        named = opening.input.tool_call_id if isinstance(opening.input, AnswerOpening) else None
        asks = read_named_asks(connection, opening.conversation_id, named)
        plan = plan_opening(opening, conversation, asks)
        run(connection, _OPEN, **_values(opening, plan))
    return OpenedTurn(
        lease=Lease(opening.turn_id, plan.conversation_id, opening.holder),
        owner=opening.owner,
        turn_no=plan.turn_no,
        chain_id=plan.chain_id,
        context_max_seq=plan.context_max_seq,
        project=plan.project,
        surface=opening.surface,
        events=numbered(opening.turn_id, plan.events, len(plan.events)),
    )


def was_opened(connection: Connection, opening: Opening) -> bool:
    """Tells whether `open_turn` was committed, once the transaction that did it has ended."""
    if opening.conversation_id is None:
        return not is_free(connection, opening.new_conversation_id, opening.owner)
    lock_conversation(connection, opening.conversation_id)
    return run(connection, _IS_THERE, turn=opening.turn_id).one_or_none() is not None


def _values(opening: Opening, plan: OpeningPlan) -> dict[str, object]:
    told = opening.system_instruction
    return {
        "turn": opening.turn_id,
        "conversation": plan.conversation_id,
        "owner": opening.owner,
        "project": plan.project,
        "turn_no": plan.turn_no,
        "chain": plan.chain_id,
        "input_kind": opening.input.kind if isinstance(opening.input, AnswerOpening) else "prompt",
        "surface": opening.surface,
        "model": opening.model,
        "options": {} if told is None else {"system_instruction": told},
        "answered_ask": plan.answered_ask_id,
        "context_max_seq": plan.context_max_seq,
        "holder": opening.holder,
        "new_events": len(plan.events),
        "last_seq": plan.last_seq,
        "ended_chain": plan.ended_chain,
        "rows": plan.rows,
        "events": payloads_of(plan.events),
        **resolution(plan.resolved),
    }


# ---------------------------------------------------------------- statements

_NEW_TURN: Final = (
    insert(turns)
    .values(
        id=given("turn"),
        conversation_id=given("conversation"),
        turn_no=given("turn_no"),
        chain_id=given("chain"),
        owner=given("owner"),
        input_kind=given("input_kind"),
        surface=given("surface"),
        model=given("model"),
        options=given("options"),
        answered_ask_id=given("answered_ask"),
        context_max_seq=given("context_max_seq"),
        last_event=given("new_events"),
        lease_holder=given("holder"),
        lease_until=LEASE_END,
    )
    .cte("new_turn")
)
_NEW_CONVERSATION: Final = (
    insert(conversations)
    .values(
        id=given("conversation"),
        owner=given("owner"),
        project=given("project"),
        last_seq=given("last_seq"),
        last_turn_no=given("turn_no"),
    )
    .cte("new_conversation")
)
_GROWN_CONVERSATION: Final = (
    update(conversations)
    .where(conversations.c.id == given("conversation"))
    .values(
        last_seq=given("last_seq"),
        last_turn_no=given("turn_no"),
        retryable_turn_id=None,
        update_time=func.now(),
    )
    .cte("grown_conversation")
)
_RETRYABLE_CHAIN: Final = (
    select(turns.c.chain_id)
    .join_from(conversations, turns, turns.c.id == conversations.c.retryable_turn_id)
    .where(conversations.c.id == given("conversation"))
    .scalar_subquery()
)
"""The chain of a failed turn: a newer turn takes the right to retry it, and so its steps."""
_ENDED_STEPS: Final = deleted_steps(
    turn_steps.c.chain_id == given("ended_chain"), turn_steps.c.chain_id == _RETRYABLE_CHAIN
)


def _all_of(*writes: CTE) -> Select[int]:
    """Returns one statement that does all the writes. Foreign keys are checked at its end."""
    return select(literal(1)).add_cte(*writes)


_OPEN_IN_NEW: Final = _all_of(_NEW_CONVERSATION, _NEW_TURN, inserted_messages(), inserted_events())
_OPEN: Final = _all_of(
    _GROWN_CONVERSATION,
    _NEW_TURN,
    resolved_ask(),
    _ENDED_STEPS,
    inserted_messages(),
    inserted_events(),
)
_IS_THERE: Final = select(turns.c.id).where(turns.c.id == given("turn"))

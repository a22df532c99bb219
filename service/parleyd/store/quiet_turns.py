"""Quiet turns: closed as they are stored, by one statement under the conversation's lock."""

from typing import Final

from sqlalchemy import Connection, func, insert, literal, literal_column, select, update

from parleyd.store.asks import inserted_asks, resolution, resolved_ask, told
from parleyd.store.messages import inserted_messages
from parleyd.store.statements import given, run
from parleyd.store.steps import deleted_steps
from parleyd.store.tables import conversations, turn_steps, turns
from parleyd.turns.quiet_turns import QuietTurn


def store_quiet_turn(connection: Connection, turn: QuietTurn) -> None:
    """Stores a quiet turn in the conversation that it was planned for, which is locked."""
    seen = turn.seen
    run(
        connection,
        _STORE,
        conversation=seen.id,
        turn=turn.id,
        turn_no=seen.last_turn_no + 1,
        owner=seen.owner,
        input_kind=turn.kind,
        surface=turn.surface,
        last_seq=seen.last_seq + len(turn.rows),
        rows=turn.rows,
        asks=(turn.asked,) if turn.asked else (),
        ended_chain=turn.resolved.chain_id if turn.resolved else None,
        **resolution(turn.resolved),
    )


_GROWN: Final = (
    update(conversations)
    .where(conversations.c.id == given("conversation"))
    .values(last_seq=given("last_seq"), last_turn_no=given("turn_no"), update_time=func.now())
    .returning(conversations.c.id)
    .cte("grown_conversation")
)
_TURN: Final = {
    "id": given("turn", turns.c.id.type),
    "conversation_id": given("conversation", turns.c.conversation_id.type),
    "turn_no": given("turn_no", turns.c.turn_no.type),
    "chain_id": given("turn", turns.c.chain_id.type),
    "owner": given("owner", turns.c.owner.type),
    "input_kind": given("input_kind", turns.c.input_kind.type),
    "surface": given("surface", turns.c.surface.type),
    "state": literal_column("'closed'", turns.c.state.type),
    "outcome": literal_column("'completed'", turns.c.outcome.type),
    "context_max_seq": given("last_seq", turns.c.context_max_seq.type),
    "lease_holder": literal_column("''", turns.c.lease_holder.type),
    "lease_until": func.now(),
    "close_time": func.now(),
}
_NEW_TURN: Final = (
    insert(turns)
    .from_select(list(_TURN), select(*_TURN.values()).select_from(_GROWN))
    .cte("new_turn")
)
_ASKED: Final = inserted_asks(_GROWN)
_RESOLVED: Final = resolved_ask(_GROWN)
_STORE: Final = select(literal(1), told(_ASKED), told(_RESOLVED)).add_cte(
    _NEW_TURN,
    _ASKED,
    _RESOLVED,
    inserted_messages(_GROWN),
    deleted_steps(turn_steps.c.chain_id == given("ended_chain")),
)

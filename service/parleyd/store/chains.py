"""What the model is sent of a chain: its history, its steps, and what became of their asks."""

from typing import Final

from sqlalchemy import Connection, Uuid, any_, select
from sqlalchemy.dialects.postgresql import ARRAY

from parleyd.store.asks import ASK_COLUMNS, ask_of
from parleyd.store.messages import MESSAGES, message_of
from parleyd.store.statements import given, run
from parleyd.store.steps import read_steps
from parleyd.store.tables import asks, messages
from parleyd.turns.ports import ChainContext, OpenedTurn

_HISTORY: Final = MESSAGES.where(
    messages.c.conversation_id == given("conversation"),
    messages.c.seq <= given("context_max_seq"),
).order_by(messages.c.turn_no, messages.c.position)
_ASKS: Final = select(*ASK_COLUMNS).where(asks.c.id == any_(given("ids", ARRAY(Uuid))))


def read_chain(connection: Connection, turn: OpenedTurn) -> ChainContext:
    """Reads the rows up to the chain's starting point, which never change, and the chain so far."""
    rows = run(
        connection,
        _HISTORY,
        conversation=turn.lease.conversation_id,
        context_max_seq=turn.context_max_seq,
    )
    history = tuple(message_of(row) for row in rows.mappings())
    steps = read_steps(connection, turn.chain_id)
    ids = [call.ask_id for step in steps for call in step.calls if call.ask_id]
    if not ids:
        return ChainContext(history, steps, ())
    found = run(connection, _ASKS, ids=ids).mappings()
    return ChainContext(history, steps, tuple(ask for row in found if (ask := ask_of(row))))

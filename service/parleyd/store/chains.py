"""What the model is sent of a chain: its history, its steps, and what became of their calls."""

from collections.abc import Iterable
from typing import Any, Final
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Uuid,
    column,
    func,
    literal_column,
    select,
)

from parleyd.contract.executions import Execution
from parleyd.contract.steps import Step
from parleyd.store.columns import Json, Stored
from parleyd.store.messages import MESSAGES, message_of
from parleyd.store.statements import given, run
from parleyd.store.tables import asks, messages, tool_executions, turn_steps
from parleyd.turns.ports import ChainAsk, ChainContext, OpenedTurn


def read_chain(connection: Connection, turn: OpenedTurn, after_step: int = 0) -> ChainContext:
    """Reads the rows up to the chain's starting point, which never change, and the chain so far.

    After a step there is no history. One query, so that a model call waits for one round trip.
    """
    rows = run(
        connection,
        _CHAIN,
        conversation=turn.lease.conversation_id,
        context_max_seq=0 if after_step else turn.context_max_seq,
        chain=turn.chain_id,
        after_step=after_step,
    )
    found = rows.mappings().all()
    steps = [row for row in found if row["step_no"] is not None]
    return ChainContext(
        history=tuple(message_of(row) for row in found if row["message_seq"] is not None),
        # Read with every answer of a chain, so what was checked when it was stored is not again.
        steps=tuple(
            Step.model_construct(**{name: row[name] for name in _STEP_FIELDS}) for row in steps
        ),
        asks=tuple(
            ChainAsk(UUID(ask["id"]), ask["tool_call_id"], ask["answer"])
            for row in steps
            for ask in row["step_asks"] or ()
        ),
        executions=tuple(execution for row in steps for execution in row["step_executions"] or ()),
    )


def _record(columns: Iterable[Column[Any]]) -> ColumnElement[Any]:
    """Returns a row as a JSON object."""
    pairs: list[ColumnElement[Any]] = []
    for each in columns:
        pairs += [literal_column(f"'{each.name}'"), each]
    return func.jsonb_build_object(*pairs)


_STEP_FIELDS: Final = tuple(Step.model_fields)

_HISTORY: Final = MESSAGES.where(
    messages.c.conversation_id == given("conversation"),
    messages.c.seq <= given("context_max_seq"),
).subquery("history")

_CALLS: Final = (
    func.jsonb_to_recordset(turn_steps.c.calls)
    .table_valued(column("ask_id", Uuid()))
    .render_derived(name="step_call", with_types=True)
)
_STEP_ASKS: Final = (
    select(
        func.jsonb_agg(
            _record([asks.c.id, asks.c.tool_call_id, asks.c.answer]),
            type_=Json(),
        )
    )
    .select_from(_CALLS)
    .join(asks, asks.c.id == _CALLS.c.ask_id)
    .correlate(turn_steps)
    .scalar_subquery()
)
_STEP_EXECUTIONS: Final = (
    select(
        func.jsonb_agg(
            _record(tool_executions.c[name] for name in Execution.model_fields),
            type_=Stored(TypeAdapter(tuple[Execution, ...])),
        )
    )
    .where(
        tool_executions.c.chain_id == turn_steps.c.chain_id,
        tool_executions.c.step_no == turn_steps.c.step_no,
    )
    .correlate(turn_steps)
    .scalar_subquery()
)
_STEPS: Final = (
    select(
        *[turn_steps.c[name] for name in _STEP_FIELDS],
        _STEP_ASKS.label("step_asks"),
        _STEP_EXECUTIONS.label("step_executions"),
    )
    .where(turn_steps.c.chain_id == given("chain"), turn_steps.c.step_no > given("after_step"))
    .subquery("steps")
)
_CHAIN: Final = (
    select(_HISTORY, _STEPS)
    .select_from(_HISTORY.outerjoin(_STEPS, literal_column("false"), full=True))
    .order_by(_HISTORY.c.message_turn_no, _HISTORY.c.message_position, _STEPS.c.step_no)
)
"""Every message, beside nothing; then every step, beside nothing."""

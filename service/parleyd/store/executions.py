"""Executions: what became of the calls of host tools, each stored before it runs.

The key is the call's place in its chain, so that nobody can start a call twice.
"""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from pydantic import JsonValue, TypeAdapter
from sqlalchemy import (
    CTE,
    Connection,
    Integer,
    Select,
    Text,
    Uuid,
    and_,
    exists,
    func,
    literal,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY, insert

from parleyd.contract.events import EventBody, FileReturned, ToolReturned, TurnEvent
from parleyd.contract.executions import UNKNOWN_RESULT, Execution, ExecutionState, ToolStart
from parleyd.contract.json import storable_json
from parleyd.store.columns import Json, Stored
from parleyd.store.events import inserted_events, notified, numbered, payloads_of
from parleyd.store.files import used_files
from parleyd.store.locks import fence, state_of, within
from parleyd.store.statements import given, rows_of, run
from parleyd.store.tables import tool_executions
from parleyd.turns.ports import CallPlace, Fenced, OpenedTurn
from parleyd.turns.records import storable_event

_STARTED: Final = literal_column("'started'", Text())
_STARTS: Final = Stored(TypeAdapter(tuple[ToolStart, ...]))
_START_FIELDS: Final = [tool_executions.c[name] for name in ToolStart.model_fields]
_JSON_NULL: Final = literal_column("'null'::jsonb", Json())
"""What stands for None where SQL's NULL says that there is nothing."""

_PLACE: Final = and_(
    tool_executions.c.chain_id == given("chain"),
    tool_executions.c.step_no == given("step"),
    tool_executions.c.call_index == given("call"),
)


def _place(turn: OpenedTurn, call: ToolStart | CallPlace) -> dict[str, object]:
    return {"chain": turn.chain_id, "step": call.step_no, "call": call.call_index}


# ---------------------------------------------------------------- starting


def started_executions(behind: CTE) -> CTE:
    """Starts the `starts` given, for `turn` of `chain`. A call that has run is left as it is."""
    new = rows_of("new_start", _START_FIELDS, given("starts", _STARTS))
    # A record's JSON null comes out as SQL's.
    fields = [
        func.coalesce(each, _JSON_NULL) if each.name == "args" else each for each in new.columns
    ]
    rows = (
        select(given("chain", Uuid()), given("turn", Uuid()), _STARTED, *fields)
        .select_from(behind)
        .join(new, literal_column("true"))
    )
    names = ["chain_id", "turn_id", "state", *(each.name for each in _START_FIELDS)]
    return (
        insert(tool_executions)
        .from_select(names, rows)
        .on_conflict_do_nothing()
        .returning(tool_executions.c.call_index)
        .cte("new_executions")
    )


def start_tool(
    connection: Connection, turn: OpenedTurn, start: ToolStart, *, again: bool, repeated: bool
) -> bool:
    """Claims a call for this turn, or its unfinished execution once more (TX-T).

    Returns False where there is nothing to claim: the call was started before, or, `again`, it has
    its result. `repeated`, a claim that this turn has already is the one that was asked for: none
    but the holder of its lease makes any, and makes each once.

    Raises:
        Fenced: The lease is lost, or the turn has ended.
    """
    values = within(turn.lease, 0) | {"chain": turn.chain_id}
    if again:
        row = run(connection, _START_AGAIN, **values | _place(turn, start)).one_or_none()
    else:
        row = run(connection, _START, **values, starts=(start,)).one_or_none()
    if row is None:
        raise Fenced
    _, claimed = row
    return claimed or (repeated and _is_claimed(connection, turn, start))


def was_tool_started(connection: Connection, turn: OpenedTurn, start: ToolStart) -> bool:
    """Tells whether `start_tool` was committed, once its transaction has ended.

    Of a call that this turn had started already and claimed once more it can't tell: the count of
    its runs may be one short then. Such a tool may run again anyway.

    Raises:
        Fenced: The lease is lost.
    """
    state_of(connection, turn.lease)
    return _is_claimed(connection, turn, start)


def _is_claimed(connection: Connection, turn: OpenedTurn, start: ToolStart) -> bool:
    row = run(connection, _WHERE_IT_STANDS, **_place(turn, start)).one_or_none()
    return row is not None and (row.state, row.turn_id) == ("started", turn.lease.turn_id)


_START_FENCE: Final = fence("running")
_NEW: Final = started_executions(_START_FENCE)
_AGAIN: Final = (
    update(tool_executions)
    .where(
        _PLACE,
        tool_executions.c.state.in_([_STARTED, literal_column("'unknown'")]),
        exists().select_from(_START_FENCE),
    )
    .values(
        turn_id=given("turn"),
        state=_STARTED,
        result=None,
        runs=tool_executions.c.runs + 1,
        start_time=func.now(),
        end_time=None,
    )
    .returning(tool_executions.c.call_index)
    .cte("claimed_again")
)


def _claim(claimed: CTE) -> Select[int, bool]:
    return select(_START_FENCE.c.last_event, exists().select_from(claimed))


_START: Final = _claim(_NEW)
_START_AGAIN: Final = _claim(_AGAIN)

# ---------------------------------------------------------------- ending


def store_result(
    connection: Connection,
    turn: OpenedTurn,
    call: CallPlace,
    result: JsonValue,
    *,
    failed: bool,
    file: FileReturned | None = None,
) -> tuple[TurnEvent, ...]:
    """Stores what a tool returned, with its events. Needs no lock on the conversation (TX-R).

    Raises:
        Fenced: The lease is lost, the turn has ended, or it does not run this call any more.
    """
    state = "failed" if failed else "finished"
    returned = returned_event(call, result, failed=failed)
    return _end(connection, turn, call, state, returned, file)


def lose_tool(connection: Connection, turn: OpenedTurn, call: CallPlace) -> tuple[TurnEvent, ...]:
    """Stores that nobody knows what a call came to, with its event.

    Raises:
        Fenced: The lease is lost, the turn has ended, or it has not started this call.
    """
    return _end(connection, turn, call, "unknown", lost_event(call))


def returned_event(call: CallPlace, result: JsonValue, *, failed: bool) -> ToolReturned:
    """Returns the event of `store_result`."""
    return ToolReturned(
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        result=storable_json(result),
        is_error=failed,
    )


def ended_events(returned: ToolReturned, file: FileReturned | None) -> Sequence[EventBody]:
    """Returns the events of the end of a call: that of the file which it returned comes first."""
    return [storable_event(file), returned] if file else [returned]


def lost_event(call: CallPlace) -> ToolReturned:
    """Returns the event of `lose_tool`."""
    return returned_event(call, UNKNOWN_RESULT, failed=True)


def _end(
    connection: Connection,
    turn: OpenedTurn,
    call: CallPlace,
    state: ExecutionState,
    returned: ToolReturned,
    file: FileReturned | None = None,
) -> tuple[TurnEvent, ...]:
    bodies = ended_events(returned, file)
    row = run(
        connection,
        _END,
        **within(turn.lease, len(bodies)),
        **_place(turn, call),
        state=state,
        result=returned.result,
        events=payloads_of(bodies),
        owner=turn.owner,
        used_files=[file.file_id] if file and file.file_id else [],
    ).one_or_none()
    if row is None:
        raise Fenced
    last_event, ended, _ = row
    if not ended:  # what the statement has written goes with its transaction
        raise Fenced
    return numbered(turn.lease.turn_id, bodies, last_event)


def was_tool_ended(connection: Connection, turn: OpenedTurn, call: CallPlace) -> bool:
    """Tells whether `store_result` or `lose_tool` was committed, once its transaction has ended.

    Raises:
        Fenced: The lease is lost.
    """
    state_of(connection, turn.lease)
    row = run(connection, _WHERE_IT_STANDS, **_place(turn, call)).one_or_none()
    return row is not None and row.state != "started"


_END_FENCE: Final = fence("running")
_ENDED: Final = (
    update(tool_executions)
    .where(
        _PLACE,
        tool_executions.c.turn_id == given("turn"),
        tool_executions.c.state == _STARTED,
        exists().select_from(_END_FENCE),
    )
    .values(
        state=given("state"),
        result=func.coalesce(given("result", Json()), _JSON_NULL),
        end_time=func.now(),
    )
    .returning(tool_executions.c.call_index)
    .cte("ended_execution")
)
_END: Final = select(
    _END_FENCE.c.last_event, exists().select_from(_ENDED), notified(_END_FENCE)
).add_cte(inserted_events(_END_FENCE), used_files(_END_FENCE))

# ---------------------------------------------------------------- losing


def read_unfinished(connection: Connection, turn: OpenedTurn) -> tuple[Execution, ...]:
    """Reads the started executions of a turn's chain, in order, and locks the turn.

    So none of them gets its result between this and what the transaction writes.

    Raises:
        Fenced: The lease is lost.
    """
    state_of(connection, turn.lease)
    rows = run(connection, _UNFINISHED, chain=turn.chain_id).mappings()
    return tuple(Execution(**row) for row in rows)


def unknown_executions(behind: CTE) -> CTE:
    """Makes the executions of `unknown_values` unknown: nobody saw how they ended."""
    places = (
        func.unnest(given("unknown_steps", ARRAY(Integer)), given("unknown_calls", ARRAY(Integer)))
        .table_valued("step_no", "call_index")
        .render_derived(name="unknown_place")
    )
    return (
        update(tool_executions)
        .where(
            tool_executions.c.chain_id == given("unknown_chain"),
            tool_executions.c.step_no == places.c.step_no,
            tool_executions.c.call_index == places.c.call_index,
            tool_executions.c.state == _STARTED,
            exists().select_from(behind),
        )
        .values(
            state=literal_column("'unknown'"),
            result=literal(UNKNOWN_RESULT, Json()),
            end_time=func.now(),
        )
        .cte("unknown_executions")
    )


def unknown_values(chain_id: UUID, executions: Sequence[Execution]) -> dict[str, object]:
    """Returns the values of `unknown_executions`."""
    return {
        "unknown_chain": chain_id,
        "unknown_steps": [each.step_no for each in executions],
        "unknown_calls": [each.call_index for each in executions],
    }


# ---------------------------------------------------------------- reading

_WHERE_IT_STANDS: Final = select(tool_executions.c.state, tool_executions.c.turn_id).where(_PLACE)


_UNFINISHED: Final = (
    select(*[tool_executions.c[name] for name in Execution.model_fields])
    .where(tool_executions.c.chain_id == given("chain"), tool_executions.c.state == _STARTED)
    .order_by(tool_executions.c.step_no, tool_executions.c.call_index)
)

"""Steps: what a chain's model calls were, kept as long as the chain may go on.

Of the step that is running there is only its text so far, in the row of its turn.
"""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import (
    CTE,
    ColumnElement,
    Connection,
    LargeBinary,
    Uuid,
    delete,
    func,
    insert,
    literal_column,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import ARRAY

from parleyd.contract.events import EventBody, Text, TurnEvent
from parleyd.contract.executions import ToolStart
from parleyd.contract.steps import Step
from parleyd.store.events import (
    find_events,
    inserted_events,
    notified,
    numbered,
    payloads_of,
)
from parleyd.store.executions import started_executions
from parleyd.store.locks import LEASED, fence, state_of, within
from parleyd.store.statements import given, run
from parleyd.store.tables import turn_steps, turns
from parleyd.turns.ports import Fenced, OpenedTurn
from parleyd.turns.records import storable_event

_COLUMNS: Final = [turn_steps.c[name] for name in Step.model_fields if name != "messages"]

# ---------------------------------------------------------------- TX-J


def journal_step(
    connection: Connection,
    turn: OpenedTurn,
    step: Step,
    events: Sequence[EventBody],
    starts: Sequence[ToolStart],
) -> tuple[TurnEvent, ...]:
    """Stores a finished step with its events and starts its tools, in one statement.

    Needs no lock on the conversation. The tools may run once this is committed.

    Raises:
        Fenced: The lease is lost, or the turn has ended.
    """
    bodies = [storable_event(event) for event in events]
    last_event = run(
        connection,
        _JOURNAL,
        **within(turn.lease, len(bodies)),
        events=payloads_of(bodies),
        starts=tuple(starts),
        **step_values(turn.chain_id, step),
    ).scalar_one_or_none()
    if last_event is None:
        raise Fenced
    return numbered(turn.lease.turn_id, bodies, last_event)


def was_journaled(connection: Connection, turn: OpenedTurn, step: Step) -> bool:
    """Tells whether `journal_step` was committed, once its transaction has ended.

    Raises:
        Fenced: The lease is lost.
    """
    state_of(connection, turn.lease)
    found = run(connection, _IS_THERE, chain=turn.chain_id, step=step.step_no)
    return found.one_or_none() is not None


def find_journaled(
    connection: Connection, turn: OpenedTurn, events: Sequence[EventBody]
) -> tuple[TurnEvent, ...]:
    """Returns what `journal_step` has returned, of the step that was this turn's last write.

    Raises:
        Fenced: The lease is lost, or the turn has ended.
    """
    bodies = [storable_event(event) for event in events]
    last_event = run(connection, _LAST_EVENT, **within(turn.lease, 0)).scalar_one_or_none()
    if last_event is None:
        raise Fenced
    return numbered(turn.lease.turn_id, bodies, last_event)


# ---------------------------------------------------------------- the reply ahead (TX-E)


def send_text(connection: Connection, turn: OpenedTurn, text: str) -> tuple[TurnEvent, ...]:
    """Stores the reply as an event alone. A repeat finds the event that the first one stored.

    Raises:
        Fenced: The lease is lost, or the turn has ended.
    """
    body = storable_event(Text(text=text))
    if found := find_events(connection, turn.lease, [body]):
        return found
    values = within(turn.lease, 1)
    last_event = run(connection, _SEND, **values, events=payloads_of([body])).scalar_one_or_none()
    if last_event is None:
        raise Fenced
    return numbered(turn.lease.turn_id, [body], last_event)


def was_text_sent(connection: Connection, turn: OpenedTurn, text: str) -> bool:
    """Tells whether `send_text` was committed, once its transaction has ended.

    Raises:
        Fenced: The lease is lost.
    """
    state_of(connection, turn.lease)
    return bool(find_events(connection, turn.lease, [storable_event(Text(text=text))]))


# ---------------------------------------------------------------- the running step


def keep_partial_text(connection: Connection, turn: OpenedTurn, partial_text: str) -> None:
    """Stores what the running step has said so far. Tells nobody: readers look by themselves.

    Raises:
        Fenced: The lease is lost, or the turn has ended.
    """
    kept = run(connection, _KEEP, **within(turn.lease, 0), partial_text=partial_text)
    if kept.one_or_none() is None:
        raise Fenced


def was_partial_text_kept(connection: Connection, turn: OpenedTurn, partial_text: str) -> bool:
    """Tells whether the text that `keep_partial_text` stored is there.

    Raises:
        Fenced: The lease is lost.
    """
    state_of(connection, turn.lease)
    found = run(connection, _IS_KEPT, turn=turn.lease.turn_id, partial_text=partial_text)
    return found.one_or_none() is not None


_KEEP: Final = select(fence("running", partial_text=given("partial_text")).c.last_event)
_IS_KEPT: Final = select(turns.c.id).where(
    turns.c.id == given("turn"), turns.c.partial_text == given("partial_text")
)

# ---------------------------------------------------------------- writing


def inserted_step(behind: CTE) -> CTE:
    """Inserts the step of `step_values`, if it is one, for `turn` of `chain`."""
    # An array of no or one element makes no row or one.
    array = given("step_messages", ARRAY(LargeBinary))
    messages = func.unnest(array).table_valued("messages").render_derived(name="step_messages")
    rows = (
        select(
            given("chain", Uuid()),
            given("turn", Uuid()),
            *[given(f"step_{each.name}", each.type) for each in _COLUMNS],
            messages.c.messages,
        )
        .select_from(behind)
        .join(messages, literal_column("true"))
    )
    names = ["chain_id", "turn_id", *(each.name for each in _COLUMNS), "messages"]
    return insert(turn_steps).from_select(names, rows).cte("new_step")


def step_values(chain_id: UUID, step: Step | None) -> dict[str, object]:
    """Returns the values of `inserted_step`."""
    return {
        "chain": chain_id,
        "step_messages": [step.messages] if step else [],
        **{f"step_{each.name}": getattr(step, each.name, None) for each in _COLUMNS},
    }


def deleted_steps(*which: ColumnElement[bool]) -> CTE:
    """Deletes the steps of chains that will not go on: those that any of `which` names."""
    return delete(turn_steps).where(or_(*which)).cte("old_steps")


_FENCE: Final = fence("running")
_JOURNAL: Final = select(_FENCE.c.last_event, notified(_FENCE)).add_cte(
    inserted_step(_FENCE), started_executions(_FENCE), inserted_events(_FENCE)
)
_SEND: Final = select(_FENCE.c.last_event, notified(_FENCE)).add_cte(inserted_events(_FENCE))
_LAST_EVENT: Final = select(turns.c.last_event).where(
    LEASED, turns.c.state == literal_column("'running'")
)
_IS_THERE: Final = select(turn_steps.c.step_no).where(
    turn_steps.c.chain_id == given("chain"), turn_steps.c.step_no == given("step")
)

"""Events: JSON bytes of the contract's bodies, numbered without gaps and told of at commit."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import (
    CTE,
    ColumnElement,
    Connection,
    Integer,
    LargeBinary,
    Uuid,
    any_,
    func,
    insert,
    literal_column,
    select,
)
from sqlalchemy.dialects.postgresql import ARRAY

from parleyd.contract.errors import TurnNotFound
from parleyd.contract.events import EventBody, TurnEvent
from parleyd.store.locks import LEASED, within
from parleyd.store.statements import given, run
from parleyd.store.tables import turn_events, turns
from parleyd.turns.ports import Lease
from parleyd.turns.turn_reader import StoredEvents

EVENTS_AT_ONCE: Final = 500
"""How many events of a turn are read at once."""

_BODY: Final[TypeAdapter[EventBody]] = TypeAdapter(EventBody)

# ---------------------------------------------------------------- writing


def inserted_events(fence: CTE | None = None) -> CTE:
    """Inserts the `events` given: from 1 on, or up to the `last_event` that a fence returns."""
    payloads = given("events", ARRAY(LargeBinary))
    new = func.unnest(payloads).table_valued("payload", with_ordinality="n").render_derived()
    rows = select(given("turn", Uuid()), new.c.n, new.c.payload)
    if fence is not None:
        first = fence.c.last_event - given("new_events", Integer())
        rows = select(given("turn", Uuid()), first + new.c.n, new.c.payload)
        rows = rows.select_from(fence).join(new, literal_column("true"))
    names = ["turn_id", "sequence", "payload"]
    return insert(turn_events).from_select(names, rows).cte("new_events")


def notified(fence: CTE) -> ColumnElement[None]:
    """Tells every process that a turn has new events, if the fence matched and there are any.

    Stands beside the fence's `last_event` in the list of the statement's last SELECT, so that it
    costs no round trip: `select(fence.c.last_event, notified(fence))`. It is sent as the
    transaction commits, and so never earlier than the events can be read.
    """
    payload = func.concat(fence.c.id, literal_column("':'"), fence.c.last_event)
    return (
        select(func.pg_notify(literal_column("'turn_events'"), payload))
        .where(given("new_events", Integer()) > literal_column("0"))
        .scalar_subquery()
    )


def payloads_of(bodies: Sequence[EventBody]) -> list[bytes]:
    """Returns events as `inserted_events` is given them."""
    return [body.model_dump_json().encode() for body in bodies]


def numbered(turn_id: UUID, bodies: Sequence[EventBody], last_event: int) -> tuple[TurnEvent, ...]:
    """Returns events with the numbers they were stored under, `last_event` being the last."""
    first = last_event - len(bodies) + 1
    return tuple(
        TurnEvent(turn_id=turn_id, sequence=first + index, body=body)
        for index, body in enumerate(bodies)
    )


# ---------------------------------------------------------------- reading

_AFTER: Final = (
    select(turn_events.c.sequence, turn_events.c.payload)
    .where(turn_events.c.turn_id == turns.c.id, turn_events.c.sequence > given("after"))
    .order_by(turn_events.c.sequence)
    .limit(EVENTS_AT_ONCE)
    .correlate(turns)
    .lateral("later")
)
_OF_OWNER: Final = (
    select(
        turns.c.last_event,
        turns.c.state == literal_column("'closed'"),
        _AFTER.c.sequence,
        _AFTER.c.payload,
    )
    .select_from(turns)
    .outerjoin(_AFTER, literal_column("true"))
    .where(turns.c.id == given("turn"), turns.c.owner == given("owner"))
    .order_by(_AFTER.c.sequence)
)
_OF_TURN: Final = (
    select(turn_events.c.sequence, turn_events.c.payload)
    .where(turn_events.c.turn_id == given("turn"))
    .order_by(turn_events.c.sequence)
)
_EQUAL: Final = (
    select(func.max(turn_events.c.sequence))
    .join_from(turn_events, turns, turns.c.id == turn_events.c.turn_id)
    .where(
        LEASED,
        turns.c.state == literal_column("'running'"),
        turn_events.c.payload == given("payload"),
    )
)
_NEWEST: Final = turn_events.alias("newest")
_LAST_WRITTEN: Final = _OF_TURN.where(
    turn_events.c.create_time
    == select(_NEWEST.c.create_time)
    .where(_NEWEST.c.turn_id == given("turn"))
    .order_by(_NEWEST.c.sequence.desc())
    .limit(1)
    .scalar_subquery()
)
"""What was stored together has one time, that of its transaction."""
_LAST: Final = select(turns.c.id, turns.c.last_event).where(
    turns.c.id == any_(given("turns", ARRAY(Uuid)))
)


def read_events(connection: Connection, owner: str, turn_id: UUID, after: int) -> StoredEvents:
    """Reads the events of a turn after the number `after`, at most `EVENTS_AT_ONCE`.

    One query: the events, the last number and whether the turn is closed go together.

    Raises:
        TurnNotFound: `owner` has no such turn.
    """
    rows = run(connection, _OF_OWNER, turn=turn_id, owner=owner, after=after).all()
    if not rows:
        raise TurnNotFound(turn_id)
    last_event, closed, *_ = rows[0]
    events = tuple(
        _event_of(turn_id, number, payload) for *_, number, payload in rows if payload is not None
    )
    return StoredEvents(events, last_event, closed)


def read_all_events(connection: Connection, turn_id: UUID) -> tuple[TurnEvent, ...]:
    """Reads every stored event of a turn, whosesoever it is."""
    rows = run(connection, _OF_TURN, turn=turn_id)
    return tuple(_event_of(turn_id, number, payload) for number, payload in rows)


def find_events(
    connection: Connection, lease: Lease, bodies: Sequence[EventBody]
) -> tuple[TurnEvent, ...]:
    """Returns a running turn's events with these bodies, which are stored together or not at all.

    The last of them is like no other of the turn. None where the lease is lost, or nothing stored.
    """
    stored = run(connection, _EQUAL, **within(lease, 0), payload=payloads_of(bodies)[-1])
    sequence = stored.scalar_one_or_none()
    return () if sequence is None else numbered(lease.turn_id, bodies, sequence)


def read_last_written(connection: Connection, turn_id: UUID) -> tuple[TurnEvent, ...]:
    """Reads the events of a turn that one transaction stored: the last that stored any."""
    rows = run(connection, _LAST_WRITTEN, turn=turn_id)
    return tuple(_event_of(turn_id, number, payload) for number, payload in rows)


def read_last_events(connection: Connection, turn_ids: Collection[UUID]) -> Mapping[UUID, int]:
    """Reads the number of the last event of each turn that there is."""
    rows = run(connection, _LAST, turns=list(turn_ids))
    return {row.id: row.last_event for row in rows}


def _event_of(turn_id: UUID, sequence: int, payload: bytes) -> TurnEvent:
    body = _BODY.validate_json(payload)
    return TurnEvent(turn_id=turn_id, sequence=sequence, body=body)

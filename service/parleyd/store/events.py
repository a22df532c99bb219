"""Events: JSON bytes of the contract's bodies, numbered without gaps."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import CTE, Integer, LargeBinary, Uuid, func, insert, literal_column, select
from sqlalchemy.dialects.postgresql import ARRAY

from parleyd.contract.events import EventBody, TurnEvent
from parleyd.store.statements import given
from parleyd.store.tables import turn_events

_BODY: Final[TypeAdapter[EventBody]] = TypeAdapter(EventBody)


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


def payloads_of(bodies: Sequence[EventBody]) -> list[bytes]:
    """Returns events as `inserted_events` is given them."""
    return [_BODY.dump_json(body) for body in bodies]


def numbered(turn_id: UUID, bodies: Sequence[EventBody], last_event: int) -> tuple[TurnEvent, ...]:
    """Returns events with the numbers they were stored under, `last_event` being the last."""
    first = last_event - len(bodies) + 1
    return tuple(
        TurnEvent(turn_id=turn_id, sequence=first + index, body=body)
        for index, body in enumerate(bodies)
    )

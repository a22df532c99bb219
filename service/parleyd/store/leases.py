"""Leases: which process may write a turn, and how another one gets it (spec turns 16.3)."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

import structlog
from sqlalchemy import (
    Connection,
    Float,
    Integer,
    RowMapping,
    Text,
    Uuid,
    all_,
    and_,
    case,
    cast,
    extract,
    func,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract import limits
from parleyd.contract.events import EventBody, Resumed
from parleyd.store.engine import Database, lost_is_unavailable
from parleyd.store.events import (
    inserted_events,
    notified,
    numbered,
    payloads_of,
    read_all_events,
)
from parleyd.store.executions import read_unfinished, unknown_executions, unknown_values
from parleyd.store.locks import LEASE_END, LEASED, fence, within
from parleyd.store.sayings import read_resolved, read_said
from parleyd.store.statements import given, run
from parleyd.store.tables import conversations, turn_steps, turns
from parleyd.turns.lease_store import TakenTurn
from parleyd.turns.ports import Lease, OpenedTurn
from parleyd.turns.takeovers import FoundTurn, judge, not_repeatable, unknown_event

log = structlog.stdlib.get_logger()


class PostgresLeaseStore:
    """Keeps leases in PostgreSQL; fulfils `LeaseStore`.

    `renewing` is a pool of one connection that nothing else uses: a heartbeat that waits for the
    connections of the turns it protects would lose them. A turn older than `turn_seconds` is not
    gone on with.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        renewing: AsyncEngine,
        *,
        turn_seconds: float = limits.TURN_SECONDS,
    ) -> None:
        self._database = Database(engine)
        self._renewing = renewing.execution_options(isolation_level="AUTOCOMMIT")
        self._turn_seconds = turn_seconds
        self._unreadable: set[UUID] = set()

    async def take_turn(self, holder: str, replay_safe: Collection[str]) -> TakenTurn | None:
        """See `LeaseStore`. Where its COMMIT is lost, the turn is due again when the lease ends.

        A turn that can't be read here stays due, for a process of the version that wrote it.

        Raises:
            Unavailable: The database can't be reached.
        """
        while True:
            try:
                return await self._database.write(
                    lambda connection: take_turn(
                        connection, holder, replay_safe, self._turn_seconds, self._unreadable
                    ),
                    _nobody_knows,
                )
            except Unreadable as error:
                # The cause quotes what is stored, which is not for a log (design D14).
                log.warning("turn_unreadable", turn_id=str(error.turn_id))
                self._unreadable.add(error.turn_id)

    async def renew_leases(self, leases: Sequence[Lease]) -> frozenset[UUID]:
        """See `LeaseStore`.

        Raises:
            Unavailable: The database can't be reached.
        """
        if not leases:
            return frozenset()
        with lost_is_unavailable():
            async with self._renewing.connect() as connection:
                return await connection.run_sync(renew_leases, leases)

    async def release_turn(self, turn: OpenedTurn) -> None:
        """See `LeaseStore`. Does nothing where the lease is lost or the turn has ended.

        Raises:
            Unavailable: The database can't be reached. The turn is due when the lease ends.
        """
        await self._database.write(
            lambda connection: release_turn(connection, turn.lease), _nobody_knows
        )


def _nobody_knows(connection: Connection) -> bool:
    """Answers for a lost COMMIT that nobody has to ask about: a lease ends by itself."""
    del connection
    return False


# ---------------------------------------------------------------- taking over


class Unreadable(Exception):
    """What is stored of a turn means nothing to this version."""

    def __init__(self, turn_id: UUID) -> None:
        super().__init__(turn_id)
        self.turn_id = turn_id


def take_turn(
    connection: Connection,
    holder: str,
    replay_safe: Collection[str],
    turn_seconds: float,
    passed_by: Collection[UUID] = (),
) -> TakenTurn | None:
    """Takes over the turn that has been due the longest, if one is (TX-K).

    Turns that others take over or write at this moment are passed by, and those of `passed_by`.

    Raises:
        Unreadable: It can't be read. Nothing is taken over once the transaction is rolled back.
    """
    row = run(connection, _TAKE, holder=holder, passed_by=list(passed_by)).mappings().one_or_none()
    if row is None:
        return None
    try:
        return _taken(connection, row, holder, replay_safe, turn_seconds)
    except (ValueError, TypeError, LookupError) as error:
        raise Unreadable(row["id"]) from error


def _taken(
    connection: Connection,
    row: RowMapping,
    holder: str,
    replay_safe: Collection[str],
    turn_seconds: float,
) -> TakenTurn:
    turn = _opened(connection, row, holder)
    found = FoundTurn(
        committed=row["state"] == "committed",
        attempts=row["attempts"],
        caller_key=bool(row["options"].get("caller_key")),
        deleted=row["deleted"],
        age_seconds=row["age_seconds"],
    )
    verdict = judge(found, turn_seconds)
    if verdict == "go_on":
        return TakenTurn(_resume(connection, turn, replay_safe), verdict)
    return TakenTurn(turn, verdict, row["partial_text"])


def _opened(connection: Connection, row: RowMapping, holder: str) -> OpenedTurn:
    turn_id = row["id"]
    return OpenedTurn(
        lease=Lease(turn_id, row["conversation_id"], holder, row["lease_epoch"]),
        owner=row["owner"],
        turn_no=row["turn_no"],
        chain_id=row["chain_id"],
        context_max_seq=row["context_max_seq"],
        project=row["project"],
        surface=row["surface"],
        events=(),
        input_kind=row["input_kind"],
        model=row["model"],
        system_instruction=row["options"].get("system_instruction"),
        retry_of=row["retry_of"],
        said=read_said(connection, turn_id),
        resolved=read_resolved(connection, turn_id),
        earlier=read_all_events(connection, turn_id),
        steps_made=row["steps_made"],
        attempts=row["attempts"],
        age_seconds=row["age_seconds"],
    )


def _resume(connection: Connection, turn: OpenedTurn, replay_safe: Collection[str]) -> OpenedTurn:
    """Settles what the turn's last process left, and says that this one goes on."""
    lost = not_repeatable(read_unfinished(connection, turn), replay_safe)
    bodies: list[EventBody] = [
        Resumed(attempt=turn.lease.epoch),
        *(unknown_event(each) for each in lost),
    ]
    last_event = run(
        connection,
        _RESUME,
        **within(turn.lease, len(bodies)),
        **unknown_values(turn.chain_id, lost),
        events=payloads_of(bodies),
    ).scalar_one()
    return replace(turn, events=numbered(turn.lease.turn_id, bodies, last_event))


_DUE: Final = turns.alias("due")
_LONGEST_DUE: Final = (
    select(_DUE.c.id)
    .where(
        _DUE.c.state != literal_column("'closed'"),
        _DUE.c.lease_until < func.now(),
        _DUE.c.id != all_(given("passed_by", ARRAY(Uuid))),
    )
    .order_by(_DUE.c.lease_until)
    .limit(1)
    .with_for_update(key_share=True, skip_locked=True)
    .scalar_subquery()
)
_RELEASED: Final = literal_column("'-infinity'::timestamptz", turns.c.lease_until.type)
_STEPS_MADE: Final = (
    select(func.count())
    .where(turn_steps.c.chain_id == turns.c.chain_id, turn_steps.c.turn_id == turns.c.id)
    .correlate(turns)
    .scalar_subquery()
)
_TAKE: Final = (
    update(turns)
    .where(turns.c.id == _LONGEST_DUE, turns.c.conversation_id == conversations.c.id)
    .values(
        lease_holder=given("holder"),
        lease_epoch=turns.c.lease_epoch + 1,
        lease_until=LEASE_END,
        # Who released the turn did not die of it.
        attempts=turns.c.attempts + case((turns.c.lease_until == _RELEASED, 0), else_=1),
    )
    .returning(
        turns.c.id,
        turns.c.conversation_id,
        turns.c.turn_no,
        turns.c.chain_id,
        turns.c.retry_of,
        turns.c.owner,
        turns.c.input_kind,
        turns.c.surface,
        turns.c.model,
        turns.c.options,
        turns.c.state,
        turns.c.context_max_seq,
        turns.c.partial_text,
        turns.c.attempts,
        turns.c.lease_epoch,
        cast(extract("epoch", func.now() - turns.c.create_time), Float).label("age_seconds"),
        conversations.c.project,
        conversations.c.delete_time.is_not(None).label("deleted"),
        _STEPS_MADE.label("steps_made"),
    )
)

_RESUME_FENCE: Final = fence("running", partial_text=literal_column("''", Text()))
_RESUME: Final = select(_RESUME_FENCE.c.last_event, notified(_RESUME_FENCE)).add_cte(
    unknown_executions(_RESUME_FENCE), inserted_events(_RESUME_FENCE)
)

# ---------------------------------------------------------------- keeping and giving up


def renew_leases(connection: Connection, leases: Sequence[Lease]) -> frozenset[UUID]:
    """Renews the leases that still hold, and returns their turns.

    It waits for nobody: a turn that is being written at this moment is renewed by that write.
    """
    held = run(
        connection,
        _RENEW,
        turns=[lease.turn_id for lease in leases],
        holders=[lease.holder for lease in leases],
        epochs=[lease.epoch for lease in leases],
    )
    return frozenset(held.scalars())


def release_turn(connection: Connection, lease: Lease) -> None:
    """Ends a lease and tells every process that its turn is due.

    Does nothing where the lease is lost or the turn has ended.
    """
    run(connection, _RELEASE, **within(lease, 0))


_GIVEN_LEASES: Final = (
    func.unnest(
        given("turns", ARRAY(Uuid)), given("holders", ARRAY(Text)), given("epochs", ARRAY(Integer))
    )
    .table_valued("turn_id", "holder", "epoch")
    .render_derived(name="given_lease")
)
_HELD: Final = and_(
    turns.c.id == _GIVEN_LEASES.c.turn_id,
    turns.c.lease_holder == _GIVEN_LEASES.c.holder,
    turns.c.lease_epoch == _GIVEN_LEASES.c.epoch,
    turns.c.lease_until != _RELEASED,
    turns.c.state != literal_column("'closed'"),
)
_FREE: Final = (
    select(turns.c.id)
    .where(_HELD)
    .with_for_update(key_share=True, skip_locked=True, of=turns)
    .cte("free")
)
_RENEWED: Final = (
    update(turns).where(turns.c.id == _FREE.c.id).values(lease_until=LEASE_END).cte("renewed")
)
_RENEW: Final = select(turns.c.id).where(_HELD).add_cte(_RENEWED)

_RELEASED_TURN: Final = (
    update(turns)
    .where(LEASED, turns.c.state != literal_column("'closed'"))
    .values(lease_until=_RELEASED)
    .returning(turns.c.id)
    .cte("released_turn")
)
_RELEASE: Final = select(
    func.pg_notify(literal_column("'turn_leases'"), cast(_RELEASED_TURN.c.id, Text))
)

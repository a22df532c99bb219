"""Notices: the rows of what the deployment's receiver is to be told of asks.

The asks themselves are the outbox: what is to be told is read off them, so that the transactions
that ask and answer know nothing of notices.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Interval,
    Text,
    Uuid,
    and_,
    any_,
    case,
    delete,
    exists,
    func,
    literal,
    literal_column,
    not_,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.sql.selectable import TypedReturnsRows

from parleyd.store.asks import ASK_COLUMNS, HOLDS_SLOT, IS_PENDING, ask_of
from parleyd.store.engine import Database
from parleyd.store.notice_tables import notices
from parleyd.store.statements import given, run
from parleyd.store.tables import asks, conversations
from parleyd.turns.notices import Notice

NEWS_HOURS: Final = 24
"""How old an ask, or its end, may be when it is first seen: what is older is told to nobody.

So who switches notices on is not told of what has waited for months, and what was asked just before
all processes were away for a night is told when they are back.
"""
CLAIM_SECONDS: Final = 60
KEPT_DAYS: Final = 30
"""How long notices that have ended stay."""
ROWS_AT_ONCE: Final = 500


class PostgresNoticeStore:
    """Keeps notices in PostgreSQL; fulfils `NoticeStore`."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._database = Database(engine)

    async def note(self, ask_ids: Sequence[UUID]) -> None:
        """See `NoticeStore`. Two statements, by the keys of the asks.

        Raises:
            Unavailable: The database can't be reached.
        """
        await self._write(_NOTE, asks=list(ask_ids))
        await self._write(_END, asks=list(ask_ids))

    async def note_all(self) -> None:
        """See `NoticeStore`. Reads all that is pending, and of what is resolved only what is new.

        Raises:
            Unavailable: The database can't be reached.
        """
        await self._write(_NOTE_ALL)
        while ended := await self._database.read(_read_ended):
            await self._write(_END, asks=ended)
        await self._write(_FORGET)

    async def claim(self, most: int) -> tuple[Notice, ...]:
        """See `NoticeStore`. One statement; claims whose answer is lost run out.

        Raises:
            Unavailable: The database can't be reached.
        """

        def claim(connection: Connection) -> tuple[Notice, ...]:
            rows = run(connection, _CLAIM, most=most).mappings()
            return tuple(
                Notice(
                    id=row["id"],
                    kind=row["kind"],
                    attempts=row["attempts"],
                    ask=ask,
                    title=row["title"],
                )
                for row in rows
                if (ask := ask_of(row))
            )

        return await self._database.write_at_once(claim, lambda _: None) or ()

    async def end_sent(self, notice: Notice) -> None:
        """See `NoticeStore`.

        Raises:
            Unavailable: The database can't be reached.
        """
        await self._write(_SENT, ask=notice.ask.id, **_claim_of(notice))

    async def drop(self, notice: Notice) -> None:
        """See `NoticeStore`.

        Raises:
            Unavailable: The database can't be reached.
        """
        await self._write(_DROP, **_claim_of(notice))

    async def put_off(self, notice: Notice, why: str, seconds: float) -> None:
        """See `NoticeStore`.

        Raises:
            Unavailable: The database can't be reached.
        """
        await self._write(_PUT_OFF, why=why, pause=timedelta(seconds=seconds), **_claim_of(notice))

    async def end_dead(self, notice: Notice, why: str) -> None:
        """See `NoticeStore`.

        Raises:
            Unavailable: The database can't be reached.
        """
        await self._write(_DIE, why=why, **_claim_of(notice))

    async def give_back(self, notice: Notice) -> None:
        """See `NoticeStore`.

        Raises:
            Unavailable: The database can't be reached.
        """
        await self._write(_GIVE_BACK, **_claim_of(notice))

    async def _write(self, statement: TypedReturnsRows[UUID], **values: object) -> None:
        """Runs a statement that can be run again, and tells which rows it has changed.

        Raises:
            Unavailable: The database can't be reached.
        """

        def write(connection: Connection) -> None:
            run(connection, statement, **values)

        # What a lost connection leaves open, the next look or the end of the claim makes good.
        await self._database.write_at_once(write, lambda _: None)


def _read_ended(connection: Connection) -> list[UUID]:
    """Returns asks that were told of and wait no more."""
    return list(run(connection, _ENDED).scalars())


def _claim_of(notice: Notice) -> dict[str, object]:
    return {"notice": notice.id, "attempts": notice.attempts}


# ---------------------------------------------------------------- noting

_NEW_SINCE: Final = func.now() - literal(timedelta(hours=NEWS_HOURS))
_NAMED: Final = any_(given("asks", ARRAY(Uuid)))
_TO_BE_SENT: Final = literal_column("'due'", Text())
_TO_BE_DUE: Final = literal_column("'waiting'", Text())
_UNSENT: Final = literal_column("'dropped'", Text())
_DUE: Final = notices.c.state == _TO_BE_SENT
_WAITING: Final = notices.c.state == _TO_BE_DUE
_ASKED: Final = literal_column("'asked'", Text())
_RESOLVED: Final = literal_column("'resolved'", Text())
_UNCLAIMED: Final = or_(notices.c.claimed_until.is_(None), notices.c.claimed_until <= func.now())


def _noted(among: ColumnElement[bool]) -> TypedReturnsRows[UUID]:
    """Returns what notes pending asks as told of, unless they are noted already."""
    new = select(asks.c.id, _ASKED).where(among, IS_PENDING, asks.c.create_time > _NEW_SINCE)
    return (
        insert(notices)
        .from_select(["ask_id", "kind"], new)
        .on_conflict_do_nothing()
        .returning(notices.c.id)
    )


_TELLS_END: Final = and_(
    notices.c.kind == _RESOLVED,
    func.coalesce(asks.c.resolve_time, asks.c.expire_time) > _NEW_SINCE,
)
_UNTOLD: Final = and_(_DUE, notices.c.kind == _ASKED, _UNCLAIMED)
_END: Final = (
    update(notices)
    .where(
        asks.c.id == notices.c.ask_id,
        not_(IS_PENDING),
        notices.c.ask_id == _NAMED,
        or_(_WAITING, _UNTOLD),
    )
    .values(
        state=case((_TELLS_END, _TO_BE_SENT), else_=_UNSENT),
        next_time=case((_TELLS_END, func.now()), else_=notices.c.next_time),
        end_time=case((_TELLS_END, None), else_=func.now()),
        claimed_until=None,
    )
    .returning(notices.c.id)
)
"""Lets the end of resolved asks be due, and drops what nobody was told of."""

_NOTE: Final = _noted(asks.c.id == _NAMED)
_NOTE_ALL: Final = _noted(
    not_(exists().where(notices.c.ask_id == asks.c.id, notices.c.kind == _ASKED))
)
_ENDED: Final = (
    select(notices.c.ask_id)
    .where(_WAITING, not_(exists().where(asks.c.id == notices.c.ask_id, IS_PENDING)))
    .limit(ROWS_AT_ONCE)
)
"""What is due and untold is dropped when it is claimed."""

_FORGET: Final = (
    delete(notices)
    .where(
        notices.c.id.in_(
            select(notices.c.id)
            .where(notices.c.end_time < func.now() - literal(timedelta(days=KEPT_DAYS)))
            .order_by(notices.c.end_time)
            .limit(ROWS_AT_ONCE)
            .with_for_update(skip_locked=True)
        )
    )
    .returning(notices.c.id)
)

# ---------------------------------------------------------------- sending

_CLAIMED: Final = (
    update(notices)
    .where(
        notices.c.id.in_(
            select(notices.c.id)
            .where(_DUE, notices.c.next_time <= func.now(), _UNCLAIMED)
            .order_by(notices.c.next_time)
            .limit(given("most", Integer()))
            .with_for_update(skip_locked=True)
        )
    )
    .values(
        attempts=notices.c.attempts + 1,
        claimed_until=func.now() + literal(timedelta(seconds=CLAIM_SECONDS)),
    )
    .returning(notices.c.id, notices.c.ask_id, notices.c.kind, notices.c.attempts)
    .cte("claimed")
)
_CLAIM: Final = (
    select(
        _CLAIMED.c.id,
        _CLAIMED.c.kind,
        _CLAIMED.c.attempts,
        conversations.c.title,
        *ASK_COLUMNS,
    )
    .join_from(_CLAIMED, asks, asks.c.id == _CLAIMED.c.ask_id)
    .join(conversations, conversations.c.id == asks.c.conversation_id)
)

_MINE: Final = and_(notices.c.id == given("notice"), notices.c.attempts == given("attempts"), _DUE)
"""Each claim counts a try, so a later one has another number."""

_SENT_NOTICE: Final = (
    update(notices)
    .where(_MINE)
    .values(
        state=literal_column("'sent'"), end_time=func.now(), claimed_until=None, last_error=None
    )
    .returning(notices.c.id, notices.c.kind)
    .cte("sent")
)
_ASK_NOW: Final = (
    select(asks.c.id, HOLDS_SLOT.label("waits"))
    .where(asks.c.id == given("ask"), exists().select_from(_SENT_NOTICE))
    .with_for_update(read=True)
    .cte("ask_now")
)
"""Locked: what resolves the ask is seen here, or its news comes when this can be seen."""

_FOLLOWING: Final = (
    insert(notices)
    .from_select(
        ["ask_id", "kind", "state"],
        select(
            _ASK_NOW.c.id,
            _RESOLVED,
            case((_ASK_NOW.c.waits, _TO_BE_DUE), else_=_TO_BE_SENT),
        ).join_from(_ASK_NOW, _SENT_NOTICE, _SENT_NOTICE.c.kind == _ASKED),
    )
    .on_conflict_do_nothing()
    .returning(notices.c.id)
    .cte("following")
)
_SENT: Final = select(_SENT_NOTICE.c.id).add_cte(_FOLLOWING)

_DROP: Final = (
    update(notices)
    .where(_MINE)
    .values(state=_UNSENT, end_time=func.now(), claimed_until=None)
    .returning(notices.c.id)
)
_DIE: Final = (
    update(notices)
    .where(_MINE)
    .values(
        state=literal_column("'dead'"),
        end_time=func.now(),
        claimed_until=None,
        last_error=given("why", Text()),
    )
    .returning(notices.c.id)
)
_PUT_OFF: Final = (
    update(notices)
    .where(_MINE)
    .values(
        next_time=func.now() + given("pause", Interval()),
        claimed_until=None,
        last_error=given("why", Text()),
    )
    .returning(notices.c.id)
)
_GIVE_BACK: Final = (
    update(notices)
    .where(_MINE)
    .values(attempts=notices.c.attempts - 1, next_time=func.now(), claimed_until=None)
    .returning(notices.c.id)
)

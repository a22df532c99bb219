"""Action tokens: their rows, which hold hashes alone, and their use in TX1 (spec turns 16.7)."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import (
    CTE,
    Boolean,
    ColumnElement,
    Connection,
    Integer,
    Interval,
    LargeBinary,
    Text,
    Uuid,
    and_,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.errors import ConversationNotFound
from parleyd.contract.text import storable
from parleyd.store.asks import ASK_COLUMNS, HOLDS_SLOT, IS_PENDING, ask_of
from parleyd.store.engine import Database
from parleyd.store.owners import check_owner
from parleyd.store.statements import given, run
from parleyd.store.tables import action_tokens, asks, conversations
from parleyd.turns.action_tokens import NewToken, StoredToken
from parleyd.turns.ports import TokenPress
from parleyd.turns.situations import NamedAsks


class PostgresActionTokenStore:
    """Keeps action tokens in PostgreSQL; fulfils `ActionTokenStore`."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._database = Database(engine)

    async def read_asks(
        self, owner: str | None, conversation_id: UUID, tool_call_id: str
    ) -> NamedAsks:
        """See `ActionTokenStore`. One query.

        Raises:
            ConversationNotFound: No such conversation, or it is deleted.
            NotOwner: It is someone else's.
            Unavailable: The database can't be reached.
        """
        return await self._database.read(
            lambda connection: read_asks(connection, owner, conversation_id, tool_call_id)
        )

    async def add_token(self, token: NewToken) -> datetime | None:
        """See `ActionTokenStore`. One statement.

        Raises:
            Unavailable: The database can't be reached.
        """
        return await self._database.write_at_once(
            lambda connection: add_token(connection, token),
            lambda connection: find_end(connection, token),
        )

    async def read_token(self, token_hash: bytes) -> StoredToken | None:
        """See `ActionTokenStore`. One query, whatever is wrong with the token.

        Raises:
            Unavailable: The database can't be reached.
        """
        return await self._database.read(lambda connection: read_token(connection, token_hash))


def read_asks(
    connection: Connection, owner: str | None, conversation_id: UUID, tool_call_id: str
) -> NamedAsks:
    """Reads the ask that a conversation waits on, and the one that is named.

    Raises:
        ConversationNotFound: No such conversation, or it is deleted.
        NotOwner: It is not the `owner`'s, where one is given.
    """
    named = storable(tool_call_id)
    rows = run(connection, _ASKS, conversation=conversation_id, named=named).mappings().all()
    if not rows:
        raise ConversationNotFound(conversation_id)
    whose, deleted = rows[0]["owner"], rows[0]["deleted"]
    check_owner(conversation_id, owner or whose, whose, deleted=deleted)
    found = [ask for row in rows if (ask := ask_of(row))]
    return NamedAsks(
        pending=next((ask for ask in found if ask.status == "pending"), None),
        named=next((ask for ask in found if ask.tool_call_id == named), None),
    )


def add_token(connection: Connection, token: NewToken) -> datetime | None:
    """Stores a token and returns its end; None where nobody waits on its ask any more."""
    made = run(
        connection,
        _ADD,
        token_hash=token.hash,
        ask=token.ask_id,
        buttons=list(token.button_ids),
        time=timedelta(seconds=token.seconds),
    )
    return made.scalar_one_or_none()


def find_end(connection: Connection, token: NewToken) -> datetime | None:
    """Returns what `add_token` would have returned, had its answer not been lost."""
    return run(connection, _END, token_hash=token.hash).scalar_one_or_none()


def read_token(connection: Connection, token_hash: bytes) -> StoredToken | None:
    """Reads a token, whether it can be redeemed, and what it has done.

    One that there is not costs what another one does: the time tells nobody which tokens there are.
    """
    row = run(connection, _READ, token_hash=token_hash).mappings().one()
    token = StoredToken(
        owner=row["owner"],
        conversation_id=row["conversation_id"],
        tool_call_id=row["tool_call_id"],
        button_ids=tuple(row["button_ids"]),
        redeemable=row["redeemable"],
        used_by_turn=row["used_by_turn"],
        used_button_id=row["used_button_id"],
    )
    return token if row["known"] else None


# ---------------------------------------------------------------- in TX1


def used_token(behind: CTE) -> CTE:
    """Notes what the `used_token` given has done, if `behind` has a row: it is used for good.

    An ask that is still pending has no used token, so whoever resolves the ask is the first.
    """
    return (
        update(action_tokens)
        .where(action_tokens.c.token_hash == given("used_token"), exists().select_from(behind))
        .values(used_by_turn=given("turn"), used_button_id=given("pressed_button"))
        .returning(action_tokens.c.ask_id)
        .cte("used_token")
    )


def token_use(press: TokenPress | None) -> dict[str, object]:
    """Returns the values of `used_token`."""
    return {
        "used_token": press.token_hash if press else None,
        "pressed_button": press.button_id if press else None,
    }


# ---------------------------------------------------------------- statements

_ASKS: Final = (
    select(
        conversations.c.owner,
        conversations.c.delete_time.is_not(None).label("deleted"),
        *ASK_COLUMNS,
    )
    .select_from(conversations)
    .outerjoin(
        asks,
        and_(
            asks.c.conversation_id == conversations.c.id,
            or_(HOLDS_SLOT, asks.c.tool_call_id == given("named")),
        ),
    )
    .where(conversations.c.id == given("conversation"))
)
"""Two rows where another ask than the pending one is named."""

_LATEST: Final = func.now() + given("time", Interval())
_END_OF_ASK_OR_TIME: Final[ColumnElement[datetime]] = func.least(
    _LATEST, asks.c.expire_time, type_=action_tokens.c.expire_time.type
)
"""Of an ask that waits for good the time alone counts: `least` passes over what is null."""

_NEW: Final = {
    "token_hash": given("token_hash", LargeBinary()),
    "ask_id": asks.c.id,
    "owner": asks.c.owner,
    "button_ids": given("buttons", action_tokens.c.button_ids.type),
    "expire_time": _END_OF_ASK_OR_TIME,
}
_ADD: Final = (
    insert(action_tokens)
    .from_select(list(_NEW), select(*_NEW.values()).where(asks.c.id == given("ask"), IS_PENDING))
    .returning(action_tokens.c.expire_time)
)
_END: Final = select(action_tokens.c.expire_time).where(
    action_tokens.c.token_hash == given("token_hash")
)
_NOBODY: Final = literal_column("''", Text())
_NOWHERE: Final = literal_column("'00000000-0000-0000-0000-000000000000'::uuid", Uuid())
_CALL: Final = select(literal_column("1", Integer()).label("one")).subquery("call")
"""One row, so that there is one whatever is found."""

_READ: Final = (
    select(
        conversations.c.id.is_not(None).label("known"),
        func.coalesce(action_tokens.c.owner, _NOBODY).label("owner"),
        func.coalesce(
            action_tokens.c.button_ids,
            literal_column("'{}'::text[]", action_tokens.c.button_ids.type),
        ).label("button_ids"),
        action_tokens.c.used_by_turn,
        action_tokens.c.used_button_id,
        func.coalesce(asks.c.conversation_id, _NOWHERE).label("conversation_id"),
        func.coalesce(asks.c.tool_call_id, _NOBODY).label("tool_call_id"),
        func.coalesce(
            and_(IS_PENDING, action_tokens.c.expire_time > func.now()),
            literal_column("false", Boolean()),
        ).label("redeemable"),
    )
    .select_from(_CALL)
    .outerjoin(action_tokens, action_tokens.c.token_hash == given("token_hash"))
    .outerjoin(asks, asks.c.id == func.coalesce(action_tokens.c.ask_id, _NOWHERE))
    .outerjoin(
        conversations,
        and_(
            conversations.c.id == func.coalesce(asks.c.conversation_id, _NOWHERE),
            conversations.c.delete_time.is_(None),
        ),
    )
)
"""Looks all of it up, found or not. A deleted conversation's tokens are as good as unknown."""

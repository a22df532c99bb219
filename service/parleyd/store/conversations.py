"""The port of conversations, each call one transaction."""

from typing import Final
from uuid import UUID

from sqlalchemy import (
    Connection,
    RowMapping,
    and_,
    func,
    literal_column,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.conversations import Conversation, PendingAsk
from parleyd.contract.errors import ConversationNotFound
from parleyd.contract.messages import Message, Rating
from parleyd.contract.pages import Page, PageRequest
from parleyd.store.asks import ASK_COLUMNS, IS_PENDING, ask_of, list_pending
from parleyd.store.creations import NewConversation, create_conversation, was_created
from parleyd.store.deletions import delete_conversation, was_deleted
from parleyd.store.engine import Database
from parleyd.store.locks import lock_conversation
from parleyd.store.messages import list_messages, rate_message, was_rated
from parleyd.store.owners import check_owner, read_owner
from parleyd.store.pages import page_of, place_in_time, read_place_in_time
from parleyd.store.statements import given, run
from parleyd.store.tables import asks, conversations, turns
from parleyd.turns.conversations import ConversationChanges
from parleyd.turns.requests import RequestKey


class PostgresConversationStore:
    """Keeps conversations in PostgreSQL; fulfils `ConversationStore`."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._database = Database(engine)

    async def create_conversation(
        self,
        owner: str,
        conversation_id: UUID,
        title: str | None,
        project: str | None,
        request: RequestKey | None = None,
    ) -> Conversation:
        """See `ConversationStore`. The one that a repeat gets is as it is now."""
        new = NewConversation(conversation_id, owner, title, project)

        def create(connection: Connection) -> Conversation:
            return _read(connection, owner, create_conversation(connection, new, request))

        return await self._database.write(
            create, lambda connection: was_created(connection, new, request)
        )

    async def read_conversation(self, owner: str, conversation_id: UUID) -> Conversation:
        """See `ConversationStore`."""
        return await self._database.read(
            lambda connection: _read(connection, owner, conversation_id)
        )

    async def list_conversations(
        self, owner: str, project: str | None, page: PageRequest
    ) -> Page[Conversation]:
        """See `ConversationStore`."""
        return await self._database.read(lambda connection: _list(connection, owner, project, page))

    async def update_conversation(
        self, owner: str, conversation_id: UUID, changes: ConversationChanges
    ) -> Conversation:
        """See `ConversationStore`. Naming no field changes nothing, the update time included."""
        return await self._database.write(
            lambda connection: _update(connection, owner, conversation_id, changes),
            lambda connection: _has(connection, conversation_id, changes),
        )

    async def delete_conversation(self, owner: str, conversation_id: UUID) -> None:
        """See `ConversationStore`."""
        await self._database.write(
            lambda connection: delete_conversation(connection, owner, conversation_id),
            lambda connection: was_deleted(connection, conversation_id),
        )

    async def list_messages(
        self, owner: str, conversation_id: UUID, page: PageRequest
    ) -> Page[Message]:
        """See `ConversationStore`."""

        def read(connection: Connection) -> Page[Message]:
            read_owner(connection, conversation_id, owner)
            return list_messages(connection, conversation_id, page)

        return await self._database.read(read)

    async def list_pending_asks(self, owner: str, page: PageRequest) -> Page[PendingAsk]:
        """See `ConversationStore`."""
        return await self._database.read(lambda connection: list_pending(connection, owner, page))

    async def rate_message(
        self, owner: str, conversation_id: UUID, message_id: int, rating: Rating | None
    ) -> None:
        """See `ConversationStore`."""
        await self._database.write(
            lambda connection: rate_message(connection, owner, conversation_id, message_id, rating),
            lambda connection: was_rated(connection, conversation_id, message_id, rating),
        )


# ---------------------------------------------------------------- reading

_RUNNING: Final = (
    select(turns.c.conversation_id, turns.c.id.label("running_turn_id"))
    .ext(distinct_on(turns.c.conversation_id))
    .where(turns.c.owner == given("owner"), turns.c.state != literal_column("'closed'"))
    .order_by(turns.c.conversation_id, turns.c.turn_no.desc())
    .subquery("running")
)
"""The latest turn of each of the owner's conversations that is not closed; there are few."""

_VIEW: Final = (
    select(
        conversations.c.id,
        conversations.c.owner,
        conversations.c.title,
        conversations.c.project,
        conversations.c.delete_time,
        conversations.c.retryable_turn_id,
        conversations.c.create_time,
        conversations.c.update_time,
        _RUNNING.c.running_turn_id,
        *ASK_COLUMNS,
    )
    .select_from(conversations)
    .join(_RUNNING, _RUNNING.c.conversation_id == conversations.c.id, isouter=True)
    .join(asks, and_(asks.c.conversation_id == conversations.c.id, IS_PENDING), isouter=True)
)
_ONE: Final = _VIEW.where(conversations.c.id == given("conversation"))


def _conversation_of(row: RowMapping) -> Conversation:
    return Conversation(
        id=row["id"],
        title=row["title"],
        project=row["project"],
        pending_ask=ask_of(row),
        running_turn_id=row["running_turn_id"],
        retryable_turn_id=row["retryable_turn_id"],
        create_time=row["create_time"],
        update_time=row["update_time"],
    )


def _read(connection: Connection, owner: str, conversation_id: UUID) -> Conversation:
    result = run(connection, _ONE, conversation=conversation_id, owner=owner)
    row = result.mappings().one_or_none()
    if row is None:
        raise ConversationNotFound(conversation_id)
    check_owner(conversation_id, owner, row["owner"], deleted=row["delete_time"] is not None)
    return _conversation_of(row)


def _list(
    connection: Connection, owner: str, project: str | None, page: PageRequest
) -> Page[Conversation]:
    time, key = conversations.c.update_time, conversations.c.id
    query = (
        _VIEW.where(conversations.c.owner == given("owner"))
        .where(conversations.c.delete_time.is_(None))
        .order_by(time.desc(), key)
        .limit(page.size + 1)
    )
    if project is not None:
        query = query.where(conversations.c.project == project)
    if page.after:
        after, after_key = read_place_in_time(page.after)
        query = query.where(time <= after, or_(time < after, key > after_key))
    rows = run(connection, query, owner=owner).mappings()
    found = [_conversation_of(row) for row in rows]
    return page_of(found, page, lambda item: place_in_time(item.update_time, item.id))


# ---------------------------------------------------------------- writing


def _update(
    connection: Connection, owner: str, conversation_id: UUID, changes: ConversationChanges
) -> Conversation:
    read_owner(connection, conversation_id, owner)
    if changes.fields:
        values = {name: getattr(changes, name) for name in changes.fields}
        connection.execute(
            update(conversations)
            .where(conversations.c.id == conversation_id, conversations.c.delete_time.is_(None))
            .values(**values, update_time=func.now())
        )
    return _read(connection, owner, conversation_id)


def _has(connection: Connection, conversation_id: UUID, changes: ConversationChanges) -> bool:
    """Tells whether a conversation is as `_update` makes it, once whoever changes it has ended."""
    if lock_conversation(connection, conversation_id) is None:
        return False
    columns = [conversations.c[name] == getattr(changes, name) for name in changes.fields]
    query = select(conversations.c.id).where(conversations.c.id == conversation_id, *columns)
    return connection.execute(query).one_or_none() is not None

"""Asks of services, each call one transaction (spec turns 16.4)."""

from datetime import timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import Connection, and_, func, literal, not_, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract import limits
from parleyd.contract.asks.ask import Ask
from parleyd.contract.errors import AskAlreadyPending, AskNotFound, RequestIdReused
from parleyd.store.asks import ASK_COLUMNS, HOLDS_SLOT, ask_of, read_pending
from parleyd.store.engine import Database, violated
from parleyd.store.lapses import settle_lapsed
from parleyd.store.locks import lock_conversation, lock_for_owner
from parleyd.store.quiet_turns import store_quiet_turn
from parleyd.store.statements import given, run
from parleyd.store.tables import asks
from parleyd.turns.quiet_turns import plan_asking, plan_withdrawal
from parleyd.turns.requests import RequestKey
from parleyd.turns.service_asks import NewServiceAsk

_REQUEST = "asks_service_request"


class PostgresServiceAskStore:
    """Keeps the asks of services in PostgreSQL; fulfils `ServiceAskStore`."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._database = Database(engine)

    async def create_ask(self, new: NewServiceAsk) -> Ask:
        """See `ServiceAskStore`. Of two first requests with one id the index names the winner.

        Raises:
            ConversationNotFound: No such conversation, or it is deleted.
            NotOwner: It is not the named person's.
            AskAlreadyPending: It waits on another ask.
            RequestIdReused: The request id belongs to another request of this service.
            Unavailable: The database can't be reached.
        """
        service = new.wish.service
        try:
            ask_id = await self._database.write(
                lambda connection: create_ask(connection, new),
                lambda connection: was_created(connection, new),
            )
        except IntegrityError as error:
            if violated(error) != _REQUEST:
                raise
            return await self.create_ask(new)  # the other one is there now
        return await self.read_ask(service, ask_id)

    async def read_ask(self, service: str, ask_id: UUID) -> Ask:
        """See `ServiceAskStore`. One query.

        Raises:
            AskNotFound: The service has made no such ask.
            Unavailable: The database can't be reached.
        """
        return await self._database.read(lambda connection: read_ask(connection, service, ask_id))

    async def cancel_ask(self, service: str, ask_id: UUID, turn_id: UUID, reason: str) -> Ask:
        """See `ServiceAskStore`.

        Raises:
            AskNotFound: The service has made no such ask.
            Unavailable: The database can't be reached.
        """
        ask = await self.read_ask(service, ask_id)
        if ask.status != "pending":
            return ask
        await self._database.write(
            lambda connection: cancel_ask(connection, ask, turn_id, reason),
            lambda connection: was_resolved(connection, ask),
        )
        return await self.read_ask(service, ask_id)


# ---------------------------------------------------------------- writing


def create_ask(connection: Connection, new: NewServiceAsk) -> UUID:
    """Stores an ask and returns its id; of a repeat, the id of what is there.

    Raises:
        ConversationNotFound: No such conversation, or it is deleted.
        NotOwner: It is not the named person's.
        AskAlreadyPending: It waits on another ask.
        RequestIdReused: The request id belongs to another request of this service.
    """
    wish = new.wish
    if made := _made_before(connection, wish.service, wish.request):
        return made
    conversation = lock_for_owner(connection, wish.conversation_id, wish.owner)
    # A request that was sent twice may have waited for itself.
    if made := _made_before(connection, wish.service, wish.request):
        return made
    conversation = settle_lapsed(connection, conversation)
    if pending := read_pending(connection, conversation.id):
        raise AskAlreadyPending(pending.tool_call_id)
    ask = new.ask(conversation)
    store_quiet_turn(connection, plan_asking(ask, conversation, wish.surface))
    if wish.request:
        run(connection, _FREE, **_key_values(wish.service, wish.request))
        run(connection, _NAME, ask=ask.id, **_key_values(wish.service, wish.request))
    return ask.id


def was_created(connection: Connection, new: NewServiceAsk) -> bool:
    """Tells whether `create_ask` was committed, once its transaction has ended."""
    lock_conversation(connection, new.wish.conversation_id)
    found = run(connection, _OF_SERVICE, service=new.wish.service, ask=new.ask_id)
    return found.one_or_none() is not None or bool(
        _made_before(connection, new.wish.service, new.wish.request)
    )


def cancel_ask(connection: Connection, ask: Ask, turn_id: UUID, reason: str) -> None:
    """Withdraws an ask, unless it is resolved meanwhile or its time is over."""
    conversation = lock_conversation(connection, ask.conversation_id)
    assert conversation, "conversations are hidden, never removed"
    conversation = settle_lapsed(connection, conversation)
    pending = read_pending(connection, conversation.id)
    if pending and pending.id == ask.id:
        store_quiet_turn(connection, plan_withdrawal(pending, conversation, turn_id, reason))


def was_resolved(connection: Connection, ask: Ask) -> bool:
    """Tells whether an ask is pending no more, once whoever has its conversation's lock ended."""
    lock_conversation(connection, ask.conversation_id)
    pending = read_pending(connection, ask.conversation_id)
    return pending is None or pending.id != ask.id


# ---------------------------------------------------------------- reading


def read_ask(connection: Connection, service: str, ask_id: UUID) -> Ask:
    """Reads an ask of a service.

    Raises:
        AskNotFound: The service has made no such ask.
    """
    row = run(connection, _OF_SERVICE, service=service, ask=ask_id).mappings().one_or_none()
    ask = ask_of(row) if row else None
    if ask is None:
        raise AskNotFound(ask_id)
    return ask


def _made_before(connection: Connection, service: str, request: RequestKey | None) -> UUID | None:
    """Returns the ask that a request id has made, in the time in which it counts.

    Raises:
        RequestIdReused: That was another request.
    """
    if request is None:
        return None
    row = run(connection, _MADE, **_key_values(service, request)).one_or_none()
    if row is None:
        return None
    ask_id, digest = row
    if digest != request.digest:
        raise RequestIdReused(request.id)
    return ask_id


def _key_values(service: str, request: RequestKey) -> dict[str, object]:
    return {"service": service, "request_id": str(request.id), "digest": request.digest}


# ---------------------------------------------------------------- statements

_OF_SERVICE: Final = select(*ASK_COLUMNS).where(
    asks.c.id == given("ask"), asks.c.created_by_service == given("service")
)
_OF_KEY: Final = and_(
    asks.c.created_by_service == given("service"),
    asks.c.service_request_id == given("request_id"),
)
_COUNTS: Final = or_(
    asks.c.create_time > func.now() - literal(timedelta(hours=limits.REQUEST_ID_HOURS)), HOLDS_SLOT
)
"""Whether a request id still names its ask: for a day, and for as long as that waits."""
_MADE: Final = select(asks.c.id, asks.c.service_request_hash).where(_OF_KEY, _COUNTS)
_FREE: Final = (
    update(asks)
    .where(_OF_KEY, not_(_COUNTS))
    .values(service_request_id=None, service_request_hash=None)
    .returning(asks.c.id)
)
_NAME: Final = (
    update(asks)
    .where(asks.c.id == given("ask"))
    .values(service_request_id=given("request_id"), service_request_hash=given("digest"))
    .returning(asks.c.id)
)

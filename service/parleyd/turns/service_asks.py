"""Asks of services that run an agent of their own (spec turns 16.4)."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import Protocol
from uuid import UUID

from parleyd.contract import limits
from parleyd.contract.answers import SERVICE_CANCELLED
from parleyd.contract.asks.ask import Ask, AskKind
from parleyd.contract.asks.kinds import check_ask
from parleyd.contract.asks.shown_texts import ask_without_remote_images
from parleyd.contract.errors import AsksOff, InvalidAsk
from parleyd.contract.guards import check_on_small_screen, guarded_card
from parleyd.contract.json import JsonObject, storable_object
from parleyd.contract.surfaces import Surface
from parleyd.turns.ask_news import AskNews
from parleyd.turns.options import TurnOptions
from parleyd.turns.ports import Ids
from parleyd.turns.requests import RequestKey
from parleyd.turns.state import SeenConversation, expires
from parleyd.turns.waking import woken_within


@dataclass(frozen=True)
class ServiceAskWish:
    """What a service wants to ask, as it came. With `seconds` the ask is over so long after it.

    `visible_to_model` has the conversation's own model see question and answer later.
    """

    service: str
    owner: str
    conversation_id: UUID
    kind: AskKind
    input: JsonObject
    surface: Surface
    seconds: float | None = None
    visible_to_model: bool = False
    request: RequestKey | None = None


@dataclass(frozen=True)
class NewServiceAsk:
    """An ask of a service that is in order, to be stored where the slot is free.

    `turn_id` is that of the closed turn which makes it, a chain of its own.
    """

    ask_id: UUID
    turn_id: UUID
    tool_call_id: str
    wish: ServiceAskWish

    def ask(self, conversation: SeenConversation) -> Ask:
        """Returns the ask as it is made in a conversation that is locked."""
        wish = self.wish
        ask_input = storable_object(wish.input)
        return Ask(
            id=self.ask_id,
            conversation_id=conversation.id,
            chain_id=self.turn_id,
            owner=conversation.owner,
            tool_call_id=self.tool_call_id,
            kind=wish.kind,
            origin="service",
            tool_name=f"service:{wish.service}",
            input=ask_input,
            simple=guarded_card(wish.kind, ask_input, self.tool_call_id, approval=False),
            status="pending",
            created_by_turn=self.turn_id,
            created_by_service=wish.service,
            visible_to_model=wish.visible_to_model,
            create_time=conversation.now,
            expire_time=expires(conversation.now, wish.seconds),
        )


class ServiceAskStore(Protocol):
    """Keeps the asks of services. Every call raises `Unavailable` without a database."""

    async def create_ask(self, new: NewServiceAsk) -> Ask:
        """Stores an ask in the slot of its conversation; of a repeat returns what is there.

        Raises:
            ConversationNotFound: No such conversation, or it is deleted.
            NotOwner: It is not the named person's.
            AskAlreadyPending: It waits on another ask.
            RequestIdReused: The request id belongs to another request of this service.
        """
        ...

    async def read_ask(self, service: str, ask_id: UUID) -> Ask:
        """Reads an ask; where its time is over it reads as cancelled, whoever writes that.

        Raises:
            AskNotFound: The service has made no such ask.
        """
        ...

    async def cancel_ask(self, service: str, ask_id: UUID, turn_id: UUID, reason: str) -> Ask:
        """Withdraws an ask in a closed turn of its own; returns one that is resolved as it is.

        Raises:
            AskNotFound: The service has made no such ask.
        """
        ...


class ServiceAsks:
    """Asks people for services, and tells the services what came of it."""

    def __init__(
        self, store: ServiceAskStore, news: AskNews, ids: Ids, options: TurnOptions
    ) -> None:
        self._store = store
        self._news = news
        self._ids = ids
        self._kinds = options.ask_kinds
        self._hosts = options.blocks.options.image_hosts if options.blocks else ()

    async def create(self, wish: ServiceAskWish) -> Ask:
        """Asks the owner of a conversation. A repeat with the same request id asks nothing anew.

        Raises:
            AsksOff: The deployment asks nothing.
            InvalidAsk: The question breaks the rules of its kind, or can't be shown on its surface.
            ConversationNotFound: No such conversation, or it is deleted.
            NotOwner: It is not the named person's.
            AskAlreadyPending: It waits on another ask.
            RequestIdReused: The request id belongs to another request of this service.
            Unavailable: The database can't be reached.
        """
        if not self._kinds:
            raise AsksOff("Asks are switched off in this deployment.")
        checked = storable_object(wish.input)
        errors = check_ask(wish.kind, checked, wish.surface)
        if not errors and wish.surface == "compact":
            errors = check_on_small_screen(wish.kind, checked)
        if errors:
            raise InvalidAsk(
                f"The input is no valid {wish.kind}. First fault: {errors[0].message}", errors
            )
        shown = ask_without_remote_images(checked, self._hosts)
        return await self._store.create_ask(
            NewServiceAsk(
                ask_id=self._ids.uuid(),
                turn_id=self._ids.uuid(),
                tool_call_id=self._ids.call_id(),
                wish=replace(wish, input=shown),
            )
        )

    async def read(self, service: str, ask_id: UUID) -> Ask:
        """Reads an ask of a service.

        Raises:
            AskNotFound: The service has made no such ask.
            Unavailable: The database can't be reached.
        """
        return await self._store.read_ask(service, ask_id)

    async def wait(self, service: str, ask_id: UUID, seconds: float) -> Ask:
        """Returns an ask as soon as it is not pending, or as it is after so many seconds.

        Raises:
            AskNotFound: The service has made no such ask.
            Unavailable: The database can't be reached, or the process stops.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        with self._news.waker(ask_id) as woken:
            while True:
                woken.clear()
                ask = await self._store.read_ask(service, ask_id)
                left = end - loop.time()
                if ask.status != "pending" or left <= 0:
                    return ask
                self._news.check_open()
                await woken_within(woken, min(left, limits.QUIET_SECONDS))

    async def watch(self, service: str, ask_id: UUID) -> AsyncGenerator[Ask | None, None]:
        """Yields an ask now and when it is pending no more; None when nothing happens meanwhile.

        Raises:
            AskNotFound: The service has made no such ask.
            Unavailable: The database can't be reached, or the process stops.
        """
        told: Ask | None = None
        with self._news.waker(ask_id) as woken:
            while True:
                woken.clear()
                ask = await self._store.read_ask(service, ask_id)
                yield None if ask == told else ask
                told = ask
                if ask.status != "pending":
                    return
                self._news.check_open()
                await woken_within(woken, limits.QUIET_SECONDS)

    async def cancel(self, service: str, ask_id: UUID, reason: str) -> Ask:
        """Withdraws an ask; without a reason the service has cancelled it.

        Raises:
            AskNotFound: The service has made no such ask.
            Unavailable: The database can't be reached.
        """
        return await self._store.cancel_ask(
            service, ask_id, self._ids.uuid(), reason or SERVICE_CANCELLED
        )

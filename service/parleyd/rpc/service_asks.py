"""Asks of services on the wire (spec turns 16.4)."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Final
from uuid import UUID

from structlog.contextvars import bind_contextvars
from typing_extensions import override

from parley.v1 import service_asks_pb2 as pb
from parley.v1.service_asks_pb2_grpc import AskServiceServicer
from parleyd.contract import limits
from parleyd.contract.asks.ask import Ask, AskStatus
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import offered_kinds
from parleyd.contract.errors import InvalidRequest
from parleyd.contract.field_errors import Code
from parleyd.contract.surfaces import Surface
from parleyd.rpc import fields
from parleyd.rpc.answers import answer_to_proto
from parleyd.rpc.ask_inputs import ask_input_from_proto, ask_input_to_proto
from parleyd.rpc.auth import calling_service
from parleyd.rpc.calls import Context
from parleyd.rpc.cards import card_to_proto
from parleyd.rpc.expiry import until_expiry
from parleyd.rpc.kinds import kind_to_proto
from parleyd.rpc.surfaces import surface_from_proto
from parleyd.rpc.threads import work_on
from parleyd.rpc.times import moment_to_proto, seconds_from_proto, time_to_proto
from parleyd.turns.requests import service_ask_request_key
from parleyd.turns.service_asks import ServiceAsks, ServiceAskWish

_STATUSES: Final[Mapping[AskStatus, pb.Ask.Status.ValueType]] = {
    "pending": pb.Ask.STATUS_PENDING,
    "answered": pb.Ask.STATUS_ANSWERED,
    "cancelled": pb.Ask.STATUS_CANCELLED,
}


class AskServicer(AskServiceServicer):
    """Asks people for services that run an agent of their own."""

    def __init__(self, asks: ServiceAsks, kinds: tuple[AskKind, ...]) -> None:
        self._asks = asks
        self._kinds = kinds

    @override
    async def CreateAsk(
        self, request: pb.CreateAskRequest, context: Context
    ) -> pb.CreateAskResponse:
        name = calling_service().name
        wish = await work_on(request, lambda sent: wish_from_proto(name, sent, self._kinds))
        bind_contextvars(conversation_id=str(wish.conversation_id))
        ask = await self._asks.create(wish)
        return pb.CreateAskResponse(ask=ask_to_proto(ask))

    @override
    async def GetAsk(self, request: pb.GetAskRequest, context: Context) -> pb.GetAskResponse:
        ask = await self._asks.read(calling_service().name, _ask_id(request.ask_id))
        return pb.GetAskResponse(ask=ask_to_proto(ask))

    @override
    async def WaitAsk(self, request: pb.WaitAskRequest, context: Context) -> pb.WaitAskResponse:
        ask_id, seconds = _ask_id(request.ask_id), float(limits.WAIT_SECONDS)
        if request.HasField("timeout"):
            seconds = seconds_from_proto(
                "timeout", request.timeout, least=0, most=limits.WAIT_SECONDS
            )
        ask = await self._asks.wait(calling_service().name, ask_id, seconds)
        return pb.WaitAskResponse(ask=ask_to_proto(ask))

    @override
    async def WatchAsk(
        self, request: pb.WatchAskRequest, context: Context
    ) -> AsyncGenerator[pb.WatchAskResponse, None]:
        service = calling_service()
        watched = self._asks.watch(service.name, _ask_id(request.ask_id))
        async with aclosing(until_expiry(watched, service.expires)) as asks:
            async for ask in asks:
                yield pb.WatchAskResponse(ask=ask_to_proto(ask) if ask else None)

    @override
    async def CancelAsk(
        self, request: pb.CancelAskRequest, context: Context
    ) -> pb.CancelAskResponse:
        ask_id = _ask_id(request.ask_id)
        reason = fields.bounded_text("reason", request.reason, limits.CANCEL_REASON)
        ask = await self._asks.cancel(calling_service().name, ask_id, reason)
        return pb.CancelAskResponse(ask=ask_to_proto(ask))


def wish_from_proto(
    service: str, request: pb.CreateAskRequest, kinds: tuple[AskKind, ...]
) -> ServiceAskWish:
    """Returns what a service wants to ask; the question itself is checked later.

    Raises:
        ConversationRequired: No conversation is named.
        InvalidRequest: An id, the owner or the time is malformed, or the input has no kind, or one
            that is not asked here, or not on that surface.
        UnknownSurface: There is no such surface.
    """
    conversation_id = fields.required_conversation_id(request.conversation_id)
    owner = fields.owner(request.owner)
    request_id = fields.request_id(request.request_id)
    surface = surface_from_proto(request.surface) or "full"
    seconds = None
    if request.HasField("ttl"):
        seconds = seconds_from_proto(
            "ttl", request.ttl, least=limits.ASK_SECONDS_MIN, most=limits.ASK_SECONDS_MAX
        )
    kind, ask_input = ask_input_from_proto(request.input)
    _check_kind(kind, kinds, surface)
    return ServiceAskWish(
        service=service,
        owner=owner,
        conversation_id=conversation_id,
        kind=kind,
        input=ask_input,
        surface=surface,
        seconds=seconds,
        visible_to_model=request.visible_to_model,
        request=service_ask_request_key(
            request_id,
            [
                str(conversation_id),
                owner,
                kind,
                ask_input,
                surface,
                seconds,
                request.visible_to_model,
            ],
        ),
    )


def _check_kind(kind: AskKind, kinds: tuple[AskKind, ...], surface: Surface) -> None:
    offered = offered_kinds(kinds, surface)
    if kinds and kind not in offered:
        raise fields.malformed(
            InvalidRequest,
            "input",
            Code.INVALID_ENUM,
            f"input is a {kind}, which is not asked here on the {surface} surface.",
            f"Ask one of {', '.join(offered)}.",
        )


def ask_to_proto(ask: Ask) -> pb.Ask:
    """Returns an ask as the service that made it sees it."""
    message = pb.Ask(
        ask_id=str(ask.id),
        conversation_id=str(ask.conversation_id),
        tool_call_id=ask.tool_call_id,
        kind=kind_to_proto(ask.kind),
        input=ask_input_to_proto(ask.kind, ask.input),
        simple=card_to_proto(ask.simple),
        status=_STATUSES[ask.status],
        resolved_by_turn_id=str(ask.resolved_by_turn or ""),
        creator=ask.created_by_service or "",
        create_time=time_to_proto(ask.create_time),
        resolve_time=moment_to_proto(ask.resolve_time),
        expire_time=moment_to_proto(ask.expire_time),
    )
    if ask.answer is not None:
        message.answer.CopyFrom(answer_to_proto(ask.kind, ask.answer))
    return message


def _ask_id(text: str) -> UUID:
    ask_id = fields.ask_id(text)
    bind_contextvars(ask_id=str(ask_id))
    return ask_id

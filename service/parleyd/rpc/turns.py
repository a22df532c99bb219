"""Turns on the wire (spec turns 3, 7.1, 7.2, 16.1)."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from uuid import UUID

from structlog.contextvars import bind_contextvars
from typing_extensions import override

from parley.v1 import turns_pb2 as pb
from parley.v1.turns_pb2_grpc import TurnServiceServicer
from parleyd.contract import limits
from parleyd.contract.errors import AsksOff, BlocksOff
from parleyd.contract.events import TurnEvent
from parleyd.contract.pages import page_request
from parleyd.contract.turns import Turn, TurnRequest, TurnResult
from parleyd.rpc import fields
from parleyd.rpc.action_tokens import ActionTokenCalls
from parleyd.rpc.asks import pending_ask_to_proto, pending_summary_to_proto
from parleyd.rpc.auth import calling_owner, calling_person
from parleyd.rpc.block_actions import action_call_from_proto, action_outcome_to_proto
from parleyd.rpc.caller_keys import caller_key
from parleyd.rpc.calls import Context
from parleyd.rpc.events import event_to_proto, state_to_proto
from parleyd.rpc.expiry import until_expiry
from parleyd.rpc.pending_watch import sent_to_proto
from parleyd.rpc.previews import preview_to_proto
from parleyd.rpc.threads import work_on
from parleyd.rpc.times import time_to_proto
from parleyd.rpc.turn_requests import stream_request_from_proto, turn_request_from_proto
from parleyd.turns.block_actions import BlockActions
from parleyd.turns.conversations import ConversationStore
from parleyd.turns.pending_watch import PendingWatch
from parleyd.turns.turns import FollowedTurn, Turns


class TurnServicer(TurnServiceServicer):
    """Runs turns for the caller. A handler that is cancelled leaves its turn running.

    Without `block_actions` replies are no documents, and there are no buttons to press.
    """

    def __init__(
        self,
        turns: Turns,
        conversations: ConversationStore,
        pending: PendingWatch,
        action_tokens: ActionTokenCalls,
        block_actions: BlockActions | None = None,
    ) -> None:
        self._turns = turns
        self._conversations = conversations
        self._pending = pending
        self._action_tokens = action_tokens
        self._block_actions = block_actions

    @override
    async def StreamTurn(
        self, request: pb.StreamTurnRequest, context: Context
    ) -> AsyncGenerator[pb.StreamTurnResponse, None]:
        read = partial(stream_request_from_proto, calling_owner(), caller_key(context))
        followed = await self._start(await work_on(request, read))
        del request  # it may hold megabytes of files, and the stream may last for long
        async with aclosing(_told(followed)) as events:
            async for event in events:
                yield pb.StreamTurnResponse(event=event)

    @override
    async def Turn(self, request: pb.TurnRequest, context: Context) -> pb.TurnResponse:
        read = partial(turn_request_from_proto, calling_owner(), caller_key(context))
        followed = await self._start(await work_on(request, read))
        del request
        return pb.TurnResponse(result=result_to_proto(await followed.result()))

    @override
    async def WatchTurn(
        self, request: pb.WatchTurnRequest, context: Context
    ) -> AsyncGenerator[pb.WatchTurnResponse, None]:
        conversation_id, turn_id = _named(request)
        after = fields.after_sequence(request.after_sequence)
        followed = await self._turns.watch(calling_owner(), conversation_id, turn_id, after)
        async with aclosing(_told(followed)) as events:
            async for event in events:
                yield pb.WatchTurnResponse(event=event)

    @override
    async def GetTurn(self, request: pb.GetTurnRequest, context: Context) -> pb.GetTurnResponse:
        turn = await self._turns.read(calling_owner(), *_named(request))
        return pb.GetTurnResponse(turn=turn_to_proto(turn))

    @override
    async def RunBlockAction(
        self, request: pb.RunBlockActionRequest, context: Context
    ) -> pb.RunBlockActionResponse:
        if self._block_actions is None:
            raise BlocksOff
        call = await work_on(request, partial(action_call_from_proto, calling_owner()))
        bind_contextvars(conversation_id=str(call.conversation_id))
        outcome = await self._block_actions.run(call)
        return action_outcome_to_proto(outcome)

    @override
    async def ListPendingAsks(
        self, request: pb.ListPendingAsksRequest, context: Context
    ) -> pb.ListPendingAsksResponse:
        self._check_asks_on()
        page = await self._conversations.list_pending_asks(
            calling_owner(),
            page_request(
                request.page_size,
                request.page_token,
                default=limits.PENDING_ASKS_PAGE,
                most=limits.PENDING_ASKS_PAGE_MAX,
                parts=2,
            ),
        )
        return pb.ListPendingAsksResponse(
            pending_asks=map(pending_ask_to_proto, page.items), next_page_token=page.next_token
        )

    @override
    async def WatchPendingAsks(
        self, request: pb.WatchPendingAsksRequest, context: Context
    ) -> AsyncGenerator[pb.WatchPendingAsksResponse, None]:
        self._check_asks_on()
        person = calling_person()
        watched = self._pending.watch(person.owner)
        async with aclosing(until_expiry(watched, person.expires)) as news:
            async for sent in news:
                yield sent_to_proto(sent)

    @override
    async def CreateActionToken(
        self, request: pb.CreateActionTokenRequest, context: Context
    ) -> pb.CreateActionTokenResponse:
        return await self._action_tokens.create(request)

    @override
    async def RedeemActionToken(
        self, request: pb.RedeemActionTokenRequest, context: Context
    ) -> pb.RedeemActionTokenResponse:
        redeemed = await self._action_tokens.redeem(request, context)
        return pb.RedeemActionTokenResponse(
            conversation_id=str(redeemed.conversation_id),
            turn_id=str(redeemed.turn_id),
            result=result_to_proto(redeemed.result) if redeemed.result else None,
        )

    def _check_asks_on(self) -> None:
        if not self._turns.options.ask_kinds:
            raise AsksOff("Asks are switched off in this deployment.")

    async def _start(self, request: TurnRequest) -> FollowedTurn:
        if request.conversation_id:
            bind_contextvars(conversation_id=str(request.conversation_id))
        followed = await self._turns.start(request)
        bind_contextvars(
            conversation_id=str(followed.conversation_id), turn_id=str(followed.turn_id)
        )
        return followed


async def _told(followed: FollowedTurn) -> AsyncGenerator[pb.TurnEvent | None, None]:
    """Yields what a stream is told of a turn; None, which keeps it open, for nothing."""
    async with aclosing(followed.events()) as events:
        async for event in events:
            match event:
                case None:
                    yield None
                case TurnEvent():
                    yield event_to_proto(event)
                case _:
                    yield preview_to_proto(event)


def turn_to_proto(turn: Turn) -> pb.Turn:
    """Returns a turn as its owner sees it."""
    return pb.Turn(
        conversation_id=str(turn.conversation_id),
        turn_id=str(turn.id),
        state=state_to_proto(turn.state),
        last_event_sequence=turn.last_event,
        partial_text=turn.partial_text,
        result=result_to_proto(turn.result) if turn.result else None,
        retry_of_turn_id=str(turn.retry_of or ""),
        retried_by_turn_id=str(turn.retried_by or ""),
        create_time=time_to_proto(turn.create_time),
        close_time=time_to_proto(turn.close_time) if turn.close_time else None,
    )


def result_to_proto(result: TurnResult) -> pb.TurnResult:
    """Returns how a turn ended."""
    error = result.error
    return pb.TurnResult(
        conversation_id=str(result.conversation_id),
        turn_id=str(result.turn_id),
        state=state_to_proto(result.state),
        text=result.text,
        title=result.title or "",
        pending_ask=pending_summary_to_proto(result.pending_ask) if result.pending_ask else None,
        error=pb.TurnError(reason=error.reason.value, message=error.message) if error else None,
        retryable=result.retryable,
    )


def _named(request: pb.WatchTurnRequest | pb.GetTurnRequest) -> tuple[UUID, UUID]:
    """Returns the ids of a conversation and a turn, which are on the call's log lines from now on.

    Raises:
        ConversationRequired, TurnIdRequired: One is missing.
        InvalidRequest: One is no id.
    """
    conversation_id = fields.required_conversation_id(request.conversation_id)
    turn_id = fields.turn_id(request.turn_id)
    bind_contextvars(conversation_id=str(conversation_id), turn_id=str(turn_id))
    return conversation_id, turn_id

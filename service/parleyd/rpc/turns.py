"""Turns on the wire (spec turns 3, 7.1, 7.2)."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import assert_never

from structlog.contextvars import bind_contextvars
from typing_extensions import override

from parley.v1 import turns_pb2 as pb
from parley.v1.turns_pb2_grpc import TurnServiceServicer
from parleyd.contract import limits
from parleyd.contract.errors import AsksOff
from parleyd.contract.events import Started
from parleyd.contract.pages import page_request
from parleyd.contract.text import storable
from parleyd.contract.turns import (
    AnswerInput,
    ButtonInput,
    PromptInput,
    TurnInput,
    TurnRequest,
    TurnResult,
)
from parleyd.rpc import fields
from parleyd.rpc.answers import answer_from_proto
from parleyd.rpc.asks import pending_ask_to_proto, pending_summary_to_proto
from parleyd.rpc.auth import caller
from parleyd.rpc.calls import Context
from parleyd.rpc.events import event_to_proto, state_to_proto
from parleyd.rpc.surfaces import surface_from_proto
from parleyd.rpc.threads import work_on
from parleyd.turns.ports import ConversationStore
from parleyd.turns.turns import RunningTurn, Turns


class TurnServicer(TurnServiceServicer):
    """Runs turns for the caller. A handler that is cancelled leaves its turn running."""

    def __init__(self, turns: Turns, conversations: ConversationStore) -> None:
        self._turns = turns
        self._conversations = conversations

    @override
    async def StreamTurn(
        self, request: pb.StreamTurnRequest, context: Context
    ) -> AsyncGenerator[pb.StreamTurnResponse, None]:
        read = partial(stream_request_from_proto, caller())
        turn = await self._start(await work_on(request, read))
        async with aclosing(turn.events()) as events:
            async for event in events:
                if isinstance(event.body, Started):
                    bind_contextvars(conversation_id=str(event.body.conversation_id))
                yield pb.StreamTurnResponse(event=event_to_proto(event))

    @override
    async def Turn(self, request: pb.TurnRequest, context: Context) -> pb.TurnResponse:
        read = partial(turn_request_from_proto, caller())
        turn = await self._start(await work_on(request, read))
        return pb.TurnResponse(result=result_to_proto(await turn.result()))

    @override
    async def ListPendingAsks(
        self, request: pb.ListPendingAsksRequest, context: Context
    ) -> pb.ListPendingAsksResponse:
        if not self._turns.options.ask_kinds:
            raise AsksOff("Asks are switched off in this deployment.")
        page = await self._conversations.list_pending_asks(
            caller(),
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

    async def _start(self, request: TurnRequest) -> RunningTurn:
        if request.conversation_id:
            bind_contextvars(conversation_id=str(request.conversation_id))
        turn = await self._turns.start(request)
        bind_contextvars(turn_id=str(turn.turn_id))
        return turn


def stream_request_from_proto(owner: str, request: pb.StreamTurnRequest) -> TurnRequest:
    """Returns the wish for a turn. A prompt without a conversation makes one.

    Raises:
        PromptRequired: No input, or an empty prompt.
        ToolCallIdRequired, ButtonIdRequired, ConversationRequired: The input lacks it.
        UnknownSurface: No such surface.
        InvalidRequest: An id or a text that is malformed.
    """
    turn_input = input_from_proto(request)
    conversation_id = (
        None
        if isinstance(turn_input, PromptInput) and not request.conversation_id
        else fields.required_conversation_id(request.conversation_id)
    )
    return TurnRequest(
        owner=owner,
        conversation_id=conversation_id,
        input=turn_input,
        surface=surface_from_proto(request.surface),
        model=storable(request.model) or None,
        system_instruction=storable(request.system_instruction) or None,
        project=None if conversation_id else fields.project(request.project),
    )


def turn_request_from_proto(owner: str, request: pb.TurnRequest) -> TurnRequest:
    """Returns the wish for a turn, which always needs its conversation.

    Raises:
        Malformed: As for a stream.
    """
    return TurnRequest(
        owner=owner,
        input=input_from_proto(request),
        conversation_id=fields.required_conversation_id(request.conversation_id),
        surface=surface_from_proto(request.surface),
    )


def input_from_proto(request: pb.StreamTurnRequest | pb.TurnRequest) -> TurnInput:
    """Returns what the person did.

    Raises:
        PromptRequired: Nothing, or an empty prompt.
        ToolCallIdRequired, ButtonIdRequired: The ask or the button is not named.
        InvalidRequest: A prompt or an id over its limit.
    """
    kind = request.WhichOneof("input")
    match kind:
        case "prompt":
            return PromptInput(text=fields.prompt_text(request.prompt.text))
        case "answer":
            return AnswerInput(
                tool_call_id=fields.tool_call_id(request.answer.tool_call_id),
                answer=answer_from_proto(request.answer.answer),
            )
        case "button":
            return ButtonInput(
                tool_call_id=fields.tool_call_id(request.button.tool_call_id),
                button_id=fields.button_id(request.button.button_id),
            )
        case None:
            raise fields.prompt_required()
        case _:
            assert_never(kind)


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

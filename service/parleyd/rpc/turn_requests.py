"""Wishes for turns on the wire, whose shape is checked before all else (spec turns 3.1)."""

from typing import assert_never

from pydantic import SecretStr

from parley.v1 import turns_pb2 as pb
from parleyd.contract.text import storable
from parleyd.contract.turns import (
    AnswerInput,
    ButtonInput,
    PromptInput,
    RetryInput,
    TurnInput,
    TurnRequest,
)
from parleyd.rpc import fields
from parleyd.rpc.answers import answer_from_proto
from parleyd.rpc.attachments import attachments_from_proto
from parleyd.rpc.surfaces import surface_from_proto


def stream_request_from_proto(
    owner: str, caller_key: SecretStr | None, request: pb.StreamTurnRequest
) -> TurnRequest:
    """Returns the wish for a turn. A prompt without a conversation makes one.

    Raises:
        PromptRequired: No input, or an empty prompt.
        ToolCallIdRequired, ButtonIdRequired, TurnIdRequired: The input lacks it.
        ConversationRequired: There is none, and the input is no prompt.
        UnknownSurface: No such surface.
        InvalidRequest: An id or a text that is malformed.
        InvalidAttachment: An attachment that is malformed.
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
        request_id=fields.request_id(request.request_id),
        caller_key=caller_key,
    )


def turn_request_from_proto(
    owner: str, caller_key: SecretStr | None, request: pb.TurnRequest
) -> TurnRequest:
    """Returns the wish for a turn, which always needs its conversation.

    Raises:
        Malformed: As for a stream.
    """
    return TurnRequest(
        owner=owner,
        input=input_from_proto(request),
        conversation_id=fields.required_conversation_id(request.conversation_id),
        surface=surface_from_proto(request.surface),
        request_id=fields.request_id(request.request_id),
        caller_key=caller_key,
    )


def input_from_proto(request: pb.StreamTurnRequest | pb.TurnRequest) -> TurnInput:
    """Returns what the person did.

    Raises:
        PromptRequired: Nothing, or an empty prompt.
        ToolCallIdRequired, ButtonIdRequired, TurnIdRequired: What the input is about is not named.
        InvalidRequest: A prompt or an id over its limit, or a turn's id that is none.
        InvalidAttachment: An attachment that is none, or too many.
    """
    kind = request.WhichOneof("input")
    match kind:
        case "prompt":
            return PromptInput(
                text=fields.prompt_text(request.prompt.text),
                attachments=attachments_from_proto(request.prompt.attachments),
            )
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
        case "retry":
            return RetryInput(turn_id=fields.turn_id(request.retry.turn_id))
        case None:
            raise fields.prompt_required()
        case _:
            assert_never(kind)

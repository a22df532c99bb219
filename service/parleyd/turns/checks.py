"""What must hold before a turn is opened (spec turns 3.2). Nothing is written here."""

import asyncio
from typing import assert_never

from pydantic import JsonValue

from parleyd.contract.answers import action_of, check_answer
from parleyd.contract.approvals import denial_reason
from parleyd.contract.asks.ask import Ask
from parleyd.contract.cards import look_up_button
from parleyd.contract.errors import (
    AnswerWhileAsksOff,
    InvalidAnswer,
    ModelNotConfigured,
    OptionForbidden,
    RateLimited,
    RequestIdReused,
    ToolUnavailable,
    UnknownButton,
    UploadsOff,
)
from parleyd.contract.field_errors import FieldError
from parleyd.contract.json import storable_json
from parleyd.contract.text import storable
from parleyd.contract.turns import (
    AnswerInput,
    ButtonInput,
    PromptInput,
    RetryInput,
    TurnRequest,
)
from parleyd.turns.answer_files import take_answer
from parleyd.turns.attachments import take_attachments
from parleyd.turns.deployment import Deployment
from parleyd.turns.instructions import Instructions
from parleyd.turns.model import Model
from parleyd.turns.openings import check_retryable, not_pending
from parleyd.turns.options import TurnLimits, TurnOptions
from parleyd.turns.ports import AnswerOpening, PromptOpening, RetryOpening, TokenPress
from parleyd.turns.requests import RequestKey, turn_request_key
from parleyd.turns.situations import FailedTurn, RepeatedRequest, Situation, Wanted
from parleyd.turns.taken_input import TakenInput


def check_options(request: TurnRequest, options: TurnOptions) -> None:
    """Checks what depends on the deployment alone.

    Raises:
        AnswerWhileAsksOff: An answer or a button, with asks off.
        OptionForbidden: An instruction that the deployment does not leave to clients.
    """
    if not options.ask_kinds and isinstance(request.input, AnswerInput | ButtonInput):
        raise AnswerWhileAsksOff("Asks are switched off in this deployment; send a prompt instead.")
    if request.system_instruction and not options.allow_client_system_instruction:
        raise OptionForbidden(
            "system_instruction",
            "This deployment takes no system instruction from clients; leave it empty.",
        )


def check_model(request: TurnRequest, model: Model | None) -> Model:
    """Returns the model that runs the turn.

    Raises:
        ModelNotConfigured: There is none.
        OptionForbidden: The request names another one.
    """
    if model is None:
        raise ModelNotConfigured
    if request.model and request.model != model.model_id:
        raise OptionForbidden(
            "model",
            f"This deployment runs turns on {model.model_id!r} alone; leave the model empty.",
        )
    return model


def wanted_of(request: TurnRequest) -> Wanted:
    """Returns what has to be looked up for a request."""
    named = request.input
    return Wanted(
        conversation_id=request.conversation_id,
        tool_call_id=(named.tool_call_id if isinstance(named, AnswerInput | ButtonInput) else None),
        retry_turn_id=named.turn_id if isinstance(named, RetryInput) else None,
        request=turn_request_key(request),
    )


def check_repeat(request: RequestKey | None, seen: RepeatedRequest) -> None:
    """Checks that a request id that was seen before came with the same request.

    Raises:
        RequestIdReused: It belongs to another one.
    """
    assert request, "only a request with an id is looked up"
    if seen.digest != request.digest:
        raise RequestIdReused(request.id)


def answers_service(request: TurnRequest, situation: Situation) -> bool:
    """Tells whether a request answers the ask of a service, for which no model runs (16.4)."""
    ask = situation.asks.pending
    return (
        isinstance(request.input, AnswerInput | ButtonInput)
        and ask is not None
        and ask.origin == "service"
        and ask.tool_call_id == storable(request.input.tool_call_id)
    )


def check_limits(request: TurnRequest, situation: Situation, limits: TurnLimits) -> None:
    """Checks what the caller has running already. Answers are always admitted.

    Raises:
        RateLimited: It is too much.
    """
    if isinstance(request.input, AnswerInput | ButtonInput):
        return
    if situation.running_of_owner >= limits.owner_turns:
        raise RateLimited.by_owner(limits.owner_turns)
    if situation.running_of_conversation >= limits.conversation_turns:
        raise RateLimited("turns of one conversation may run", limits.conversation_turns)


async def check_input(shared: Deployment, request: TurnRequest, situation: Situation) -> TakenInput:
    """Returns what the turn is opened with: the message, a fitting answer, or the failed turn.

    What was read without a lock is checked again when the turn is opened. Files that came along are
    stored once all is in order.

    Raises:
        AskNotPending, AskExpired: The conversation does not wait on this ask.
        UnknownButton: The stored card has no such button.
        InvalidAnswer: The answer does not fit the stored ask.
        TurnNotFound: The conversation has no such turn.
        TurnNotRetryable: The turn is not the latest, or has not failed.
        UploadsOff, InvalidAttachment, FileTooLarge: Attachments are not taken, or these are not.
        AttachmentNotStored: The files could not be stored.
    """
    cap = shared.options.limits.file_bytes
    match request.input:
        case PromptInput(attachments=()) as prompt:
            return TakenInput(PromptOpening(text=storable(prompt.text)))
        case PromptInput() as prompt:
            if not shared.options.uploads:
                raise UploadsOff
            return await take_attachments(shared.files, request.owner, prompt, cap)
        case AnswerInput(tool_call_id=tool_call_id, answer=answer):
            ask = _pending(situation, tool_call_id)
            # An answer may be megabytes, of files or of whatever else somebody sends.
            envelope = await asyncio.to_thread(_fitting, ask, answer, cap)
            if ask.kind == "files" and action_of(envelope) == "accept":
                return await take_answer(shared.files, request.owner, tool_call_id, envelope, cap)
            return TakenInput(AnswerOpening("answer", tool_call_id, envelope))
        case ButtonInput(tool_call_id=tool_call_id, button_id=button_id) as button:
            ask = _pending(situation, tool_call_id)
            match look_up_button(ask.simple, button_id):
                case FieldError() as error:
                    raise UnknownButton(error.message, [error])
                case response:
                    envelope = _fitting(ask, response, cap)
                    return TakenInput(
                        AnswerOpening(button.kind, tool_call_id, envelope, _token_press(button))
                    )
        case RetryInput(turn_id=turn_id):
            check_retryable(turn_id, situation.failed)
            return TakenInput(RetryOpening(turn_id))
        case _:
            assert_never(request.input)


def _token_press(button: ButtonInput) -> TokenPress | None:
    return TokenPress(button.token_hash, button.button_id) if button.token_hash else None


def as_retried(request: TurnRequest, failed: FailedTurn | None) -> TurnRequest:
    """Returns a request with what a retry leaves empty taken from the failed turn (3.7.2)."""
    if failed is None:
        return request.model_copy(update={"surface": request.surface or "full"})
    return request.model_copy(
        update={
            "surface": request.surface or failed.surface,
            "system_instruction": request.system_instruction or failed.system_instruction,
        }
    )


def _pending(situation: Situation, tool_call_id: str) -> Ask:
    pending = situation.asks.pending
    if pending is None or pending.tool_call_id != storable(tool_call_id):
        raise not_pending(tool_call_id, pending=pending, named=situation.asks.named)
    return pending


def check_tool(
    opening: PromptOpening | AnswerOpening | RetryOpening, situation: Situation, told: Instructions
) -> None:
    """Checks that the tool of an approval can be run here, where the approval is granted (9.5).

    Raises:
        ToolUnavailable: It can't; the ask stays pending.
    """
    ask = situation.asks.pending
    if ask is None or ask.origin != "approval" or not isinstance(opening, AnswerOpening):
        return
    if denial_reason(opening.envelope) is None and ask.tool_name not in told.host_tools:
        raise ToolUnavailable(ask.tool_name)


def _fitting(ask: Ask, answer: JsonValue, cap: int) -> dict[str, JsonValue]:
    """Returns an answer that fits, its strings in storable form. Files it still holds whole."""
    envelope = storable_json(answer)
    errors = check_answer(ask.kind, ask.input, envelope, max_file_bytes=cap)
    if errors or not isinstance(envelope, dict):
        raise InvalidAnswer(
            f"The answer does not fit the ask {ask.tool_call_id!r}; it stays pending. "
            f"First fault: {errors[0].message}",
            errors,
        )
    return envelope

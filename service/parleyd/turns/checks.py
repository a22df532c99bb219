"""What must hold before a turn is opened (spec turns 3.2). Nothing is written here."""

import asyncio

from pydantic import JsonValue

from parleyd.contract.answers import action_of, check_answer
from parleyd.contract.asks.ask import Ask
from parleyd.contract.cards import look_up_button
from parleyd.contract.errors import (
    AnswerWhileAsksOff,
    InvalidAnswer,
    ModelNotConfigured,
    OptionForbidden,
    UnknownButton,
)
from parleyd.contract.field_errors import FieldError
from parleyd.contract.json import storable_json
from parleyd.contract.text import storable
from parleyd.contract.turns import AnswerInput, ButtonInput, PromptInput, TurnRequest
from parleyd.turns.answer_files import without_bytes
from parleyd.turns.model import Model
from parleyd.turns.openings import not_pending
from parleyd.turns.options import TurnOptions
from parleyd.turns.ports import AnswerOpening, PromptOpening, TurnStore


def check_options(request: TurnRequest, options: TurnOptions, model: Model | None) -> Model:
    """Returns the model that runs the turn.

    Raises:
        AnswerWhileAsksOff: An answer or a button, with asks off. ModelNotConfigured: There is no
        model. OptionForbidden: Another model, or an instruction that the deployment does not leave
        to clients.
    """
    if not options.ask_kinds and not isinstance(request.input, PromptInput):
        raise AnswerWhileAsksOff("Asks are switched off in this deployment; send a prompt instead.")
    if model is None:
        raise ModelNotConfigured
    if request.model and request.model != model.model_id:
        raise OptionForbidden(
            "model",
            f"This deployment runs turns on {model.model_id!r} alone; leave the model empty.",
        )
    if request.system_instruction and not options.allow_client_system_instruction:
        raise OptionForbidden(
            "system_instruction",
            "This deployment takes no system instruction from clients; leave it empty.",
        )
    return model


async def check_input(store: TurnStore, request: TurnRequest) -> PromptOpening | AnswerOpening:
    """Returns what the turn is opened with: the message, or an answer that fits the stored ask.

    Reads without a lock; opening the turn checks again what can have changed meanwhile.

    Raises:
        ConversationNotFound: No such conversation, or it is deleted.
        NotOwner: It is someone else's.
        AskNotPending: The conversation does not wait on this ask.
        UnknownButton: The stored card has no such button.
        InvalidAnswer: The answer does not fit the stored ask.
    """
    match request.input:
        case PromptInput(text=text):
            return PromptOpening(text=storable(text))
        case AnswerInput(tool_call_id=tool_call_id, answer=answer):
            ask = await _pending(store, request, tool_call_id)
            # An answer may be megabytes, of files or of whatever else somebody sends.
            envelope = await asyncio.to_thread(_fitting, ask, answer)
            return AnswerOpening("answer", tool_call_id, envelope)
        case ButtonInput(tool_call_id=tool_call_id, button_id=button_id):
            ask = await _pending(store, request, tool_call_id)
            match look_up_button(ask.simple, button_id):
                case FieldError() as error:
                    raise UnknownButton(error.message, [error])
                case response:
                    return AnswerOpening("button", tool_call_id, _fitting(ask, response))


async def _pending(store: TurnStore, request: TurnRequest, tool_call_id: str) -> Ask:
    assert request.conversation_id is not None, "the wire refuses an answer without conversation"
    asks = await store.read_asks(request.owner, request.conversation_id, tool_call_id)
    if asks.pending is None or asks.pending.tool_call_id != tool_call_id:
        raise not_pending(tool_call_id, pending=asks.pending, named=asks.named)
    return asks.pending


def _fitting(ask: Ask, answer: JsonValue) -> dict[str, JsonValue]:
    """Returns an answer that fits, in the form in which it is stored."""
    envelope = storable_json(answer)
    errors = check_answer(ask.kind, ask.input, envelope)
    if errors or not isinstance(envelope, dict):
        raise InvalidAnswer(
            f"The answer does not fit the ask {ask.tool_call_id!r}; it stays pending. "
            f"First fault: {errors[0].message}",
            errors,
        )
    if ask.kind == "files" and action_of(envelope) == "accept":
        return without_bytes(envelope)
    return envelope

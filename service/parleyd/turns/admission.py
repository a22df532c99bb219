"""Admits a request: its checks in their order, then TX1 (spec turns 3.2)."""

import asyncio
from dataclasses import dataclass, field
from uuid import UUID

from parleyd.contract.errors import ModelNotConfigured, OptionForbidden
from parleyd.contract.turns import (
    AnswerInput,
    ButtonInput,
    PromptInput,
    TurnInput,
    TurnRequest,
)
from parleyd.turns.checks import (
    answers_service,
    as_retried,
    check_input,
    check_limits,
    check_model,
    check_options,
    check_repeat,
    check_tool,
    wanted_of,
)
from parleyd.turns.deployment import Deployment
from parleyd.turns.instructions import Instructions, instructions
from parleyd.turns.model import Model, Shown
from parleyd.turns.ports import OpenedTurn, Opening, RequestSeen
from parleyd.turns.situations import RepeatedRequest, Situation
from parleyd.turns.tools import TurnContext


@dataclass(frozen=True)
class ReadyTurn:
    """A turn that is stored, with all that running it takes.

    Its lease holds for as long as one lasts from `held_since` on, by the loop's clock. `shown` are
    the files that came with its message or answer, as the model is shown them; None where this
    process has not taken them.
    """

    turn: OpenedTurn
    model: Model
    title_model: Model | None
    told: Instructions
    held_since: float = field(default_factory=lambda: asyncio.get_running_loop().time())
    shown: tuple[Shown, ...] | None = None


async def open_turn(
    shared: Deployment, turn_id: UUID, request: TurnRequest
) -> ReadyTurn | OpenedTurn | RepeatedRequest:
    """Checks a request and stores its turn; of a repeated request returns the turn it made.

    The answer to a service's ask needs no model: its turn is closed already (16.4).

    Raises:
        ParleyError: A check failed; nothing was stored.
    """
    check_options(request, shared.options)
    own_model, title_model = _models(shared, request)
    model = None
    if own_model or not isinstance(request.input, AnswerInput | ButtonInput):
        model = check_model(request, own_model)
    with_files = _may_hold_files(request.input)
    # A digest over an answer or attachments may be over megabytes of files.
    wanted = (
        await asyncio.to_thread(wanted_of, request)
        if request.request_id and with_files
        else wanted_of(request)
    )
    situation = Situation()
    # A new conversation meets its caller's limits in TX1; attachments are stored before that.
    if wanted.conversation_id or wanted.request or with_files:
        situation = await shared.store.read_situation(request.owner, wanted)
    if situation.repeated:
        check_repeat(wanted.request, situation.repeated)
        return situation.repeated
    asked_by_service = answers_service(request, situation)
    if model is None and not asked_by_service:
        raise ModelNotConfigured
    check_limits(request, situation, shared.options.limits)
    taken = await check_input(shared, request, situation)
    request = as_retried(request, situation.failed)
    new_conversation_id = shared.ids.uuid()
    conversation = situation.conversation
    context = TurnContext(
        owner=request.owner,
        conversation_id=request.conversation_id or new_conversation_id,
        turn_id=turn_id,
        input_kind=request.input.kind,
        surface=request.surface or "full",
        project=conversation.project if conversation else request.project,
    )
    told: Instructions | None = None
    if model and not asked_by_service:
        told = await instructions(shared.options, model, context, request.system_instruction)
        check_tool(taken.opening, situation, told)
    opening = Opening(
        turn_id=turn_id,
        owner=request.owner,
        conversation_id=request.conversation_id,
        new_conversation_id=new_conversation_id,
        input=taken.opening,
        surface=context.surface,
        model=model.model_id if model and told else None,
        holder=shared.holder,
        project=request.project,
        system_instruction=request.system_instruction,
        request=wanted.request,
        caller_key=request.caller_key is not None,
        owner_turns=shared.options.limits.owner_turns,
        seen=situation,
    )
    began = asyncio.get_running_loop().time()
    try:
        turn = await shared.store.open_turn(opening)
    except RequestSeen as seen:
        check_repeat(wanted.request, seen.turn)
        return seen.turn
    if model is None or told is None:
        return turn
    return ReadyTurn(turn, model, title_model, told, began, taken.shown)


async def take_up(shared: Deployment, turn: OpenedTurn, held_since: float) -> ReadyTurn:
    """Returns a turn that was taken over with what running it takes, built from stored values.

    Raises:
        ModelNotConfigured: There is no model here.
    """
    context = TurnContext(
        owner=turn.owner,
        conversation_id=turn.lease.conversation_id,
        turn_id=turn.lease.turn_id,
        input_kind=turn.input_kind,
        surface=turn.surface,
        project=turn.project,
    )
    if shared.model is None:
        raise ModelNotConfigured
    model = shared.model
    told = await instructions(shared.options, model, context, turn.system_instruction)
    return ReadyTurn(turn, model, shared.title_model, told, held_since)


def _may_hold_files(brought: TurnInput) -> bool:
    match brought:
        case PromptInput(attachments=attachments):
            return bool(attachments)
        case AnswerInput():
            return True
        case _:
            return False


def _models(shared: Deployment, request: TurnRequest) -> tuple[Model | None, Model | None]:
    """Returns the model of a turn and that of its title: with the caller's own key, if it has one.

    Raises:
        OptionForbidden: The deployment takes no keys of callers.
    """
    if request.caller_key is None:
        return shared.model, shared.title_model
    if shared.model_of_key is None:
        raise OptionForbidden(
            "caller_key",
            "This deployment takes no provider keys from clients; leave x-ai-api-key out.",
        )
    model = shared.model_of_key(request.caller_key.get_secret_value())
    return model, model

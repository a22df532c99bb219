"""Runs host actions for the buttons of documents (spec blocks 22, turns 12.4)."""

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import structlog
from pydantic import JsonValue

from parleyd.contract.blocks.issues import BlockCode
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.safe_document import safe_document
from parleyd.contract.errors import ActionNotFound, ActionTimeout, InvalidRequest, ParleyError
from parleyd.contract.json import JsonObject, compact, number_at
from parleyd.contract.text import storable
from parleyd.turns.conversations import ConversationStore
from parleyd.turns.host_actions import ActionContext, ActionResult, HostAction, Replace
from parleyd.turns.options import BlockReplies, TurnLimits
from parleyd.turns.request_log import LoggedRequest, RequestLog
from parleyd.turns.running_here import Bound, RunningHere

AI_MODEL: Final = "host-action"
"""What stands for the model in the request log."""

log = structlog.stdlib.get_logger()


@dataclass(frozen=True)
class ActionCall:
    """A client's wish to run an action: for which button, and with what."""

    owner: str
    conversation_id: UUID
    message_id: int
    block_id: str
    element_id: str
    action: str
    payload: JsonObject


@dataclass(frozen=True)
class ActionOutcome:
    """What an action came to, for the client to show. The document is valid and safe to show."""

    text: str | None = None
    document: dict[str, JsonValue] | None = None
    replace: Replace | None = None


class ActionResultUnusable(Exception):
    """An action returned what no client could show: a fault of the deployment's."""

    def __init__(self, codes: tuple[str, ...]) -> None:
        super().__init__(", ".join(codes))
        self.codes = codes


class BlockActions:
    """The host actions of a deployment whose replies are documents."""

    def __init__(
        self,
        blocks: BlockReplies,
        conversations: ConversationStore,
        request_log: RequestLog,
        limits: TurnLimits,
    ) -> None:
        self._blocks = blocks
        self._conversations = conversations
        self._request_log = request_log
        self._limits = limits
        self._running = RunningHere()

    async def run(self, call: ActionCall) -> ActionOutcome:
        """Runs an action and returns what the client is to show; a repeat runs it again.

        Who leaves meanwhile cancels it. One that runs in a thread can't be stopped: its result is
        lost. What reaches the action is in the request log, whatever comes of it.

        Raises:
            ConversationNotFound: No such conversation, or it is deleted.
            NotOwner: It is someone else's.
            ActionNotFound: No action has this name, or it does not run here.
            InvalidRequest: The payload does not fit the action.
            RateLimited: Too many actions of the person or the conversation run here already.
            ActionTimeout: It took too long, and was cancelled.
            ActionResultUnusable: It returned no valid document, or something else nobody can show.
        """
        conversation = await self._conversations.read_conversation(call.owner, call.conversation_id)
        action = self._blocks.actions.get(call.action)
        if action is None or not action.runs_here:
            raise ActionNotFound(call.action)
        if faults := action.faults(call.payload):
            raise InvalidRequest(f"Invalid payload. {faults[0].message} {faults[0].fix}", faults)
        context = ActionContext(
            owner=call.owner,
            conversation_id=call.conversation_id,
            message_id=call.message_id,
            block_id=call.block_id,
            element_id=call.element_id,
            project=conversation.project,
        )
        ended = self._running.one_more(*self._bounds(call))
        began = time.monotonic()
        running = asyncio.create_task(
            action.run(call.payload, context), name=f"host action {action.name}"
        )
        # Which may be long after it was cancelled.
        running.add_done_callback(lambda _: ended())
        try:
            result = await self._within_time(action.name, running)
            outcome = await asyncio.to_thread(_checked, result, self._blocks.options)
        except BaseException as error:  # also that of a client who left
            if isinstance(error, ActionResultUnusable):
                log.error("action_result_unusable", action=action.name, codes=error.codes)  # noqa: TRY400 - a trace would say nothing
            await self._log(call, action, began, error)
            raise
        await self._log(call, action, began, outcome)
        return outcome

    def _bounds(self, call: ActionCall) -> tuple[Bound, Bound]:
        """Returns how many may run (spec blocks 22: limited as chat is)."""
        most, most_in_one = self._limits.owner_turns, self._limits.conversation_turns
        return (
            Bound(call.owner, most, "actions of one person may run"),
            Bound(call.conversation_id, most_in_one, "actions of one conversation may run"),
        )

    async def _within_time(
        self, name: str, running: asyncio.Task[ActionResult | None]
    ) -> ActionResult | None:
        seconds = self._blocks.action_seconds
        try:
            done, _ = await asyncio.wait({running}, timeout=seconds)
            if not done:
                raise ActionTimeout(name, seconds)
            return running.result()
        finally:
            # It is not awaited once it is cancelled: it might not let itself be.
            if not running.done():
                running.add_done_callback(_forget)
                running.cancel()

    async def _log(
        self,
        call: ActionCall,
        action: HostAction,
        began: float,
        ended: ActionOutcome | BaseException,
    ) -> None:
        try:
            failed = isinstance(ended, BaseException)
            value = None if action.log_response else number_at(call.payload, "value")
            line = LoggedRequest(
                owner=call.owner,
                conversation_id=call.conversation_id,
                turn_id=None,
                request_type="ui_action",
                ai_model=AI_MODEL,
                prompt=_asked(call),
                response=None if failed or not action.log_response else _told(ended),
                error=_said(ended, whole=action.log_response) if failed else None,
                response_time_ms=round((time.monotonic() - began) * 1000),
                tokens_used=None,
                metadata=None if value is None else {"value": value},
            )
            await self._request_log.log_request(line)
        except Exception as error:  # noqa: BLE001 - whatever it is, the action has run
            log.warning("request_not_logged", cause=type(error).__name__)


def _checked(result: ActionResult | None, options: BlockOptions) -> ActionOutcome:
    """Returns what an action returned, once it is known that a client can show it."""
    if result is None:
        return ActionOutcome()
    given: tuple[object, object] = (result.text, result.replace)
    match given:
        case (str() | None as text, "block" | "message" | None as replace):
            pass
        case _:
            raise ActionResultUnusable(("INVALID_RESULT",))
    document = None if result.blocks is None else _document(result.blocks, options)
    return ActionOutcome(None if text is None else storable(text), document, replace)


def _document(blocks: JsonValue, options: BlockOptions) -> dict[str, JsonValue]:
    """Returns a valid document that is safe to show.

    It is judged as a text, as those of models are: so whatever else Python holds is no document.
    """
    try:
        text = blocks if isinstance(blocks, str) else json.dumps(blocks, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ActionResultUnusable((BlockCode.NOT_A_DOCUMENT.value,)) from error
    safe = safe_document(text, options)
    if safe.document is None:
        raise ActionResultUnusable(tuple(each.code.value for each in safe.verdict.errors))
    return safe.document


def _asked(call: ActionCall) -> str:
    """Returns what a call was for, without its payload."""
    return compact(
        {
            "conversationId": str(call.conversation_id),
            "messageId": str(call.message_id),
            "blockId": call.block_id,
            "elementId": call.element_id,
            "name": call.action,
        }
    )


def _told(outcome: ActionOutcome) -> str:
    told: dict[str, JsonValue] = {
        "text": outcome.text,
        "blocks": outcome.document,
        "replace": outcome.replace,
    }
    return compact({key: value for key, value in told.items() if value is not None})


def _said(error: BaseException, *, whole: bool) -> str:
    """Returns what the request log holds of a failure: by its kind alone unless `whole`."""
    kind = error.reason.value if isinstance(error, ParleyError) else type(error).__name__
    return f"{kind}: {error}" if whole and str(error) else kind


def _forget(task: asyncio.Task[ActionResult | None]) -> None:
    """Takes what a cancelled action raises: nobody waits for it."""
    if not task.cancelled():
        task.exception()

"""Documents outside of conversations, which services ask for (spec blocks 20)."""

import asyncio
import time
from dataclasses import dataclass
from typing import Final

import structlog
from pydantic import JsonValue

from parleyd.contract.blocks.autofill import fill_missing_action_ids
from parleyd.contract.blocks.fences import unfenced
from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.prompt import prompt_section
from parleyd.contract.blocks.safe_document import SafeDocument, judged_text, made_safe
from parleyd.contract.blocks.schema import json_schema
from parleyd.contract.blocks.strict_json import NotRead, read_json
from parleyd.contract.errors import (
    BlockGenerationFailed,
    BlocksInvalid,
    ModelNotConfigured,
    ParleyError,
)
from parleyd.contract.json import compact, storable_object
from parleyd.contract.text import storable
from parleyd.turns.model import Model, ModelFailed
from parleyd.turns.options import TurnLimits
from parleyd.turns.request_log import LoggedRequest, RequestLog
from parleyd.turns.running_here import Bound, RunningHere

OPTIONS: Final = BlockOptions()
"""What a document may hold, whatever replies may: no HTML, no image of a host, any callback."""
ERRORS: Final = "Errors:"
"""Stands before the errors of the first document where the model is asked for another."""
TEMPERATURE: Final = 0.0

_NO_JSON: Final = (NotRead.NOT_JSON, NotRead.UNFINISHED)

log = structlog.stdlib.get_logger()


@dataclass(frozen=True)
class DocumentWish:
    """What a service wants a document of.

    `owner` is whom the request log names. `system_instruction` stands in for what the model is told
    of documents. With `repair` it is called once more for a document that breaks rules.
    """

    service: str
    owner: str
    prompt: str
    system_instruction: str | None = None
    repair: bool = True


@dataclass(frozen=True)
class WrittenDocument:
    """A valid document. `repaired` tells that it is the model's second."""

    document: dict[str, JsonValue]
    warnings: tuple[BlockIssue, ...] = ()
    repaired: bool = False


class BlockWriter:
    """Has the model write documents, whether or not the deployment's replies are some.

    A service may have as many written at once, in this process, as a person may run turns.
    """

    def __init__(self, model: Model | None, request_log: RequestLog, limits: TurnLimits) -> None:
        self._model = model
        self._request_log = request_log
        self._limits = limits
        self._running = RunningHere()

    async def write(self, wish: DocumentWish) -> WrittenDocument:
        """Returns a document that keeps every rule, by two calls of the model at most.

        Ids that `actions` blocks lack are filled in where nothing else is wrong: that needs no
        model. Cancelling ends the model's call. Whatever comes of it is in the request log.

        Raises:
            ModelNotConfigured: There is no model.
            RateLimited: The service has too many written already.
            BlockGenerationFailed: A call failed, gave no object, or took longer than a turn may.
            BlocksInvalid: The document breaks rules, and is not to be repaired, or was.
        """
        model = self._model
        if model is None:
            raise ModelNotConfigured
        most = self._limits.owner_turns
        ended = self._running.one_more(
            Bound(wish.service, most, "documents of one service may be written")
        )
        try:
            return await self._logged(model, wish)
        finally:
            ended()

    async def _logged(self, model: Model, wish: DocumentWish) -> WrittenDocument:
        began = time.monotonic()
        try:
            written = await self._within_time(model, wish)
        except BaseException as error:  # also that of a client who left
            await self._log(model, wish, began, error)
            raise
        await self._log(model, wish, began, written)
        return written

    async def _within_time(self, model: Model, wish: DocumentWish) -> WrittenDocument:
        try:
            async with asyncio.timeout(self._limits.turn_seconds):
                return await _written(model, wish)
        except ModelFailed as error:
            log.warning("block_generation_failed", kind=error.kind)
            raise BlockGenerationFailed from error
        except TimeoutError as error:
            log.warning("block_generation_failed", kind="timeout")
            raise BlockGenerationFailed from error
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            log.warning("block_generation_failed", kind="other")  # a task of the adapter's own
            raise BlockGenerationFailed from error

    async def _log(
        self, model: Model, wish: DocumentWish, began: float, ended: WrittenDocument | BaseException
    ) -> None:
        written = ended if isinstance(ended, WrittenDocument) else None
        try:
            await self._request_log.log_request(
                LoggedRequest(
                    owner=wish.owner,
                    conversation_id=None,
                    turn_id=None,
                    request_type="ui_blocks",
                    ai_model=model.model_id,
                    prompt=wish.prompt,
                    response=compact(written.document) if written else None,
                    error=_said(ended) if isinstance(ended, BaseException) else None,
                    response_time_ms=round((time.monotonic() - began) * 1000),
                    tokens_used=None,
                    metadata=_codes(ended),
                )
            )
        except Exception as error:  # noqa: BLE001 - whatever it is, the document is there or not
            log.warning("request_not_logged", cause=type(error).__name__)


async def _written(model: Model, wish: DocumentWish) -> WrittenDocument:
    safe = await _asked(model, wish, wish.prompt)
    repaired = bool(safe.verdict.errors) and wish.repair
    if repaired:
        lines = "\n".join(_line(issue) for issue in safe.verdict.errors)
        safe = await _asked(model, wish, f"{wish.prompt}\n\n{ERRORS}\n{lines}")
    if safe.document is None:
        raise BlocksInvalid(safe.verdict.errors)
    return WrittenDocument(storable_object(safe.document), safe.verdict.warnings, repaired)


async def _asked(model: Model, wish: DocumentWish, prompt: str) -> SafeDocument:
    """Returns what one call of the model comes to; a heavy one is read away from the event loop.

    Raises:
        ModelFailed: The call failed, or gave no object.
    """
    system = wish.system_instruction or prompt_section(OPTIONS)
    text = await model.generate_json(system, prompt, json_schema(), TEMPERATURE)
    return await asyncio.to_thread(_safe, storable(text))


def _safe(text: str) -> SafeDocument:
    """Returns what a text is as a document.

    The ids that actions lack are no reason to call the model again, if they are all that is wrong.

    Raises:
        ModelFailed: It is neither a document nor JSON at all.
    """
    judged = judged_text(text, OPTIONS)
    if judged.document is None and read_json(unfenced(text)) in _NO_JSON:
        raise ModelFailed("other", "The model's text holds no object.")
    if judged.verdict.errors and (filled := fill_missing_action_ids(text)):
        mended = judged_text(filled, OPTIONS)
        judged = mended if mended.verdict.ok else judged
    return made_safe(judged, OPTIONS)


def _line(issue: BlockIssue) -> str:
    return " ".join(filter(None, (issue.path, issue.code, issue.message)))


def _said(error: BaseException) -> str:
    """Returns what the request log holds of a failure: the provider's own text, if it is its."""
    match error:
        case BlockGenerationFailed():
            return storable(f"{error.reason}: {error.__cause__}")
        case ParleyError():
            return f"{error.reason}: {error.message}"
        case _:
            return type(error).__name__


def _codes(ended: WrittenDocument | BaseException) -> dict[str, JsonValue] | None:
    if not isinstance(ended, BlocksInvalid):
        return None
    return {"error_codes": [issue.code.value for issue in ended.issues]}

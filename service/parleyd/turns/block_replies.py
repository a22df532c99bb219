"""Replies that are documents: filled in, checked, repaired once, cleaned (spec blocks 18)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from parleyd.contract.blocks.autofill import fill_missing_action_ids
from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.parsing import parse
from parleyd.contract.blocks.safe_document import JudgedText, judged_text, made_safe
from parleyd.contract.blocks.validation import Verdict
from parleyd.contract.errors import ParleyError
from parleyd.contract.events import BlocksChecked
from parleyd.contract.text import storable, trim
from parleyd.turns.model import ModelFailed
from parleyd.turns.options import BlockReplies
from parleyd.turns.ports import Fenced
from parleyd.turns.replies import Reply
from parleyd.turns.stops import HandedOver, TimeOver

REPAIR_INSTRUCTIONS: Final = (
    "Correct the document below, which breaks the rules listed after it. Return the corrected "
    "document alone: no words before or after it, no explanation."
)
NOTE: Final = "Block validation errors:"

log = structlog.stdlib.get_logger()


def is_document(text: str) -> bool:
    """Tells whether a text can be read as a document, valid or not."""
    return not isinstance(parse(text), BlockIssue)


class BlockReplier:
    """Makes replies of the documents that one turn's model wrote.

    `repair` calls the model with a system prompt and a prompt, and returns what it says. `send`
    stores a document that is about to be repaired, so that the person need not wait for that.
    """

    def __init__(
        self,
        replies: BlockReplies,
        repair: Callable[[str, str], Awaitable[str]],
        send: Callable[[str], Awaitable[None]],
    ) -> None:
        self._options = replies.options
        self._may_repair = replies.repair
        self._repair = repair
        self._send = send

    async def reply(self, text: str, *, sent: bool) -> Reply:
        """Returns the reply that a text is; `sent` tells that it was stored as an event already.

        Heavy documents are read away from the event loop.
        """
        judged = await asyncio.to_thread(_filled, text, self._options)
        repaired = False
        if judged.verdict.errors and self._may_repair:
            if not sent:
                await self._send(judged.text)
            if mended := await self._mended(judged):
                repaired = True
                judged = await asyncio.to_thread(_filled, mended, self._options)
        return await asyncio.to_thread(_finished, judged, self._options, repaired=repaired)

    async def _mended(self, judged: JudgedText) -> str:
        """Returns what the model makes of a document with errors; nothing where it fails."""
        prompt = f"{judged.text}\n\n{_lines(judged.verdict)}"
        try:
            return trim(storable(await self._repair(REPAIR_INSTRUCTIONS, prompt)))
        except ModelFailed as error:
            log.warning("repair_failed", kind=error.kind)
        except TimeOver:
            # The turn has its reply: it is not worth failing it for a better one.
            log.warning("repair_failed", kind="timeout")
        except (Fenced, HandedOver, ParleyError):
            raise
        except Exception as error:  # noqa: BLE001 - an adapter may raise anything
            # That is no reason either to lose a reply that was sent.
            log.warning("repair_failed", cause=type(error).__name__)
        return ""


def _filled(text: str, options: BlockOptions) -> JudgedText:
    return judged_text(fill_missing_action_ids(text) or text, options)


def _finished(judged: JudgedText, options: BlockOptions, *, repaired: bool) -> Reply:
    safe = made_safe(judged, options)
    verdict = safe.verdict
    return Reply(
        safe.text,
        note="" if verdict.ok else f"\n\n{NOTE}\n{_lines(verdict)}",
        checked=BlocksChecked(
            errors=verdict.errors, warnings=verdict.warnings, document=safe.document
        ),
        repaired=repaired,
    )


def _lines(verdict: Verdict) -> str:
    """Returns the errors as the model reads them, here and in later turns."""
    return "\n".join(f"- {each.path} {each.code} {each.message}" for each in verdict.errors)

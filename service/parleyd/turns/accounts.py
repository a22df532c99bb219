"""What the request log is told of a turn (spec turns 12.1)."""

import time

import structlog
from pydantic import JsonValue

from parleyd.contract.answers import action_of
from parleyd.contract.asks.ask import Ask
from parleyd.contract.turns import TurnResult
from parleyd.turns.ports import OpenedTurn
from parleyd.turns.replies import NO_REPLY, Reply, WrittenTitle
from parleyd.turns.request_log import LoggedRequest, RequestLog

log = structlog.stdlib.get_logger()


class TurnAccount:
    """Collects what one turn's line holds. `error` is the provider's own text, for this log."""

    def __init__(self, turn: OpenedTurn, ai_model: str) -> None:
        self.error: str | None = None
        self.reply = NO_REPLY
        self._turn = turn
        self._ai_model = ai_model
        self._began = time.monotonic()

    async def log_turn(
        self, request_log: RequestLog, result: TurnResult, tokens: int | None
    ) -> None:
        """Adds the line of a turn that has closed. A log that fails changes nothing."""
        failed = result.error
        await self._log(
            request_log,
            LoggedRequest(
                owner=self._turn.owner,
                conversation_id=result.conversation_id,
                turn_id=result.turn_id,
                request_type="general",
                ai_model=self._ai_model,
                prompt=self._turn.said,
                response=None if failed else result.text + self.reply.note,
                error=(self.error or failed.reason.value) if failed else None,
                response_time_ms=self._elapsed(self._began),
                tokens_used=tokens,
                metadata=_metadata(self._turn, result, self.reply),
            ),
        )

    async def log_title(
        self,
        request_log: RequestLog,
        ai_model: str,
        began: float,
        prompt: str,
        made: WrittenTitle,
    ) -> None:
        """Adds the line of a title call that began at `began`, by `time.monotonic`."""
        await self._log(
            request_log,
            LoggedRequest(
                owner=self._turn.owner,
                conversation_id=self._turn.lease.conversation_id,
                turn_id=self._turn.lease.turn_id,
                request_type="title",
                ai_model=ai_model,
                prompt=prompt,
                response=made.title,
                error=made.error,
                response_time_ms=self._elapsed(began),
                tokens_used=None,
            ),
        )

    @staticmethod
    def _elapsed(began: float) -> int:
        return round((time.monotonic() - began) * 1000)

    @staticmethod
    async def _log(request_log: RequestLog, line: LoggedRequest) -> None:
        try:
            await request_log.log_request(line)
        except Exception as error:  # noqa: BLE001 - whatever it is, the turn is stored already
            log.warning("request_not_logged", cause=type(error).__name__)


def _metadata(turn: OpenedTurn, result: TurnResult, reply: Reply) -> dict[str, JsonValue] | None:
    facts: dict[str, JsonValue] = {}
    asked = _asked(result.pending_ask) if result.pending_ask else None
    if turn.resolved and turn.resolved.answer is not None:
        facts["ask"] = _answered(turn.resolved)
        if asked:
            facts["nextAsk"] = asked
    elif asked:
        facts["ask"] = asked
    if turn.retry_of:
        facts["retryOf"] = str(turn.retry_of)
    if turn.attempts > 1:
        facts["attempts"] = turn.attempts
    if reply.checked and not result.error:
        facts["uiBlocks"] = {
            "ok": reply.checked.ok,
            "repaired": reply.repaired,
            "errorCodes": [issue.code.value for issue in reply.checked.errors],
            "warningCodes": [issue.code.value for issue in reply.checked.warnings],
        }
    return facts or None


def _asked(ask: Ask) -> dict[str, JsonValue]:
    return {
        "kind": ask.kind,
        "phase": "asked",
        "tool_call_id": ask.tool_call_id,
        **_guarded(ask),
    }


def _answered(ask: Ask) -> dict[str, JsonValue]:
    assert ask.answer is not None, "a resolved ask has its answer"
    return {
        "action": action_of(ask.answer),
        "kind": ask.kind,
        "phase": "answered",
        "tool_call_id": ask.tool_call_id,
        **_guarded(ask),
    }


def _guarded(ask: Ask) -> dict[str, JsonValue]:
    """Returns what is told of an approval beside that."""
    if ask.origin != "approval":
        return {}
    return {"origin": ask.origin, "tool_name": ask.tool_name}

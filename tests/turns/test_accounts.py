"""What the request log is told of a turn (spec turns 12.1)."""

import time
from dataclasses import replace
from uuid import UUID

import pytest
from pydantic import JsonValue
from structlog.testing import capture_logs

from parleyd.contract.asks.ask import Ask
from parleyd.contract.blocks.issues import BlockCode, BlockIssue
from parleyd.contract.errors import Unavailable
from parleyd.contract.events import BlocksChecked
from parleyd.contract.reasons import Reason
from parleyd.contract.turns import TurnError, TurnResult
from parleyd.turns.accounts import TurnAccount
from parleyd.turns.ports import OpenedTurn
from parleyd.turns.replies import NO_REPLY, Reply, WrittenTitle
from parleyd.turns.request_log import LoggedRequest
from tests.turns.turn_values import (
    APPROVED,
    CONVERSATION,
    OPENED,
    TURN,
    stored_approval,
    stored_ask,
)

FAILED_TURN = UUID(int=8)
SAID = replace(OPENED, said="Hello", input_kind="prompt")
REPLIED = TurnResult(conversation_id=CONVERSATION, turn_id=TURN, state="completed", text="Hi.")
DOWN = REPLIED.model_copy(
    update={
        "state": "failed",
        "text": "",
        "error": TurnError(reason=Reason.MODEL_ERROR, message="The model could not answer."),
    }
)


class Lines:
    """A request log that keeps its lines, or fails."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.lines: list[LoggedRequest] = []
        self._fault = fault

    async def log_request(self, request: LoggedRequest) -> None:
        if self._fault:
            raise self._fault
        self.lines.append(request)


async def line_of(
    turn: OpenedTurn,
    result: TurnResult,
    *,
    error: str | None = None,
    tokens: int | None = None,
    reply: Reply = NO_REPLY,
) -> LoggedRequest:
    lines = Lines()
    account = TurnAccount(turn, "scripted-1")
    account.error, account.reply = error, reply
    await account.log_turn(lines, result, tokens)
    (line,) = lines.lines
    return line


def pausing(ask: Ask) -> TurnResult:
    return REPLIED.model_copy(update={"state": "paused", "text": "", "pending_ask": ask})


async def test_h5_a_turn_that_replied_has_one_line() -> None:
    line = await line_of(SAID, REPLIED, tokens=12)
    assert 0 <= line.response_time_ms < 5_000
    assert line == LoggedRequest(
        owner="ada",
        conversation_id=CONVERSATION,
        turn_id=TURN,
        request_type="general",
        ai_model="scripted-1",
        prompt="Hello",
        response="Hi.",
        error=None,
        response_time_ms=line.response_time_ms,
        tokens_used=12,
        metadata=None,
    )


async def test_the_time_is_that_since_the_account_was_opened() -> None:
    lines = Lines()
    account = TurnAccount(SAID, "scripted-1")
    began = time.monotonic()
    while time.monotonic() - began < 0.02:
        pass
    await account.log_turn(lines, REPLIED, None)
    assert 20 <= lines.lines[0].response_time_ms < 5_000


@pytest.mark.parametrize(
    ("error", "told"), [("key=SECRET", "key=SECRET"), (None, "MODEL_ERROR")], ids=str
)
async def test_f26_the_line_of_a_failure_has_the_providers_words_and_no_response(
    error: str | None, told: str
) -> None:
    line = await line_of(SAID, DOWN, error=error)
    assert (line.response, line.error) == (None, told)


ANSWERED, CANCELLED = stored_ask(status="answered"), stored_ask(status="cancelled")
NEXT = stored_ask("call_region")
ASKED: JsonValue = {"kind": "choice", "phase": "asked", "tool_call_id": "call_region"}

APPROVAL = stored_approval()
GRANTED = APPROVAL.model_copy(update={"status": "answered", "answer": APPROVED})
GUARDING: dict[str, JsonValue] = {
    "kind": "confirm",
    "origin": "approval",
    "tool_call_id": "apr_1",
    "tool_name": "delete",
}


def resolution(action: str) -> JsonValue:
    return {"action": action, "kind": "choice", "phase": "answered", "tool_call_id": "call_plan"}


FAULT = BlockIssue(
    path="blocks[0]", code=BlockCode.MISSING_REQUIRED, message="There is none.", fix="Write one."
)
DOUBT = FAULT.model_copy(update={"code": BlockCode.LINE_SINGLE_POINT})
DOCUMENTS: dict[str, tuple[Reply, str, dict[str, JsonValue]]] = {
    "valid": (
        Reply("Hi.", checked=BlocksChecked(warnings=(DOUBT,)), repaired=True),
        "Hi.",
        {
            "ok": True,
            "repaired": True,
            "errorCodes": [],
            "warningCodes": ["LINE_SINGLE_POINT"],
        },
    ),
    "invalid": (
        Reply("Hi.", note=" It is wrong.", checked=BlocksChecked(errors=(FAULT,))),
        "Hi. It is wrong.",
        {
            "ok": False,
            "repaired": False,
            "errorCodes": ["MISSING_REQUIRED"],
            "warningCodes": [],
        },
    ),
}


@pytest.mark.parametrize(("reply", "response", "told"), DOCUMENTS.values(), ids=DOCUMENTS)
async def test_the_line_of_a_document_has_its_check_and_what_is_stored(
    reply: Reply, response: str, told: dict[str, JsonValue]
) -> None:
    for result, expected in (
        (REPLIED, {"uiBlocks": told}),
        (pausing(NEXT).model_copy(update={"text": "Hi."}), {"ask": ASKED, "uiBlocks": told}),
    ):
        line = await line_of(SAID, result, reply=reply)
        assert (line.response, line.metadata) == (response, expected)


async def test_the_line_of_a_failure_has_nothing_of_its_document() -> None:
    line = await line_of(SAID, DOWN, reply=DOCUMENTS["invalid"][0])
    assert (line.response, line.metadata) == (None, None)


METADATA: dict[str, tuple[OpenedTurn, TurnResult, dict[str, JsonValue] | None]] = {
    "nothing": (SAID, REPLIED, None),
    "asked": (SAID, pausing(NEXT), {"ask": ASKED}),
    "answered": (replace(SAID, resolved=ANSWERED), REPLIED, {"ask": resolution("accept")}),
    "cancelled by a message": (
        replace(SAID, resolved=CANCELLED),
        REPLIED,
        {"ask": resolution("cancel")},
    ),
    "answered, then asked": (
        replace(SAID, resolved=ANSWERED),
        pausing(NEXT),
        {"ask": resolution("accept"), "nextAsk": ASKED},
    ),
    "an approval": (SAID, pausing(APPROVAL), {"ask": {**GUARDING, "phase": "asked"}}),
    "v11: approved, then another approval": (
        replace(SAID, resolved=GRANTED),
        pausing(APPROVAL),
        {
            "ask": {**GUARDING, "action": "accept", "phase": "answered"},
            "nextAsk": {**GUARDING, "phase": "asked"},
        },
    ),
    "answered, then failed": (
        replace(SAID, resolved=ANSWERED),
        DOWN,
        {"ask": resolution("accept")},
    ),
    "lost the slot": (SAID, REPLIED.model_copy(update={"text": ""}), None),
    "a retry": (replace(SAID, retry_of=FAILED_TURN), REPLIED, {"retryOf": str(FAILED_TURN)}),
    "a retry that asks": (
        replace(SAID, retry_of=FAILED_TURN),
        pausing(NEXT),
        {"ask": ASKED, "retryOf": str(FAILED_TURN)},
    ),
    "one process": (replace(SAID, attempts=1), REPLIED, None),
    "three processes": (replace(SAID, attempts=3), DOWN, {"attempts": 3}),
}


@pytest.mark.parametrize(("turn", "result", "metadata"), METADATA.values(), ids=METADATA)
async def test_h5_the_line_tells_of_asks_retries_and_processes(
    turn: OpenedTurn, result: TurnResult, metadata: dict[str, JsonValue] | None
) -> None:
    assert (await line_of(turn, result)).metadata == metadata


@pytest.mark.parametrize("made", [WrittenTitle("Plans"), WrittenTitle(None, "key=SECRET")], ids=str)
async def test_h5_a_title_call_has_a_line_of_its_own(made: WrittenTitle) -> None:
    lines = Lines()
    account = TurnAccount(SAID, "scripted-1")
    await account.log_title(lines, "titles-1", time.monotonic(), "Hello", made)
    (line,) = lines.lines
    assert (line.request_type, line.ai_model, line.prompt) == ("title", "titles-1", "Hello")
    assert (line.owner, line.conversation_id, line.turn_id) == ("ada", CONVERSATION, TURN)
    assert (line.response, line.error) == (made.title, made.error)
    assert (line.tokens_used, line.metadata) == (None, None)


@pytest.mark.parametrize("fault", [Unavailable("away"), ValueError("key=SECRET")], ids=repr)
async def test_f24_a_log_that_fails_changes_nothing_and_quotes_nothing(fault: Exception) -> None:
    account = TurnAccount(SAID, "scripted-1")
    with capture_logs() as logs:
        await account.log_turn(Lines(fault), REPLIED, None)
    assert [line["event"] for line in logs] == ["request_not_logged"]
    assert "SECRET" not in str(logs)

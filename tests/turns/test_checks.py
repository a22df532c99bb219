"""What must hold before a turn is opened (spec turns 3.2)."""

from dataclasses import replace
from typing import TypeAlias
from uuid import UUID

import pytest
from pydantic import JsonValue

from parleyd.contract.answers import cancelled
from parleyd.contract.data_urls import to_data_url
from parleyd.contract.errors import (
    AnswerWhileAsksOff,
    AskNotPending,
    InvalidAnswer,
    ModelNotConfigured,
    OptionForbidden,
    RateLimited,
    RequestIdReused,
    ToolUnavailable,
    TurnNotFound,
    TurnNotRetryable,
    UnknownButton,
)
from parleyd.contract.turns import (
    AnswerInput,
    ButtonInput,
    PromptInput,
    RetryInput,
    TurnInput,
    TurnRequest,
)
from parleyd.models.scripted import ScriptedModel, in_turn
from parleyd.turns.checks import (
    as_retried,
    check_input,
    check_limits,
    check_model,
    check_options,
    check_repeat,
    check_tool,
    wanted_of,
)
from parleyd.turns.instructions import Instructions
from parleyd.turns.options import TurnLimits, TurnOptions
from parleyd.turns.ports import AnswerOpening, PromptOpening, RetryOpening
from parleyd.turns.requests import RequestKey, turn_request_key
from parleyd.turns.situations import FailedTurn, NamedAsks, RepeatedRequest, Situation, Wanted
from tests.turns.ports_in_memory import MemoryLeases, MemoryStore, PlainTool, deployment
from tests.turns.turn_values import (
    APPROVED,
    CONVERSATION,
    DENIED,
    TEAM,
    meeting,
    stored_approval,
    stored_ask,
)

TurnOpening: TypeAlias = PromptOpening | AnswerOpening | RetryOpening

PROMPT = PromptInput(text="Hello")
ANSWER = AnswerInput(tool_call_id="call_plan", answer=TEAM)
BUTTON = ButtonInput(tool_call_id="call_plan", button_id="option:team")
FAILED_ID = UUID(int=8)
RETRY = RetryInput(turn_id=FAILED_ID)
FAILED = FailedTurn(
    turn_id=FAILED_ID,
    state="failed",
    retryable=True,
    chain_id=UUID(int=3),
    context_max_seq=1,
    surface="compact",
    model="scripted-1",
    system_instruction="Be brief.",
    retried_by=None,
)
PENDING = NamedAsks(pending=stored_ask(), chain_start=1, named=stored_ask())


def wish(turn_input: TurnInput, **more: object) -> TurnRequest:
    return TurnRequest.model_validate(
        {"owner": "ada", "conversation_id": CONVERSATION, "input": turn_input, **more}
    )


async def opened_with(request: TurnRequest, situation: Situation) -> TurnOpening:
    """Returns what a turn is opened with, by a deployment that keeps no files."""
    shared = deployment(MemoryStore(), MemoryLeases(), TurnOptions())
    return (await check_input(shared, request, situation)).opening


# ---------------------------------------------------------------- options and model


@pytest.mark.parametrize("turn_input", [PROMPT, RETRY, ANSWER, BUTTON], ids=lambda one: one.kind)
def test_with_asks_off_only_answers_are_refused(turn_input: TurnInput) -> None:
    check_options(wish(turn_input), TurnOptions(ask_kinds=("choice",)))
    if isinstance(turn_input, PromptInput | RetryInput):
        check_options(wish(turn_input), TurnOptions())
        return
    with pytest.raises(AnswerWhileAsksOff):
        check_options(wish(turn_input), TurnOptions())


def test_a_clients_instruction_is_taken_only_where_the_deployment_says_so() -> None:
    request = wish(PROMPT, system_instruction="Be rude.")
    check_options(request, TurnOptions(allow_client_system_instruction=True))
    check_options(wish(PROMPT, system_instruction=""), TurnOptions())
    with pytest.raises(OptionForbidden) as refused:
        check_options(request, TurnOptions())
    assert refused.value.metadata == {"option": "system_instruction"}


def test_a_turn_runs_on_the_model_there_is() -> None:
    model = ScriptedModel(in_turn(), model_id="scripted-9")
    assert check_model(wish(PROMPT), model) is model
    assert check_model(wish(PROMPT, model="scripted-9"), model) is model
    with pytest.raises(OptionForbidden) as refused:
        check_model(wish(PROMPT, model="other"), model)
    assert refused.value.metadata == {"option": "model"}
    for named in (None, "scripted-9"):
        with pytest.raises(ModelNotConfigured):
            check_model(wish(PROMPT, model=named), None)


# ---------------------------------------------------------------- what is looked up, and repeats

WANTED = {
    "a message": (PROMPT, Wanted(CONVERSATION)),
    "an answer": (ANSWER, Wanted(CONVERSATION, tool_call_id="call_plan")),
    "a button": (BUTTON, Wanted(CONVERSATION, tool_call_id="call_plan")),
    "a retry": (RETRY, Wanted(CONVERSATION, retry_turn_id=FAILED_ID)),
}


@pytest.mark.parametrize(("turn_input", "wanted"), WANTED.values(), ids=WANTED)
def test_what_a_request_names_is_looked_up(turn_input: TurnInput, wanted: Wanted) -> None:
    assert wanted_of(wish(turn_input)) == wanted
    with_id = wish(turn_input, request_id=UUID(int=10))
    assert wanted_of(with_id) == replace(wanted, request=turn_request_key(with_id))


def test_w10_a_repeat_is_of_the_same_request() -> None:
    key = RequestKey(UUID(int=10), b"a")
    check_repeat(key, RepeatedRequest(UUID(int=2), CONVERSATION, b"a"))
    with pytest.raises(RequestIdReused) as refused:
        check_repeat(key, RepeatedRequest(UUID(int=2), CONVERSATION, b"b"))
    assert refused.value.metadata == {"request_id": str(UUID(int=10))}


# ---------------------------------------------------------------- limits


@pytest.mark.parametrize("turn_input", [PROMPT, RETRY, ANSWER, BUTTON], ids=lambda one: one.kind)
@pytest.mark.parametrize(
    ("of_owner", "of_conversation", "limit"), [(7, 3, None), (8, 0, 8), (8, 4, 8), (0, 4, 4)]
)
def test_h10_too_much_at_once_is_refused_but_an_answer_never(
    turn_input: TurnInput, of_owner: int, of_conversation: int, limit: int | None
) -> None:
    situation = replace(
        meeting(), running_of_owner=of_owner, running_of_conversation=of_conversation
    )
    if limit is None or isinstance(turn_input, AnswerInput | ButtonInput):
        check_limits(wish(turn_input), situation, TurnLimits())
        return
    with pytest.raises(RateLimited) as refused:
        check_limits(wish(turn_input), situation, TurnLimits())
    assert refused.value.metadata == {"limit": str(limit)}


# ---------------------------------------------------------------- input


@pytest.mark.parametrize("asks", [NamedAsks(), PENDING], ids=["nothing pending", "an ask pending"])
async def test_a_message_is_never_refused_and_opens_in_storable_form(asks: NamedAsks) -> None:
    opened = await opened_with(wish(PromptInput(text="a\x00\ud83d")), meeting(asks))
    assert opened == PromptOpening("a\ufffd\ufffd")


async def test_an_answer_that_fits_opens_in_storable_form() -> None:
    opened = await opened_with(wish(ANSWER), meeting(PENDING))
    assert opened == AnswerOpening("answer", "call_plan", TEAM)
    reason: JsonValue = {"action": "cancel", "reason": "no\x00"}
    cancelling = wish(AnswerInput(tool_call_id="call_plan", answer=reason))
    assert await opened_with(cancelling, meeting(PENDING)) == AnswerOpening(
        "answer", "call_plan", {"action": "cancel", "reason": "no\ufffd"}
    )
    assert reason == {"action": "cancel", "reason": "no\x00"}


async def test_an_ask_is_named_by_the_storable_form_of_its_id() -> None:
    asks = NamedAsks(pending=stored_ask("call\ufffd"))
    named = AnswerInput(tool_call_id="call\x00", answer=TEAM)
    assert isinstance(await opened_with(wish(named), meeting(asks)), AnswerOpening)


FILES = stored_ask().model_copy(
    update={
        "kind": "files",
        "tool_name": "ask_files",
        "input": {"prompt": "The scan?", "accept": ["text"]},
    }
)
FILE: dict[str, JsonValue] = {
    "filename": "scan.txt",
    "mimeType": "text/plain",
    "size": 5,
    "url": to_data_url("text/plain", b"hello"),
}


async def test_an_answer_with_files_opens_without_their_bytes() -> None:
    asks = NamedAsks(pending=FILES)
    envelope: JsonValue = {"action": "accept", "content": {"files": [FILE]}}
    opened = await opened_with(
        wish(AnswerInput(tool_call_id="call_plan", answer=envelope)), meeting(asks)
    )
    assert isinstance(opened, AnswerOpening)
    assert opened.envelope["content"] == {
        "files": [{"filename": "scan.txt", "mimeType": "text/plain", "size": 5}]
    }


@pytest.mark.parametrize("turn_input", [ANSWER, BUTTON], ids=lambda one: one.kind)
async def test_an_answer_to_what_is_not_pending_is_refused_and_told_why(
    turn_input: TurnInput,
) -> None:
    with pytest.raises(AskNotPending) as never_asked:
        await opened_with(wish(turn_input), meeting())
    assert never_asked.value.metadata == {"tool_call_id": "call_plan"}
    resolved, other = stored_ask(status="answered"), stored_ask("call_other")
    asks = NamedAsks(pending=other, named=resolved)
    with pytest.raises(AskNotPending) as resolved_before:
        await opened_with(wish(turn_input), meeting(asks))
    facts = resolved_before.value.metadata
    assert facts["action"] == "accept"
    assert facts["resolved_by_turn_id"] == str(resolved.resolved_by_turn)
    assert facts["current_tool_call_id"] == "call_other"


UNFIT: dict[str, tuple[JsonValue, str]] = {
    "no object": ([], ""),
    "unknown action": ({"action": "maybe"}, "action"),
    "no content": ({"action": "accept"}, "content"),
    "not offered": (
        {"action": "accept", "content": {"selected": ["gold"]}},
        "content.selected[0]",
    ),
}


@pytest.mark.parametrize(("answer", "path"), UNFIT.values(), ids=UNFIT)
async def test_an_answer_that_does_not_fit_is_refused_with_its_faults(
    answer: JsonValue, path: str
) -> None:
    with pytest.raises(InvalidAnswer, match="it stays pending") as refused:
        await opened_with(
            wish(AnswerInput(tool_call_id="call_plan", answer=answer)), meeting(PENDING)
        )
    assert [error.path for error in refused.value.fields] == [path]


async def test_a_button_answers_as_its_stored_card_says() -> None:
    opened = await opened_with(wish(BUTTON), meeting(PENDING))
    assert opened == AnswerOpening("button", "call_plan", TEAM)


async def test_a8_a_button_that_the_card_does_not_have_is_refused() -> None:
    button = ButtonInput(tool_call_id="call_plan", button_id="option:gold")
    with pytest.raises(UnknownButton) as refused:
        await opened_with(wish(button), meeting(PENDING))
    assert [error.path for error in refused.value.fields] == ["buttonId"]


async def test_a_retry_opens_with_the_turn_that_may_be_retried() -> None:
    opened = await opened_with(wish(RETRY), meeting(failed=FAILED))
    assert opened == RetryOpening(FAILED_ID)


async def test_f16_a_turn_that_the_conversation_does_not_have_cannot_be_retried() -> None:
    with pytest.raises(TurnNotFound):
        await opened_with(wish(RETRY), meeting())


@pytest.mark.parametrize("retried_by", [None, UUID(int=12)], ids=str)
@pytest.mark.parametrize("state", ["running", "paused", "completed", "failed"])
async def test_f16_what_may_not_be_retried_is_told_why(state: str, retried_by: UUID | None) -> None:
    failed = replace(FAILED, state=state, retryable=False, retried_by=retried_by)
    with pytest.raises(TurnNotRetryable) as refused:
        await opened_with(wish(RETRY), meeting(failed=failed))
    facts = {"turn_id": str(FAILED_ID), "state": state}
    if retried_by:
        facts["retried_by_turn_id"] = str(retried_by)
    assert refused.value.metadata == facts


# ---------------------------------------------------------------- what a retry leaves empty


def test_f19_a_retry_takes_what_it_leaves_empty_from_the_failed_turn() -> None:
    request = as_retried(wish(RETRY), FAILED)
    assert (request.surface, request.system_instruction) == ("compact", "Be brief.")
    own = as_retried(wish(RETRY, surface="full", system_instruction="Be kind."), FAILED)
    assert (own.surface, own.system_instruction) == ("full", "Be kind.")


def test_what_is_no_retry_is_on_the_full_surface_where_it_says_nothing() -> None:
    assert as_retried(wish(PROMPT), None).surface == "full"
    assert as_retried(wish(PROMPT, surface="compact"), None).surface == "compact"
    assert as_retried(wish(ANSWER), None).system_instruction is None


# ---------------------------------------------------------------- the tool of an approval

WITHOUT_TOOLS = Instructions(system=None, kinds=(), tools=(), max_steps=1)
WITH_THE_TOOL = replace(WITHOUT_TOOLS, host_tools={"delete": PlainTool("delete")})
GUARDING = NamedAsks(pending=stored_approval())


def approving(envelope: dict[str, JsonValue]) -> AnswerOpening:
    return AnswerOpening("answer", "apr_1", envelope)


def test_v15_an_approval_is_not_granted_where_its_tool_is_gone() -> None:
    with pytest.raises(ToolUnavailable) as refused:
        check_tool(approving(APPROVED), meeting(GUARDING), WITHOUT_TOOLS)
    assert refused.value.metadata == {"tool_name": "delete"}
    check_tool(approving(APPROVED), meeting(GUARDING), WITH_THE_TOOL)


NEED_NO_TOOL: dict[str, tuple[TurnOpening, NamedAsks]] = {
    "a denial": (approving(DENIED), GUARDING),
    "a cancel": (approving(cancelled("no")), GUARDING),
    "a message": (PromptOpening("Never mind"), GUARDING),
    "an answer to the model": (AnswerOpening("answer", "call_plan", TEAM), PENDING),
}


@pytest.mark.parametrize(("opening", "asks"), NEED_NO_TOOL.values(), ids=NEED_NO_TOOL)
def test_v15_what_runs_no_tool_needs_none(opening: TurnOpening, asks: NamedAsks) -> None:
    check_tool(opening, meeting(asks), WITHOUT_TOOLS)

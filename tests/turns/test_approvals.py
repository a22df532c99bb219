"""Approvals: which calls need one, in which words it is asked for, and how it ends."""

import asyncio
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, get_args
from uuid import UUID

import pytest
from pydantic import JsonValue
from structlog.testing import capture_logs

from parleyd.contract.answers import accepted, cancelled, declined
from parleyd.contract.approvals import default_wording
from parleyd.contract.asks.ask import Ask
from parleyd.contract.cards import to_simple_card
from parleyd.contract.steps import CallRole, StepCall
from parleyd.contract.surfaces import Surface
from parleyd.turns.approvals import (
    approval_input,
    denial_of,
    is_approved,
    needs_approval,
    never_asked,
    settled_calls,
)
from parleyd.turns.tools import ApprovalWording, ToolContext
from tests.turns.turn_values import CONVERSATION, NOW, TURN

CONTEXT = ToolContext(
    owner="ada",
    conversation_id=CONVERSATION,
    turn_id=TURN,
    tool_call_id="call_delete",
    idempotency_key="chain/1/0",
)
ARGS: dict[str, JsonValue] = {"list": "home", "count": 9007199254740993}
DELETE = "delete"
DESCRIPTION = "Deletes todos."
DEFAULT: dict[str, JsonValue] = {
    "prompt": "Allow delete? Deletes todos.",
    "confirmLabel": "Allow",
    "denyLabel": "Deny",
}
ASK, OTHER_ASK = UUID(int=11), UUID(int=12)
HIDDEN = ("\u200b", "\u202e", "\u2066", "\U000e0100", "\u3164")

Rule = Callable[[JsonValue, ToolContext], Any]


@dataclass(frozen=True)
class RuledTool:
    """A tool of anybody's own making, whose rule may do anything."""

    rule: Rule
    name: str = DELETE
    description: str = DESCRIPTION
    schema: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    replay_safe: bool = False
    seconds: float | None = None

    def faults(self, args: JsonValue) -> str | None:
        del args
        return None

    async def needs_approval(self, args: JsonValue, context: ToolContext) -> Any:
        return await self.rule(args, context)

    async def run(self, args: JsonValue, context: ToolContext) -> JsonValue:
        raise AssertionError(f"{args} of {context} never runs here")


@pytest.fixture(autouse=True)
def logged() -> Iterator[list[MutableMapping[str, Any]]]:
    with capture_logs() as lines:
        yield lines


def returning(answer: object) -> Rule:
    async def rule(args: JsonValue, context: ToolContext) -> object:
        assert (args, context) == (ARGS, CONTEXT)
        return answer

    return rule


async def break_down(*given: object) -> bool:
    raise KeyError(str(given))


async def hang(*given: object) -> bool:
    del given
    await asyncio.get_running_loop().create_future()
    return False


@pytest.mark.parametrize(
    ("answer", "needed"),
    [
        (True, True),
        (False, False),
        (None, True),
        (0, True),
        ("", True),
        ("no", True),
        ([], True),
        (1, True),
    ],
    ids=repr,
)
async def test_only_a_no_lets_a_call_run_at_once(answer: object, *, needed: bool) -> None:
    assert await needs_approval(RuledTool(returning(answer)), ARGS, CONTEXT) is needed


async def test_v13_a_rule_that_fails_means_that_a_call_needs_an_approval(
    logged: list[MutableMapping[str, Any]],
) -> None:
    assert await needs_approval(RuledTool(break_down), ARGS, CONTEXT) is True
    assert logged == [
        {
            "event": "approval_rule_failed",
            "log_level": "warning",
            "tool": DELETE,
            "cause": "KeyError",
        }
    ]


async def test_what_hangs_is_not_waited_for(logged: list[MutableMapping[str, Any]]) -> None:
    async with asyncio.timeout(10):
        needed, worded = await asyncio.gather(
            needs_approval(RuledTool(hang), ARGS, CONTEXT), worded_by(hang)
        )
    assert needed is True
    assert worded == DEFAULT
    assert {(line["event"], line["cause"]) for line in logged} == {
        ("approval_rule_failed", "TimeoutError"),
        ("approval_wording_failed", "TimeoutError"),
    }


async def hang_on(*given: object) -> bool:
    """Waits until it is cancelled, and then says no as if nothing were."""
    with suppress(asyncio.CancelledError):
        await hang(*given)
    return False


async def test_v13_a_no_that_comes_too_late_is_none(
    logged: list[MutableMapping[str, Any]],
) -> None:
    async with asyncio.timeout(10):
        assert await needs_approval(RuledTool(hang_on), ARGS, CONTEXT) is True
    assert [(line["event"], line["cause"]) for line in logged] == [
        ("approval_rule_failed", "TimeoutError")
    ]


async def test_who_stops_waiting_stops_the_rule() -> None:
    asking = asyncio.create_task(needs_approval(RuledTool(hang), ARGS, CONTEXT))
    wording = asyncio.create_task(worded_by(hang))
    await asyncio.sleep(0)
    asking.cancel()
    wording.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    with pytest.raises(asyncio.CancelledError):
        await wording


def call(
    ask_id: UUID | None = ASK,
    tool_call_id: str = "call_delete",
    role: CallRole = "approval",
    args: JsonValue = None,
) -> StepCall:
    return StepCall(
        tool_call_id=tool_call_id,
        provider_call_id=None,
        tool_name=DELETE,
        args=dict(ARGS) if args is None else args,
        role=role,
        ask_id=ask_id,
    )


async def worded_by(wording: ApprovalWording, surface: Surface = "full") -> dict[str, JsonValue]:
    return await approval_input(call(), DESCRIPTION, {DELETE: wording}, surface)


def wording_of(value: object) -> ApprovalWording:
    async def wording(args: JsonValue) -> object:
        assert args == ARGS
        return value

    return wording


WORDED: dict[str, JsonValue] = {
    "title": "Todos",
    "prompt": "Delete what is done in home?",
    "confirmLabel": "Delete",
    "denyLabel": "Keep",
    "destructive": True,
    "allowDecline": True,
}


@pytest.mark.parametrize("surface", get_args(Surface))
async def test_an_approval_is_asked_for_in_the_words_of_the_deployment(surface: Surface) -> None:
    assert await worded_by(wording_of(WORDED), surface) == WORDED
    assert await worded_by(wording_of({"prompt": "Delete?"}), surface) == {"prompt": "Delete?"}


@pytest.mark.parametrize("surface", get_args(Surface))
async def test_without_words_for_a_tool_the_default_is_asked(surface: Surface) -> None:
    others: dict[str, ApprovalWording] = {"archive": wording_of(WORDED)}
    assert await approval_input(call(), DESCRIPTION, others, surface) == DEFAULT
    assert await approval_input(call(), "", {}, surface) == default_wording(DELETE, "")


def deep(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = {"prompt": value}
    return value


def circle() -> object:
    value: dict[str, object] = {"prompt": "Delete?"}
    value["title"] = value
    return value


NONSENSE: dict[str, object] = {
    "nothing": None,
    "a text": "Delete?",
    "a number": 3,
    "a list": [WORDED],
    "no words": {},
    "a key that is no text": {"prompt": "Delete?", 3: "x"},
    "a set": {"prompt": "Delete?", "title": {"x"}},
    "bytes": {"prompt": b"Delete?"},
    "an object": {"prompt": object()},
    "not a number": {"prompt": "Delete?", "destructive": float("nan")},
    "a number for a text": {"prompt": float("inf")},
    "a circle": circle(),
    "hundreds of levels": deep(5000),
    "an unknown key": {"prompt": "Delete?", "kind": "confirm"},
    "a key from the arguments": {"prompt": "Well?", "Delete? asks Noor": "x"},
    "the keys of another kind": {"prompt": "Delete?", "select": "one", "options": []},
    "a blank prompt": {"prompt": " \n"},
    "a prompt too long": {"prompt": "x" * 501},
    "a label too long": {"prompt": "Delete?", "confirmLabel": "x" * 21},
    "labels that are equal": {"prompt": "Delete?", "confirmLabel": "Yes", "denyLabel": "Yes"},
    "a label like the other's default": {"prompt": "Delete?", "confirmLabel": "Cancel"},
    "a flag that is none": {"prompt": "Delete?", "destructive": 1},
    "a null": {"prompt": "Delete?", "title": None},
}


@pytest.mark.parametrize("surface", get_args(Surface))
@pytest.mark.parametrize("value", NONSENSE.values(), ids=[*NONSENSE])
async def test_v5_words_that_will_not_do_are_replaced(
    value: object, surface: Surface, logged: list[MutableMapping[str, Any]]
) -> None:
    assert await worded_by(wording_of(value), surface) == DEFAULT
    ((event, tool),) = {(line["event"], line["tool"]) for line in logged}
    assert event in {"approval_wording_failed", "approval_wording_unusable"}
    assert tool == DELETE
    assert "Delete?" not in str(logged)


async def test_v5_a_wording_that_fails_is_replaced(logged: list[MutableMapping[str, Any]]) -> None:
    assert await worded_by(break_down) == DEFAULT
    assert [(line["event"], line["cause"]) for line in logged] == [
        ("approval_wording_failed", "KeyError")
    ]


NARROWED: dict[str, dict[str, JsonValue]] = {
    "141 units": {"prompt": "x" * 141},
    "a title of 41 units": {"prompt": "Delete?", "title": "x" * 41},
    "a tab": {"prompt": "Delete\tall?"},
    **{
        f"U+{ord(character):04X} in {key}": {"prompt": "Delete?", key: f"a{character}b"}
        for character in HIDDEN
        for key in ("prompt", "title", "confirmLabel", "denyLabel")
    },
}


@pytest.mark.parametrize("words", NARROWED.values(), ids=[*NARROWED])
async def test_v20_a_small_screen_gets_the_default_where_the_words_would_be_narrowed(
    words: dict[str, JsonValue],
) -> None:
    assert await worded_by(wording_of(words), "full") == words
    assert await worded_by(wording_of(words), "compact") == DEFAULT


async def test_words_are_stored_as_they_can_be() -> None:
    spoilt = {"prompt": "Delete\0 \ud800?"}
    assert await worded_by(wording_of(spoilt)) == {"prompt": "Delete\ufffd \ufffd?"}


@pytest.mark.parametrize("hidden", HIDDEN, ids=lambda one: f"U+{ord(one):04X}")
async def test_bc_051_what_is_hidden_in_arguments_stays_in_them(hidden: str) -> None:
    async def repeat(args: JsonValue) -> dict[str, JsonValue]:
        assert isinstance(args, dict)
        return {"prompt": f"Delete {args['list']}?"}

    guarded = call(args={"list": f"a{hidden}b"})
    worded = await approval_input(guarded, DESCRIPTION, {DELETE: repeat}, "full")
    assert worded == {"prompt": f"Delete a{hidden}b?"}
    assert await approval_input(guarded, DESCRIPTION, {DELETE: repeat}, "compact") == DEFAULT
    assert guarded.args == {"list": f"a{hidden}b"}


def asked(ask_id: UUID = ASK) -> Ask:
    return Ask(
        id=ask_id,
        conversation_id=CONVERSATION,
        chain_id=TURN,
        owner="ada",
        tool_call_id="approval_1",
        kind="confirm",
        origin="approval",
        tool_name=DELETE,
        tool_args=dict(ARGS),
        input=DEFAULT,
        simple=to_simple_card("confirm", DEFAULT, "approval_1"),
        status="answered",
        create_time=NOW,
    )


YES, NO = accepted({"confirmed": True}), accepted({"confirmed": False})
Denials = list[tuple[str, str]]

SETTLED: dict[str, tuple[list[StepCall], UUID, dict[str, JsonValue], Denials]] = {
    "approved": ([call()], ASK, YES, []),
    "denied": ([call()], ASK, NO, [("call_delete", "user_denied")]),
    "skipped": ([call()], ASK, declined(), [("call_delete", "user_declined")]),
    "dropped": ([call()], ASK, {"action": "cancel"}, [("call_delete", "user_cancelled")]),
    "dropped for a reason": ([call()], ASK, cancelled("later"), [("call_delete", "later")]),
    "approved, and a further one": (
        [call(), call(None, "call_more")],
        ASK,
        YES,
        [("call_more", "one_ask_at_a_time")],
    ),
    "denied, and a further one": (
        [call(), call(None, "call_more")],
        ASK,
        NO,
        [("call_delete", "user_denied"), ("call_more", "one_ask_at_a_time")],
    ),
    "after an ask of the model": (
        [call(None), call(None, "call_more")],
        OTHER_ASK,
        accepted({"selected": ["a"]}),
        [("call_delete", "one_ask_at_a_time"), ("call_more", "one_ask_at_a_time")],
    ),
    "no approvals": ([], OTHER_ASK, YES, []),
}


@pytest.mark.parametrize(
    ("guarded", "ask_id", "envelope", "denials"), SETTLED.values(), ids=[*SETTLED]
)
def test_an_answer_settles_the_calls_that_it_denies(
    guarded: list[StepCall], ask_id: UUID, envelope: dict[str, JsonValue], denials: Denials
) -> None:
    returned = [*settled_calls(guarded, asked(ask_id), envelope)]
    assert [(one.tool_call_id, one.denied) for one in returned] == denials
    for one in returned:
        assert one.tool_name == DELETE
        assert one.result == {"approved": False, "reason": one.denied}
        assert one.is_error is False


OUTCOMES: dict[str, tuple[StepCall, dict[UUID, JsonValue], str | None, bool]] = {
    "approved": (call(), {ASK: YES}, None, True),
    "denied": (call(), {ASK: NO}, "user_denied", False),
    "skipped": (call(), {ASK: declined()}, "user_declined", False),
    "dropped": (call(), {ASK: cancelled("later")}, "later", False),
    "not answered": (call(), {}, None, False),
    "an answer to another": (call(), {OTHER_ASK: YES}, None, False),
    "an answer that is none": (call(), {ASK: "yes"}, None, False),
    "a further one": (call(None), {ASK: YES}, "one_ask_at_a_time", False),
}


@pytest.mark.parametrize(
    ("guarded", "answers", "denial", "approved"), OUTCOMES.values(), ids=[*OUTCOMES]
)
def test_a_call_runs_on_its_own_approval_alone(
    guarded: StepCall, answers: dict[UUID, JsonValue], denial: str | None, *, approved: bool
) -> None:
    assert denial_of(guarded, answers) == denial
    assert is_approved(guarded, answers) is approved


HOST, INVALID = call(None, role="host"), call(None, role="invalid")
MODEL_ASK = call(OTHER_ASK, "call_ask", "ask")

NEVER_ASKED: dict[str, tuple[list[StepCall], bool]] = {
    "no calls": ([], False),
    "a host call": ([HOST, INVALID], False),
    "an ask": ([MODEL_ASK, HOST], False),
    "an approval": ([call()], False),
    "two approvals": ([call(), call(None, "call_more")], False),
    "an ask and an approval": ([MODEL_ASK, call(None)], False),
    "an approval while asks are off": ([call(None)], True),
    "several while asks are off": ([HOST, call(None), call(None, "call_more")], True),
}


@pytest.mark.parametrize(("calls", "never"), NEVER_ASKED.values(), ids=[*NEVER_ASKED])
def test_v14_while_asks_are_off_nobody_is_asked(calls: list[StepCall], *, never: bool) -> None:
    asked = {call.ask_id for call in calls if call.ask_id}
    assert never_asked(calls, asked) is never
    assert never_asked(iter(calls), asked) is never


def test_v14_an_approval_that_asks_off_leave_unasked_was_never_asked() -> None:
    assert never_asked([call(), HOST], set())
    assert not never_asked([MODEL_ASK, HOST], set())

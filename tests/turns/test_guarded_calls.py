"""Calls that need an approval, as their step is judged (spec turns 9.2, 9.4, 9.6)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from pydantic import JsonValue
from structlog.testing import capture_logs

from parleyd.contract import limits
from parleyd.contract.asks.ask import AskKind
from parleyd.contract.events import ToolCalled, ToolReturned
from parleyd.turns.approvals import never_asked
from parleyd.turns.calls import CallJudge, JudgedCalls
from parleyd.turns.model import CallPart
from parleyd.turns.tools import HostTool, ToolContext, ToolSet
from tests.standard_asks import PLAN
from tests.turns.ports_in_memory import PlainTool, RandomIds, always_approval
from tests.turns.turn_values import CONVERSATION, OPENED, ROOT, TURN
from tests.turns.waiting import in_time, until

TOOLS: ToolSet = {
    "lookup": PlainTool("lookup"),
    "delete": PlainTool("delete", rule=always_approval),
    "archive": PlainTool("archive", rule=always_approval),
}
ARGS: dict[str, JsonValue] = {"count": 9007199254740993, "price": 3.0}


async def judged(
    *names: str,
    tools: ToolSet = TOOLS,
    kinds: Sequence[AskKind] = ("choice", "confirm"),
    asks_on: bool = True,
) -> JudgedCalls:
    """Returns what becomes of calls, each with its name and its place as its id."""
    judge = CallJudge(OPENED, tools, kinds, asks_on=asks_on, ids=RandomIds())
    parts = [
        CallPart(f"{index}_{name}", name, PLAN if name == "ask_choice" else ARGS, raw=None)
        for index, name in enumerate(names)
    ]
    return await judge.judge(3, parts)


STEPS: dict[str, tuple[list[str], list[tuple[str, bool]]]] = {
    "an approval": (["delete"], [("approval", True)]),
    "two approvals": (["delete", "archive"], [("approval", True), ("approval", False)]),
    "one tool twice": (["delete", "delete"], [("approval", True), ("approval", False)]),
    "an ask before an approval": (["ask_choice", "delete"], [("ask", True), ("approval", False)]),
    "an approval before an ask": (["delete", "ask_choice"], [("approval", True), ("ask", True)]),
    "an ask between approvals": (
        ["delete", "ask_choice", "archive"],
        [("approval", True), ("ask", True), ("approval", False)],
    ),
    "calls that run, before and after": (
        ["lookup", "delete", "lookup", "archive"],
        [("host", False), ("approval", True), ("host", False), ("approval", False)],
    ),
    "a call that can't run before it": (
        ["mail", "delete"],
        [("invalid", False), ("approval", True)],
    ),
}


@pytest.mark.parametrize(("names", "roles"), STEPS.values(), ids=STEPS)
async def test_of_the_approvals_of_a_step_only_its_first_ask_has_an_id(
    names: list[str], roles: list[tuple[str, bool]]
) -> None:
    step = await judged(*names)
    assert [(call.role, call.ask_id is not None) for call in step.calls] == roles
    ids = [call.ask_id for call in step.calls if call.ask_id]
    assert len(ids) == len(set(ids))
    assert step.asks
    assert not never_asked(step.calls, ids)


async def test_v6_a_guarded_call_is_told_and_does_not_start() -> None:
    step = await judged("lookup", "delete", "mail", "archive")
    assert [(event.kind, _id(event)) for event in step.events] == [
        ("tool_call", "0_lookup"),
        ("tool_call", "1_delete"),
        ("tool_call", "2_mail"),
        ("tool_call", "3_archive"),
        ("tool_result", "2_mail"),
    ]
    assert step.events[1] == ToolCalled(tool_call_id="1_delete", tool_name="delete", args=ARGS)
    assert [(start.call_index, start.approval_ask_id) for start in step.starts(3)] == [(0, None)]


def _id(event: object) -> str:
    assert isinstance(event, ToolCalled | ToolReturned)
    return event.tool_call_id


# ---------------------------------------------------------------- the switches of 9.7


@pytest.mark.parametrize("kind", ["choice", "files"])
async def test_v14_an_approval_is_asked_for_where_the_model_may_not_ask_to_confirm(
    kind: AskKind,
) -> None:
    step = await judged("delete", kinds=(kind,))
    assert [(call.role, call.ask_id is not None) for call in step.calls] == [("approval", True)]
    bare = await judged("delete", kinds=())
    assert bare.asks, "the surface offers no kind, and asks are on all the same"


async def test_v14_with_asks_off_nobody_is_asked_and_the_call_never_starts() -> None:
    step = await judged("lookup", "delete", "archive", kinds=(), asks_on=False)
    assert [(call.role, call.ask_id) for call in step.calls] == [
        ("host", None),
        ("approval", None),
        ("approval", None),
    ]
    assert not step.asks
    assert never_asked(step.calls, ())
    assert [start.tool_call_id for start in step.starts(3)] == ["0_lookup"]
    assert [event.kind for event in step.events] == ["tool_call"] * 3


async def test_a_step_without_guarded_calls_lacks_no_approval() -> None:
    step = await judged("lookup", "mail", kinds=(), asks_on=False)
    assert not never_asked(step.calls, ())


# ---------------------------------------------------------------- the rule


@dataclass
class Rule:
    """A rule that says what a test wants it to, and keeps what it was asked."""

    answer: object = True
    asked: list[tuple[JsonValue, ToolContext]] = field(
        default_factory=list[tuple[JsonValue, ToolContext]]
    )

    async def __call__(self, args: JsonValue, context: ToolContext) -> bool:
        self.asked.append((args, context))
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer  # pyright: ignore[reportReturnType]  # a deployment's may be anything


def tools_of(rule: Rule) -> dict[str, HostTool]:
    return {"delete": PlainTool("delete", rule=rule)}


async def test_v13_a_rule_is_asked_once_for_each_call_with_where_it_comes_from() -> None:
    rule = Rule()
    await judged("delete", "delete", tools=tools_of(rule))
    assert rule.asked == [
        (
            ARGS,
            ToolContext(
                owner="ada",
                conversation_id=CONVERSATION,
                turn_id=TURN,
                tool_call_id=f"{index}_delete",
                idempotency_key=f"{ROOT}/3/{index}",
            ),
        )
        for index in range(2)
    ]


SAID: dict[str, tuple[object, str]] = {
    "yes": (True, "approval"),
    "no": (False, "host"),
    "nothing": (None, "approval"),
    "zero": (0, "approval"),
    "an error": (ValueError("SECRET"), "approval"),
    "a time-out of its own": (TimeoutError("SECRET"), "approval"),
    "a cancellation of its own": (asyncio.CancelledError("SECRET"), "approval"),
}


@pytest.mark.parametrize(("answer", "role"), SAID.values(), ids=SAID)
async def test_v13_only_a_plain_no_lets_a_call_run_at_once(answer: object, role: str) -> None:
    with capture_logs() as lines:
        step = await judged("delete", tools=tools_of(Rule(answer)))
    assert [call.role for call in step.calls] == [role]
    assert len(step.starts(3)) == (role == "host")
    assert "SECRET" not in str(lines)
    assert len(lines) == isinstance(answer, BaseException)


async def test_a_rule_that_does_not_answer_in_time_counts_as_a_yes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "APPROVAL_HOOK_SECONDS", 0.05)

    async def silent(args: JsonValue, context: ToolContext) -> bool:
        del args, context
        await asyncio.Event().wait()
        return False

    slow = {"delete": PlainTool("delete", rule=silent)}
    step = await in_time(judged("delete", "delete", tools=slow))
    assert [call.role for call in step.calls] == ["approval"] * 2


async def test_a_turn_that_is_stopped_is_stopped_in_a_rule_too() -> None:
    waiting = asyncio.Event()

    async def silent(args: JsonValue, context: ToolContext) -> bool:
        del args, context
        waiting.set()
        await asyncio.Event().wait()
        return False

    slow = {"delete": PlainTool("delete", rule=silent)}
    judging = asyncio.get_running_loop().create_task(judged("delete", tools=slow))
    await until(waiting.is_set)
    judging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await in_time(judging)


async def test_what_a_rule_does_to_the_arguments_is_not_what_is_shown_and_run() -> None:
    async def meddling(args: JsonValue, context: ToolContext) -> bool:
        del context
        assert isinstance(args, dict)
        args["count"] = 1
        return True

    step = await judged("delete", tools={"delete": PlainTool("delete", rule=meddling)})
    assert step.calls[0].args == ARGS
    assert step.events == (ToolCalled(tool_call_id="0_delete", tool_name="delete", args=ARGS),)


async def test_a_call_whose_arguments_do_not_fit_is_an_error_and_no_approval() -> None:
    rule = Rule()
    judge = CallJudge(OPENED, tools_of(rule), (), asks_on=True, ids=RandomIds())
    step = await judge.judge(1, [CallPart("call_1", "delete", "no object", raw=None)])
    assert [(call.role, call.ask_id) for call in step.calls] == [("invalid", None)]
    assert rule.asked == []
    assert not step.asks
    assert [event.kind for event in step.events] == ["tool_call", "tool_result"]


async def test_an_approval_is_asked_for_on_a_small_screen_too() -> None:
    turn = replace(OPENED, surface="compact")
    judge = CallJudge(turn, TOOLS, (), asks_on=True, ids=RandomIds())
    step = await judge.judge(1, [CallPart("call_1", "delete", ARGS, raw=None)])
    assert step.asks

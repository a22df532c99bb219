"""Which calls of a tool need an approval, as its deployment says."""

import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from functools import partial
from typing import Any

import pytest
from pydantic import JsonValue

from parleyd.tools import ApprovalRule, ToolContext, ToolsUnusable, host_tool, tool
from parleyd.turns.tools import HostTool
from tests.tools.shop import CONTEXT, find_order, place_order

ARGS: dict[str, JsonValue] = {"cents": 500, "note": "a\u202eb"}


def refund(cents: int, note: str = "", currency: str = "EUR") -> None:
    """Refunds money."""


def of_signature(needed: Any) -> HostTool:
    return tool(refund, needs_approval=needed)


def of_schema(needed: Any) -> HostTool:
    return host_tool(
        name="refund",
        description="Refunds money.",
        schema={"type": "object"},
        run=lambda args, _: args,
        needs_approval=needed,
    )


MAKERS = [of_signature, of_schema]
Make = Callable[[Any], HostTool]


def large(args: Mapping[str, JsonValue]) -> bool:
    assert threading.current_thread() is not threading.main_thread()
    return args["cents"] == 500


async def large_on_the_loop(args: Mapping[str, JsonValue]) -> bool:
    assert threading.current_thread() is threading.main_thread()
    return args["cents"] == 500


def of_a_stranger(args: Mapping[str, JsonValue], context: ToolContext) -> bool:
    return args["cents"] == 500 and context.owner != "ada"


async def of_a_stranger_on_the_loop(args: Mapping[str, JsonValue], context: ToolContext) -> bool:
    return args["cents"] == 500 and context.owner != "ada"


class Rules:
    def method(self, args: Mapping[str, JsonValue]) -> bool:
        return args["cents"] == 500

    def __call__(self, args: Mapping[str, JsonValue], context: ToolContext) -> bool:
        return args["cents"] == 500 and context is CONTEXT


def above(least: int, args: Mapping[str, JsonValue]) -> bool:
    return args["cents"] == least


def never(*all_there_is: object) -> bool:
    del all_there_is
    return False


async def test_a_tool_needs_no_approval_unless_it_is_said() -> None:
    for each in (find_order, place_order, *(make(needed=False) for make in MAKERS)):
        assert await each.needs_approval({}, CONTEXT) is False


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("needed", "answer"),
    [
        (True, True),
        (large, True),
        (large_on_the_loop, True),
        (of_a_stranger, False),
        (of_a_stranger_on_the_loop, False),
        (Rules().method, True),
        (Rules(), True),
        (partial(above, 500), True),
        (partial(above, 501), False),
        (never, False),
    ],
)
async def test_a_rule_says_which_calls_need_an_approval(
    make: Make, *, needed: bool | ApprovalRule, answer: bool
) -> None:
    assert await make(needed).needs_approval(dict(ARGS), CONTEXT) is answer


async def test_a_wrapper_that_returns_a_coroutine_is_awaited() -> None:
    def in_either(args: Mapping[str, JsonValue]) -> Awaitable[bool]:
        async def answer() -> bool:
            return args["cents"] == 500

        return answer()

    assert await of_signature(in_either).needs_approval(dict(ARGS), CONTEXT) is True


@pytest.mark.parametrize("make", MAKERS)
async def test_a_rule_gets_the_arguments_as_the_model_sent_them(make: Make) -> None:
    given: list[JsonValue] = []

    def keep(args: dict[str, JsonValue]) -> bool:
        given.append(dict(args))
        return False

    sent: dict[str, JsonValue] = {"cents": 3.0, "note": "\u200b"}
    await make(keep).needs_approval(sent, CONTEXT)
    assert given == [{"cents": 3.0, "note": "\u200b"}]
    assert [type(value) for value in sent.values()] == [float, str]


@pytest.mark.parametrize("make", MAKERS)
async def test_what_a_rule_does_to_the_arguments_changes_nothing(make: Make) -> None:
    def spoil(args: dict[str, Any]) -> bool:
        args["lines"].append("one more")
        args.clear()
        return False

    sent: dict[str, JsonValue] = {"lines": ["tea"]}
    assert await make(spoil).needs_approval(sent, CONTEXT) is False
    assert sent == {"lines": ["tea"]}


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("answer", [None, 0, 1, "", "no", [], object], ids=repr)
async def test_what_is_no_yes_and_no_no_needs_an_approval(
    make: Make, answer: object, logged: list[MutableMapping[str, Any]]
) -> None:
    def rule(args: JsonValue) -> object:
        del args
        return answer

    assert await make(rule).needs_approval(dict(ARGS), CONTEXT) is True
    assert logged == [
        {
            "event": "approval_rule_unusable",
            "log_level": "warning",
            "tool": "refund",
            "returned": type(answer).__qualname__,
        }
    ]


def breaking(args: Mapping[str, JsonValue]) -> bool:
    raise KeyError(str(args))


def leaving(args: Mapping[str, JsonValue]) -> bool:
    raise SystemExit(str(args))


@pytest.mark.parametrize(("rule", "raised"), [(breaking, KeyError), (leaving, RuntimeError)])
async def test_what_a_rule_raises_passes_through(
    rule: ApprovalRule, raised: type[Exception]
) -> None:
    with pytest.raises(raised):
        await of_signature(rule).needs_approval(dict(ARGS), CONTEXT)


def no_parameters() -> bool:
    return True


def three(args: JsonValue, context: ToolContext, more: int) -> bool:
    return bool(args and context and more)


def by_name(*, args: JsonValue) -> bool:
    return bool(args)


def yielding(args: JsonValue) -> Iterator[bool]:
    yield bool(args)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("needed", "told"),
    [
        (None, "needs_approval of the tool `refund` is None: write True, False, or a function of"),
        ("always", "is a str: write True"),
        (1, "is a int: write True"),
        (Rules, "is the class Rules: write True"),
        (bool, "is the class bool: write True"),
        (no_parameters, "has the parameters () -> bool, and is called with the arguments of the"),
        (three, "is called with the arguments of the call, or with these and the context, by"),
        (by_name, "Mend its parameters."),
        (yielding, "The rule needs_approval of the tool `refund` yields: write True"),
        (min, "can't be read"),
    ],
)
def test_what_is_no_rule_stops_the_start(make: Make, needed: object, told: str) -> None:
    with pytest.raises(ToolsUnusable, match="tool `refund`") as raised:
        make(needed)
    assert told in str(raised.value)

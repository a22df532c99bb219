"""What becomes of the calls of a step."""

from dataclasses import replace
from uuid import UUID

import pytest
from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.events import ToolCalled, ToolReturned
from parleyd.contract.executions import ToolStart
from parleyd.contract.surfaces import Surface
from parleyd.turns.calls import CallJudge, JudgedCalls
from parleyd.turns.model import CallPart
from parleyd.turns.tools import HostTool, ToolSet
from tests.standard_asks import PLAN
from tests.turns.ports_in_memory import PlainTool
from tests.turns.turn_values import OPENED

LOOKUP: dict[str, HostTool] = {"lookup": PlainTool("lookup")}
SURFACES: tuple[Surface, ...] = ("full", "compact")


class CountedIds:
    """Ids that a test can tell."""

    def __init__(self) -> None:
        self._last = 0

    def uuid(self) -> UUID:
        self._last += 1
        return UUID(int=self._last)

    def call_id(self) -> str:
        self._last += 1
        return f"call_minted_{self._last}"

    def approval_id(self) -> str:
        raise AssertionError("an approval gets its id when it is asked for")

    def secret(self) -> str:
        raise AssertionError("a call needs no secret")

    def ulid(self) -> str:
        raise AssertionError("calls keep no files")


def judge(*, asks_on: bool = True, surface: Surface = "full", tools: ToolSet = LOOKUP) -> CallJudge:
    kinds = ("choice", "confirm") if asks_on else ()
    turn = replace(OPENED, surface=surface)
    return CallJudge(turn, tools, kinds, asks_on=asks_on, ids=CountedIds())


def told(judged: JudgedCalls) -> list[ToolCalled | ToolReturned]:
    """Returns the events of a step's calls, which are of no other kind."""
    events = [one for one in judged.events if isinstance(one, ToolCalled | ToolReturned)]
    assert len(events) == len(judged.events)
    return events


def call(name: str, args: JsonValue, call_id: str | None = "call_1") -> CallPart:
    return CallPart(call_id, name, args, raw=None)


@pytest.mark.parametrize(
    "provider_id",
    [None, "", "x" * (limits.TOOL_CALL_ID_CHARACTERS + 1)],
    ids=["none", "empty", "too long"],
)
async def test_a_call_whose_id_will_not_do_gets_a_fresh_one(provider_id: str | None) -> None:
    (ask,) = (await judge().judge(1, [call("ask_choice", PLAN, provider_id)])).calls
    assert ask.tool_call_id.startswith("call_minted_")
    assert ask.provider_call_id == provider_id


async def test_an_id_that_comes_twice_in_a_step_is_public_once() -> None:
    judged = await judge().judge(1, [call("ask_choice", PLAN), call("ask_choice", PLAN)])
    first, second = judged.calls
    assert first.tool_call_id == "call_1"
    assert second.tool_call_id.startswith("call_minted_")
    assert [first.provider_call_id, second.provider_call_id] == ["call_1", "call_1"]
    assert first.ask_id != second.ask_id


async def test_an_id_of_an_earlier_step_of_the_chain_is_not_given_again() -> None:
    calls = judge()
    earlier = (await calls.judge(1, [call("ask_choice", PLAN)])).calls
    later = judge()
    later.remember(earlier)
    (ask,) = (await later.judge(2, [call("ask_choice", PLAN)])).calls
    assert ask.tool_call_id.startswith("call_minted_")


async def test_an_id_is_public_in_storable_form() -> None:
    (ask,) = (await judge().judge(1, [call("ask_choice", PLAN, "call\x00\ud83d")])).calls
    assert ask.tool_call_id == "call\ufffd\ufffd"


def nested(levels: int) -> JsonValue:
    value: JsonValue = "deep"
    for _ in range(levels):
        value = [value]
    return {"prompt": value}


@pytest.mark.parametrize("levels", [limits.CALL_LEVELS, 300, 100_000])
async def test_arguments_that_nest_too_deep_are_a_tool_error(levels: int) -> None:
    (judged,) = (await judge().judge(1, [call("ask_choice", nested(levels))])).calls
    assert judged.role == "invalid"
    assert judged.args is None
    assert judged.error == f"The arguments have more than {limits.CALL_LEVELS} levels."


async def test_arguments_just_within_the_depth_are_checked_as_any() -> None:
    (judged,) = (await judge().judge(1, [call("ask_choice", nested(limits.CALL_LEVELS - 1))])).calls
    assert judged.role == "invalid"
    assert judged.error is not None
    assert "INVALID_TYPE" in judged.error


@pytest.mark.parametrize("args", [[], "text", 3, True, None], ids=repr)
async def test_arguments_that_are_no_object_are_a_tool_error(args: JsonValue) -> None:
    judged = await judge().judge(1, [call("ask_choice", args)])
    assert not judged.asks
    assert judged.calls[0].role == "invalid"
    assert judged.events == ()


async def test_arguments_are_checked_and_kept_in_the_form_in_which_they_are_stored() -> None:
    args: dict[str, JsonValue] = {**PLAN, "prompt": "Which\x00 plan \ud83d?"}
    (ask,) = (await judge().judge(1, [call("ask_choice", args)])).calls
    assert ask.role == "ask"
    assert ask.args == {**PLAN, "prompt": "Which\ufffd plan \ufffd?"}


async def test_calls_of_unknown_tools_are_shown_first_all_calls_then_all_results() -> None:
    judged = await judge().judge(
        1, [call("mail", {"to": "ivo"}, "call_a"), call("post", {}, "call_b")]
    )
    assert [type(event) for event in judged.events] == [
        ToolCalled,
        ToolCalled,
        ToolReturned,
        ToolReturned,
    ]
    assert [event.tool_call_id for event in told(judged)] == ["call_a", "call_b"] * 2
    assert all(
        isinstance(event, ToolCalled) or event.is_error
        for event in judged.events
        if isinstance(event, ToolCalled | ToolReturned)
    )


async def test_a_name_that_begins_like_an_ask_is_an_ordinary_tool_with_asks_off() -> None:
    judged = await judge(asks_on=False).judge(1, [call("ask_choice", PLAN)])
    assert not judged.asks
    assert [type(event) for event in judged.events] == [ToolCalled, ToolReturned]


# ---------------------------------------------------------------- host tools


async def test_a_host_call_that_fits_is_shown_and_starts() -> None:
    judged = await judge().judge(1, [call("lookup", {"id": "a\x00"})])
    (host,) = judged.calls
    assert (host.role, host.error, host.ask_id) == ("host", None, None)
    assert judged.events == (
        ToolCalled(tool_call_id="call_1", tool_name="lookup", args={"id": "a\ufffd"}),
    )
    assert not judged.asks
    assert judged.starts(4) == (
        ToolStart(
            step_no=4,
            call_index=0,
            tool_call_id="call_1",
            tool_name="lookup",
            args={"id": "a\ufffd"},
        ),
    )


async def test_only_host_calls_start_each_at_its_own_place() -> None:
    judged = await judge().judge(
        1,
        [
            call("mail", {}, "call_a"),
            call("lookup", {}, "call_b"),
            call("ask_choice", PLAN, "call_c"),
            call("lookup", "no object", "call_d"),
            call("lookup", {}, "call_e"),
        ],
    )
    assert [one.role for one in judged.calls] == ["invalid", "host", "ask", "invalid", "host"]
    assert [(one.call_index, one.tool_call_id) for one in judged.starts(1)] == [
        (1, "call_b"),
        (4, "call_e"),
    ]
    assert [(event.kind, event.tool_call_id) for event in told(judged)] == [
        ("tool_call", "call_a"),
        ("tool_call", "call_b"),
        ("tool_call", "call_d"),
        ("tool_call", "call_e"),
        ("tool_result", "call_a"),
        ("tool_result", "call_d"),
    ]


async def test_a_host_call_whose_arguments_do_not_fit_is_a_tool_error_with_a_result() -> None:
    judged = await judge().judge(1, [call("lookup", [1])])
    assert judged.calls[0].error == "The arguments are no object."
    assert judged.events[1] == ToolReturned(
        tool_call_id="call_1",
        tool_name="lookup",
        result={"error": "The arguments are no object."},
        is_error=True,
    )
    assert judged.starts(1) == ()


async def test_i7_two_host_calls_with_one_id_are_told_apart_over_the_steps_of_a_chain() -> None:
    calls = judge()
    first, second = [
        (await calls.judge(step_no, [call("lookup", {})])).calls[0] for step_no in (1, 2)
    ]
    assert first.tool_call_id == "call_1"
    assert second.tool_call_id.startswith("call_minted_")
    assert first.provider_call_id == second.provider_call_id == "call_1"


async def test_an_unknown_tool_is_told_what_there_is() -> None:
    (unknown,) = (await judge().judge(1, [call("mail", {})])).calls
    assert unknown.error == (
        'There is no tool "mail" here. The tools are: lookup, ask_choice, ask_confirm.'
    )
    bare = await judge(asks_on=False, tools={}).judge(1, [call("mail", {})])
    assert bare.calls[0].error == ('There is no tool "mail" here. There are no tools.')


@pytest.mark.parametrize("name", ["ask_files", "ask_nothing", "ask_"])
async def test_i6_an_ask_that_is_not_offered_is_a_tool_error_without_events(name: str) -> None:
    judged = await judge(surface="compact").judge(1, [call(name, PLAN)])
    assert judged.calls[0].role == "invalid"
    assert judged.calls[0].error
    assert (judged.asks, judged.events, judged.starts(1)) == (False, (), ())


async def test_an_ask_that_only_a_full_surface_can_show_is_a_tool_error_on_a_compact_one() -> None:
    purge: dict[str, JsonValue] = {"prompt": "Delete it? " + "x" * 140, "destructive": True}
    roles = [
        (await judge(surface=surface).judge(1, [call("ask_confirm", purge)])).calls[0].role
        for surface in SURFACES
    ]
    assert roles == ["ask", "invalid"]


async def test_a_host_tool_named_like_an_ask_runs_where_asks_are_off() -> None:
    tools: dict[str, HostTool] = {"ask_choice": PlainTool("ask_choice")}
    judged = await judge(asks_on=False, tools=tools).judge(1, [call("ask_choice", {})])
    assert judged.calls[0].role == "host"
    assert len(judged.events) == 1

"""Which host tools a turn offers."""

from collections.abc import Callable
from uuid import UUID

import pytest
from pydantic import JsonValue
from structlog.testing import capture_logs

from parleyd.turns.options import TurnOptions
from parleyd.turns.tools import HostTool, ToolContext, ToolSet, TurnContext
from parleyd.turns.toolsets import is_tool_name, offered_tools, tools_of_turn

TURN = TurnContext(
    owner="ada",
    conversation_id=UUID(int=1),
    turn_id=UUID(int=2),
    input_kind="prompt",
    surface="full",
    project=None,
)


class Named:
    """A tool of a name."""

    description = "Does nothing."
    replay_safe = False
    seconds = None

    def __init__(self, name: str) -> None:
        self.name = name
        self.schema: dict[str, JsonValue] = {"type": "object"}

    def faults(self, args: JsonValue) -> str | None:
        del args
        return None

    async def needs_approval(self, args: JsonValue, context: ToolContext) -> bool:
        del args, context
        return False

    async def run(self, args: JsonValue, context: ToolContext) -> JsonValue:
        del args, context
        return None


def tools(*names: str) -> dict[str, HostTool]:
    return {name: Named(name) for name in names}


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("find", True),
        ("_f.i-n_d9", True),
        ("A" * 64, True),
        ("A" * 65, False),
        ("", False),
        ("9find", False),
        (".find", False),
        ("find order", False),
        ("größe", False),
        ("find\n", False),
    ],
)
def test_a_name_is_what_every_provider_takes(name: str, *, fits: bool) -> None:
    assert is_tool_name(name) is fits


def test_tools_of_the_turn_come_after_those_of_every_turn() -> None:
    assert [*offered_tools(tools("b", "a"), tools("d", "c"), {}, asks_on=True)] == [
        "b",
        "a",
        "d",
        "c",
    ]


def test_tools_of_other_servers_come_last() -> None:
    offered = offered_tools(tools("a"), tools("b"), tools("d", "c"), asks_on=True)
    assert [*offered] == ["a", "b", "d", "c"]


def test_a_tool_of_the_turn_takes_the_name_and_the_place_of_one_of_every_turn() -> None:
    static, requested = tools("a", "b", "c"), tools("b")
    offered = offered_tools(static, requested, {}, asks_on=True)
    assert [*offered] == ["a", "b", "c"]
    assert offered["b"] is requested["b"]
    assert offered["c"] is static["c"]


def test_a_tool_of_another_server_takes_no_name_that_is_taken() -> None:
    static, requested, remote = tools("a"), tools("b"), tools("b", "c", "a")
    with capture_logs() as lines:
        offered = offered_tools(static, requested, remote, asks_on=True)
    assert [*offered] == ["a", "b", "c"]
    assert offered["a"] is static["a"]
    assert offered["b"] is requested["b"]
    assert offered["c"] is remote["c"]
    assert [(line["event"], line["tool"], line["reason"]) for line in lines] == [
        ("tool_dropped", '"b"', "taken name"),
        ("tool_dropped", '"a"', "taken name"),
    ]


ADDED: dict[str, Callable[[ToolSet, bool], dict[str, HostTool]]] = {
    "of the turn": lambda added, asks_on: offered_tools(tools("a"), added, {}, asks_on=asks_on),
    "of servers": lambda added, asks_on: offered_tools(tools("a"), {}, added, asks_on=asks_on),
}


@pytest.mark.parametrize("offer", ADDED.values(), ids=ADDED)
@pytest.mark.parametrize(
    ("asks_on", "names"), [(True, ["a", "c"]), (False, ["a", "ask_boss", "c"])]
)
def test_s7_an_added_tool_with_a_name_of_asks_is_dropped_with_a_warning(
    names: list[str], offer: Callable[[ToolSet, bool], dict[str, HostTool]], *, asks_on: bool
) -> None:
    with capture_logs() as lines:
        offered = offer(tools("ask_boss", "c"), asks_on)
    assert [*offered] == names
    assert lines == (
        [
            {
                "event": "tool_dropped",
                "log_level": "warning",
                "tool": '"ask_boss"',
                "reason": "reserved name",
            }
        ]
        if asks_on
        else []
    )


@pytest.mark.parametrize("offer", ADDED.values(), ids=ADDED)
@pytest.mark.parametrize("asks_on", [True, False])
def test_an_added_tool_with_a_malformed_name_is_dropped_with_a_warning(
    offer: Callable[[ToolSet, bool], dict[str, HostTool]], *, asks_on: bool
) -> None:
    with capture_logs() as lines:
        offered = offer(tools("9lives", "x" * 100), asks_on)
    assert [*offered] == ["a"]
    assert [line["reason"] for line in lines] == ["malformed name"] * 2


def test_a_tool_goes_by_its_own_name() -> None:
    assert [*offered_tools({}, {"key": Named("own")}, {}, asks_on=True)] == ["own"]


async def test_the_tools_of_a_turn_are_made_from_its_context() -> None:
    seen: list[TurnContext] = []

    async def request_tools(context: TurnContext) -> ToolSet:
        seen.append(context)
        return tools("mine", "ask_boss")

    on = TurnOptions(ask_kinds=("choice",), tools=tools("a"), request_tools=request_tools)
    off = TurnOptions(tools=tools("a"), request_tools=request_tools)
    assert [*await tools_of_turn(on, TURN)] == ["a", "mine"]
    assert [*await tools_of_turn(off, TURN)] == ["a", "mine", "ask_boss"]
    assert seen == [TURN, TURN]


async def test_the_tools_of_other_servers_are_found_anew_for_every_turn() -> None:
    found = [tools("far"), tools("away", "ask_boss")]

    async def remote_tools() -> ToolSet:
        return found.pop(0)

    options = TurnOptions(ask_kinds=("choice",), tools=tools("a"), remote_tools=remote_tools)
    assert [*await tools_of_turn(options, TURN)] == ["a", "far"]
    assert [*await tools_of_turn(options, TURN)] == ["a", "away"]


async def test_without_tools_for_this_turn_there_are_those_of_every_turn() -> None:
    assert [*await tools_of_turn(TurnOptions(tools=tools("a")), TURN)] == ["a"]
    assert await tools_of_turn(TurnOptions(), TURN) == {}


async def test_tools_that_can_not_be_made_stop_the_turn() -> None:
    async def request_tools(context: TurnContext) -> ToolSet:
        raise KeyError(context.owner)

    with pytest.raises(KeyError):
        await tools_of_turn(TurnOptions(request_tools=request_tools), TURN)

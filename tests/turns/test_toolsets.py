"""Which host tools a turn offers."""

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
    assert [*offered_tools(tools("b", "a"), tools("d", "c"), asks_on=True)] == ["b", "a", "d", "c"]


def test_of_one_name_the_later_wins_in_the_place_of_the_earlier() -> None:
    static, requested = tools("a", "b"), tools("a")
    offered = offered_tools(static, requested, asks_on=True)
    assert [*offered] == ["a", "b"]
    assert offered["a"] is requested["a"]
    assert static["a"] is not requested["a"]


@pytest.mark.parametrize(("asks_on", "names"), [(True, ["c"]), (False, ["ask_boss", "c"])])
def test_a_request_tool_with_a_name_of_asks_is_dropped_with_a_warning(
    names: list[str], *, asks_on: bool
) -> None:
    with capture_logs() as lines:
        offered = offered_tools({}, tools("ask_boss", "c"), asks_on=asks_on)
    assert [*offered] == names
    assert lines == (
        [
            {
                "event": "request_tool_dropped",
                "log_level": "warning",
                "tool": '"ask_boss"',
                "reason": "reserved name",
            }
        ]
        if asks_on
        else []
    )


@pytest.mark.parametrize("asks_on", [True, False])
def test_a_request_tool_with_a_malformed_name_is_dropped_with_a_warning(*, asks_on: bool) -> None:
    with capture_logs() as lines:
        offered = offered_tools(tools("a"), tools("9lives", "x" * 100), asks_on=asks_on)
    assert [*offered] == ["a"]
    assert [line["reason"] for line in lines] == ["malformed name"] * 2


def test_a_tool_goes_by_its_own_name() -> None:
    assert [*offered_tools({}, {"key": Named("own")}, asks_on=True)] == ["own"]


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


async def test_without_tools_for_this_turn_there_are_those_of_every_turn() -> None:
    assert [*await tools_of_turn(TurnOptions(tools=tools("a")), TURN)] == ["a"]
    assert await tools_of_turn(TurnOptions(), TURN) == {}


async def test_tools_that_can_not_be_made_stop_the_turn() -> None:
    async def request_tools(context: TurnContext) -> ToolSet:
        raise KeyError(context.owner)

    with pytest.raises(KeyError):
        await tools_of_turn(TurnOptions(request_tools=request_tools), TURN)

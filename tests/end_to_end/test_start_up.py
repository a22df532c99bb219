"""What a deployment may not ask for, and what it is without asks (spec turns 10, 15.7)."""

import sys
from pathlib import Path
from textwrap import dedent

import grpc
import pytest

from parley import error_of
from parley.v1 import turns_pb2
from parleyd.app.faults import ConfigurationError
from parleyd.app.settings import Settings
from parleyd.app.settings_sources import load_settings
from parleyd.app.wiring import running_service
from parleyd.contract.prompts import COMPACT_LINE
from parleyd.models.script import Call, Text
from parleyd.models.scripted import in_turn
from parleyd.tools import load_tools
from tests.end_to_end.person import COMPACT, FULL, accept, refused
from tests.server import StartServer
from tests.standard_asks import PLAN, PLAN_ID, ask_plan

SHOP = """
    from parleyd.tools import tool

    @tool
    def ask_budget(amount: int = 3) -> dict[str, int]:
        "Looks a budget up."
        return {"budget": amount}

    class Own:
        name = "delete all"
        description = "Deletes all."
        schema = {"type": "object"}
        replay_safe = False
        seconds = None

        def faults(self, args):
            return None

        async def needs_approval(self, args, context):
            return False

        async def run(self, args, context):
            return None

    delete_all = Own()
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Returns the name of a deployment's module, which can be imported during the test."""
    (tmp_path / "reserved_shop.py").write_text(dedent(SHOP))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "reserved_shop", raising=False)
    return "reserved_shop"


def test_s6_an_unknown_kind_of_ask_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARLEY_ENVIRONMENT", "development")
    monkeypatch.setenv("PARLEY_ASKS", "choice, poll")
    with pytest.raises(ConfigurationError, match="PARLEY_ASKS can't be used: 'poll' is not"):
        load_settings()


@pytest.mark.parametrize(
    ("tool", "asks", "fault"),
    [
        ("ask_budget", ("choice",), "ask_budget"),
        ("delete_all", ("choice",), "delete all"),
        ("delete_all", (), "delete all"),
    ],
)
async def test_s6_a_tool_whose_name_can_not_be_stops_the_start(
    database_url: str, tmp_path: Path, shop: str, tool: str, asks: tuple[str, ...], fault: str
) -> None:
    settings = Settings.model_validate(
        {
            "environment": "development",
            "port": 0,
            "data_dir": tmp_path,
            "asks": asks,
            "tools": (f"{shop}:{tool}",),
        }
    )
    with pytest.raises(ConfigurationError, match=fault):
        async with running_service(settings, database_url=database_url):
            pass


async def test_s5_s6_with_asks_off_a_tool_with_such_a_name_is_an_ordinary_one(
    start_server: StartServer, shop: str
) -> None:
    call = Call("ask_budget", {"amount": 5}, "call_budget")
    server = await start_server(
        in_turn([call], [Text("Five.")]),
        asks=(),
        tools=load_tools((f"{shop}:ask_budget",), asks_on=False),
    )
    noor = await server.person()
    played = await noor.prompt("How much?")
    assert played.names == ["started", "tool_call", "tool_result", "text", "done"]
    assert played.events[1].tool_call.tool_name == "ask_budget"
    assert played.events[2].tool_result.result_json == '{"budget":5}'
    assert [tool.name for tool in server.model.calls[0].tools] == ["ask_budget"]
    rows = await noor.messages(played.conversation_id)
    assert [row.tool_name for row in rows] == ["", "ask_budget", "ask_budget", ""]


@pytest.mark.parametrize("surface", [FULL, COMPACT])
async def test_s5_with_asks_off_nothing_is_told_of_them(
    start_server: StartServer, surface: turns_pb2.Surface.ValueType
) -> None:
    """A model that asks all the same calls a tool that there is not, as any other."""
    server = await start_server(in_turn([ask_plan()]), asks=(), system_prompt="Be kind.")
    noor = await server.person()
    played = await noor.prompt("Set me up", surface=surface)
    (call,) = server.model.calls
    assert call.tools == ()
    assert call.tool_choice is None
    line = f"\n\n{COMPACT_LINE}" if surface == COMPACT else ""
    assert call.system == f"Be kind.{line}"
    assert played.names == ["started", "tool_call", "tool_result", "done"]
    assert played.events[1].tool_call.tool_name == "ask_choice"
    assert played.events[2].tool_result.is_error


async def test_s5_with_asks_off_there_is_nothing_to_answer_or_list(
    start_server: StartServer,
) -> None:
    before = await start_server(in_turn([ask_plan()]))
    own = (await (await before.person()).prompt("Set me up")).conversation_id
    server = await start_server(in_turn([Text("Hello.")]), asks=())
    noor = await server.person()
    for attempt in (
        noor.answer(own, PLAN_ID, accept("team")),
        noor.press(own, PLAN_ID, "option:team"),
    ):
        error = await refused(attempt)
        assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
        assert error_of(error).reason == "ASKS_DISABLED"
    error = await refused(noor.pending())
    assert error.code() == grpc.StatusCode.UNIMPLEMENTED
    assert error_of(error).reason == "ASKS_DISABLED"
    assert server.model.calls == []
    assert (await noor.conversation(own)).pending_ask.tool_call_id == PLAN_ID
    assert PLAN["prompt"] == (await noor.conversation(own)).pending_ask.input.prompt

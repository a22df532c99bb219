"""Host tools in turns: what the client sees of them, what the model reads, what is kept (15)."""

import asyncio
import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from parley.v1 import conversations_pb2, turns_pb2
from parleyd.contract.asks.kinds import ASK_KINDS
from parleyd.contract.prompts import asks_section
from parleyd.models.script import Call, ScriptedMessage, ScriptedStep, Text
from parleyd.models.scripted import by_progress, in_turn
from parleyd.models.signatures import rebuilt, signed
from parleyd.turns.model import ToolOutcome
from tests.end_to_end.person import COMPACT, accept
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import LOOKUP_ID, PLANS, UPSERT_ID, StandardTools, look_up, upsert

Message = conversations_pb2.Message
TEAM: dict[str, JsonValue] = {"action": "accept", "content": {"selected": ["team"]}}
ASK_TOOLS = ["ask_choice", "ask_confirm", "ask_markdown", "ask_form", "ask_files"]


@pytest.fixture
def tools(tmp_path: Path) -> StandardTools:
    return StandardTools(tmp_path / "runs")


def rows_of(messages: list[Message]) -> list[tuple[str, str]]:
    """Names rows by their type and tool."""
    return [
        (Message.Type.Name(row.type).removeprefix("TYPE_").lower(), row.tool_name)
        for row in messages
    ]


async def test_p4_a_tool_runs_beside_an_ask(
    start_server: StartServer, tools: StandardTools
) -> None:
    server = await start_server(in_turn([look_up(), ask_plan()]), tools=tools.hosted)
    noor = await server.person()

    played = await noor.prompt("Set me up")

    assert played.names == ["started", "tool_call", "tool_result", "ask", "done"]
    call, result = played.events[1].tool_call, played.events[2].tool_result
    assert (call.tool_call_id, call.tool_name, call.args_json) == (LOOKUP_ID, "lookup", "{}")
    assert (result.tool_call_id, result.tool_name) == (LOOKUP_ID, "lookup")
    assert (json.loads(result.result_json), result.is_error) == (PLANS, False)
    assert played.done.pending_tool_call_id == PLAN_ID
    rows = await noor.messages(played.conversation_id)
    assert rows_of(rows) == [
        ("user", ""),
        ("tool_call", "lookup"),
        ("tool_result", "lookup"),
        ("tool_call", "ask_choice"),
    ]
    assert [row.tool_call_id for row in rows] == ["", LOOKUP_ID, LOOKUP_ID, PLAN_ID]
    assert (rows[1].args_json, json.loads(rows[2].result_json)) == ("{}", PLANS)
    assert [row.text for row in rows[1:3]] == ["Tool call: lookup", "Tool result: lookup"]
    assert not rows[1].HasField("ask")
    assert len(tools.runs()) == 1
    assert len(server.model.calls) == 1


async def test_p4_a_slow_tool_beside_an_ask_is_waited_for(
    start_server: StartServer, tools: StandardTools
) -> None:
    server = await start_server(
        in_turn([ask_plan(), look_up(hold="inside")], [Text("Done.")]), tools=tools.hosted
    )
    noor = await server.person()
    playing = asyncio.create_task(noor.prompt("Set me up"))
    async with asyncio.timeout(30):
        await tools.holds.reached("inside")
        assert await noor.pending() == []
        tools.holds.release("inside")
        played = await playing
    assert played.names == ["started", "tool_call", "tool_result", "ask", "done"]
    assert (await noor.answer(played.conversation_id, PLAN_ID, accept("team"))).text == "Done."


async def test_a5_a_step_of_a_tool_and_an_ask_has_one_message_of_results(
    start_server: StartServer, tools: StandardTools
) -> None:
    server = await start_server(
        in_turn([look_up(), ask_plan()], [Text("Done.")]), tools=tools.hosted
    )
    noor = await server.person()
    asked = await noor.prompt("Set me up")
    await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    assert server.model.calls[1].messages == (
        ScriptedMessage("user", (Text("Set me up"),)),
        ScriptedMessage("model", (signed(look_up()), ask_plan())),
        ScriptedMessage(
            "tool",
            (
                ToolOutcome(LOOKUP_ID, "lookup", value=PLANS),
                ToolOutcome(PLAN_ID, "ask_choice", value=TEAM),
            ),
        ),
    )


async def test_a5_the_steps_before_a_pause_come_back_whole_after_a_restart(
    start_server: StartServer, tools: StandardTools
) -> None:
    steps: list[ScriptedStep] = [
        [Text("First this.", b"\x00opaque"), look_up("call_1")],
        [look_up("call_2", fail="No such shop."), upsert("call_3", crash="boom")],
        [upsert("call_4"), ask_plan(), look_up("call_5")],
        [Text("Done.")],
    ]
    first = await start_server(by_progress(*steps), tools=tools.hosted)
    noor = await first.person()
    asked = await noor.prompt("Set me up")
    assert asked.names[-2:] == ["ask", "done"]
    await first.stop()
    second = await start_server(by_progress(*steps), tools=tools.hosted)
    noor = await second.person()

    answered = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))

    assert answered.names == ["started", "ask_resolved", "text", "done"]
    (call,) = second.model.calls
    assert call.messages == (
        ScriptedMessage("user", (Text("Set me up"),)),
        ScriptedMessage("model", (Text("First this.", b"\x00opaque"), signed(look_up("call_1")))),
        ScriptedMessage("tool", (ToolOutcome("call_1", "lookup", value=PLANS),)),
        ScriptedMessage(
            "model",
            (signed(look_up("call_2", fail="No such shop.")), upsert("call_3", crash="boom")),
        ),
        ScriptedMessage(
            "tool",
            (
                ToolOutcome("call_2", "lookup", error="No such shop."),
                ToolOutcome("call_3", "upsert", error="The tool upsert failed."),
            ),
        ),
        ScriptedMessage("model", (signed(upsert("call_4")), ask_plan(), look_up("call_5"))),
        ScriptedMessage(
            "tool",
            (
                ToolOutcome("call_4", "upsert", value=PLANS),
                ToolOutcome(PLAN_ID, "ask_choice", value=TEAM),
                ToolOutcome("call_5", "lookup", value=PLANS),
            ),
        ),
    )
    assert call.messages[:5] == first.model.calls[2].messages, "live and replayed are the same"
    assert len(tools.runs()) == 5


@pytest.mark.parametrize(
    ("step", "kept"),
    [
        pytest.param([look_up()], (), id="a tool alone"),
        pytest.param(
            [look_up(), ask_plan()],
            (
                ScriptedMessage("model", (rebuilt(ask_plan()),)),
                ScriptedMessage("tool", (ToolOutcome(PLAN_ID, "ask_choice", value=TEAM),)),
            ),
            id="a tool beside an ask",
        ),
    ],
)
async def test_a6_a_later_turn_sees_asks_and_replies_and_no_tool(
    start_server: StartServer,
    tools: StandardTools,
    step: ScriptedStep,
    kept: tuple[ScriptedMessage, ...],
) -> None:
    server = await start_server(
        in_turn(step, [Text("Done.")], [Text("Welcome.")]), tools=tools.hosted
    )
    noor = await server.person()
    played = await noor.prompt("Set me up")
    if kept:
        played = await noor.answer(
            played.events[0].started.conversation_id, PLAN_ID, accept("team")
        )
    await noor.prompt("Thanks", played.conversation_id)
    assert played.text == "Done."
    assert server.model.calls[2].messages == (
        ScriptedMessage("user", (Text("Set me up"),)),
        *kept,
        ScriptedMessage("model", (Text("Done."),)),
        ScriptedMessage("user", (Text("Thanks"),)),
    )
    assert len(tools.runs()) == 1


async def test_i5_the_model_goes_on_with_what_a_tool_returned(
    start_server: StartServer, tools: StandardTools
) -> None:
    server = await start_server(
        in_turn([look_up()], [Text("There are 3 plans.")]), tools=tools.hosted
    )
    noor = await server.person()
    played = await noor.prompt("How many plans?")
    assert played.names == ["started", "tool_call", "tool_result", "text", "done"]
    assert played.text == "There are 3 plans."
    assert len(server.model.calls) == 2
    assert server.model.calls[1].messages[1:] == (
        ScriptedMessage("model", (signed(look_up()),)),
        ScriptedMessage("tool", (ToolOutcome(LOOKUP_ID, "lookup", value=PLANS),)),
    )


@pytest.mark.parametrize("apart", [True, False], ids=["in two steps", "in one step"])
async def test_i7_two_calls_with_one_provider_id_are_two_calls(
    start_server: StartServer, tools: StandardTools, *, apart: bool
) -> None:
    first, second = look_up(), look_up(fail="Closed.")
    steps: list[ScriptedStep] = [[first], [second]] if apart else [[first, second]]
    server = await start_server(in_turn(*steps, [Text("Done.")]), tools=tools.hosted)
    noor = await server.person()

    played = await noor.prompt("How many plans?")

    calls = [event.tool_call for event in played.events if event.HasField("tool_call")]
    results = {
        event.tool_result.tool_call_id: json.loads(event.tool_result.result_json)
        for event in played.events
        if event.HasField("tool_result")
    }
    one, other = (call.tool_call_id for call in calls)
    assert one == LOOKUP_ID
    assert other != LOOKUP_ID
    assert results == {one: PLANS, other: {"error": "Closed."}}
    assert sorted(run.call_id for run in tools.runs("lookup")) == sorted([one, other])
    assert len({run.key for run in tools.runs()}) == 2
    rows = await noor.messages(played.conversation_id)
    assert {(row.tool_call_id, Message.Type.Name(row.type)) for row in rows if row.tool_name} == {
        (id_, kind) for id_ in (one, other) for kind in ("TYPE_TOOL_CALL", "TYPE_TOOL_RESULT")
    }
    outcomes = [
        part
        for message in server.model.calls[-1].messages
        if isinstance(message, ScriptedMessage) and message.role == "tool"
        for part in message.parts
    ]
    assert outcomes == [
        ToolOutcome(LOOKUP_ID, "lookup", value=PLANS),
        ToolOutcome(LOOKUP_ID, "lookup", error="Closed."),
    ]


async def test_s1_host_tools_come_before_those_that_ask(
    start_server: StartServer, tools: StandardTools
) -> None:
    server = await start_server(
        in_turn([Text("Hello.")], [Text("Hello.")]), tools=tools.hosted, system_prompt="Be kind."
    )
    noor = await server.person()
    await noor.prompt("Hello")
    await noor.prompt("Hello", surface=COMPACT)
    full, compact = server.model.calls
    assert [tool.name for tool in full.tools] == ["lookup", "upsert", *ASK_TOOLS]
    assert [tool.name for tool in compact.tools] == ["lookup", "upsert", *ASK_TOOLS[:2]]
    assert full.tools[0].description == tools.hosted["lookup"].description
    assert full.tools[0].schema == tools.hosted["lookup"].schema
    assert full.system == f"Be kind.\n\n{asks_section(ASK_KINDS, 'full')}"
    assert full.tool_choice == "auto"


async def test_results_are_shown_as_they_come_and_read_in_call_order(
    start_server: StartServer, tools: StandardTools
) -> None:
    server = await start_server(
        in_turn([look_up(hold="inside"), upsert()], [Text("Done.")]), tools=tools.hosted
    )
    noor = await server.person()
    shown: list[str] = []

    async def play() -> None:
        request = turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text="Hello"))
        async for event in noor.stream(request):
            if event.HasField("tool_result"):
                shown.append(event.tool_result.tool_call_id)
                tools.holds.release("inside")

    await asyncio.wait_for(play(), 30)
    assert shown == [UPSERT_ID, LOOKUP_ID]
    results = server.model.calls[1].messages[-1]
    assert isinstance(results, ScriptedMessage)
    assert results.parts == (
        ToolOutcome(LOOKUP_ID, "lookup", value=PLANS),
        ToolOutcome(UPSERT_ID, "upsert", value=PLANS),
    )


async def test_a_tool_that_is_not_there_and_arguments_that_do_not_fit_are_told(
    start_server: StartServer, tools: StandardTools
) -> None:
    unknown, unfit = Call("paint", {"colour": "red"}, "call_paint"), Call("lookup", [], "call_list")
    server = await start_server(in_turn([unknown, unfit], [Text("Well.")]), tools=tools.hosted)
    noor = await server.person()
    played = await noor.prompt("Paint")
    assert played.names == ["started", *["tool_call"] * 2, *["tool_result"] * 2, "text", "done"]
    results = [event.tool_result for event in played.events[3:5]]
    assert [result.is_error for result in results] == [True, True]
    read = server.model.calls[1].messages[-1]
    assert isinstance(read, ScriptedMessage)
    assert [json.loads(result.result_json)["error"] for result in results] == [
        part.error for part in read.parts if isinstance(part, ToolOutcome)
    ]
    assert rows_of(await noor.messages(played.conversation_id)) == [
        *[("user", ""), ("tool_call", "paint"), ("tool_call", "lookup")],
        *[("tool_result", "paint"), ("tool_result", "lookup"), ("assistant", "")],
    ]
    assert tools.runs() == []

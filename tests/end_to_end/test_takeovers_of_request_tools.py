"""Tools that one turn alone has, when another process goes on with it (15.6)."""

import asyncio
import json
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1 import turns_pb2
from parleyd.contract.executions import UNKNOWN_RESULT
from parleyd.models.script import Fail
from parleyd.models.scripted import by_progress, in_turn
from parleyd.turns.tools import ToolSet, TurnContext
from tests.end_to_end.dead_turns import lapse
from tests.end_to_end.rows import types
from tests.scripts import COUNTED
from tests.server import StartServer
from tests.standard_tools import PLANS, StandardTool, StandardTools, upsert

DEADLINE = 30


async def test_a_call_that_was_told_to_be_unknown_is_not_run_again_in_its_turn(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    """Whoever takes a turn over doesn't know yet what its own tools may do."""
    tools = StandardTools(tmp_path / "runs")

    async def request_tools(context: TurnContext) -> ToolSet:
        del context
        return tools.hosted

    script = by_progress([upsert(hold="inside")], [COUNTED])
    servers = [await start_server(script, request_tools=request_tools) for _ in range(2)]
    noor = await servers[0].person()
    request = turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text="Count."))
    async with asyncio.timeout(DEADLINE):
        playing = asyncio.create_task(noor.play(request))
        await tools.holds.reached("inside")
        await lapse(engine)
        played = await playing
    names = ["started", "tool_call", "resumed", "tool_result", "text", "done"]
    assert played.names == names
    assert json.loads(played.events[3].tool_result.result_json) == UNKNOWN_RESULT
    assert len(tools.runs()) == 1


async def test_a_call_is_unknown_whose_tool_may_run_again_in_other_turns_alone(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    """The deployment's tool of that name may; the one that this turn has instead may not."""
    tools = StandardTools(tmp_path / "runs")

    async def request_tools(context: TurnContext) -> ToolSet:
        del context
        return {"upsert": StandardTool("upsert", replay_safe=False, of=tools)}

    script = by_progress([upsert(hold="inside")], [COUNTED])
    servers = [
        await start_server(script, tools=tools.hosted, request_tools=request_tools)
        for _ in range(2)
    ]
    noor = await servers[0].person()
    request = turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text="Count."))
    async with asyncio.timeout(DEADLINE):
        playing = asyncio.create_task(noor.play(request))
        await tools.holds.reached("inside")
        await lapse(engine)
        played = await playing
    names = ["started", "tool_call", "resumed", "tool_result", "text", "done"]
    assert played.names == names
    assert json.loads(played.events[3].tool_result.result_json) == UNKNOWN_RESULT
    assert len(tools.runs()) == 1
    assert types(await noor.messages(played.conversation_id)) == [
        "user",
        "tool_call",
        "tool_result",
        "assistant",
    ]
    async with engine.connect() as connection:
        states = await connection.execute(text("SELECT state FROM tool_executions"))
        assert states.scalars().all() == ["unknown"]


async def test_a_retry_repeats_an_unknown_call_also_where_its_failed_turn_ran(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    """What a process remembers of a chain is no more than what can't change any more."""
    tools = StandardTools(tmp_path / "runs")

    async def request_tools(context: TurnContext) -> ToolSet:
        del context
        return tools.hosted

    script = in_turn([upsert(hold="inside")], [Fail("other")], [COUNTED])
    server = await start_server(script, request_tools=request_tools)
    noor = await server.person()
    request = turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text="Count."))
    async with asyncio.timeout(DEADLINE):
        playing = asyncio.create_task(noor.play(request))
        await tools.holds.reached("inside")
        await lapse(engine)
        failed = await playing
        tools.holds.release("inside")
        retried = await noor.retry(failed.conversation_id, failed.turn_id)
    assert failed.names == ["started", "tool_call", "resumed", "tool_result", "error", "done"]
    assert retried.names == ["started", "tool_result", "text", "done"]
    assert json.loads(retried.events[1].tool_result.result_json) == PLANS
    assert len(tools.runs()) == 2

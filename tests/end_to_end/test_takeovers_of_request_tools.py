"""Tools that one turn alone has, when another process goes on with it (15.6)."""

import asyncio
import json
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1 import turns_pb2
from parleyd.contract.executions import UNKNOWN_RESULT
from parleyd.models.scripted import by_progress
from parleyd.turns.tools import ToolSet, TurnContext
from tests.end_to_end.dead_turns import lapse
from tests.scripts import COUNTED
from tests.server import StartServer
from tests.standard_tools import StandardTools, upsert

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

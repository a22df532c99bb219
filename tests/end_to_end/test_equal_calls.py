"""Two equal calls in one step are two calls (bug case 33)."""

from dataclasses import replace
from pathlib import Path

import grpc
import pytest

from parley import error_of
from parley.v1 import conversations_pb2
from parleyd.models.script import Call
from parleyd.models.scripted import by_progress
from tests.end_to_end.person import accept, refused
from tests.scripts import COUNTED, SET_UP
from tests.server import StartServer
from tests.standard_asks import ask_plan
from tests.standard_tools import StandardTools, look_up

EQUAL_ASKS = {
    "one_id": [ask_plan(), ask_plan()],
    "no_ids": [replace(ask_plan(), call_id=None)] * 2,
}


@pytest.mark.parametrize("step", EQUAL_ASKS.values(), ids=EQUAL_ASKS)
async def test_bc_033_two_equal_asks_of_a_step_have_two_ids(
    start_server: StartServer, step: list[Call]
) -> None:
    server = await start_server(by_progress(step, [SET_UP]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    assert asked.names == ["started", "ask", "done"]
    asks = [line for line in await noor.messages(asked.conversation_id) if _is_ask(line)]
    first, second = asks
    assert first.tool_call_id == asked.ask.tool_call_id
    assert first.tool_call_id != second.tool_call_id
    assert first.ask.input == second.ask.input
    assert first.ask.status == conversations_pb2.MessageAsk.STATUS_PENDING
    assert second.ask.status == conversations_pb2.MessageAsk.STATUS_CANCELLED

    # The other one lost the slot: an answer to it is nobody's.
    error = await refused(
        noor.answer(asked.conversation_id, second.tool_call_id, accept("starter"))
    )
    assert error.code() == grpc.StatusCode.ABORTED
    told = error_of(error)
    assert told.reason == "ASK_NOT_PENDING"
    assert told.metadata["current_tool_call_id"] == first.tool_call_id
    pending = (await noor.conversation(asked.conversation_id)).pending_ask
    assert pending.tool_call_id == first.tool_call_id
    assert len(server.model.calls) == 1

    answered = await noor.answer(asked.conversation_id, first.tool_call_id, accept("team"))
    assert answered.names == ["started", "ask_resolved", "text", "done"]
    results = [line for line in await noor.messages(asked.conversation_id) if _is_result(line)]
    by_id = {line.tool_call_id: line.ask.answer for line in results}
    assert by_id[first.tool_call_id] == accept("team")
    assert by_id[second.tool_call_id].cancel.reason == "one_ask_at_a_time"


async def test_bc_033_two_equal_calls_of_a_tool_have_two_ids_and_two_keys(
    start_server: StartServer, tmp_path: Path
) -> None:
    tools = StandardTools(tmp_path / "runs")
    server = await start_server(by_progress([look_up(), look_up()], [COUNTED]), tools=tools.hosted)
    noor = await server.person()
    played = await noor.prompt("How many plans are there?")
    assert played.names == [
        *("started", "tool_call", "tool_call", "tool_result", "tool_result", "text", "done")
    ]
    called = [
        event.tool_call.tool_call_id for event in played.events if event.HasField("tool_call")
    ]
    returned = [
        event.tool_result.tool_call_id for event in played.events if event.HasField("tool_result")
    ]
    assert len(set(called)) == 2
    assert sorted(called) == sorted(returned)
    assert len({run.key for run in tools.runs()}) == 2


def _is_ask(line: conversations_pb2.Message) -> bool:
    return line.type == conversations_pb2.Message.TYPE_TOOL_CALL


def _is_result(line: conversations_pb2.Message) -> bool:
    return line.type == conversations_pb2.Message.TYPE_TOOL_RESULT

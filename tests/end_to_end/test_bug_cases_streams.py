"""Faults of other systems with streams and with what they store, tried on ours."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from parley.v1 import turns_pb2
from parleyd.contract import limits
from parleyd.models.script import Hold, Text
from parleyd.models.scripted import by_progress, in_turn
from tests.end_to_end.answers import file, files
from tests.end_to_end.kinds_asked import ASK_ID
from tests.end_to_end.person import accept, refused
from tests.end_to_end.waiting import wait_on
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import StandardTools, look_up

DEADLINE = 60
HALF = "\ud83d"
CALLS = 98


def prompted(words: str) -> turns_pb2.StreamTurnRequest:
    return turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text=words))


async def test_bc_090_who_attaches_before_the_first_token_sees_a_running_turn_at_once(
    start_server: StartServer,
) -> None:
    server = await start_server(
        in_turn([Hold("silent"), Text("Hello "), Hold("half"), Text("you.")])
    )
    noor = await server.person()
    call = noor.client.turns.StreamTurn(prompted("Hello?"))
    response = await call.read()
    assert isinstance(response, turns_pb2.StreamTurnResponse)
    started = response.event
    await server.model.holds.reached("silent")
    call.cancel()

    named = started.started.conversation_id, started.turn_id
    watched = noor.watch_all(*named)
    async with asyncio.timeout(DEADLINE):
        assert await anext(watched) == started
        turn = await noor.turn(*named)
        assert turn.state == turns_pb2.Turn.STATE_RUNNING
        assert turn.last_event_sequence == 1
        assert (await noor.conversation(named[0])).running_turn_id == named[1]
        server.model.holds.release("silent")
        assert (await anext(watched)).text_preview.delta == "Hello "
        server.model.holds.release("half")
        rest = [event async for event in watched]
    assert "".join(event.text_preview.delta for event in rest) in {"you.", ""}
    assert [event.WhichOneof("event") for event in rest if event.sequence] == ["text", "done"]
    assert len(server.model.calls) == 1


async def test_bc_092_what_came_between_a_drop_and_a_new_stream_is_not_lost(
    start_server: StartServer, tmp_path: Path
) -> None:
    tools = StandardTools(tmp_path / "runs")
    lookups = [look_up(f"call_{number}") for number in range(CALLS)]
    script = by_progress([ask_plan()], lookups, [Hold("thinking"), Text("There are 3 plans.")])
    server = await start_server(script, tools=tools.hosted)
    noor = await server.person()
    asked = await noor.prompt("How many plans are there?")
    answer = turns_pb2.AnswerInput(tool_call_id=PLAN_ID, answer=accept("team"))
    call = noor.client.turns.StreamTurn(
        turns_pb2.StreamTurnRequest(conversation_id=asked.conversation_id, answer=answer)
    )
    before: list[turns_pb2.TurnEvent] = []
    async for response in call:
        if response.event.sequence:
            before.append(response.event)
        if len(before) == 57:
            call.cancel()
            break
    named = asked.conversation_id, before[0].turn_id

    async with asyncio.timeout(DEADLINE):
        attached = asyncio.create_task(noor.watch(*named, after=57))
        await server.model.holds.reached("thinking")
        server.model.holds.release("thinking")
        after = await attached
        await server.stop()
        other = await start_server(script, tools=tools.hosted)
        restarted = await (await other.person()).watch(*named, after=57)

    assert [event.sequence for event in before] == list(range(1, 58))
    assert [event.sequence for event in after.events] == list(range(58, 201))
    assert after.names[-2:] == ["text", "done"]
    assert restarted.events == after.events
    told = [*before, *after.events]
    ids = {f"call_{number}" for number in range(CALLS)}
    called = [event.tool_call.tool_call_id for event in told if event.HasField("tool_call")]
    returned = [event.tool_result.tool_call_id for event in told if event.HasField("tool_result")]
    assert (len(called), set(called)) == (len(returned), set(returned)) == (CALLS, ids)


async def test_bc_092_a_restart_of_the_server_in_the_middle_loses_no_event(
    start_server: StartServer, tmp_path: Path
) -> None:
    tools = StandardTools(tmp_path / "runs")
    lookups = [look_up(f"call_{number}") for number in range(CALLS)]
    script = by_progress(lookups, [Hold("thinking"), Text("There are 3 plans.")])
    server = await start_server(script, tools=tools.hosted)
    noor = await server.person()
    call = noor.client.turns.StreamTurn(prompted("How many plans are there?"))
    before: list[turns_pb2.TurnEvent] = []
    async for response in call:
        if response.event.sequence:
            before.append(response.event)
        if len(before) == 57:
            call.cancel()
            break
    named = before[0].started.conversation_id, before[0].turn_id

    async with asyncio.timeout(DEADLINE):
        await server.model.holds.reached("thinking")
        other = await start_server(script, tools=tools.hosted)
        other.model.holds.release("thinking")
        attached = asyncio.create_task((await other.person()).watch(*named, after=57))
        await server.stop()
        after = await attached

    # Started, a call and a result for each, resumed, text, done.
    assert [event.sequence for event in after.events] == list(range(58, 2 * CALLS + 5))
    assert after.names[-3:] == ["resumed", "text", "done"]
    assert len(tools.runs()) == CALLS


async def test_bc_101_what_is_too_large_is_refused_by_name_and_what_is_not_passes(
    start_server: StartServer,
) -> None:
    waiting = await wait_on(start_server, "files", {"accept": ["text"], "maxFiles": 2})
    fits = b"a" * limits.FILE_BYTES
    too_many = files(*(file(f"{n}.txt", "text/plain", fits) for n in range(2)))

    error = await refused(waiting.noor.answer(waiting.conversation_id, ASK_ID, too_many))
    assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert str(limits.RECEIVE_BYTES) in (error.details() or "")
    view = (await waiting.noor.conversation(waiting.conversation_id)).pending_ask
    assert view.tool_call_id == ASK_ID

    one = files(file("notes.txt", "text/plain", fits))
    played = await waiting.noor.answer(waiting.conversation_id, ASK_ID, one)
    assert played.names == ["started", "ask_resolved", "text", "done"]


@pytest.fixture
def soon_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "QUIET_SECONDS", 0.1)


@pytest.mark.usefixtures("soon_quiet")
async def test_bc_103_a_stream_that_waits_is_kept_alive_by_empty_responses(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([Hold("long"), Text("Hello.")]))
    elsewhere = await start_server(in_turn())
    noor, far_noor = await server.person(), await elsewhere.person()
    call = noor.client.turns.StreamTurn(prompted("Hello?"))
    first = await call.read()
    assert isinstance(first, turns_pb2.StreamTurnResponse)
    watch = turns_pb2.WatchTurnRequest(
        conversation_id=first.event.started.conversation_id, turn_id=first.event.turn_id
    )
    async with asyncio.timeout(DEADLINE):
        streams = [call, *(each.client.turns.WatchTurn(watch) for each in (noor, far_noor))]
        for stream in streams:
            seen: list[Any] = [await stream.read() for _ in range(4)]
            assert [each.HasField("event") for each in seen[-3:]] == [False] * 3
        server.model.holds.release("long")
        for stream in streams:
            names = [each.event.WhichOneof("event") async for each in rest_of(stream)]
            assert [each for each in names if each and each != "text_preview"] == ["text", "done"]


async def rest_of(stream: Any) -> AsyncIterator[Any]:
    while (response := await stream.read()) is not grpc.aio.EOF:
        yield response

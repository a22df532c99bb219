"""A turn is watched from any server, as often as somebody likes (spec turns 15.11, 16.1)."""

import asyncio
from pathlib import Path

import grpc
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import error_of
from parley.v1 import turns_pb2
from parleyd.models.script import Fail, Hold, Text
from parleyd.models.scripted import in_turn
from parleyd.store.retention import clear_old_rows
from tests.end_to_end.person import Person, refused
from tests.server import Processes, StartServer
from tests.standard_tools import StandardTools, look_up

DEADLINE = 30
EVENTS = ["started", "tool_call", "tool_result", "text", "done"]


async def broken_off(person: Person, events: int) -> turns_pb2.TurnEvent:
    """Starts a turn, reads so many events, and breaks its stream off. Returns the first."""
    request = turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text="How many plans?"))
    call = person.client.turns.StreamTurn(request)
    read: list[turns_pb2.TurnEvent] = []
    async for response in call:
        if response.event.sequence:
            read.append(response.event)
        if len(read) == events:
            break
    call.cancel()
    assert [event.sequence for event in read] == [*range(1, events + 1)]
    return read[0]


async def a_day_later(engine: AsyncEngine) -> None:
    """Makes all turns and their events a day older."""
    async with engine.begin() as connection:
        for table, time in (
            ("turns", "create_time"),
            ("turns", "close_time"),
            ("turn_events", "create_time"),
        ):
            change = f"UPDATE {table} SET {time} = {time} - interval '1 d'"
            await connection.execute(text(change))


async def test_w1_a_stream_that_broke_is_taken_up_on_another_server(processes: Processes) -> None:
    here, elsewhere = await asyncio.gather(
        *[processes.start("LOOKUP_THEN_HELD_REPLY") for _ in range(2)]
    )
    noor, watch = await here.person(), await elsewhere.person()
    cut = [1, 2, 3]

    async with asyncio.timeout(DEADLINE):
        started = [await broken_off(noor, events) for events in cut]
        turns = [(event.started.conversation_id, event.turn_id) for event in started]
        followed = [
            asyncio.create_task(watch.watch(*turn, after))
            for turn, after in zip(turns, cut, strict=True)
        ]
        whole = asyncio.create_task(watch.watch(*turns[0]))
        await here.holds.reached("thinking", times=len(cut))
        assert (await watch.turn(*turns[0])).state == turns_pb2.Turn.STATE_RUNNING
        assert not any(each.done() for each in [*followed, whole])
        here.holds.release("thinking")
        played = [await each for each in followed]
        replayed = [await watch.watch(*turns[0], after) for after in range(6)]

    for after, rest in zip(cut, played, strict=True):
        assert rest.names == EVENTS[after:]
        assert [event.sequence for event in rest.events] == [*range(after + 1, 6)]
    for after, rest in enumerate(replayed):
        assert rest.events == (await whole).events[after:]
    assert (await whole).names == EVENTS
    assert {call.pid for call in processes.folder.model_calls()} == {here.pid}


async def test_w7_a_unary_turn_and_its_result_never_hold_what_was_only_a_preview(
    start_server: StartServer, tmp_path: Path
) -> None:
    server = await start_server(
        in_turn(
            [Text("Hello.")],
            [Text("Let me look"), look_up()],
            [Text("There are 3.")],
            [Text("There are"), Fail("other")],
        ),
        tools=StandardTools(tmp_path / "runs").hosted,
    )
    noor = await server.person()
    conversation_id = (await noor.prompt("Hello")).conversation_id

    async def ask() -> turns_pb2.TurnResult:
        response = await noor.client.turns.Turn(
            turns_pb2.TurnRequest(
                conversation_id=conversation_id, prompt=turns_pb2.PromptInput(text="How many?")
            )
        )
        stored = await noor.turn(conversation_id, response.result.turn_id)
        assert stored.result == response.result
        assert stored.partial_text == ""
        return response.result

    replied, failed = await ask(), await ask()

    assert (replied.state, replied.text) == (turns_pb2.Turn.STATE_COMPLETED, "There are 3.")
    assert b"Let me look" not in replied.SerializeToString()
    assert (failed.state, failed.text) == (turns_pb2.Turn.STATE_FAILED, "")
    assert failed.error.reason == "MODEL_ERROR"
    assert b"There are" not in failed.SerializeToString()
    assert (await noor.messages(conversation_id))[-1].text == "There are"


async def test_w11_what_is_not_there_to_watch_is_told(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn([Text("Hello.")], [Hold("thinking"), Text("Well.")]))
    noor, ivo = await server.person(), await server.person("ivo")
    played = await noor.prompt("Hello")
    turn = (played.conversation_id, played.turn_id)

    beyond = await refused(noor.watch(*turn, len(played.events) + 1))
    assert (await noor.watch(*turn, len(played.events))).events == []
    for attempt in (ivo.watch(*turn), ivo.turn(*turn)):
        foreign = await refused(attempt)
        assert foreign.code() == grpc.StatusCode.PERMISSION_DENIED
        assert error_of(foreign).reason == "NOT_OWNER"
    await a_day_later(engine)
    assert (await clear_old_rows(engine)).events == len(played.events)
    gone = [await refused(noor.watch(*turn, after)) for after in (0, 1)]

    for error in (beyond, *gone):
        assert error.code() == grpc.StatusCode.OUT_OF_RANGE
        assert error_of(error).reason == "EVENTS_EXPIRED"
    assert (await noor.turn(*turn)).result.text == "Hello."


async def test_w11_the_log_of_a_turn_that_runs_is_never_too_old(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn([Hold("thinking"), Text("Well.")]))
    noor = await server.person()
    playing = asyncio.create_task(noor.prompt("Hello"))
    async with asyncio.timeout(DEADLINE):
        await server.model.holds.reached("thinking")
        await a_day_later(engine)
        assert (await clear_old_rows(engine)).events == 0
        server.model.holds.release("thinking")
        played = await playing
    watched = await noor.watch(played.conversation_id, played.turn_id)
    assert watched.events == played.events


async def test_a_turn_shows_where_it_stands(start_server: StartServer) -> None:
    server = await start_server(in_turn([Hold("thinking"), Text("Hello.")]))
    noor = await server.person()
    playing = asyncio.create_task(noor.prompt("Hello"))
    async with asyncio.timeout(DEADLINE):
        await server.model.holds.reached("thinking")
        (conversation,) = await noor.conversations()
        running = await noor.turn(conversation.conversation_id, conversation.running_turn_id)
        server.model.holds.release("thinking")
        played = await playing
    closed = await noor.turn(played.conversation_id, played.turn_id)
    assert (running.state, running.last_event_sequence) == (turns_pb2.Turn.STATE_RUNNING, 1)
    assert not running.HasField("result")
    assert not running.HasField("close_time")
    assert (closed.state, closed.last_event_sequence) == (turns_pb2.Turn.STATE_COMPLETED, 3)
    assert closed.result.text == "Hello."
    assert closed.result.title == played.done.title
    assert closed.close_time.ToNanoseconds() >= closed.create_time.ToNanoseconds()
    assert (closed.retry_of_turn_id, closed.retried_by_turn_id) == ("", "")
    assert (await noor.conversation(played.conversation_id)).running_turn_id == ""

"""What one person, one conversation and one chain may use up (spec turns 12.5, 15.10)."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import uuid4

import grpc
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import error_of
from parley.v1 import turns_pb2
from parleyd.contract import limits
from parleyd.models.script import Call, Fail, Hold, Text
from parleyd.models.scripted import by_prompt, in_turn
from parleyd.turns.model import ModelCall
from tests.end_to_end.person import Person, accept, refused
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, ask_plan

DEADLINE = 60
LONG = "Think for long"
MEGABYTE = 1024 * 1024


def thinking(_: ModelCall) -> list[Hold | Text]:
    return [Hold("long"), Text("Well.")]


@asynccontextmanager
async def running(server: Server, person: Person, *conversations: str) -> AsyncGenerator[None]:
    """Lets a turn run in each conversation; a new one where the name is empty."""
    async with asyncio.timeout(DEADLINE):
        turns = [asyncio.create_task(person.prompt(LONG, each)) for each in conversations]
        await server.model.holds.reached("long", times=len(turns))
        yield
        server.model.holds.release("long")
        for turn in turns:
            assert (await turn).text == "Well."


async def test_h10_the_ninth_turn_of_a_person_is_refused_and_an_answer_is_not(
    start_server: StartServer,
) -> None:
    script = {
        LONG: thinking,
        "Set me up": in_turn([ask_plan()], [Text("Done.")]),
        "Fail": in_turn([Fail("other")]),
        "Hello": in_turn([Text("Hello.")], [Text("Hello.")]),
    }
    server = await start_server(by_prompt(script))
    noor, ivo = await server.person(), await server.person("ivo")
    asked = await noor.prompt("Set me up")
    failed = await noor.prompt("Fail")
    assert limits.OWNER_TURNS == 8

    async with running(server, noor, *[""] * 8):
        ninth = await refused(noor.prompt("Hello"))
        retry = await refused(noor.retry(failed.conversation_id, failed.turn_id))
        answered = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
        theirs = await ivo.prompt("Hello")

    for error in (ninth, retry):
        assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert error_of(error).reason == "RATE_LIMITED"
        assert error_of(error).metadata == {"limit": "8"}
    assert answered.text == "Done."
    assert theirs.text == "Hello."
    assert (await noor.prompt("Hello")).text == "Hello."
    assert len(await noor.conversations()) == 11


async def test_h10_the_fifth_turn_of_a_conversation_is_refused(start_server: StartServer) -> None:
    hello = in_turn(*[[Text("Hello.")]] * 3)
    server = await start_server(by_prompt({LONG: thinking, "Hello": hello}))
    noor = await server.person()
    own = (await noor.prompt("Hello")).conversation_id
    assert limits.CONVERSATION_TURNS == 4

    async with running(server, noor, *[own] * 4):
        fifth = await refused(noor.prompt("Hello", own))
        elsewhere = await noor.prompt("Hello")

    assert fifth.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert error_of(fifth).reason == "RATE_LIMITED"
    assert error_of(fifth).metadata == {"limit": "4"}
    assert elsewhere.text == "Hello."
    assert (await noor.prompt("Hello", own)).text == "Hello."


async def test_h10_a_chain_over_16_mebibytes_fails_and_may_be_retried(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    half = b"\x00" * (9 * MEGABYTE)
    bad = Call("ask_choice", {"prompt": ""}, "call_bad", half)
    server = await start_server(in_turn([bad], [bad], [bad], [Text("Well.")]))
    noor = await server.person()

    played = await noor.prompt("Set me up")

    assert limits.CHAIN_BYTES == 16 * MEGABYTE
    assert played.names == ["started", "error", "done"]
    assert played.events[1].error.reason == "TURN_TOO_LARGE"
    assert played.done.state == turns_pb2.Turn.STATE_FAILED
    assert played.done.retryable
    assert len(server.model.calls) == 2
    async with engine.connect() as connection:
        size = await connection.scalar(text("SELECT sum(octet_length(messages)) FROM turn_steps"))
    assert 8 * MEGABYTE < size <= limits.CHAIN_BYTES
    again = await noor.retry(played.conversation_id, played.turn_id)
    assert again.events[1].error.reason == "TURN_TOO_LARGE"
    assert (await noor.retry(played.conversation_id, again.turn_id)).text == "Well."


async def test_more_streams_than_a_person_may_watch_are_refused(start_server: StartServer) -> None:
    server = await start_server(by_prompt({LONG: thinking}))
    noor, ivo = await server.person(), await server.person("ivo")
    request = turns_pb2.StreamTurnRequest(
        prompt=turns_pb2.PromptInput(text=LONG), request_id=str(uuid4())
    )
    async with asyncio.timeout(DEADLINE):
        first = noor.stream(request)
        started = await anext(first)
        await server.model.holds.reached("long")
        own, turn_id = started.started.conversation_id, started.turn_id
        half = limits.OWNER_STREAMS // 2
        streams = [noor.watch_all(own, turn_id) for _ in range(half)]
        # Whoever sends a request again watches its turn, too.
        streams += [noor.stream(request) for _ in range(limits.OWNER_STREAMS - half)]
        for stream in streams:
            assert await anext(stream) == started
        errors = [await refused(noor.watch(own, turn_id)), await refused(noor.play(request))]
        for error in errors:
            assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
            assert error_of(error).reason == "RATE_LIMITED"
            assert error_of(error).metadata == {"limit": "16"}
        assert error_of(await refused(ivo.watch(own, turn_id))).reason == "NOT_OWNER"
        server.model.holds.release("long")
        rest = [event async for event in first]
        for stream in streams:
            assert [event async for event in stream if event.sequence] == rest
    assert limits.OWNER_STREAMS == 16
    assert (await noor.watch(own, turn_id)).names == ["started", "text", "done"]

"""A request that is sent again is still one request (spec turns 15.3, 15.11, 16.2)."""

import asyncio
from uuid import uuid4

import grpc
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import error_of
from parley.v1 import asks_pb2, turns_pb2
from parleyd.models.script import Fail, Hold, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.paused import Paused
from tests.end_to_end.person import COMPACT, accept, decline, refused
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, ask_plan

DEADLINE = 30


def prompt(
    said: str, request_id: str, conversation_id: str = "", system_instruction: str = ""
) -> turns_pb2.StreamTurnRequest:
    return turns_pb2.StreamTurnRequest(
        prompt=turns_pb2.PromptInput(text=said),
        conversation_id=conversation_id,
        request_id=request_id,
        system_instruction=system_instruction,
    )


def answer(
    conversation_id: str, given: asks_pb2.AskAnswer, request_id: str
) -> turns_pb2.StreamTurnRequest:
    return turns_pb2.StreamTurnRequest(
        conversation_id=conversation_id,
        answer=turns_pb2.AnswerInput(tool_call_id=PLAN_ID, answer=given),
        request_id=request_id,
    )


async def test_o3_eight_taps_with_one_request_id_are_one_answer(
    paused: Paused, start_server: StartServer
) -> None:
    other = await start_server(in_turn())
    devices = [await (paused.server if n % 2 else other).person() for n in range(8)]
    request_id = str(uuid4())
    request = answer(paused.conversation_id, accept("team"), request_id)
    unary = turns_pb2.TurnRequest(
        conversation_id=paused.conversation_id, answer=request.answer, request_id=request_id
    )
    first = asyncio.create_task(paused.noor.play(request))

    async with asyncio.timeout(DEADLINE):
        played, *rest = await asyncio.gather(first, *[each.play(request) for each in devices[:7]])
        result = (await devices[7].client.turns.Turn(unary)).result

    assert played.names == ["started", "ask_resolved", "text", "done"]
    assert all(each.events == played.events for each in rest)
    assert (result.turn_id, result.text) == (played.turn_id, played.text)
    assert result == (await paused.noor.turn(paused.conversation_id, played.turn_id)).result
    assert len(paused.server.model.calls) == 2
    assert len(await paused.noor.messages(paused.conversation_id)) == 4


async def test_w10_a_request_that_is_sent_again_replays_its_turn(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([Hold("thinking"), Text("Hello.")]))
    other = await start_server(in_turn())
    noor, watch = await server.person(), await other.person()
    request = prompt("Hello", str(uuid4()))
    first = asyncio.create_task(noor.play(request))

    async with asyncio.timeout(DEADLINE):
        await server.model.holds.reached("thinking")
        meanwhile = [asyncio.create_task(each.play(request)) for each in (noor, watch)]
        stream = noor.stream(request)
        started = await anext(stream)
        server.model.holds.release("thinking")
        played = await first
        repeated = [await each for each in meanwhile]
        repeated += [await each.play(request) for each in (noor, watch)]

    assert started == played.events[0]
    assert played.names == ["started", "text", "done"]
    assert [each.events for each in repeated] == [played.events] * 4
    assert len(server.model.calls) == 1
    assert len(await noor.conversations()) == 1
    await server.stop()
    assert (await watch.play(request)).events == played.events


async def test_w10_another_request_with_the_id_is_refused(start_server: StartServer) -> None:
    server = await start_server(
        in_turn([ask_plan()], [Text("Fine.")], [Text("Hello.")]),
        allow_client_system_instruction=True,
    )
    noor, ivo = await server.person(), await server.person("ivo")
    asked = await noor.prompt("Set up my workspace")
    own, request_id = asked.conversation_id, str(uuid4())
    played = await noor.play(answer(own, accept("team"), request_id))
    calls = len(server.model.calls)
    others = {
        "another answer": answer(own, accept("starter"), request_id),
        "another action": answer(own, decline(), request_id),
        "a button": turns_pb2.StreamTurnRequest(
            conversation_id=own,
            button=turns_pb2.ButtonInput(tool_call_id=PLAN_ID, button_id="option:team"),
            request_id=request_id,
        ),
        "a prompt": prompt("team", request_id, own),
        "a new conversation": prompt("team", request_id),
        "an instruction": prompt("team", request_id, own, system_instruction="Be brief."),
        "a retry": turns_pb2.StreamTurnRequest(
            conversation_id=own,
            retry=turns_pb2.RetryInput(turn_id=played.turn_id),
            request_id=request_id,
        ),
        "another surface": turns_pb2.StreamTurnRequest(
            conversation_id=own,
            answer=turns_pb2.AnswerInput(tool_call_id=PLAN_ID, answer=accept("team")),
            surface=COMPACT,
            request_id=request_id,
        ),
    }

    for name, request in others.items():
        error = await refused(noor.play(request))
        assert error.code() == grpc.StatusCode.ALREADY_EXISTS, name
        assert error_of(error).reason == "REQUEST_ID_REUSED"
        assert error_of(error).metadata == {"request_id": request_id}

    assert len(server.model.calls) == calls
    assert len(await noor.messages(own)) == 4
    # An id is its owner's alone.
    theirs = await ivo.play(prompt("Hello", request_id))
    assert theirs.text == "Hello."


async def test_w10_after_a_failure_the_id_still_names_the_failed_turn(
    start_server: StartServer,
) -> None:
    server = await start_server(
        in_turn([ask_plan()], [Fail("other")], [Fail("other")], [Text("Done.")])
    )
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    own = asked.conversation_id
    request = answer(own, accept("team"), str(uuid4()))
    failed = await noor.play(request)
    calls = len(server.model.calls)

    again = await noor.play(request)
    unary = await noor.client.turns.Turn(
        turns_pb2.TurnRequest(
            conversation_id=own, answer=request.answer, request_id=request.request_id
        )
    )

    assert failed.names == ["started", "ask_resolved", "error", "done"]
    assert again.events == failed.events
    assert unary.result.turn_id == failed.turn_id
    assert (unary.result.error.reason, unary.result.retryable) == ("MODEL_ERROR", True)
    assert len(server.model.calls) == calls
    # A retry is another request, whose own id names the retry, also once it can't be retried.
    retry = turns_pb2.StreamTurnRequest(
        conversation_id=own,
        retry=turns_pb2.RetryInput(turn_id=failed.turn_id),
        request_id=str(uuid4()),
    )
    retried = await noor.play(retry)
    assert retried.names == ["started", "error", "done"]
    assert retried.events[0].started.retry_of_turn_id == failed.turn_id
    assert (await noor.play(retry)).events == retried.events
    assert (await noor.retry(own, retried.turn_id)).text == "Done."
    assert (await noor.play(retry)).events == retried.events
    assert (await noor.play(request)).events == failed.events


async def test_w10_a_request_that_was_refused_leaves_its_id_free(paused: Paused) -> None:
    own, request_id = paused.conversation_id, str(uuid4())
    refusals = [
        await refused(paused.noor.play(answer(own, accept("gold"), request_id))),
        await refused(
            paused.noor.play(
                turns_pb2.StreamTurnRequest(
                    conversation_id=own,
                    retry=turns_pb2.RetryInput(turn_id=paused.asked.turn_id),
                    request_id=request_id,
                )
            )
        ),
        await refused(paused.noor.play(prompt("Hello", request_id, str(uuid4())))),
    ]
    assert [error_of(error).reason for error in refusals] == [
        "INVALID_ANSWER",
        "TURN_NOT_RETRYABLE",
        "CONVERSATION_NOT_FOUND",
    ]
    played = await paused.noor.play(answer(own, accept("team"), request_id))
    assert played.text == "Setting up the Team plan."


@pytest.mark.parametrize(
    "malformed", ["42", "not a uuid", "0b8c4f5e-3f0e-4b52-9d0a-5a1f6d2c7e41\n"]
)
async def test_w10_an_id_is_a_uuid(paused: Paused, malformed: str) -> None:
    error = await refused(
        paused.noor.play(answer(paused.conversation_id, accept("team"), malformed))
    )
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert [field.path for field in error_of(error).fields] == ["requestId"]
    await paused.untouched()


async def test_w10_an_id_counts_for_a_day(start_server: StartServer, engine: AsyncEngine) -> None:
    server = await start_server(in_turn([Text("Hello.")], [Text("Hello again.")]))
    noor = await server.person()
    request = prompt("Hello", str(uuid4()))
    first = await noor.play(request)
    async with engine.begin() as connection:
        await connection.execute(
            text("UPDATE turns SET create_time = now() - interval '23 hours 59 minutes'")
        )
    same = await noor.play(request)
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE turns SET create_time = now() - interval '24 hours'"))
    second = await noor.play(request)
    assert same.turn_id == first.turn_id
    assert second.turn_id != first.turn_id
    assert second.text == "Hello again."
    assert (await noor.play(request)).turn_id == second.turn_id

"""Faults of other systems where a caller's time is over before its turn is."""

import asyncio
from typing import Final
from uuid import uuid4

import pytest
from grpc import StatusCode, aio

from parley import error_of
from parley.v1 import turns_pb2
from parleyd.models.script import Hold, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.asking_service import asking_service, empty_conversation
from tests.end_to_end.person import Person, accept, refused
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, ask_plan

DEADLINE: Final = 1.0
"""The time that a gateway gives a call, in seconds."""


async def cut_short(noor: Person, request: turns_pb2.TurnRequest) -> None:
    """Sends a request whose time is over before the turn has ended."""
    with pytest.raises(aio.AioRpcError) as raised:
        await noor.client.turns.Turn(request, timeout=DEADLINE)
    assert raised.value.code() == StatusCode.DEADLINE_EXCEEDED


async def test_bc_068_f23_an_answer_whose_call_timed_out_is_taken_and_can_be_followed(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([ask_plan()], [Hold("going on"), Text("Done.")]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    conversation_id = asked.conversation_id
    request = turns_pb2.TurnRequest(
        conversation_id=conversation_id,
        answer=turns_pb2.AnswerInput(tool_call_id=PLAN_ID, answer=accept("team")),
        request_id=str(uuid4()),
    )
    await cut_short(noor, request)

    # The ask is resolved and stays so; another answer is told what was decided, and where.
    assert await noor.pending() == []
    error = error_of(await refused(noor.answer(conversation_id, PLAN_ID, accept("starter"))))
    assert (error.reason, error.metadata["action"]) == ("ASK_NOT_PENDING", "accept")
    turn = await noor.turn(conversation_id, error.metadata["resolved_by_turn_id"])
    assert turn.state == turn.STATE_RUNNING
    assert (await noor.conversation(conversation_id)).running_turn_id == turn.turn_id

    # The same request again waits for the turn that the first one made, and its time is over too.
    await cut_short(noor, request)
    watching = asyncio.ensure_future(noor.watch(conversation_id, turn.turn_id))
    again = asyncio.ensure_future(noor.run(request))
    server.model.holds.release("going on")
    watched, result = await asyncio.gather(watching, again)
    assert watched.names == ["started", "ask_resolved", "text", "done"]
    assert (result.turn_id, result.text) == (turn.turn_id, "Done.")
    assert len(server.model.calls) == 2


async def test_bc_068_a_service_that_stopped_waiting_finds_the_answer(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn())
    noor, service = await server.person(), await asking_service(server)
    conversation_id = await empty_conversation(noor)
    request_id = str(uuid4())
    ask = await service.ask(conversation_id, request_id=request_id)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await service.wait(ask.ask_id)
    await noor.press(conversation_id, ask.tool_call_id, "option:team")
    assert (await service.read(ask.ask_id)).answer == accept("team")
    assert (await service.ask(conversation_id, request_id=request_id)).answer == accept("team")

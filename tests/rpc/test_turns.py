"""Turns over the wire: watching them, reading them, and the silence of idle streams."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from google.protobuf.json_format import MessageToDict

import parley
from parley.v1 import turns_pb2 as pb
from parleyd.contract import limits
from parleyd.contract.reasons import Reason
from parleyd.contract.turns import Turn, TurnError, TurnResult
from parleyd.models.script import Hold, Text
from parleyd.models.scripted import in_turn
from parleyd.rpc.turns import turn_to_proto
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, ask_plan

CONVERSATION, TURN = UUID(int=1), UUID(int=2)
MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
SOON = 10

TURNS: dict[str, tuple[Turn, dict[str, object]]] = {
    "running": (
        Turn(
            conversation_id=CONVERSATION,
            id=TURN,
            state="running",
            last_event=1,
            partial_text="So far",
            create_time=MOMENT,
        ),
        {
            "conversationId": str(CONVERSATION),
            "turnId": str(TURN),
            "state": "STATE_RUNNING",
            "lastEventSequence": 1,
            "partialText": "So far",
            "createTime": "2026-01-02T03:04:05.678Z",
        },
    ),
    "failed_again_and_retried": (
        Turn(
            conversation_id=CONVERSATION,
            id=TURN,
            state="failed",
            last_event=3,
            result=TurnResult(
                conversation_id=CONVERSATION,
                turn_id=TURN,
                state="failed",
                title="Trip",
                error=TurnError(reason=Reason.TURN_TIMEOUT, message="It took too long."),
                retryable=True,
            ),
            retry_of=UUID(int=3),
            retried_by=UUID(int=4),
            create_time=MOMENT,
            close_time=MOMENT + timedelta(seconds=1),
        ),
        {
            "conversationId": str(CONVERSATION),
            "turnId": str(TURN),
            "state": "STATE_FAILED",
            "lastEventSequence": 3,
            "result": {
                "conversationId": str(CONVERSATION),
                "turnId": str(TURN),
                "state": "STATE_FAILED",
                "title": "Trip",
                "error": {"reason": "TURN_TIMEOUT", "message": "It took too long."},
                "retryable": True,
            },
            "retryOfTurnId": str(UUID(int=3)),
            "retriedByTurnId": str(UUID(int=4)),
            "createTime": "2026-01-02T03:04:05.678Z",
            "closeTime": "2026-01-02T03:04:06.678Z",
        },
    ),
}


@pytest.mark.parametrize(("turn", "content"), TURNS.values(), ids=TURNS.keys())
def test_a_turn_arrives_whole(turn: Turn, content: dict[str, object]) -> None:
    sent = pb.Turn.FromString(turn_to_proto(turn).SerializeToString())
    assert MessageToDict(sent) == content


def test_every_field_of_a_turn_arrives_in_these_tests() -> None:
    sent = {
        field.name for turn, _ in TURNS.values() for field, _ in turn_to_proto(turn).ListFields()
    }
    assert sent == {field.name for field in pb.Turn.DESCRIPTOR.fields}


async def read(client: parley.Client, conversation_id: str, turn_id: str) -> pb.Turn:
    request = pb.GetTurnRequest(conversation_id=conversation_id, turn_id=turn_id)
    return (await client.turns.GetTurn(request)).turn


async def test_a_turn_that_has_ended_can_be_read_and_watched_from_any_place(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([ask_plan()]))
    noor = await server.person()
    played = await noor.prompt("Set up my workspace")
    own = played.conversation_id

    turn = await read(noor.client, own, played.turn_id)

    assert (turn.state, turn.last_event_sequence) == (pb.Turn.STATE_PAUSED, 3)
    assert turn.result.pending_ask.tool_call_id == PLAN_ID
    assert turn.result.pending_ask.simple == played.ask.simple
    assert MOMENT.timestamp() < turn.create_time.seconds <= turn.close_time.seconds
    for after in range(4):
        request = pb.WatchTurnRequest(
            conversation_id=own, turn_id=played.turn_id, after_sequence=after
        )
        watched = [response.event async for response in noor.client.turns.WatchTurn(request)]
        assert watched == played.events[after:]


async def test_idle_streams_get_empty_responses(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "QUIET_SECONDS", 0.05)
    server = await start_server(in_turn([Hold("long"), Text("Well.")]))
    noor = await server.person()
    async with asyncio.timeout(SOON):
        stream = noor.client.turns.StreamTurn(
            pb.StreamTurnRequest(prompt=pb.PromptInput(text="Think"))
        )
        streamed = [await stream.read()]
        assert isinstance(streamed[0], pb.StreamTurnResponse)
        started = streamed[0].event
        watch = noor.client.turns.WatchTurn(
            pb.WatchTurnRequest(
                conversation_id=started.started.conversation_id,
                turn_id=started.turn_id,
                after_sequence=1,
            )
        )
        assert [await stream.read() for _ in range(3)] == [pb.StreamTurnResponse()] * 3
        assert [await watch.read() for _ in range(3)] == [pb.WatchTurnResponse()] * 3
        await server.model.holds.reached("long")
        server.model.holds.release("long")
        for call in (stream, watch):
            events = [response.event async for response in call if response.HasField("event")]
            names = [event.WhichOneof("event") for event in events if event.sequence]
            assert names == ["text", "done"]

"""Turns that wait in the model, with nobody attached."""

from bench.waiting import PROMPT
from parley import Client
from parley.v1 import turns_pb2 as pb


async def held_turn(client: Client) -> pb.WatchTurnRequest:
    """Starts a turn of the script `think` and leaves it; returns what watches it."""
    call = client.turns.StreamTurn(PROMPT)
    async for response in call:
        event = response.event
        call.cancel()
        return pb.WatchTurnRequest(
            conversation_id=event.started.conversation_id, turn_id=event.turn_id
        )
    raise AssertionError("a turn has events")

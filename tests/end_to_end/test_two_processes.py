"""Two server processes share one database; one answer of fifty wins."""

import asyncio

import grpc

from parley import error_of
from parley.v1 import conversations_pb2
from tests.end_to_end.person import Person, Played, accept
from tests.server import Processes

CLIENTS = 50
ROUNDS = 20
PLANS = ("starter", "team", "enterprise")


async def test_of_fifty_answers_on_two_processes_one_wins(processes: Processes) -> None:
    servers = [await processes.start("ASK") for _ in range(2)]
    devices = [await servers[number % 2].person() for number in range(CLIENTS)]
    for _ in range(ROUNDS):
        await _race(devices)
    assert len(processes.folder.model_calls()) == 2 * ROUNDS


async def _race(devices: list[Person]) -> None:
    asked = await devices[0].prompt("Set up my workspace")
    picks = [PLANS[number % len(PLANS)] for number in range(len(devices))]

    outcomes = await asyncio.gather(
        *[
            device.answer(asked.conversation_id, asked.ask.tool_call_id, accept(pick))
            for device, pick in zip(devices, picks, strict=True)
        ],
        return_exceptions=True,
    )

    won = [place for place, outcome in enumerate(outcomes) if isinstance(outcome, Played)]
    assert len(won) == 1
    winner = outcomes[won[0]]
    assert isinstance(winner, Played)
    for outcome in outcomes[: won[0]] + outcomes[won[0] + 1 :]:
        assert isinstance(outcome, grpc.aio.AioRpcError)
        assert outcome.code() == grpc.StatusCode.ABORTED
        assert error_of(outcome).metadata["resolved_by_turn_id"] == winner.turn_id
    results = [
        message
        for message in await devices[1].messages(asked.conversation_id)
        if message.type == conversations_pb2.Message.TYPE_TOOL_RESULT
    ]
    assert [result.ask.answer for result in results] == [accept(picks[won[0]])]

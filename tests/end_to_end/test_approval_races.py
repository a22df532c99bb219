"""Many decide one approval at the same moment: one of them wins, and the call runs at most once."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import grpc
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley import error_of
from parley.v1 import asks_pb2
from parleyd.models.scripted import by_progress, by_prompt
from tests.end_to_end.guarded import (
    APPROVED,
    DONE,
    approval,
    denial,
    wait_on_approval,
)
from tests.end_to_end.person import Person, Played, accept
from tests.server import Processes, StartServer
from tests.standard_tools import DELETE, StandardTools, delete

ROUNDS: Final = 200
AT_ONCE: Final = 5
"""So many rounds run side by side."""
MANY: Final[dict[str, Any]] = {
    "owner_turns": 1000,
    "owner_streams": 1000,
    "conversation_turns": 100,
}

Outcome = Played | grpc.aio.AioRpcError


@dataclass(frozen=True)
class Round:
    """A round: what was answered in the order it was sent, and what came of each answer."""

    approval_id: str
    answers: Sequence[asks_pb2.AskAnswer]
    outcomes: Sequence[Outcome | BaseException]

    @property
    def won(self) -> tuple[int, Played]:
        """Returns the place of the one winner, and its turn."""
        (won,) = [
            (place, outcome)
            for place, outcome in enumerate(self.outcomes)
            if isinstance(outcome, Played)
        ]
        return won

    @property
    def approved(self) -> bool:
        place, _ = self.won
        return self.answers[place] == approval()

    def check(self) -> None:
        """Checks that the winner's turn is what it answered, and that the others heard of it."""
        place, winner = self.won
        assert winner.names == APPROVED
        assert winner.results[0].denied.reason == ("" if self.approved else "user_denied")
        told: list[dict[str, str]] = []
        for lost in (*self.outcomes[:place], *self.outcomes[place + 1 :]):
            assert isinstance(lost, grpc.aio.AioRpcError)
            fault = error_of(lost)
            assert (fault.code, fault.reason) == (grpc.StatusCode.ABORTED, "ASK_NOT_PENDING")
            told.append(fault.metadata)
        for metadata in told:
            assert metadata == {
                "tool_call_id": self.approval_id,
                "resolved_by_turn_id": winner.turn_id,
                "action": "accept",
                "resolve_time": told[0]["resolve_time"],
            }

    @property
    def resolve_time(self) -> datetime:
        """Returns when the ask was decided, as the losers were told."""
        lost = next(one for one in self.outcomes if isinstance(one, grpc.aio.AioRpcError))
        return datetime.fromisoformat(error_of(lost).metadata["resolve_time"])


async def decide(devices: Sequence[Person], answers: Sequence[asks_pb2.AskAnswer]) -> Round:
    """Asks for an approval, then sends an answer from each device at the same moment."""
    asked = await devices[0].prompt("Clean up")
    approval_id = asked.ask.tool_call_id
    outcomes = await asyncio.gather(
        *(
            device.answer(asked.conversation_id, approval_id, answer)
            for device, answer in zip(devices, answers, strict=True)
        ),
        return_exceptions=True,
    )
    return Round(approval_id, answers, outcomes)


async def test_bc_001_of_two_approvals_and_a_denial_at_once_one_counts(
    processes: Processes, engine: AsyncEngine
) -> None:
    """Expects one winner a round; the tool ran once if an approval won, and never otherwise."""
    servers = await asyncio.gather(
        processes.start("DELETE", **MANY), processes.start("DELETE", **MANY)
    )
    devices = [await servers[number % 2].person() for number in range(3)]
    gate = asyncio.Semaphore(AT_ONCE)

    async def play(number: int) -> Round:
        answers = [approval(), approval(), approval()]
        answers[number % 3] = denial()
        turned = [*devices[number % 2 :], *devices[: number % 2]]
        async with gate:
            return await decide(turned, answers)

    rounds = await asyncio.gather(*map(play, range(ROUNDS)))

    for one in rounds:
        one.check()
    approved = {one.approval_id: one.won[1].turn_id for one in rounds if one.approved}
    assert 0 < len(approved) < ROUNDS, "both came about"
    runs = processes.folder.tool_runs(DELETE)
    assert len(runs) == len(approved)
    assert {run.approval_id: str(run.turn_id) for run in runs} == approved
    async with engine.connect() as connection:
        found = await connection.execute(text("SELECT tool_call_id, resolve_time FROM asks"))
        times = {row.tool_call_id: row.resolve_time for row in found}
        counted = await connection.scalar(text("SELECT count(*) FROM tool_executions"))
    assert times == {one.approval_id: one.resolve_time for one in rounds}
    assert counted == len(approved)
    assert len(processes.folder.model_calls()) == 2 * ROUNDS


async def test_v12_of_twenty_approvals_at_once_one_lets_the_call_run(
    start_server: StartServer, tools: StandardTools
) -> None:
    guarded = await wait_on_approval(start_server, tools, **MANY)
    other = await start_server(by_progress([delete()], DONE), tools=tools.all_hosted, **MANY)
    devices = [await (guarded.server if number % 2 else other).person() for number in range(20)]

    outcomes = await asyncio.gather(
        *(one.answer(guarded.own, guarded.approval_id, approval()) for one in devices),
        return_exceptions=True,
    )

    Round(guarded.approval_id, [approval()] * 20, outcomes).check()
    assert guarded.runs == 1
    assert len(guarded.server.model.calls) + len(other.model.calls) == 2


async def test_a_button_and_answers_race_as_equals(
    start_server: StartServer, tools: StandardTools
) -> None:
    guarded = await wait_on_approval(start_server, tools, **MANY)
    noor = guarded.noor
    own, approval_id = guarded.own, guarded.approval_id
    outcomes = await asyncio.gather(
        noor.press(own, approval_id, "approve"),
        noor.answer(own, approval_id, accept(confirmed=False)),
        noor.press(own, approval_id, "deny"),
        noor.answer(own, approval_id, accept(confirmed=True)),
        return_exceptions=True,
    )
    won = [place for place, one in enumerate(outcomes) if not isinstance(one, BaseException)]
    assert len(won) == 1
    approving = won[0] in {0, 3}
    assert guarded.runs == (1 if approving else 0)
    assert len(guarded.server.model.calls) == 2


async def test_a_message_and_an_approval_race(
    start_server: StartServer, tools: StandardTools
) -> None:
    """Expects the call to run once if the approval was first, and never if the message was."""
    by_text = by_prompt({"Clean up": by_progress([delete()], DONE), "Leave it": by_progress(DONE)})
    server = await start_server(by_text, tools=tools.all_hosted, **MANY)
    devices = [await server.person(), await server.person()]
    ran = 0
    for number in range(20):
        asked = await devices[0].prompt("Clean up")
        own = asked.conversation_id
        approving = devices[0].answer(own, asked.ask.tool_call_id, approval())
        saying = devices[1].prompt("Leave it", own)
        pair = [approving, saying] if number % 2 else [saying, approving]
        outcomes = await asyncio.gather(*pair, return_exceptions=True)
        answered, said = outcomes if number % 2 else reversed(outcomes)
        assert isinstance(said, Played)
        assert said.text == "Done."
        assert isinstance(answered, Played) == ("ask_resolved" not in said.names)
        ran += isinstance(answered, Played)
        assert len(tools.runs(DELETE)) == ran

"""A process that slept does nothing for a turn before it knows that the turn is still its own."""

import asyncio
from collections.abc import Collection
from dataclasses import replace

import pytest

from parleyd.contract import limits
from parleyd.contract.errors import Unavailable
from parleyd.models.script import Text
from parleyd.models.scripted import ScriptedModel, in_turn
from parleyd.turns.admission import ReadyTurn
from parleyd.turns.instructions import Instructions
from parleyd.turns.lease_store import TakenTurn
from parleyd.turns.leases import Leases
from parleyd.turns.options import TurnOptions
from parleyd.turns.ports import Fenced, OpenedTurn
from parleyd.turns.stops import HandedOver, Stops, TimeOver
from parleyd.turns.turns import Turns, make_live
from tests.turns.ports_in_memory import MemoryLeases, MemoryStore, deployment
from tests.turns.turn_values import OPENED
from tests.turns.waiting import in_time, now, until

LONG = 600.0


class Lease:
    """What the database says of a lease, and how often it was asked."""

    def __init__(self, *, held: bool = True) -> None:
        self.held = held
        self.asked = 0

    async def still_held(self) -> bool:
        self.asked += 1
        return self.held

    def stops(self, since: float, seconds: float = LONG) -> Stops:
        """Returns the stops of a turn whose lease was renewed so many seconds ago."""
        return Stops(seconds, held_since=now() - since, still_held=self.still_held)


async def test_while_the_lease_lasts_nobody_is_asked() -> None:
    lease = Lease()
    await lease.stops(since=limits.LEASE_SECONDS - 1).sure()
    assert lease.asked == 0


async def test_once_it_may_be_over_the_database_is_asked_and_believed() -> None:
    lease = Lease()
    stops = lease.stops(since=limits.LEASE_SECONDS)
    await stops.sure()
    await stops.sure()
    assert lease.asked == 1


async def test_a_lease_that_is_lost_ends_the_turn_here() -> None:
    lease = Lease(held=False)
    stops = lease.stops(since=limits.LEASE_SECONDS)
    with pytest.raises(Fenced):
        await stops.sure()
    with pytest.raises(Fenced):
        stops.check()


async def test_a_renewed_lease_lasts_anew_and_an_older_word_does_not_shorten_it() -> None:
    lease = Lease(held=False)
    stops = lease.stops(since=limits.LEASE_SECONDS)
    stops.keep(now())
    stops.keep(now() - limits.LEASE_SECONDS)
    await stops.sure()
    assert lease.asked == 0


async def test_a_turn_that_is_stopped_asks_nobody() -> None:
    lease = Lease()
    with pytest.raises(TimeOver):
        await lease.stops(since=limits.LEASE_SECONDS, seconds=0).sure()
    stops = lease.stops(since=limits.LEASE_SECONDS)
    stops.hand_over()
    with pytest.raises(HandedOver):
        await stops.sure()
    assert lease.asked == 0
    await stops.sure(grace=LONG)
    assert lease.asked == 1


async def test_without_a_word_of_the_database_the_turn_does_not_go_on() -> None:
    async def nobody_knows() -> bool:
        raise Unavailable("The database can't be reached.")

    stops = Stops(LONG, held_since=now() - limits.LEASE_SECONDS, still_held=nobody_knows)
    with pytest.raises(Unavailable):
        await stops.sure()


async def test_c10_a_turn_that_was_lost_before_its_first_model_call_makes_none() -> None:
    model = ScriptedModel(in_turn((Text("Hi."),)))
    leases = MemoryLeases()
    leases.lost.add(OPENED.lease.turn_id)
    shared = deployment(MemoryStore(), leases, TurnOptions())
    turns = Turns(shared)
    opened = replace(OPENED, turn_no=1, said="Hello")
    told = Instructions(None, (), (), max_steps=1)
    ready = ReadyTurn(opened, model, None, told, now() - limits.LEASE_SECONDS)
    live = make_live(shared, opened)
    await in_time(turns.run(ready, live))
    assert model.calls == []
    assert live.elsewhere


class SlowLeases(MemoryLeases):
    """Leases of a database that takes its time over a takeover."""

    def __init__(self, *due: TakenTurn) -> None:
        super().__init__(*due)
        self.asked = asyncio.Event()
        self.answer = asyncio.Event()
        self.released: list[OpenedTurn] = []

    async def take_turn(self, holder: str, replay_safe: Collection[str]) -> TakenTurn | None:
        self.asked.set()
        await self.answer.wait()
        return await super().take_turn(holder, replay_safe)

    async def release_turn(self, turn: OpenedTurn) -> None:
        self.released.append(turn)


async def test_a_turn_that_is_taken_over_as_the_process_stops_is_given_back() -> None:
    first = replace(OPENED, turn_no=1, said="Hello")
    kept = SlowLeases(TakenTurn(first, "go_on"), TakenTurn(first, "go_on"))
    shared = deployment(MemoryStore(), kept, TurnOptions())
    turns = Turns(shared)
    taking = asyncio.create_task(Leases(shared, turns).take_due())
    await in_time(kept.asked.wait())
    taking.cancel()
    await until(taking.done)
    stopping = asyncio.create_task(turns.hand_over(LONG))
    await until(lambda: turns.stopping)
    kept.answer.set()
    await in_time(stopping)
    assert kept.released == [first]
    assert len(kept.due) == 1, "a process that stops takes no more"

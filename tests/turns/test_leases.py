"""The leases of the turns that a process holds."""

import asyncio
from dataclasses import replace

import pytest

from parleyd.contract.errors import Unavailable
from parleyd.models.script import Hold, Text
from parleyd.models.scripted import ScriptedModel, in_turn
from parleyd.turns.admission import ReadyTurn
from parleyd.turns.instructions import Instructions
from parleyd.turns.lease_store import TakenTurn
from parleyd.turns.leases import Leases
from parleyd.turns.options import TurnOptions
from parleyd.turns.tools import ToolSet, TurnContext
from parleyd.turns.turns import Turns, make_live
from tests.turns.ports_in_memory import MemoryLeases, MemoryStore, deployment
from tests.turns.turn_values import OPENED
from tests.turns.waiting import in_time, until


async def test_a_turn_that_was_taken_over_keeps_its_lease_while_its_tools_are_made() -> None:
    asked, go = asyncio.Event(), asyncio.Event()

    async def request_tools(context: TurnContext) -> ToolSet:
        asked.set()
        await go.wait()
        raise ValueError(context)

    kept = MemoryLeases(TakenTurn(OPENED, "go_on"))
    shared = deployment(MemoryStore(), kept, TurnOptions(request_tools=request_tools))
    turns = Turns(shared)
    leases = Leases(shared, turns)
    await leases.take_due()
    await in_time(asked.wait())
    await leases.renew()
    assert kept.renewed == [[OPENED.lease]]
    go.set()
    await until(lambda: shared.followers.live(OPENED.lease.turn_id) is None)
    await leases.renew()
    assert kept.renewed == [[OPENED.lease]], "it is over, and nobody's to keep"
    await turns.hand_over(1)


async def test_c10_a_process_that_takes_its_own_turn_over_stops_the_run_it_has() -> None:
    model = ScriptedModel(in_turn((Hold("a"), Text("Hi."))))
    old = replace(OPENED, turn_no=1, said="Hello")
    again = replace(old, lease=replace(old.lease, epoch=2))
    shared = deployment(MemoryStore(), MemoryLeases(TakenTurn(again, "close")), TurnOptions())
    turns = Turns(shared)
    ready = ReadyTurn(old, model, None, Instructions(None, (), (), max_steps=1))
    turns.hold(turns.run(ready, make_live(shared, old)))
    await in_time(model.holds.reached("a"))
    assert turns.leases == [old.lease]
    await Leases(shared, turns).take_due()
    await until(lambda: model.streaming == 0 and turns.leases == [])
    await turns.hand_over(1)


async def test_a_process_that_stops_while_a_turns_tools_are_made_leaves_nobody_waiting() -> None:
    asked = asyncio.Event()

    async def request_tools(context: TurnContext) -> ToolSet:
        asked.set()
        await asyncio.Event().wait()
        raise ValueError(context)

    kept = MemoryLeases(TakenTurn(OPENED, "go_on"))
    shared = deployment(MemoryStore(), kept, TurnOptions(request_tools=request_tools))
    turns = Turns(shared)
    await Leases(shared, turns).take_due()
    await in_time(asked.wait())
    live = shared.followers.live(OPENED.lease.turn_id)
    assert live
    await turns.hand_over(0)
    with pytest.raises(Unavailable):
        await in_time(live.wait())
    assert shared.followers.live(OPENED.lease.turn_id) is None

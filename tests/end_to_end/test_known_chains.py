"""What a process knows of a chain is never in the way of what others have added to it."""

import asyncio
from pathlib import Path

from parleyd.models.script import Call, Hold, Text
from parleyd.models.scripted import by_progress
from parleyd.turns.ports import ChainContext, OpenedTurn, TurnStore
from tests.end_to_end.person import accept
from tests.failpoints import Failpoints, FailpointStore
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, REGION_ID, ask_plan, ask_region
from tests.standard_tools import StandardTools, look_up

DEADLINE = 30


class CountedReads(FailpointStore):
    """Counts how often a chain is read."""

    def __init__(self, inner: TurnStore) -> None:
        super().__init__(inner, Failpoints())
        self.reads: list[int] = []

    async def read_chain(self, turn: OpenedTurn, after_step: int = 0) -> ChainContext:
        self.reads.append(after_step)
        return await super().read_chain(turn, after_step)


async def test_a_process_that_asked_reads_nothing_to_go_on(start_server: StartServer) -> None:
    counted: list[CountedReads] = []

    def count(store: TurnStore) -> TurnStore:
        counted.append(CountedReads(store))
        return counted[-1]

    server = await start_server(
        by_progress([ask_plan()], [ask_region()], [Text("Done.")]), wrap_store=count
    )
    noor = await server.person()
    asked = await noor.prompt("Set me up")
    await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    done = await noor.answer(asked.conversation_id, REGION_ID, accept("eu"))
    assert done.text == "Done."
    assert counted[0].reads == []


async def test_a4_a_chain_is_the_same_wherever_its_turns_run(start_server: StartServer) -> None:
    script = by_progress([ask_plan()], [ask_region()], [Text("Done.")])
    one, other = await start_server(script), await start_server(script)
    sent: list[object] = []
    for first, second, third in ((one, one, one), (one, other, one), (one, other, other)):
        noor = await first.person()
        asked = await noor.prompt("Set me up")
        conversation = asked.conversation_id
        await (await second.person()).answer(conversation, PLAN_ID, accept("team"))
        await (await third.person()).answer(conversation, REGION_ID, accept("eu"))
        sent.append(third.model.calls[-1].messages)
    assert sent[0] == sent[1] == sent[2]


async def test_c12_a_turn_that_comes_back_brings_the_steps_made_elsewhere(
    start_server: StartServer, tmp_path: Path
) -> None:
    tools = StandardTools(tmp_path / "runs")
    script = by_progress([ask_plan()], [look_up()], [Hold("thinking"), Text("Done.")])
    one = await start_server(script, tools=tools.hosted)
    noor = await one.person()
    asked = await noor.prompt("Set me up")

    other = await start_server(script, tools=tools.hosted)
    there = await other.person()
    answered = asyncio.create_task(there.answer(asked.conversation_id, PLAN_ID, accept("team")))
    async with asyncio.timeout(DEADLINE):
        await other.model.holds.reached("thinking")
        await asyncio.gather(other.stop(), answered, return_exceptions=True)
        await one.model.holds.reached("thinking")
        one.model.holds.release("thinking")
        while (await noor.conversation(asked.conversation_id)).running_turn_id:
            await asyncio.sleep(0.05)

    messages = await noor.messages(asked.conversation_id)
    assert messages[-1].text == "Done."
    assert len(tools.runs("lookup")) == 1
    assert one.model.calls[-1].messages == other.model.calls[-1].messages
    names = [
        part.name
        for message in one.model.calls[-1].messages
        for part in getattr(message, "parts", ())
        if isinstance(part, Call)
    ]
    assert names == ["ask_choice", "lookup"]

"""The database is lost while a turn runs: its rows are all stored, or none (spec turns 3.7.1)."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import grpc
import pytest

from parley import error_of
from parley.v1 import turns_pb2
from parleyd.models.script import Fail, Hold, Text, last_prompt
from parleyd.models.scripted import by_progress, by_prompt
from parleyd.turns.model import ModelCall
from tests.end_to_end.person import Person, Played, refused
from tests.end_to_end.rows import types
from tests.failpoints import Failpoint, Failpoints, Place, lose_database
from tests.server import Server, StartServer
from tests.standard_tools import StandardTools, look_up

DEADLINE = 60
INTERVAL = 0.01
TRIES = 4
"""How often a write is tried (spec turns 3.7.1)."""
BEGUN = ("user",)
WHOLE = ("user", "tool_call", "tool_result", "assistant")
SCRIPT = by_prompt(
    {
        "Hello?": by_progress([Text("Hello.")]),
        "Hello again?": by_progress([Text("Hello.")]),
        "Count.": by_progress([look_up()], [Text("There are 3.")]),
        "Fail.": by_progress([look_up()], [Hold("failing"), Text("There"), Fail("other")]),
    }
)
COUNTED = ["started", "tool_call", "tool_result", "text", "done"]


@dataclass
class Lossy:
    """A server that loses its database in some turns, and a conversation with one whole turn."""

    server: Server
    tools: StandardTools
    noor: Person
    conversation_id: str

    def calls(self, said: str) -> list[ModelCall]:
        """Returns the model calls of the turns with this message."""
        return [call for call in self.server.model.calls if last_prompt(call.messages) == said]

    @asynccontextmanager
    async def observed(self) -> AsyncGenerator[set[tuple[str, ...]]]:
        """Looks at the rows of the turns after the first, again and again, until it is left."""
        elsewhere, seen = await self.server.person(), set[tuple[str, ...]]()

        async def look() -> None:
            rows = types(await elsewhere.messages(self.conversation_id))
            assert rows[:2] == ["user", "assistant"], "the first turn stays whole"
            if rows[2:]:
                seen.add(tuple(rows[2:]))

        async def look_on() -> None:
            while True:
                await look()

        looking = asyncio.create_task(look_on())
        try:
            yield seen
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)
            await look()


async def _lossy(start_server: StartServer, tmp_path: Path, *points: Failpoint) -> Lossy:
    tools = StandardTools(tmp_path / "runs")
    server = await start_server(SCRIPT, tools=tools.hosted, wrap_store=Failpoints(*points).store)
    noor = await server.person()
    return Lossy(server, tools, noor, (await noor.prompt("Hello?")).conversation_id)


@pytest.mark.parametrize(
    "point",
    [
        lose_database("before_tx2", said="Count.", times=1),
        lose_database("before_tx2", said="Count.", times=2),
        lose_database("after_tx2", said="Count.", times=1),
        lose_database("before_tool", said="Count.", times=1),
        lose_database("after_txj", said="Count.", times=1),
        lose_database("after_tool_run", said="Count.", times=1),
        lose_database("after_txr", said="Count.", times=1),
        lose_database("after_txr", said="Count.", times=2),
    ],
    ids=lambda point: f"{point.place}, {point.times}",
)
async def test_f25_a_turn_outlives_a_short_loss_of_the_database(
    start_server: StartServer, tmp_path: Path, point: Failpoint
) -> None:
    lossy = await _lossy(start_server, tmp_path, point)
    async with asyncio.timeout(DEADLINE), lossy.observed() as seen:
        played = await lossy.noor.prompt("Count.", lossy.conversation_id)

    assert played.names == COUNTED
    assert played.text == "There are 3."
    assert played.done.state == turns_pb2.Turn.STATE_COMPLETED
    assert seen <= {BEGUN, WHOLE}
    assert WHOLE in seen
    assert len(lossy.tools.runs()) == 1
    assert len(lossy.calls("Count.")) == 2


@pytest.mark.parametrize("place", ["before_tx2f", "after_tx2f"])
async def test_f25_a_turn_whose_failure_can_t_be_stored_at_once_fails_all_the_same(
    start_server: StartServer, tmp_path: Path, place: Place
) -> None:
    point = lose_database(place, said="Fail.", times=1)
    lossy = await _lossy(start_server, tmp_path, point)
    async with asyncio.timeout(DEADLINE), lossy.observed() as seen:
        failing = asyncio.create_task(lossy.noor.prompt("Fail.", lossy.conversation_id))
        while BEGUN not in seen:
            await asyncio.sleep(INTERVAL)
        lossy.server.model.holds.release("failing")
        played = await failing
    assert played.names == ["started", "tool_call", "tool_result", "error", "done"]
    assert played.done.retryable
    assert seen == {BEGUN, WHOLE}


async def test_f25_a_long_loss_of_the_database_ends_streams_and_no_turn(
    start_server: StartServer, tmp_path: Path
) -> None:
    """The lease runs out, and what was not committed is done again: rows are never in halves."""
    lossy = await _lossy(
        start_server,
        tmp_path,
        lose_database("before_tx2", said="Count.", times=TRIES),
        lose_database("before_tx2f", said="Fail.", times=TRIES),
    )
    lossy.server.model.holds.release("failing")
    greeted = await lossy.noor.prompt("Hello?")
    beside = replace(lossy, conversation_id=greeted.conversation_id)
    async with asyncio.timeout(DEADLINE):
        counted, failed = await asyncio.gather(
            _outlived(lossy, "Count."), _outlived(beside, "Fail.")
        )

    begun = ["started", "tool_call", "tool_result"]
    assert counted.names == [*begun, "resumed", "text", "done"]
    assert failed.names == [*begun, "resumed", "error", "done"]
    for played in (counted, failed):
        assert [event.sequence for event in played.events] == [1, 2, 3, 4, 5, 6]
        assert played.events[3].resumed.attempt == 2
    assert len(lossy.tools.runs()) == 2
    for said in ("Count.", "Fail."):
        _, cut_off, repeated = lossy.calls(said)
        assert repeated == cut_off


async def test_f25_a_turn_whose_rows_are_stored_unseen_gets_its_title(
    start_server: StartServer, tmp_path: Path
) -> None:
    point = lose_database("after_tx2", said="Hello again?", times=1)
    lossy = await _lossy(start_server, tmp_path, point)
    async with asyncio.timeout(DEADLINE):
        greeted = await lossy.noor.prompt("Hello again?")
    assert greeted.names == ["started", "text", "done"]
    assert greeted.done == turns_pb2.TurnDone(
        conversation_id=greeted.conversation_id,
        state=turns_pb2.Turn.STATE_COMPLETED,
        title="Workspace setup",
    )
    assert types(await lossy.noor.messages(greeted.conversation_id)) == ["user", "assistant"]
    assert len(lossy.calls("Hello again?")) == 1


async def _outlived(lossy: Lossy, said: str) -> Played:
    """Plays a turn whose stream ends early, watches it to its end, and returns all its events."""
    async with lossy.observed() as seen:
        played = await _cut_off(lossy.noor, lossy.conversation_id, said)
        rest = await lossy.noor.watch(lossy.conversation_id, played.turn_id, len(played.events))
    assert seen == {BEGUN, WHOLE}
    return Played([*played.events, *rest.events])


async def _cut_off(noor: Person, conversation_id: str, said: str) -> Played:
    """Plays a turn whose stream ends as UNAVAILABLE, and returns what came of it."""
    played = Played()
    request = turns_pb2.StreamTurnRequest(
        conversation_id=conversation_id, prompt=turns_pb2.PromptInput(text=said)
    )

    async def play() -> None:
        async for event in noor.stream(request):
            played.events.append(event)

    error = await refused(play())
    assert error.code() == grpc.StatusCode.UNAVAILABLE
    assert error_of(error).reason == "UNAVAILABLE"
    return played

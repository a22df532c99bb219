"""The page on events lists what is on the wire, and turns go as it says."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import get_args

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1 import turns_pb2
from parley.v1.asks_pb2 import AskAnswer
from parleyd.contract.events import EventBody
from parleyd.models.script import Fail, Hold, ScriptedStep, Text
from parleyd.models.scripted import by_progress, in_turn
from tests.docs.pages import codes_in, read_page, table_of
from tests.end_to_end.dead_turns import lapse
from tests.end_to_end.person import Person, Played, accept
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, ask_plan, ask_region
from tests.standard_tools import StandardTools, delete, look_up

DEADLINE = 30
PAGE = read_page("events.md")
STORED = table_of(PAGE, "Stored events", "event").rows
PREVIEWS = table_of(PAGE, "Previews", "event").rows
COURSES = {turn: codes_in(events) for turn, events in table_of(PAGE, "How turns go", "turn").rows}
EVENTS = turns_pb2.TurnEvent.DESCRIPTOR.oneofs_by_name["event"].fields
HELLO: ScriptedStep = [Text("Hello.")]
VALID = "v: 1\nblocks:\n  - {type: heading, text: Loans}"
INVALID = "v: 1\nblocks:\n  - {type: heading}"


def names_in(rows: Sequence[Sequence[str]]) -> list[str]:
    return [name for row in rows for name in codes_in(row[0])]


def test_the_events_are_those_of_the_proto_in_its_order() -> None:
    assert names_in([*STORED, *PREVIEWS]) == [event.name for event in EVENTS]


def test_those_that_count_are_those_that_are_stored() -> None:
    kinds = [body.model_fields["kind"].default for body in get_args(EventBody)]
    assert sorted(names_in(STORED)) == sorted(kinds)


@pytest.mark.parametrize("row", [*STORED, *PREVIEWS], ids=lambda row: row[0].strip("`"))
def test_an_event_says_what_its_fields_hold(row: Sequence[str]) -> None:
    (name,) = codes_in(row[0])
    (message,) = [event.message_type for event in EVENTS if event.name == name]
    assert message
    assert codes_in(row[2]) == [field.name for field in message.fields]


# ---------------------------------------------------------------- courses


class Player:
    """Plays a turn of every course."""

    def __init__(self, start: StartServer, engine: AsyncEngine, path: Path) -> None:
        self._start = start
        self._engine = engine
        self._tools = StandardTools(path)

    async def server(self, *steps: ScriptedStep) -> Server:
        return await self._start(in_turn(*steps), tools=self._tools.all_hosted)

    async def asked(self, *steps: ScriptedStep) -> tuple[Person, str]:
        """Returns somebody who is asked for a plan; the agent goes on with `steps`."""
        noor = await (await self.server([ask_plan()], *steps)).person()
        return noor, (await noor.prompt("Set me up")).conversation_id

    async def prompted(self, *steps: ScriptedStep) -> Played:
        return await (await (await self.server(*steps)).person()).prompt("Hello")

    async def replied(self) -> Played:
        return await self.prompted(HELLO)

    async def looked_up(self) -> Played:
        return await self.prompted([look_up()], HELLO)

    async def paused(self) -> Played:
        return await self.prompted([ask_plan()])

    async def answered(self) -> Played:
        noor, own = await self.asked(HELLO)
        return await noor.answer(own, PLAN_ID, accept("team"))

    async def asked_again(self) -> Played:
        noor, own = await self.asked([ask_region()])
        return await noor.answer(own, PLAN_ID, accept("team"))

    async def written_to(self) -> Played:
        noor, own = await self.asked(HELLO)
        return await noor.prompt("Never mind", own)

    async def lost_the_slot(self) -> Played:
        server = await self.server(HELLO, [Hold("thinking"), ask_region()], [ask_plan()])
        noor = await server.person()
        own = (await noor.prompt("Hello")).conversation_id
        late = asyncio.create_task(noor.prompt("Where?", own))
        await server.model.holds.reached("thinking")
        await noor.prompt("Set me up", own)
        server.model.holds.release("thinking")
        return await late

    async def guarded(self) -> Played:
        return await self.prompted([delete()])

    async def approved(self) -> Played:
        return await self._judged(accept(confirmed=True))

    async def refused(self) -> Played:
        return await self._judged(accept(confirmed=False))

    async def _judged(self, answer: AskAnswer) -> Played:
        noor = await (await self.server([delete()], HELLO)).person()
        asked = await noor.prompt("Clean up")
        return await noor.answer(asked.conversation_id, asked.ask.tool_call_id, answer)

    async def document(self) -> Played:
        return await self._documented([Text(VALID)])

    async def mended_document(self) -> Played:
        return await self._documented([Text(INVALID)], [Text(VALID)])

    async def document_beside_an_ask(self) -> Played:
        return await self._documented([Text(VALID), ask_plan()])

    async def _documented(self, *steps: ScriptedStep) -> Played:
        server = await self._start(in_turn(*steps), blocks=True, blocks_repair=True)
        return await (await server.person()).prompt("Show my loans")

    async def failed(self) -> Played:
        return await self.prompted([Fail("other")])

    async def retried(self) -> Played:
        noor = await (await self.server([Fail("other")], HELLO)).person()
        failed = await noor.prompt("Hello")
        return await noor.retry(failed.conversation_id, failed.turn_id)

    async def died_in_its_model_call(self) -> Played:
        pick = by_progress([Hold("thinking"), *HELLO])
        first, second = [await self._start(pick) for _ in range(2)]
        return await self._taken_over(first, first.model.holds.reached("thinking"), second)

    async def died_inside_a_tool(self) -> Played:
        pick = by_progress([look_up(hold="inside")], HELLO)
        first, second = [await self._start(pick, tools=self._tools.hosted) for _ in range(2)]
        return await self._taken_over(first, self._tools.holds.reached("inside"), second)

    async def _taken_over(self, first: Server, waits: Awaitable[None], second: Server) -> Played:
        noor, played = await first.person(), Played()
        request = turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text="Hello"))
        dying = asyncio.create_task(self._die(waits))
        async for event in noor.stream(request):
            played.events.append(event)
            if event.HasField("resumed"):
                for server in (first, second):  # either may have taken it over
                    server.model.holds.release("thinking")
        await dying
        return played

    async def _die(self, waits: Awaitable[None]) -> None:
        await waits
        await lapse(self._engine)


PLAYED: dict[str, Callable[[Player], Awaitable[Played]]] = {
    "a reply": Player.replied,
    "a tool, then a reply": Player.looked_up,
    "a question": Player.paused,
    "an answer": Player.answered,
    "an answer, then another question": Player.asked_again,
    "a message in place of the answer": Player.written_to,
    "a question while another one is pending": Player.lost_the_slot,
    "a tool that needs an approval": Player.guarded,
    "the approval": Player.approved,
    "the refusal": Player.refused,
    "a document": Player.document,
    "a document that is mended": Player.mended_document,
    "a document beside a question": Player.document_beside_an_ask,
    "a failure": Player.failed,
    "the retry of it": Player.retried,
    "its process died while the model worked": Player.died_in_its_model_call,
    "its process died inside a tool": Player.died_inside_a_tool,
}


def test_every_course_is_played() -> None:
    assert [*COURSES] == [*PLAYED]


@pytest.mark.parametrize("turn", PLAYED)
async def test_turns_go_as_the_page_says(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path, turn: str
) -> None:
    player = Player(start_server, engine, tmp_path / "runs")
    async with asyncio.timeout(DEADLINE):
        played = await PLAYED[turn](player)
    assert played.names == COURSES[turn]
    assert [event.sequence for event in played.events] == [*range(1, len(played.events) + 1)]

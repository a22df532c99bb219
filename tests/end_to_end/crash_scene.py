"""Processes whose turns wait at every place, and one that survives them."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import grpc
from sqlalchemy import text

from parley.v1 import conversations_pb2, turns_pb2
from parleyd.models.call_records import CallRecord
from parleyd.store.engine import create_engine
from tests.end_to_end.crash_table import IN_TITLE, INSIDE, UNSTORED, Row
from tests.end_to_end.person import Person, Played, accept
from tests.failpoints import block
from tests.server import Processes
from tests.server_process import ServerProcess
from tests.standard_asks import PLAN_ID
from tests.standard_tools import ToolRun

SCRIPTS: Final = "tests.end_to_end.crash_table"
SETTINGS: Final = {"owner_turns": 100, "owner_streams": 100}
DEADLINE: Final = 40
TABLES: Final = (
    *("conversations", "turns", "turn_steps", "tool_executions", "asks"),
    *("messages", "turn_events"),
)


@dataclass
class Stood:
    """A turn of the table. `own` is what the client of its first process saw."""

    row: Row
    conversation_id: str
    turn_id: str = ""
    own: Played = field(default_factory=Played)
    own_error: grpc.StatusCode | None = None
    watched: Played = field(default_factory=Played)
    heard: asyncio.Event = field(default_factory=asyncio.Event)
    seconds: float = 0.0
    """From the end of its process to `done`, as somebody elsewhere heard it."""
    lines_before: list[conversations_pb2.Message] = field(
        default_factory=list[conversations_pb2.Message]
    )
    lines: list[conversations_pb2.Message] = field(default_factory=list[conversations_pb2.Message])
    conversation: conversations_pb2.Conversation = field(
        default_factory=conversations_pb2.Conversation
    )
    turn: turns_pb2.Turn = field(default_factory=turns_pb2.Turn)
    calls: list[CallRecord] = field(default_factory=list[CallRecord])
    runs: list[ToolRun] = field(default_factory=list[ToolRun])
    titles: int = 0

    def ran(self, tool: str) -> list[ToolRun]:
        """Returns the runs of one tool."""
        return [run for run in self.runs if run.tool == tool]


class Scene:
    """Turns that wait in the processes `ending`, and what a person sees of them elsewhere."""

    def __init__(
        self, processes: Processes, ending: Sequence[ServerProcess], survivor: ServerProcess
    ) -> None:
        self.folder = processes.folder
        self.ending = ending
        self.survivor = survivor
        self.stood: dict[str, Stood] = {}
        self.ended_at = 0.0
        self._playing: list[asyncio.Task[None]] = []
        self._watching: list[asyncio.Task[None]] = []

    @property
    def pids(self) -> set[int]:
        """The processes that end."""
        return {process.pid for process in self.ending}

    async def stand(self, server: ServerProcess, rows: Sequence[Row]) -> None:
        """Begins turns and waits until each is where it is to end, watched from elsewhere."""
        here, elsewhere = await server.person(), await self.survivor.person()
        stood = [Stood(row, await _new_conversation(elsewhere)) for row in rows]
        self.stood |= {each.row.name: each for each in stood}
        await asyncio.gather(*(_prepare(here, each) for each in stood))
        self._playing += [asyncio.create_task(_play(here, each)) for each in stood]
        for row in rows:
            await server.holds.reached(row.waits_at, len(row.steps[0]) if row.hold == INSIDE else 1)
        for each in stood:
            conversation = await elsewhere.conversation(each.conversation_id)
            each.lines_before = await elsewhere.messages(each.conversation_id)
            each.turn_id = conversation.running_turn_id or each.lines_before[-1].turn_id
            self._watching.append(asyncio.create_task(self._watch(elsewhere, each)))
        async with asyncio.timeout(DEADLINE):
            await asyncio.gather(*(each.heard.wait() for each in stood))

    def send(self, number: signal.Signals) -> None:
        """Sends the processes that end a signal."""
        for process in self.ending:
            os.kill(process.pid, number)
        self.ended_at = _now()

    async def watched(self) -> None:
        """Waits until every turn has ended, as somebody elsewhere hears it."""
        async with asyncio.timeout(DEADLINE):
            await asyncio.gather(*self._watching)

    async def told(self) -> None:
        """Waits until the streams have ended through which the turns were begun."""
        async with asyncio.timeout(DEADLINE):
            await asyncio.gather(*self._playing)

    async def look(self) -> None:
        """Reads what is stored of every turn, and what was called for it."""
        noor = await self.survivor.person()
        calls, runs = self.folder.model_calls(), self.folder.tool_runs()
        titles = self.folder.title_calls()
        for each in self.stood.values():
            name = each.row.name
            own = [call for call in calls if call.prompt == name]
            # The first call of an answer's or a retry's chain came in the turn before.
            each.calls = own if each.row.input == "prompt" else own[1:]
            each.runs = [run for run in runs if str(run.turn_id) == each.turn_id]
            each.titles = sum(call.prompt.startswith(f"The person: {name}\n") for call in titles)
            if not each.row.deleted:
                each.conversation = await noor.conversation(each.conversation_id)
                each.lines = await noor.messages(each.conversation_id)
                each.turn = await noor.turn(each.conversation_id, each.turn_id)

    async def _watch(self, noor: Person, stood: Stood) -> None:
        async for event in noor.watch_all(stood.conversation_id, stood.turn_id):
            if event.sequence:
                stood.watched.events.append(event)
            stood.heard.set()
        if self.ended_at:  # others had ended before
            stood.seconds = _now() - self.ended_at


@asynccontextmanager
async def scene(database_url: str, path: Path, rows: Sequence[Row]) -> AsyncGenerator[Scene]:
    """Stands turns at their places in one process, and one in its title in another."""
    points = [row.failpoint for row in rows if row.failpoint]
    async with AsyncExitStack() as stack:
        processes = Processes(database_url, path, stack)
        first, titling, survivor = await asyncio.gather(
            processes.start(
                f"{SCRIPTS}:ENDS", *points, block("before_tx1", said=UNSTORED), **SETTINGS
            ),
            processes.start(f"{SCRIPTS}:ENDS_IN_TITLE", **SETTINGS),
            processes.start(f"{SCRIPTS}:GOES", **SETTINGS),
        )
        made = Scene(processes, (first, titling), survivor)
        await made.stand(first, rows)
        await made.stand(titling, [IN_TITLE])
        yield made
        assert processes.folder.refusals() == []


async def stored(database_url: str) -> dict[str, list[str]]:
    """Returns all that is stored of turns, row by row."""
    engine = create_engine(database_url, pool_size=1)
    try:
        async with engine.connect() as connection:
            found: dict[str, list[str]] = {}
            for table in TABLES:
                rows = await connection.execute(
                    text(f"SELECT to_jsonb({table}.*)::text FROM {table}")
                )
                found[table] = sorted(rows.scalars())
            return found
    finally:
        await engine.dispose()


async def _new_conversation(person: Person) -> str:
    request = conversations_pb2.CreateConversationRequest()
    made = await person.client.conversations.CreateConversation(request)
    return made.conversation.conversation_id


async def _prepare(person: Person, stood: Stood) -> None:
    """Plays the turn that is to be answered or retried."""
    if stood.row.input != "prompt":
        before = await person.prompt(stood.row.name, stood.conversation_id)
        stood.turn_id = before.turn_id


async def _play(person: Person, stood: Stood) -> None:
    row = stood.row
    request = turns_pb2.StreamTurnRequest(conversation_id=stood.conversation_id)
    match row.input:
        case "prompt":
            request.prompt.text = row.name
        case "answer":
            request.answer.tool_call_id = PLAN_ID
            request.answer.answer.CopyFrom(accept(row.pick))
        case "retry":
            request.retry.turn_id = stood.turn_id
    metadata = (("x-ai-api-key", row.key),) if row.key else None
    try:
        async for response in person.client.turns.StreamTurn(request, metadata=metadata):
            if response.event.sequence:
                stood.own.events.append(response.event)
    except grpc.aio.AioRpcError as error:
        stood.own_error = error.code()


def _now() -> float:
    return asyncio.get_running_loop().time()

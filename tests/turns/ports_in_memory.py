"""The outside of this layer, as small as its tests need it."""

import asyncio
from collections import defaultdict
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from typing import NoReturn
from uuid import UUID, uuid4

from pydantic import JsonValue

from parleyd.contract.errors import TurnNotFound
from parleyd.contract.events import EventBody, FileReturned, ToolReturned, TurnEvent
from parleyd.contract.executions import ToolStart
from parleyd.contract.messages import MessageDraft
from parleyd.contract.steps import Step
from parleyd.contract.turns import Turn, TurnError, TurnResult
from parleyd.models.scripted import ScriptedModel, in_turn
from parleyd.turns.chain_memory import ChainMemory
from parleyd.turns.deployment import Deployment
from parleyd.turns.followers import Followers
from parleyd.turns.lease_store import TakenTurn
from parleyd.turns.options import TurnOptions
from parleyd.turns.ports import (
    CallPlace,
    ChainContext,
    EndedTurn,
    Ending,
    Lease,
    OpenedTurn,
    Opening,
)
from parleyd.turns.request_log import LoggedRequest
from parleyd.turns.situations import Situation, Wanted
from parleyd.turns.tools import ToolContext, ToolResult
from parleyd.turns.turn_reader import StoredEvents

Body = Callable[[JsonValue, ToolContext], Awaitable[ToolResult]]
Rule = Callable[[JsonValue, ToolContext], Awaitable[bool]]


class MemoryReader:
    """Fulfils `TurnReader` with what a test puts into it, and counts what is read."""

    def __init__(self) -> None:
        self.events: defaultdict[UUID, list[TurnEvent]] = defaultdict(list)
        self.closed: set[UUID] = set()
        self.gone: set[UUID] = set()
        """Turns whose events are not kept any more."""
        self.at_once = 1000
        """How many events are read at once."""
        self.reads = 0
        self.polled: list[set[UUID]] = []

    async def read_turn(self, owner: str, conversation_id: UUID, turn_id: UUID) -> Turn:
        del owner, conversation_id
        raise TurnNotFound(turn_id)

    async def read_events(self, owner: str, turn_id: UUID, after: int) -> StoredEvents:
        del owner
        self.reads += 1
        kept = () if turn_id in self.gone else tuple(self.events[turn_id])
        found = StoredEvents(
            tuple(event for event in kept if event.sequence > after)[: self.at_once],
            len(self.events[turn_id]),
            closed=turn_id in self.closed,
        )
        await asyncio.sleep(0)  # what was found may be old when it arrives
        return found

    async def read_last_events(self, turn_ids: Collection[UUID]) -> Mapping[UUID, int]:
        self.polled.append(set(turn_ids))
        return {turn_id: len(self.events[turn_id]) for turn_id in turn_ids}


class MemoryStore:
    """Fulfils `TurnStore` as far as opening turns and running tools need it."""

    def __init__(self, situation: Situation | None = None) -> None:
        self.situation = situation or Situation()
        self.openings: list[Opening] = []
        self.starts: list[tuple[ToolStart, bool]] = []
        self.repeated: list[bool] = []
        self.claimable = True
        self.away: list[Exception] = []
        """What the claims raise that come next."""
        self.results: list[tuple[CallPlace, JsonValue, bool]] = []
        self.files: list[FileReturned | None] = []
        """The files of the results, as they are told."""
        self.refuses: dict[str, Exception] = {}
        """What storing the result of a call raises, by the call's id."""

    async def read_situation(self, owner: str, wanted: Wanted) -> Situation:
        del owner, wanted
        return self.situation

    async def open_turn(self, opening: Opening) -> NoReturn:
        self.openings.append(opening)
        raise Opened

    async def start_tool(
        self, turn: OpenedTurn, start: ToolStart, *, again: bool, repeated: bool = False
    ) -> bool:
        del turn
        self.starts.append((start, again))
        self.repeated.append(repeated)
        if self.away:
            raise self.away.pop()
        return self.claimable

    async def store_result(
        self,
        turn: OpenedTurn,
        call: CallPlace,
        result: JsonValue,
        *,
        failed: bool,
        file: FileReturned | None = None,
    ) -> tuple[TurnEvent, ...]:
        if error := self.refuses.get(call.tool_call_id):
            raise error
        self.results.append((call, result, failed))
        self.files.append(file)
        body = ToolReturned(
            tool_call_id=call.tool_call_id,
            tool_name=call.tool_name,
            result=result,
            is_error=failed,
        )
        return (TurnEvent(turn_id=turn.lease.turn_id, sequence=len(self.results), body=body),)

    async def lose_tool(self, turn: OpenedTurn, call: CallPlace) -> tuple[TurnEvent, ...]:
        raise NotImplementedError

    async def read_chain(self, turn: OpenedTurn, after_step: int = 0) -> ChainContext:
        raise NotImplementedError

    async def journal_step(
        self,
        turn: OpenedTurn,
        step: Step,
        events: Sequence[EventBody],
        starts: Sequence[ToolStart],
    ) -> tuple[TurnEvent, ...]:
        raise NotImplementedError

    async def send_text(self, turn: OpenedTurn, text: str) -> tuple[TurnEvent, ...]:
        raise NotImplementedError

    async def keep_partial_text(self, turn: OpenedTurn, partial_text: str) -> None:
        raise NotImplementedError

    async def end_turn(self, turn: OpenedTurn, ending: Ending) -> EndedTurn:
        raise NotImplementedError

    async def close_turn(
        self, turn: OpenedTurn, title: str | None, committed: TurnResult | None = None
    ) -> EndedTurn:
        raise NotImplementedError

    async def fail_turn(
        self, turn: OpenedTurn, error: TurnError, rows: Sequence[MessageDraft], partial_text: str
    ) -> EndedTurn:
        raise NotImplementedError


class Opened(Exception):
    """The store was asked to open a turn: all checks have passed."""


class MemoryLeases:
    """Fulfils `LeaseStore`: gives out what is `due`, and keeps every lease but the `lost`."""

    def __init__(self, *due: TakenTurn) -> None:
        self.due = list(due)
        self.lost: set[UUID] = set()
        self.renewed: list[Sequence[Lease]] = []

    async def take_turn(self, holder: str, replay_safe: Collection[str]) -> TakenTurn | None:
        del holder, replay_safe
        return self.due.pop(0) if self.due else None

    async def renew_leases(self, leases: Sequence[Lease]) -> frozenset[UUID]:
        self.renewed.append(leases)
        return frozenset(lease.turn_id for lease in leases) - self.lost

    async def release_turn(self, turn: OpenedTurn) -> None:
        raise NotImplementedError


class MemoryLog:
    """Fulfils `RequestLog`."""

    def __init__(self) -> None:
        self.lines: list[LoggedRequest] = []

    async def log_request(self, request: LoggedRequest) -> None:
        self.lines.append(request)


class RandomIds:
    """Fulfils `Ids`."""

    def uuid(self) -> UUID:
        return uuid4()

    def ulid(self) -> str:
        return uuid4().hex

    def call_id(self) -> str:
        return f"call_{uuid4()}"

    def approval_id(self) -> str:
        return f"apr_{uuid4()}"

    def secret(self) -> str:
        return f"secret_{uuid4()}"


def deployment(store: MemoryStore, leases: MemoryLeases, options: TurnOptions) -> Deployment:
    """Returns the parts of a process whose model has nothing to say."""
    reader = MemoryReader()
    return Deployment(
        store=store,
        leases=leases,
        reader=reader,
        request_log=MemoryLog(),
        model=ScriptedModel(in_turn()),
        title_model=None,
        model_of_key=None,
        ids=RandomIds(),
        options=options,
        holder="process-1",
        followers=Followers(reader),
        chains=ChainMemory(),
    )


async def nothing(args: JsonValue, context: ToolContext) -> JsonValue:
    """Is the body of a tool that does nothing."""
    del args, context
    return None


async def no_approval(args: JsonValue, context: ToolContext) -> bool:
    """Is the rule of a tool that runs at once."""
    del args, context
    return False


async def always_approval(args: JsonValue, context: ToolContext) -> bool:
    """Is the rule of a tool that runs only once it is approved."""
    del args, context
    return True


@dataclass(frozen=True)
class PlainTool:
    """Fulfils `HostTool` with functions; any object is fit for arguments."""

    name: str = "lookup"
    body: Body = nothing
    description: str = "Looks things up."
    schema: dict[str, JsonValue] = field(default_factory=lambda: {"type": "object"})
    replay_safe: bool = False
    seconds: float | None = None
    rule: Rule = no_approval

    def faults(self, args: JsonValue) -> str | None:
        return None if isinstance(args, dict) else "The arguments are no object."

    async def needs_approval(self, args: JsonValue, context: ToolContext) -> bool:
        return await self.rule(args, context)

    async def run(self, args: JsonValue, context: ToolContext) -> ToolResult:
        return await self.body(args, context)

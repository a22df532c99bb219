"""The host tools of spec turns 14, and a log of every run of their bodies.

LOOKUP and UPSERT run at once; DELETE, ARCHIVE and PUBLISH only once they are approved.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from pydantic import JsonValue, TypeAdapter

from parleyd.models.played import Holds
from parleyd.models.script import Call
from parleyd.turns.tools import HostTool, ToolContext, ToolFailed
from tests.failpoints import Failpoints

LOOKUP_ID = "call_lookup"
UPSERT_ID = "call_upsert"
DELETE_ID = "call_delete"
ARCHIVE_ID = "call_archive"
PUBLISH_ID = "call_publish"
DELETE = "deleteCompletedTodos"
ARCHIVE = "archiveTodos"
PUBLISH = "publishTodos"
PLANS: dict[str, JsonValue] = {"plans": 3}
"""What every one of the tools returns."""


def look_up(call_id: str = LOOKUP_ID, **orders: str) -> Call:
    """Returns the call of LOOKUP, which must not run twice.

    `hold` makes its body wait at a hold, `fail` makes it fail with a text, `crash` makes it raise.
    """
    return Call("lookup", dict[str, JsonValue](orders), call_id)


def upsert(call_id: str = UPSERT_ID, **orders: str) -> Call:
    """Returns the call of UPSERT, which may run again. The orders are those of LOOKUP."""
    return Call("upsert", dict[str, JsonValue](orders), call_id)


def delete(call_id: str = DELETE_ID, **orders: JsonValue) -> Call:
    """Returns the call of DELETE, which needs an approval. The orders are those of LOOKUP."""
    return Call(DELETE, dict[str, JsonValue](orders), call_id)


def archive(call_id: str = ARCHIVE_ID, **orders: JsonValue) -> Call:
    """Returns the call of ARCHIVE, which needs an approval. The orders are those of LOOKUP."""
    return Call(ARCHIVE, dict[str, JsonValue](orders), call_id)


def publish(call_id: str = PUBLISH_ID, **orders: JsonValue) -> Call:
    """Returns the call of PUBLISH, which needs an approval and may run again on the same one."""
    return Call(PUBLISH, dict[str, JsonValue](orders), call_id)


@dataclass(frozen=True)
class ToolRun:
    """One run of a tool's body, as it began. `time` is in seconds since the epoch."""

    tool: str
    pid: int
    turn_id: UUID
    call_id: str
    key: str
    args: JsonValue = None
    approval_id: str | None = None
    time: float = 0.0


_RUN = TypeAdapter(ToolRun)


@dataclass(frozen=True)
class StandardTools:
    """The tools with a log of their runs, a file that several processes may share.

    `seconds` limits a run.
    """

    path: Path
    holds: Holds = field(default_factory=Holds)
    points: Failpoints = field(default_factory=Failpoints)
    seconds: float | None = None

    @property
    def hosted(self) -> Mapping[str, HostTool]:
        """Returns LOOKUP and UPSERT as a service takes them."""
        return {
            "lookup": StandardTool("lookup", replay_safe=False, of=self),
            "upsert": StandardTool("upsert", replay_safe=True, of=self),
        }

    @property
    def all_hosted(self) -> Mapping[str, HostTool]:
        """Returns all five."""
        return {
            **self.hosted,
            DELETE: StandardTool(DELETE, replay_safe=False, of=self, guarded=True),
            ARCHIVE: StandardTool(ARCHIVE, replay_safe=False, of=self, guarded=True),
            PUBLISH: StandardTool(PUBLISH, replay_safe=True, of=self, guarded=True),
        }

    def runs(self, tool: str | None = None) -> list[ToolRun]:
        """Returns the runs so far, of one tool or of all, in the order in which they began."""
        if not self.path.exists():
            return []
        runs = map(_RUN.validate_json, self.path.read_bytes().splitlines())
        return [run for run in runs if tool in {None, run.tool}]

    async def run(self, tool: str, args: JsonValue, context: ToolContext) -> JsonValue:
        """Runs the body of a tool as its arguments order."""
        run = ToolRun(
            tool=tool,
            pid=os.getpid(),
            turn_id=context.turn_id,
            call_id=context.tool_call_id,
            key=context.idempotency_key,
            args=args,
            approval_id=context.approval_id,
            time=time.time(),
        )
        with self.path.open("ab", buffering=0) as file:
            file.write(_RUN.dump_json(run) + b"\n")
        await self.points.reach("in_tool", tool)
        match args:
            case {"hold": str(hold)}:
                await self.holds.wait(hold)
            case {"fail": str(text)}:
                raise ToolFailed(text)
            case {"crash": str(text)}:
                raise RuntimeError(text)
            case _:
                pass
        return PLANS


@dataclass(frozen=True)
class StandardTool:
    """One of them, as a service knows it."""

    name: str
    replay_safe: bool
    of: StandardTools
    guarded: bool = False
    description: str = "Counts the plans that there are."

    @property
    def schema(self) -> dict[str, JsonValue]:
        text: dict[str, JsonValue] = {"type": "string"}
        return {"type": "object", "properties": dict.fromkeys(("hold", "fail", "crash"), text)}

    @property
    def seconds(self) -> float | None:
        return self.of.seconds

    def faults(self, args: JsonValue) -> str | None:
        return None if isinstance(args, dict) else "The arguments must be an object."

    async def needs_approval(self, args: JsonValue, context: ToolContext) -> bool:
        del args, context
        return self.guarded

    async def run(self, args: JsonValue, context: ToolContext) -> JsonValue:
        return await self.of.run(self.name, args, context)

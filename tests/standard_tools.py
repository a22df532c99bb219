"""The host tools of spec turns 14, LOOKUP and UPSERT, and a log of every run of their bodies."""

import os
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
PLANS: dict[str, JsonValue] = {"plans": 3}
"""What both tools return."""


def look_up(call_id: str = LOOKUP_ID, **orders: str) -> Call:
    """Returns the call of LOOKUP, which must not run twice.

    `hold` makes its body wait at a hold, `fail` makes it fail with a text, `crash` makes it raise.
    """
    return Call("lookup", dict[str, JsonValue](orders), call_id)


def upsert(call_id: str = UPSERT_ID, **orders: str) -> Call:
    """Returns the call of UPSERT, which may run again. The orders are those of LOOKUP."""
    return Call("upsert", dict[str, JsonValue](orders), call_id)


@dataclass(frozen=True)
class ToolRun:
    """One run of a tool's body, as it began."""

    tool: str
    pid: int
    turn_id: UUID
    call_id: str
    key: str


_RUN = TypeAdapter(ToolRun)


@dataclass(frozen=True)
class StandardTools:
    """LOOKUP and UPSERT with a log of their runs, a file that several processes may share.

    `seconds` limits a run.
    """

    path: Path
    holds: Holds = field(default_factory=Holds)
    points: Failpoints = field(default_factory=Failpoints)
    seconds: float | None = None

    @property
    def hosted(self) -> Mapping[str, HostTool]:
        """Returns the tools as a service takes them."""
        return {
            "lookup": StandardTool("lookup", replay_safe=False, of=self),
            "upsert": StandardTool("upsert", replay_safe=True, of=self),
        }

    def runs(self, tool: str | None = None) -> list[ToolRun]:
        """Returns the runs so far, of one tool or of both, in the order in which they began."""
        if not self.path.exists():
            return []
        runs = map(_RUN.validate_json, self.path.read_bytes().splitlines())
        return [run for run in runs if tool in {None, run.tool}]

    async def run(self, tool: str, args: JsonValue, context: ToolContext) -> JsonValue:
        """Runs the body of a tool as its arguments order."""
        run = ToolRun(
            tool, os.getpid(), context.turn_id, context.tool_call_id, context.idempotency_key
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
    """One of the two, as a service knows it."""

    name: str
    replay_safe: bool
    of: StandardTools

    @property
    def description(self) -> str:
        return "Counts the plans that there are."

    @property
    def schema(self) -> dict[str, JsonValue]:
        text: dict[str, JsonValue] = {"type": "string"}
        return {"type": "object", "properties": dict.fromkeys(("hold", "fail", "crash"), text)}

    @property
    def seconds(self) -> float | None:
        return self.of.seconds

    def faults(self, args: JsonValue) -> str | None:
        return None if isinstance(args, dict) else "The arguments must be an object."

    async def run(self, args: JsonValue, context: ToolContext) -> JsonValue:
        return await self.of.run(self.name, args, context)

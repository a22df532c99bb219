"""The port of host tools: functions of the deployment that the model may call (spec turns 9.1)."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias
from uuid import UUID

from pydantic import JsonValue

from parleyd.contract.surfaces import Surface
from parleyd.contract.turns import InputKind
from parleyd.turns.tool_datasets import ToolDatasets


@dataclass(frozen=True)
class TurnContext:
    """What the tools of one turn may depend on: stored values only.

    So a retry, or another process that goes on with the turn, builds the same set.
    """

    owner: str
    conversation_id: UUID
    turn_id: UUID
    input_kind: InputKind
    surface: Surface
    project: str | None


@dataclass(frozen=True)
class ToolContext:
    """Where one call of a tool comes from.

    `idempotency_key` is the same for every run of this call, in whatever turn or process: a tool
    that hands it on to what it calls has its effect once. `approval_id` names the approval that let
    the call run, where it needed one. `datasets` registers data for charts and tables, while the
    tool runs and where replies are documents.
    """

    owner: str
    conversation_id: UUID
    turn_id: UUID
    tool_call_id: str
    idempotency_key: str
    approval_id: str | None = None
    datasets: ToolDatasets = field(default_factory=ToolDatasets, repr=False, compare=False)


@dataclass(frozen=True)
class ToolFile:
    """A file that a tool returns.

    The model sees it in the turn that called the tool; what is stored of the result is `text` and
    what the file is. Its bytes go to the file store, where there is one.
    """

    data: bytes = field(repr=False)
    mime_type: str = "application/octet-stream"
    filename: str = "document"
    text: str | None = None


ToolResult: TypeAlias = JsonValue | ToolFile


class ToolFailed(Exception):
    """A tool could not do what it was asked. The text goes to the model and to the client."""


class HostTool(Protocol):
    """A tool that runs here.

    `replay_safe` says that running it again with the same arguments and key does no harm: only such
    a tool is run again when its process died or its turn failed inside it.
    """

    @property
    def name(self) -> str:
        """Names the tool, `[A-Za-z_][A-Za-z0-9_.-]{0,63}`."""
        ...

    @property
    def description(self) -> str:
        """Tells the model what the tool does and when to use it."""
        ...

    @property
    def schema(self) -> dict[str, JsonValue]:
        """Is the JSON Schema of the arguments, an object at its root."""
        ...

    @property
    def replay_safe(self) -> bool:
        """Tells whether an interrupted run may be repeated."""
        ...

    @property
    def seconds(self) -> float | None:
        """Limits a run; None for the deployment's limit."""
        ...

    def faults(self, args: JsonValue) -> str | None:
        """Returns what is wrong with arguments, for the model to mend; None when they fit."""
        ...

    async def needs_approval(self, args: JsonValue, context: ToolContext) -> bool:
        """Tells whether a call with arguments that fit may run only once a person approves it.

        Asked once for each call, before anything of it runs. Whatever is raised counts as a yes.
        """
        ...

    async def run(self, args: JsonValue, context: ToolContext) -> ToolResult:
        """Runs the tool with arguments that fit and returns its result.

        A call that needs an approval comes here only with one: the caller sees to it, not the tool.

        Raises:
            ToolFailed: It could not do it; anything else that is raised is told as a fault of ours.
        """
        ...


ToolSet: TypeAlias = Mapping[str, HostTool]
RequestTools: TypeAlias = Callable[[TurnContext], Awaitable[ToolSet]]
"""Makes the tools of one turn, beside those that every turn has."""
RemoteTools: TypeAlias = Callable[[], Awaitable[ToolSet]]
"""Finds the tools that other servers offer at the moment. It never raises: a server that can't be
reached has none."""
ApprovalWording: TypeAlias = Callable[[JsonValue], Awaitable[object]]
"""Makes the input of the confirm that asks for a call, from the call's arguments. What it returns
is checked; where it is none, or nothing comes, the default wording takes its place."""
PromptHook: TypeAlias = Callable[[str, UUID, str | None], Awaitable[str | None]]
"""Makes the system prompt of one turn from owner, conversation and project."""

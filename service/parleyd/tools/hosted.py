"""A host tool that runs here: its arguments checked, its body called, its result made JSON."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import structlog
from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.text import clip
from parleyd.tools.approval_rules import ApprovalRule, approval_check
from parleyd.tools.misfits import Misfit
from parleyd.tools.results import file_of, result_of
from parleyd.tools.unusable import ToolsUnusable
from parleyd.turns.tools import ToolContext, ToolFailed, ToolFile, ToolResult

log = structlog.stdlib.get_logger()

_Read = TypeVar("_Read")
_Made_co = TypeVar("_Made_co", covariant=True)


class Arguments(Protocol[_Made_co]):
    """What a tool may be called with; `_Made_co` is what its body is given."""

    @property
    def schema(self) -> dict[str, JsonValue]:
        """Is the JSON Schema of the arguments, an object at its root."""
        ...

    def read(self, args: JsonValue) -> _Made_co:
        """Returns arguments as the body takes them.

        Raises:
            Misfit: They don't fit; all faults are in its text.
        """
        ...


@dataclass(frozen=True)
class Profile:
    """What a deployment says of a tool, beside what it does.

    `seconds` None: the deployment's limit. `needs_approval` says which calls need an approval: all,
    none, or those that a rule names.
    """

    name: str
    description: str
    replay_safe: bool = False
    seconds: float | None = None
    needs_approval: bool | ApprovalRule = False

    def __post_init__(self) -> None:
        if not self.description.strip():
            raise ToolsUnusable(
                f"The tool `{self.name}` has no description: say what it does and when to use it, "
                "in its docstring or with description=…."
            )
        if self.seconds is not None and not self.seconds > 0:
            raise ToolsUnusable(
                f"The tool `{self.name}` may run for {self.seconds} seconds: write more than none, "
                "or leave seconds out."
            )


class HostedTool(Generic[_Read]):
    """A `HostTool` of a profile, arguments and a body.

    Raises:
        ToolsUnusable: What the profile says of approvals is no rule.
    """

    def __init__(
        self,
        profile: Profile,
        arguments: Arguments[_Read],
        body: Callable[[_Read, ToolContext], Awaitable[object]],
    ) -> None:
        self._profile = profile
        self._arguments = arguments
        self._body = body
        self._approval_check = approval_check(profile.name, needed=profile.needs_approval)

    @property
    def name(self) -> str:
        """Names the tool."""
        return self._profile.name

    @property
    def description(self) -> str:
        """Tells the model what the tool does and when to use it."""
        return self._profile.description

    @property
    def schema(self) -> dict[str, JsonValue]:
        """Is the JSON Schema of the arguments, an object at its root."""
        return self._arguments.schema

    @property
    def replay_safe(self) -> bool:
        """Tells whether an interrupted run may be repeated."""
        return self._profile.replay_safe

    @property
    def seconds(self) -> float | None:
        """Limits a run; None for the deployment's limit."""
        return self._profile.seconds

    def faults(self, args: JsonValue) -> str | None:
        """Returns what is wrong with arguments, for the model to mend; None when they fit."""
        try:
            self._arguments.read(args)
        except Misfit as misfit:
            return str(misfit)
        # A validator of the deployment's own may raise anything. The call can't run then, and the
        # turn goes on.
        except Exception:
            log.exception("tool_check_failed", tool=self.name)
            return "The tool did not run: it failed to check its arguments. Go on without it."
        return None

    async def needs_approval(self, args: JsonValue, context: ToolContext) -> bool:
        """Tells whether a call with arguments that fit may run only once a person approves it.

        Whatever the deployment's own rule raises passes through, and counts as a yes.
        """
        return await self._approval_check(args, context)

    async def run(self, args: JsonValue, context: ToolContext) -> ToolResult:
        """Runs the tool and returns its result.

        Raises:
            ToolFailed: The tool says so, its arguments don't fit, or its result can't be told.
                Whatever else the body raises passes through.
        """
        try:
            read = self._arguments.read(args)
        except Misfit as misfit:
            raise ToolFailed(str(misfit)) from misfit
        try:
            returned = await self._body(read, context)
        except ToolFailed as failed:
            raise ToolFailed(clip(str(failed), limits.TOOL_FAILURE)) from failed
        if isinstance(returned, ToolFile):
            # Whether megabytes are JSON takes a while to tell.
            return await asyncio.to_thread(file_of, self.name, returned)
        return result_of(self.name, returned)

"""What becomes of a turn whose process is gone (spec turns 16.3). Pure."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from parleyd.contract import limits
from parleyd.contract.events import ToolReturned
from parleyd.contract.executions import UNKNOWN_RESULT, Execution
from parleyd.turns.lease_store import Verdict


@dataclass(frozen=True)
class FoundTurn:
    """A turn whose lease ran out or was released, as the process that took it over finds it.

    `committed`: its rows are stored, only its end is missing. `attempts` counts the processes that
    had it, this one included, without those that released it. `caller_key`: it needs a provider's
    key that only its first process knew. `deleted`: its conversation is.
    """

    committed: bool
    attempts: int
    caller_key: bool
    deleted: bool
    age_seconds: float


def judge(found: FoundTurn, turn_seconds: float) -> Verdict:
    """Returns what is to become of a turn that was taken over."""
    if found.committed:
        return "close"
    if found.attempts > limits.PROCESSES_PER_TURN or found.caller_key or found.deleted:
        return "interrupted"
    if found.age_seconds >= turn_seconds:
        return "timed_out"
    return "go_on"


def not_repeatable(
    unfinished: Iterable[Execution], replay_safe: Collection[str]
) -> tuple[Execution, ...]:
    """Returns the unfinished executions whose tools are not among those that may run again."""
    return tuple(each for each in unfinished if each.tool_name not in replay_safe)


def unknown_event(execution: Execution) -> ToolReturned:
    """Returns the event of a call that was started and never seen to end."""
    return ToolReturned(
        tool_call_id=execution.tool_call_id,
        tool_name=execution.tool_name,
        result=UNKNOWN_RESULT,
        is_error=True,
    )

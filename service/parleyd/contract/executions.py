"""Executions: what became of the calls of host tools (spec turns 4.2).

An execution is keyed by the call's place in its chain, so that a call that has run can't be started
again, whoever tries.
"""

from typing import Literal, TypeAlias
from uuid import UUID

from pydantic import JsonValue

from parleyd.contract.value import Value

ExecutionState: TypeAlias = Literal["started", "finished", "failed", "unknown"]

UNKNOWN_OUTCOME = (
    "This call was started, and nobody knows whether it took effect: its process was interrupted. "
    "Check before you call it again."
)
UNKNOWN_RESULT: dict[str, JsonValue] = {"error": UNKNOWN_OUTCOME, "outcome": "unknown"}
"""The result of a call that was started and never seen to end."""


class ToolStart(Value):
    """A host call that is about to run. `args` are in storable form.

    `approval_ask_id` names the approval that lets it run, where it needs one: no other call ever
    runs on it.
    """

    step_no: int
    call_index: int
    tool_call_id: str
    tool_name: str
    args: JsonValue
    approval_ask_id: UUID | None = None


class Execution(ToolStart):
    """A stored execution. `result` is set unless it is `started`, when failed `{"error": …}`."""

    turn_id: UUID
    state: ExecutionState
    result: JsonValue = None
    runs: int = 1

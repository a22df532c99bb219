"""What the last step of a chain still owes: calls to run, and calls to give up (spec turns 3.6.2).

Of what was started nothing runs again unless its tool says that this does no harm, and what needs
an approval runs only once it has it.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

from parleyd.contract.executions import Execution, ToolStart
from parleyd.contract.steps import Step
from parleyd.turns.approvals import is_approved
from parleyd.turns.ports import ChainAsk
from parleyd.turns.tool_runs import DueCall
from parleyd.turns.tools import ToolSet


def owed_calls(
    step: Step,
    done: Mapping[int, Execution],
    asks: Sequence[ChainAsk],
    tools: ToolSet,
    turn_id: UUID,
) -> list[DueCall]:
    """Returns the calls of a step that the turn `turn_id` has to run, in call order.

    `done` is what became of the step's calls so far, by their places; `asks` are those of the
    chain. An approved call is owed without its tool too: it has to fail for good (9.5).
    """
    answers = {ask.id: ask.answer for ask in asks if ask.answer is not None}
    names = {ask.id: ask.tool_call_id for ask in asks}
    due: list[DueCall] = []
    for index, call in enumerate(step.calls):
        tool, begun = tools.get(call.tool_name), done.get(index)
        approved = call.role == "approval" and is_approved(call, answers)
        if not approved and (call.role != "host" or tool is None):
            continue
        if begun and not (tool and tool.replay_safe and _is_open(begun, turn_id)):
            continue
        ask_id = call.ask_id if approved else None
        start = ToolStart(
            step_no=step.step_no,
            call_index=index,
            tool_call_id=call.tool_call_id,
            tool_name=call.tool_name,
            args=call.args,
            approval_ask_id=ask_id,
        )
        approval_id = names[ask_id] if ask_id else None
        again = begun is not None
        due.append(DueCall(start, tool, claimed=False, again=again, approval_id=approval_id))
    return due


def given_up(
    done: Mapping[int, Execution], due: Sequence[DueCall], turn_id: UUID
) -> tuple[Execution, ...]:
    """Returns what a process was interrupted in that had the turn before, and nobody repeats.

    Whoever took the turn over left what may run again to the tools that this turn has.
    """
    again = {call.start.call_index for call in due}
    return tuple(
        begun
        for index, begun in done.items()
        if begun.state == "started" and begun.turn_id == turn_id and index not in again
    )


def claimed_calls(starts: Sequence[ToolStart], tools: ToolSet) -> list[DueCall]:
    """Returns calls that journaling their step has started."""
    return [DueCall(start, tools[start.tool_name], claimed=True) for start in starts]


def _is_open(begun: Execution, turn_id: UUID) -> bool:
    """Tells whether a call has no result yet, nor was told to be unknown in this turn's log."""
    earlier = begun.turn_id != turn_id
    return begun.state == "started" or (begun.state == "unknown" and earlier)

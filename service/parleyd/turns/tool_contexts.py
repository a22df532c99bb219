"""Where one call of a tool comes from, as the tool is told (spec turns 9.1)."""

from parleyd.turns.datasets import Datasets
from parleyd.turns.ports import OpenedTurn
from parleyd.turns.tool_datasets import ToolDatasets
from parleyd.turns.tools import ToolContext


def tool_context(
    turn: OpenedTurn,
    step_no: int,
    call_index: int,
    tool_call_id: str,
    approval_id: str | None = None,
    datasets: Datasets | None = None,
) -> ToolContext:
    """Returns the context of a call: its key is the same in whatever turn or process it runs.

    With `datasets` the call may register some.
    """
    conversation_id = turn.lease.conversation_id
    return ToolContext(
        owner=turn.owner,
        conversation_id=conversation_id,
        turn_id=turn.lease.turn_id,
        tool_call_id=tool_call_id,
        idempotency_key=f"{turn.chain_id}/{step_no}/{call_index}",
        approval_id=approval_id,
        datasets=datasets.of_call(turn.owner, conversation_id) if datasets else ToolDatasets(),
    )

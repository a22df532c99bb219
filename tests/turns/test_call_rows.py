"""The rows of calls that are no asks."""

from uuid import UUID

from parleyd.contract.events import (
    AskResolved,
    EventBody,
    Resumed,
    Started,
    Text,
    ToolCalled,
    ToolReturned,
)
from parleyd.contract.executions import UNKNOWN_RESULT
from parleyd.contract.messages import MessageDraft
from parleyd.turns.call_rows import call_rows


def test_calls_and_results_become_rows_in_the_order_of_their_events() -> None:
    events: list[EventBody] = [
        Started(conversation_id=UUID(int=1), conversation_created=False),
        AskResolved(tool_call_id="call_plan", action="accept"),
        ToolCalled(tool_call_id="call_a", tool_name="lookup", args={"id": 1}),
        ToolCalled(tool_call_id="call_b", tool_name="upsert", args=None),
        ToolReturned(tool_call_id="call_b", tool_name="upsert", result=[1], is_error=False),
        Resumed(attempt=2),
        ToolReturned(
            tool_call_id="call_a", tool_name="lookup", result=UNKNOWN_RESULT, is_error=True
        ),
        Text(text="Done."),
    ]
    assert list(call_rows(events)) == [
        MessageDraft(
            type="tool_call",
            text="Tool call: lookup",
            tool_call_id="call_a",
            tool_name="lookup",
            args={"id": 1},
        ),
        MessageDraft(
            type="tool_call", text="Tool call: upsert", tool_call_id="call_b", tool_name="upsert"
        ),
        MessageDraft(
            type="tool_result",
            text="Tool result: upsert",
            tool_call_id="call_b",
            tool_name="upsert",
            result=[1],
        ),
        MessageDraft(
            type="tool_result",
            text="Tool result: lookup",
            tool_call_id="call_a",
            tool_name="lookup",
            result=UNKNOWN_RESULT,
        ),
    ]


def test_a_result_whose_call_was_in_another_turn_has_its_row() -> None:
    (row,) = call_rows(
        [ToolReturned(tool_call_id="call_a", tool_name="lookup", result=1, is_error=False)]
    )
    assert (row.type, row.tool_call_id, row.result) == ("tool_result", "call_a", 1)

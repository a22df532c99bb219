"""The rows of calls that are no asks: what their events told, kept in the conversation (4.3)."""

from collections.abc import Iterable, Iterator

from parleyd.contract.events import EventBody, ToolCalled, ToolReturned
from parleyd.contract.messages import MessageDraft
from parleyd.turns.records import returned_row


def call_rows(events: Iterable[EventBody]) -> Iterator[MessageDraft]:
    """Yields a row for every call and every result among the events, in their order."""
    for event in events:
        match event:
            case ToolCalled():
                yield MessageDraft(
                    type="tool_call",
                    text=f"Tool call: {event.tool_name}",
                    tool_call_id=event.tool_call_id,
                    tool_name=event.tool_name,
                    args=event.args,
                )
            case ToolReturned():
                yield returned_row(event)
            case _:
                pass

"""The rows and events that a turn's transactions write (spec turns 4.3, 6.1)."""

from collections.abc import Iterable, Iterator
from typing import assert_never

from parleyd.contract.answers import action_of
from parleyd.contract.asks.ask import Ask
from parleyd.contract.events import (
    Asked,
    AskResolved,
    BlocksChecked,
    Done,
    EventBody,
    Failed,
    FileReturned,
    Resumed,
    Started,
    Text,
    TextReplaced,
    ToolCalled,
    ToolReturned,
)
from parleyd.contract.json import storable_json, storable_object
from parleyd.contract.messages import MessageDraft
from parleyd.contract.text import storable
from parleyd.contract.turns import TurnResult


class PlacedRow(MessageDraft):
    """A row with its place in the conversation and in its turn."""

    seq: int
    position: int


def place_rows(drafts: Iterable[MessageDraft], last_seq: int, position: int) -> Iterator[PlacedRow]:
    """Yields rows after `last_seq` of the conversation, from `position` of the turn on."""
    for index, draft in enumerate(drafts):
        yield PlacedRow(
            **dict(draft),
            seq=last_seq + 1 + index,
            position=position + index,
        )


def call_row(ask: Ask) -> MessageDraft:
    """Returns the row that shows an ask."""
    return MessageDraft(
        type="tool_call",
        text=f"Tool call: {ask.tool_name}",
        tool_call_id=ask.tool_call_id,
        tool_name=ask.tool_name,
        args=ask.input,
        ask_id=ask.id,
    )


def answer_row(ask: Ask) -> MessageDraft:
    """Returns the row that shows how an ask was resolved."""
    return MessageDraft(
        type="tool_result",
        text=f"Tool result: {ask.tool_name}",
        tool_call_id=ask.tool_call_id,
        tool_name=ask.tool_name,
        result=ask.answer,
        ask_id=ask.id,
    )


def returned_row(returned: ToolReturned) -> MessageDraft:
    """Returns the row that shows what a call of a host tool came to."""
    return MessageDraft(
        type="tool_result",
        text=f"Tool result: {returned.tool_name}",
        tool_call_id=returned.tool_call_id,
        tool_name=returned.tool_name,
        result=returned.result,
    )


def resolution_event(ask: Ask) -> AskResolved:
    """Returns the event of an ask that this turn resolved."""
    assert ask.answer is not None
    return AskResolved(tool_call_id=ask.tool_call_id, action=action_of(ask.answer))


def ask_event(ask: Ask) -> Asked:
    """Returns the event of an ask that got the slot."""
    return Asked(
        conversation_id=ask.conversation_id,
        tool_call_id=ask.tool_call_id,
        ask_kind=ask.kind,
        input=ask.input,
        simple=ask.simple,
        origin=ask.origin,
        tool_name=ask.tool_name if ask.origin == "approval" else None,
        tool_args=ask.tool_args,
        expire_time=ask.expire_time,
    )


def done_event(result: TurnResult) -> Done:
    """Returns the last event of a turn."""
    return Done(
        conversation_id=result.conversation_id,
        title=result.title,
        pending_tool_call_id=result.pending_ask.tool_call_id if result.pending_ask else None,
        state=result.state,
        retryable=result.retryable,
    )


def storable_event(body: EventBody) -> EventBody:
    """Returns an event as it can be stored and sent: what both see is the same."""
    match body:
        case Text() | TextReplaced():
            return body.model_copy(update={"text": storable(body.text)})
        case ToolCalled():
            return body.model_copy(update={"args": storable_json(body.args)})
        case ToolReturned():
            return body.model_copy(update={"result": storable_json(body.result)})
        case FileReturned():
            texts = {"filename": storable(body.filename), "mime_type": storable(body.mime_type)}
            return body.model_copy(update=texts)
        case BlocksChecked():
            document = body.document and storable_object(body.document)
            return body.model_copy(update={"document": document})
        case Started() | AskResolved() | Resumed() | Asked() | Failed() | Done():
            return body
        case _:
            assert_never(body)

"""The events of a turn on the wire (spec turns 6.1)."""

from typing import assert_never

from parley.v1 import turns_pb2
from parleyd.contract.events import (
    Asked,
    AskResolved,
    BlocksChecked,
    Done,
    Failed,
    FileReturned,
    Resumed,
    Started,
    Text,
    TextReplaced,
    ToolCalled,
    ToolReturned,
    TurnEvent,
)
from parleyd.contract.json import compact
from parleyd.contract.turns import TurnState
from parleyd.rpc.ask_inputs import ask_input_to_proto
from parleyd.rpc.asks import action_to_proto, origin_to_proto
from parleyd.rpc.blocks import document_to_proto, issue_to_proto
from parleyd.rpc.cards import card_to_proto
from parleyd.rpc.kinds import kind_to_proto
from parleyd.rpc.times import moment_to_proto


def event_to_proto(event: TurnEvent) -> turns_pb2.TurnEvent:
    """Returns a stored event."""
    message = turns_pb2.TurnEvent(sequence=event.sequence, turn_id=str(event.turn_id))
    body = event.body
    match body:
        case Started():
            message.started.CopyFrom(_started_to_proto(body))
        case AskResolved():
            message.ask_resolved.CopyFrom(_ask_resolved_to_proto(body))
        case Resumed():
            message.resumed.CopyFrom(turns_pb2.TurnResumed(attempt=body.attempt))
        case Text():
            message.text.CopyFrom(turns_pb2.TextChunk(text=body.text))
        case TextReplaced():
            message.text_replaced.CopyFrom(turns_pb2.TextReplaced(text=body.text))
        case ToolCalled():
            message.tool_call.CopyFrom(_tool_call_to_proto(body))
        case FileReturned():
            message.file.CopyFrom(_file_to_proto(body))
        case ToolReturned():
            message.tool_result.CopyFrom(_tool_result_to_proto(body))
        case Asked():
            message.ask.CopyFrom(_ask_to_proto(body))
        case BlocksChecked():
            message.blocks.CopyFrom(_blocks_to_proto(body))
        case Failed():
            error = turns_pb2.TurnError(reason=body.reason.value, message=body.message)
            message.error.CopyFrom(error)
        case Done():
            message.done.CopyFrom(_done_to_proto(body))
        case _:
            assert_never(body)
    return message


def state_to_proto(state: TurnState) -> turns_pb2.Turn.State.ValueType:
    """Returns the enum value of a turn's state."""
    match state:
        case "running":
            return turns_pb2.Turn.STATE_RUNNING
        case "paused":
            return turns_pb2.Turn.STATE_PAUSED
        case "completed":
            return turns_pb2.Turn.STATE_COMPLETED
        case "failed":
            return turns_pb2.Turn.STATE_FAILED
        case _:
            assert_never(state)


def _started_to_proto(body: Started) -> turns_pb2.TurnStarted:
    return turns_pb2.TurnStarted(
        conversation_id=str(body.conversation_id),
        conversation_created=body.conversation_created,
        retry_of_turn_id=str(body.retry_of_turn_id or ""),
    )


def _ask_resolved_to_proto(body: AskResolved) -> turns_pb2.AskResolved:
    return turns_pb2.AskResolved(
        tool_call_id=body.tool_call_id, action=action_to_proto(body.action)
    )


def _tool_call_to_proto(body: ToolCalled) -> turns_pb2.ToolCall:
    return turns_pb2.ToolCall(
        tool_call_id=body.tool_call_id, tool_name=body.tool_name, args_json=compact(body.args)
    )


def _tool_result_to_proto(body: ToolReturned) -> turns_pb2.ToolResult:
    return turns_pb2.ToolResult(
        tool_call_id=body.tool_call_id,
        tool_name=body.tool_name,
        result_json=compact(body.result),
        is_error=body.is_error,
        denied=None if body.denied is None else turns_pb2.ApprovalDenied(reason=body.denied),
    )


def _file_to_proto(body: FileReturned) -> turns_pb2.GeneratedFile:
    message = turns_pb2.GeneratedFile(
        filename=body.filename, mime_type=body.mime_type, tool_call_id=body.tool_call_id
    )
    if body.file_id:
        message.file_id = str(body.file_id)
    return message


def _ask_to_proto(body: Asked) -> turns_pb2.AskAsked:
    return turns_pb2.AskAsked(
        conversation_id=str(body.conversation_id),
        tool_call_id=body.tool_call_id,
        kind=kind_to_proto(body.ask_kind),
        input=ask_input_to_proto(body.ask_kind, body.input),
        simple=card_to_proto(body.simple),
        origin=origin_to_proto(body.origin),
        tool_name=body.tool_name or "",
        tool_args_json="" if body.tool_name is None else compact(body.tool_args),
        expire_time=moment_to_proto(body.expire_time),
    )


def _blocks_to_proto(body: BlocksChecked) -> turns_pb2.BlocksChecked:
    return turns_pb2.BlocksChecked(
        ok=body.ok,
        errors=map(issue_to_proto, body.errors),
        warnings=map(issue_to_proto, body.warnings),
        document=None if body.document is None else document_to_proto(body.document),
    )


def _done_to_proto(body: Done) -> turns_pb2.TurnDone:
    return turns_pb2.TurnDone(
        conversation_id=str(body.conversation_id),
        title=body.title or "",
        pending_tool_call_id=body.pending_tool_call_id or "",
        state=state_to_proto(body.state),
        retryable=body.retryable,
    )

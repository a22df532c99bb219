"""Events of a turn as the JSON of server-sent events (spec turns 6.1, last column).

The JSON is put together as text: what a tool was given and returned goes through as it was stored,
digit for digit.
"""

from collections.abc import Iterable
from typing import Final, assert_never

from google.protobuf.descriptor import EnumDescriptor
from pydantic import JsonValue

from parley.v1 import asks_pb2, blocks_pb2, cards_pb2, turns_pb2
from parleyd.contract.json import compact
from parleyd.rpc.answers import answer_from_proto
from parleyd.rpc.ask_inputs import ask_input_from_proto
from parleyd.rpc.web.json_replies import json_of

_UNSPECIFIED: Final = "UNSPECIFIED"
_NOTHING: Final = "{}"


def shape_of(event: turns_pb2.TurnEvent) -> str:
    """Returns an event as JSON on one line; an empty object for one that is newer than this."""
    kind = event.WhichOneof("event")
    match kind:
        case "started":
            return _started(event)
        case "ask_resolved":
            return _object(askResolved=_resolved(event.ask_resolved))
        case "resumed":
            return _object(resumed=_object(attempt=compact(event.resumed.attempt)))
        case "text":
            return _object(text=compact(event.text.text))
        case "text_replaced":
            return _object(replace=compact("text"), text=compact(event.text_replaced.text))
        case "tool_call":
            return _object(toolCall=_tool_call(event.tool_call))
        case "file":
            return _object(file=_file(event.file))
        case "tool_result":
            return _object(toolResult=_tool_result(event.tool_result))
        case "ask":
            return _object(ask=_ask(event.ask), historyId=compact(event.ask.conversation_id))
        case "blocks":
            return _object(blocks=_blocks(event.blocks))
        case "error":
            return _object(error=compact(event.error.message), reason=compact(event.error.reason))
        case "done":
            return _done(event.done)
        case "text_preview":
            return _object(preview=_object(delta=compact(event.text_preview.delta)))
        case "blocks_preview":
            return _object(blocksPreview=_blocks_preview(event.blocks_preview))
        case "preview_discarded":
            return _object(previewDiscarded=compact(True))  # noqa: FBT003 - a value of JSON
        case None:
            return _NOTHING
        case _:
            assert_never(kind)


def _started(event: turns_pb2.TurnEvent) -> str:
    started = event.started
    return _object(
        started=compact(True),  # noqa: FBT003 - a value of JSON
        historyId=compact(started.conversation_id),
        streamId=compact(event.turn_id),
        conversationCreated=compact(started.conversation_created),
        retryOfTurnId=_unless_empty(started.retry_of_turn_id),
    )


def _resolved(resolved: turns_pb2.AskResolved) -> str:
    return _object(
        toolCallId=compact(resolved.tool_call_id),
        action=compact(_word(asks_pb2.AskAction.DESCRIPTOR, resolved.action)),
    )


def _tool_call(call: turns_pb2.ToolCall) -> str:
    return _object(
        toolCallId=compact(call.tool_call_id),
        toolName=compact(call.tool_name),
        args=_stored(call.args_json),
    )


def _tool_result(result: turns_pb2.ToolResult) -> str:
    return _object(
        toolCallId=compact(result.tool_call_id),
        toolName=compact(result.tool_name),
        result=_stored(result.result_json),
        isError=compact(result.is_error),
    )


def _file(file: turns_pb2.GeneratedFile) -> str:
    return _object(
        filename=compact(file.filename),
        mimeType=compact(file.mime_type),
        fileId=_unless_empty(file.file_id),
        toolCallId=compact(file.tool_call_id),
    )


def _ask(ask: turns_pb2.AskAsked) -> str:
    kind, content = ask_input_from_proto(ask.input)
    return _object(
        toolCallId=compact(ask.tool_call_id),
        kind=compact(kind),
        input=compact(content),
        simple=compact(_card(ask.simple)),
        origin=compact(_word(asks_pb2.AskOrigin.DESCRIPTOR, ask.origin)),
        toolName=_unless_empty(ask.tool_name),
        toolArgs=_stored(ask.tool_args_json) if ask.tool_name else None,
        expireTime=(
            compact(ask.expire_time.ToJsonString()) if ask.HasField("expire_time") else None
        ),
    )


def _card(card: cards_pb2.SimpleCard) -> JsonValue:
    buttons: list[JsonValue] = [_button(button) for button in card.buttons]
    title: dict[str, JsonValue] = {"title": card.title} if card.HasField("title") else {}
    return {
        "toolCallId": card.tool_call_id,
        "kind": _word(asks_pb2.AskKind.DESCRIPTOR, card.kind),
        **title,
        "text": card.text,
        "buttons": buttons,
        "handoff": card.handoff,
    }


def _button(button: cards_pb2.SimpleCardButton) -> JsonValue:
    return {
        "id": button.id,
        "label": button.label,
        "style": _word(cards_pb2.SimpleCardButton.Style.DESCRIPTOR, button.style),
        "response": answer_from_proto(button.response),
    }


def _blocks(blocks: turns_pb2.BlocksChecked) -> str:
    return _object(
        ok=compact(blocks.ok),
        errors=_issues(blocks.errors),
        warnings=_issues(blocks.warnings),
        document=json_of(blocks.document) if blocks.HasField("document") else None,
    )


def _blocks_preview(preview: turns_pb2.BlocksPreview) -> str:
    return _object(document=json_of(preview.document), pending=compact(preview.pending))


def _done(done: turns_pb2.TurnDone) -> str:
    pending = done.pending_tool_call_id
    return _object(
        done=compact(True),  # noqa: FBT003 - a value of JSON
        historyId=compact(done.conversation_id),
        title=_unless_empty(done.title),
        pendingAsk=_object(toolCallId=compact(pending)) if pending else None,
        state=compact(_word(turns_pb2.Turn.State.DESCRIPTOR, done.state)),
        retryable=compact(done.retryable),
    )


def _issues(issues: Iterable[blocks_pb2.BlockIssue]) -> str:
    return f"[{','.join(map(json_of, issues))}]"


def _object(**members: str | None) -> str:
    """Returns an object of members that are JSON already; None leaves one out."""
    kept = [f"{compact(key)}:{value}" for key, value in members.items() if value is not None]
    return "{" + ",".join(kept) + "}"


def _unless_empty(text: str) -> str | None:
    return compact(text) if text else None


def _stored(text: str) -> str:
    """Returns JSON text as it is stored, on one line: a raw break in JSON is but white space."""
    return text.replace("\r", " ").replace("\n", " ") or "null"


def _word(enum: EnumDescriptor, number: int) -> str:
    """Returns what the contract calls an enum value: `ASK_KIND_CHOICE` is `choice`."""
    none, found = enum.values[0].name, enum.values_by_number.get(number)
    return (found.name if found else none).removeprefix(none.removesuffix(_UNSPECIFIED)).lower()

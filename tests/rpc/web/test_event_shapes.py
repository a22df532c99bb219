import json
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from parley.v1 import asks_pb2, blocks_pb2, turns_pb2
from parleyd.contract.cards import to_simple_card
from parleyd.contract.json_text import is_json
from parleyd.rpc.ask_inputs import ask_input_to_proto
from parleyd.rpc.cards import card_to_proto
from parleyd.rpc.web.event_shapes import shape_of
from tests.standard_asks import PLAN

pb = turns_pb2
ISSUE = blocks_pb2.BlockIssue(path="blocks[0]", code="UNKNOWN_KEY", message="No.", fix="Yes.")
DOCUMENT = blocks_pb2.BlockDocument(
    v=1, blocks=[blocks_pb2.Block(text=blocks_pb2.TextBlock(markdown="a\u2028b\r\nc"))]
)

SHAPES: dict[str, tuple[pb.TurnEvent, Any]] = {
    "started": (
        pb.TurnEvent(started=pb.TurnStarted(conversation_id="c", conversation_created=True)),
        {"started": True, "historyId": "c", "streamId": "t", "conversationCreated": True},
    ),
    "ask_resolved": (
        pb.TurnEvent(
            ask_resolved=pb.AskResolved(tool_call_id="a", action=asks_pb2.ASK_ACTION_DECLINE)
        ),
        {"askResolved": {"toolCallId": "a", "action": "decline"}},
    ),
    "resumed": (pb.TurnEvent(resumed=pb.TurnResumed(attempt=2)), {"resumed": {"attempt": 2}}),
    "text": (pb.TurnEvent(text=pb.TextChunk(text="a\n\u2028\U0001f600")), {"text": "a\n\u2028😀"}),
    "text_replaced": (
        pb.TurnEvent(text_replaced=pb.TextReplaced(text="b")),
        {"replace": "text", "text": "b"},
    ),
    "tool_call": (
        pb.TurnEvent(
            tool_call=pb.ToolCall(tool_call_id="a", tool_name="n", args_json='{"a":\n[1,2]}')
        ),
        {"toolCall": {"toolCallId": "a", "toolName": "n", "args": {"a": [1, 2]}}},
    ),
    "file": (
        pb.TurnEvent(
            file=pb.GeneratedFile(filename="f", mime_type="m", file_id="i", tool_call_id="a")
        ),
        {"file": {"filename": "f", "mimeType": "m", "fileId": "i", "toolCallId": "a"}},
    ),
    "tool_result": (
        pb.TurnEvent(
            tool_result=pb.ToolResult(
                tool_call_id="a",
                tool_name="n",
                result_json='{"approved":false,"reason":"user_denied"}',
                denied=pb.ApprovalDenied(reason="user_denied"),
            )
        ),
        {
            "toolResult": {
                "toolCallId": "a",
                "toolName": "n",
                "result": {"approved": False, "reason": "user_denied"},
                "isError": False,
            }
        },
    ),
    "ask": (
        pb.TurnEvent(
            ask=pb.AskAsked(
                conversation_id="c",
                tool_call_id="a",
                kind=asks_pb2.ASK_KIND_CONFIRM,
                input=asks_pb2.AskInput(
                    prompt="Delete it?", confirm=asks_pb2.ConfirmInput(destructive=True)
                ),
                origin=asks_pb2.ASK_ORIGIN_APPROVAL,
                tool_name="delete",
                tool_args_json='{"n":1.50}',
                expire_time=Timestamp(seconds=1_900_000_000),
            )
        ),
        {
            "ask": {
                "toolCallId": "a",
                "kind": "confirm",
                "input": {"prompt": "Delete it?", "destructive": True},
                "simple": {
                    "toolCallId": "",
                    "kind": "unspecified",
                    "text": "",
                    "buttons": [],
                    "handoff": False,
                },
                "origin": "approval",
                "toolName": "delete",
                "toolArgs": {"n": 1.5},
                "expireTime": "2030-03-17T17:46:40Z",
            },
            "historyId": "c",
        },
    ),
    "blocks": (
        pb.TurnEvent(blocks=pb.BlocksChecked(ok=True, warnings=[ISSUE], document=DOCUMENT)),
        {
            "blocks": {
                "ok": True,
                "errors": [],
                "warnings": [
                    {"path": "blocks[0]", "code": "UNKNOWN_KEY", "message": "No.", "fix": "Yes."}
                ],
                "document": {
                    "v": 1,
                    "datasets": [],
                    "blocks": [{"id": "", "text": {"markdown": "a\u2028b\r\nc"}}],
                },
            }
        },
    ),
    "error": (
        pb.TurnEvent(error=pb.TurnError(reason="MODEL_ERROR", message="It failed.")),
        {"error": "It failed.", "reason": "MODEL_ERROR"},
    ),
    "done": (
        pb.TurnEvent(
            done=pb.TurnDone(
                conversation_id="c",
                title="T",
                pending_tool_call_id="a",
                state=pb.Turn.STATE_PAUSED,
            )
        ),
        {
            "done": True,
            "historyId": "c",
            "title": "T",
            "pendingAsk": {"toolCallId": "a"},
            "state": "paused",
            "retryable": False,
        },
    ),
    "text_preview": (
        pb.TurnEvent(text_preview=pb.TextPreview(delta="He")),
        {"preview": {"delta": "He"}},
    ),
    "blocks_preview": (
        pb.TurnEvent(blocks_preview=pb.BlocksPreview(document=DOCUMENT, pending=True)),
        {
            "blocksPreview": {
                "document": {
                    "v": 1,
                    "datasets": [],
                    "blocks": [{"id": "", "text": {"markdown": "a\u2028b\r\nc"}}],
                },
                "pending": True,
            }
        },
    ),
    "preview_discarded": (
        pb.TurnEvent(preview_discarded=pb.PreviewDiscarded()),
        {"previewDiscarded": True},
    ),
}


def test_every_event_of_the_protos_has_a_shape() -> None:
    oneof = pb.TurnEvent.DESCRIPTOR.oneofs_by_name["event"]
    assert {field.name for field in oneof.fields} == SHAPES.keys()


@pytest.mark.parametrize("name", SHAPES)
def test_an_event_has_the_shape_of_the_spec_on_one_line(name: str) -> None:
    event, shape = SHAPES[name]
    event.turn_id = "t"
    assert event.WhichOneof("event") == name
    text = shape_of(event)
    assert json.loads(text) == shape
    assert "\n" not in text
    assert "\r" not in text


def test_what_a_tool_gave_and_got_goes_through_digit_for_digit() -> None:
    exact = '{"a":1.50,"b":1e400,"c":12345678901234567890123}'
    call = pb.TurnEvent(tool_call=pb.ToolCall(args_json=exact))
    result = pb.TurnEvent(tool_result=pb.ToolResult(result_json=exact))
    ask = pb.TurnEvent(
        ask=pb.AskAsked(
            input=asks_pb2.AskInput(confirm=asks_pb2.ConfirmInput()),
            tool_name="n",
            tool_args_json=exact,
        )
    )
    for event in (call, result, ask):
        text = shape_of(event)
        assert exact in text
        assert is_json(text)


def test_an_event_of_a_newer_server_is_an_empty_object() -> None:
    assert shape_of(pb.TurnEvent(sequence=7)) == "{}"


def test_an_ask_has_the_input_and_the_card_of_the_contract() -> None:
    card = to_simple_card("choice", PLAN, "call_plan")
    ask = pb.AskAsked(
        kind=asks_pb2.ASK_KIND_CHOICE,
        input=ask_input_to_proto("choice", PLAN),
        simple=card_to_proto(card),
        origin=asks_pb2.ASK_ORIGIN_MODEL,
    )
    shape = json.loads(shape_of(pb.TurnEvent(ask=ask)))["ask"]
    assert shape["input"] == PLAN
    assert shape["simple"] == card.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert "toolName" not in shape
    assert "toolArgs" not in shape

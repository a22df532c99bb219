from typing import Any, get_args
from uuid import UUID

import pytest
from google.protobuf.json_format import MessageToDict
from pydantic import JsonValue

from parley.v1 import asks_pb2, turns_pb2
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.cards import to_simple_card
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
    TurnEvent,
)
from parleyd.contract.json import JsonObject, compact
from parleyd.contract.previews import BlocksPreview, Preview, PreviewDiscarded, TextPreview
from parleyd.contract.reasons import Reason
from parleyd.contract.turns import TurnState
from parleyd.rpc.ask_inputs import ask_input_from_proto
from parleyd.rpc.events import event_to_proto, state_to_proto
from parleyd.rpc.kinds import kind_to_proto
from parleyd.rpc.previews import preview_to_proto
from tests.rpc.every_kind import INPUTS, Json
from tests.rpc.json_values import card_of, exact

CONVERSATION, TURN = UUID(int=1), UUID(int=2)
CONFIRM: dict[str, JsonValue] = {"prompt": "Sure?", "destructive": False}

DOCUMENT: dict[str, JsonValue] = {"v": 1, "blocks": [{"type": "heading", "text": "Loans"}]}
SHOWN: dict[str, Any] = {"v": 1, "blocks": [{"heading": {"text": "Loans"}}]}
ISSUES: dict[str, JsonObject] = {
    "error": {
        "path": "blocks[0].text",
        "code": "MISSING_REQUIRED",
        "message": "There is no text.",
        "fix": "Write one.",
    },
    "warning": {
        "path": "blocks[1]",
        "code": "LINE_SINGLE_POINT",
        "message": "One point is no line.",
        "fix": "Use a bar.",
    },
}
ERROR, WARNING = (
    BlockIssue.model_validate_json(compact(ISSUES[name])) for name in ("error", "warning")
)

EVENTS: dict[str, tuple[EventBody, str, dict[str, Any]]] = {
    "started": (
        Started(conversation_id=CONVERSATION, conversation_created=True),
        "started",
        {"conversationId": str(CONVERSATION), "conversationCreated": True},
    ),
    "started_again": (
        Started(
            conversation_id=CONVERSATION, conversation_created=False, retry_of_turn_id=UUID(int=3)
        ),
        "started",
        {"conversationId": str(CONVERSATION), "retryOfTurnId": str(UUID(int=3))},
    ),
    "resumed": (Resumed(attempt=2), "resumed", {"attempt": 2}),
    "ask_resolved": (
        AskResolved(tool_call_id="call_1", action="cancel"),
        "ask_resolved",
        {"toolCallId": "call_1", "action": "ASK_ACTION_CANCEL"},
    ),
    "text": (Text(text="Hello"), "text", {"text": "Hello"}),
    "text_replaced": (TextReplaced(text="Hello!"), "text_replaced", {"text": "Hello!"}),
    "blocks": (
        BlocksChecked(warnings=(WARNING,), document=DOCUMENT),
        "blocks",
        {"ok": True, "warnings": [ISSUES["warning"]], "document": SHOWN},
    ),
    "blocks_with_errors": (
        BlocksChecked(errors=(ERROR,), warnings=(WARNING,)),
        "blocks",
        {"errors": [ISSUES["error"]], "warnings": [ISSUES["warning"]]},
    ),
    "tool_call": (
        ToolCalled(
            tool_call_id="call_1",
            tool_name="look_up",
            args={"id": 9007199254740993, "whole": 3, "text": "é", "none": None},
        ),
        "tool_call",
        {
            "toolCallId": "call_1",
            "toolName": "look_up",
            "argsJson": '{"id":9007199254740993,"whole":3,"text":"é","none":null}',
        },
    ),
    "tool_result": (
        ToolReturned(
            tool_call_id="call_1", tool_name="look_up", result={"error": "no"}, is_error=True
        ),
        "tool_result",
        {
            "toolCallId": "call_1",
            "toolName": "look_up",
            "resultJson": '{"error":"no"}',
            "isError": True,
        },
    ),
    "tool_result_of_nothing": (
        ToolReturned(tool_call_id="call_1", tool_name="look_up", result=None, is_error=False),
        "tool_result",
        {"toolCallId": "call_1", "toolName": "look_up", "resultJson": "null"},
    ),
    "tool_result_of_a_call_that_was_not_approved": (
        ToolReturned(
            tool_call_id="call_1",
            tool_name="delete",
            result={"approved": False, "reason": "user_denied"},
            is_error=False,
            denied="user_denied",
        ),
        "tool_result",
        {
            "toolCallId": "call_1",
            "toolName": "delete",
            "resultJson": '{"approved":false,"reason":"user_denied"}',
            "denied": {"reason": "user_denied"},
        },
    ),
    "tool_result_denied_for_no_reason": (
        ToolReturned(
            tool_call_id="call_1", tool_name="delete", result=None, is_error=False, denied=""
        ),
        "tool_result",
        {"toolCallId": "call_1", "toolName": "delete", "resultJson": "null", "denied": {}},
    ),
    "file": (
        FileReturned(
            tool_call_id="call_1",
            filename="plan.pdf",
            mime_type="application/pdf",
            file_id=UUID(int=4),
        ),
        "file",
        {
            "toolCallId": "call_1",
            "filename": "plan.pdf",
            "mimeType": "application/pdf",
            "fileId": str(UUID(int=4)),
        },
    ),
    "file_that_is_not_kept": (
        FileReturned(
            tool_call_id="call_1", filename="document", mime_type="application/octet-stream"
        ),
        "file",
        {"toolCallId": "call_1", "filename": "document", "mimeType": "application/octet-stream"},
    ),
    "ask": (
        Asked(
            conversation_id=CONVERSATION,
            tool_call_id="call_1",
            ask_kind="confirm",
            input=CONFIRM,
            simple=to_simple_card("confirm", CONFIRM, "call_1"),
            origin="model",
        ),
        "ask",
        {
            "conversationId": str(CONVERSATION),
            "toolCallId": "call_1",
            "kind": "ASK_KIND_CONFIRM",
            "origin": "ASK_ORIGIN_MODEL",
            "input": {"prompt": "Sure?", "confirm": {"destructive": False}},
            "simple": {
                "toolCallId": "call_1",
                "kind": "ASK_KIND_CONFIRM",
                "text": "Sure?",
                "buttons": [
                    {
                        "id": "approve",
                        "label": "Confirm",
                        "style": "STYLE_PRIMARY",
                        "response": {"accept": {"confirm": {"confirmed": True}}},
                    },
                    {
                        "id": "deny",
                        "label": "Cancel",
                        "style": "STYLE_CANCEL",
                        "response": {"accept": {"confirm": {"confirmed": False}}},
                    },
                ],
            },
        },
    ),
    "error": (
        Failed(reason=Reason.MODEL_REFUSED, message="The model refuses."),
        "error",
        {"reason": "MODEL_REFUSED", "message": "The model refuses."},
    ),
    "done": (
        Done(
            conversation_id=CONVERSATION,
            title="Trip",
            pending_tool_call_id="call_1",
            state="paused",
            retryable=False,
        ),
        "done",
        {
            "conversationId": str(CONVERSATION),
            "title": "Trip",
            "pendingToolCallId": "call_1",
            "state": "STATE_PAUSED",
        },
    ),
    "done_with_less": (
        Done(
            conversation_id=CONVERSATION,
            title=None,
            pending_tool_call_id=None,
            state="failed",
            retryable=True,
        ),
        "done",
        {"conversationId": str(CONVERSATION), "state": "STATE_FAILED", "retryable": True},
    ),
}

PREVIEWS: dict[str, tuple[Preview, str, dict[str, Any]]] = {
    "text_preview": (
        TextPreview(turn_id=TURN, delta="Setting up"),
        "text_preview",
        {"delta": "Setting up"},
    ),
    "blocks_preview": (
        BlocksPreview(turn_id=TURN, document=DOCUMENT, pending=True),
        "blocks_preview",
        {"document": SHOWN, "pending": True},
    ),
    "blocks_preview_of_a_whole_document": (
        BlocksPreview(turn_id=TURN, document=DOCUMENT, pending=False),
        "blocks_preview",
        {"document": SHOWN},
    ),
    "preview_discarded": (PreviewDiscarded(turn_id=TURN), "preview_discarded", {}),
}


@pytest.mark.parametrize(("body", "name", "content"), EVENTS.values(), ids=EVENTS.keys())
def test_an_event_arrives_whole(body: EventBody, name: str, content: dict[str, Any]) -> None:
    event = event_to_proto(TurnEvent(turn_id=TURN, sequence=3, body=body))
    sent = turns_pb2.TurnEvent.FromString(event.SerializeToString())
    assert (sent.sequence, sent.turn_id) == (3, str(TURN))
    assert sent.WhichOneof("event") == name
    whole = MessageToDict(sent, preserving_proto_field_name=True)
    assert MessageToDict(getattr(sent, name)) == content, whole


@pytest.mark.parametrize(("preview", "name", "content"), PREVIEWS.values(), ids=PREVIEWS.keys())
def test_a_preview_arrives_whole_and_without_a_number(
    preview: Preview, name: str, content: dict[str, Any]
) -> None:
    sent = turns_pb2.TurnEvent.FromString(preview_to_proto(preview).SerializeToString())
    assert (sent.sequence, sent.turn_id) == (0, str(TURN))
    assert sent.WhichOneof("event") == name
    assert MessageToDict(getattr(sent, name)) == content


@pytest.mark.parametrize(("kind", "ask_input"), INPUTS.values(), ids=INPUTS.keys())
def test_an_ask_of_any_kind_arrives_whole(kind: AskKind, ask_input: Json) -> None:
    card = to_simple_card(kind, ask_input, "call_1")
    body = Asked(
        conversation_id=CONVERSATION,
        tool_call_id="call_1",
        ask_kind=kind,
        input=ask_input,
        simple=card,
        origin="model",
    )
    event = event_to_proto(TurnEvent(turn_id=TURN, sequence=3, body=body))
    asked = turns_pb2.TurnEvent.FromString(event.SerializeToString()).ask
    came_kind, came = ask_input_from_proto(asked.input)
    assert (came_kind, exact(came)) == (kind, exact(ask_input))
    assert asked.kind == kind_to_proto(kind)
    assert exact(card_of(asked.simple)) == exact(
        card.model_dump(mode="json", by_alias=True, exclude_none=True)
    )


@pytest.mark.parametrize(
    ("args", "text"),
    [({"id": 9007199254740993, "é": 1.5}, '{"id":9007199254740993,"é":1.5}'), (None, "null")],
    ids=["some", "none"],
)
def test_an_approval_shows_what_will_run_digit_for_digit(args: JsonValue, text: str) -> None:
    body = Asked(
        conversation_id=CONVERSATION,
        tool_call_id="apr_1",
        ask_kind="confirm",
        input=CONFIRM,
        simple=to_simple_card("confirm", CONFIRM, "apr_1"),
        origin="approval",
        tool_name="delete",
        tool_args=args,
    )
    event = event_to_proto(TurnEvent(turn_id=TURN, sequence=3, body=body))
    asked = turns_pb2.TurnEvent.FromString(event.SerializeToString()).ask
    assert asked.origin == asks_pb2.ASK_ORIGIN_APPROVAL
    assert (asked.tool_name, asked.tool_args_json) == ("delete", text)


def test_every_event_there_is_is_sent_in_these_tests() -> None:
    oneof = turns_pb2.TurnEvent.DESCRIPTOR.oneofs_by_name["event"]
    assert {type(body) for body, _, _ in EVENTS.values()} == set(get_args(EventBody))
    assert {type(preview) for preview, _, _ in PREVIEWS.values()} == set(get_args(Preview))
    names = {name for _, name, _ in [*EVENTS.values(), *PREVIEWS.values()]}
    assert names == {field.name for field in oneof.fields}


def test_each_state_has_its_own_enum_value() -> None:
    states = {turns_pb2.Turn.State.Name(state_to_proto(state)) for state in get_args(TurnState)}
    assert states == {f"STATE_{state.upper()}" for state in get_args(TurnState)}

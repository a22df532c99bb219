"""What is read of stored events, those of versions before this one too."""

from uuid import uuid4

from pydantic import TypeAdapter

from parleyd.contract.blocks.issues import BlockCode, BlockIssue
from parleyd.contract.events import Asked, BlocksChecked, EventBody, ToolReturned
from parleyd.contract.json import JsonObject, compact
from parleyd.contract.steps import StepCall

_BODY: TypeAdapter[EventBody] = TypeAdapter(EventBody)

RETURNED: JsonObject = {
    "kind": "tool_result",
    "tool_call_id": "call_1",
    "tool_name": "lookup",
    "result": {"plans": 3},
    "is_error": False,
}
ASKED: JsonObject = {
    "kind": "ask",
    "conversation_id": str(uuid4()),
    "tool_call_id": "call_1",
    "ask_kind": "confirm",
    "input": {"prompt": "Delete it?"},
    "simple": {
        "tool_call_id": "call_1",
        "kind": "confirm",
        "title": None,
        "text": "Delete it?",
        "buttons": [],
        "handoff": True,
    },
    "origin": "model",
}
CALL: JsonObject = {
    "tool_call_id": "call_1",
    "provider_call_id": None,
    "tool_name": "lookup",
    "args": {},
    "role": "host",
    "ask_id": None,
    "error": None,
}


def test_events_from_before_there_were_approvals_are_read() -> None:
    returned = _BODY.validate_json(compact(RETURNED))
    assert isinstance(returned, ToolReturned)
    assert returned.denied is None
    asked = _BODY.validate_json(compact(ASKED))
    assert isinstance(asked, Asked)
    assert (asked.tool_name, asked.tool_args) == (None, None)


def test_calls_from_before_there_were_approvals_are_read() -> None:
    assert StepCall.model_validate_json(compact(CALL)).role == "host"


ISSUE = BlockIssue(
    path="blocks[0]", code=BlockCode.LINE_SINGLE_POINT, message="One point.", fix="Use a bar."
)


def test_a_checked_document_is_read_as_it_was_stored() -> None:
    for checked in (
        BlocksChecked(warnings=(ISSUE,), document={"v": 1, "blocks": [{"n": 2**60, "x": 0.1}]}),
        BlocksChecked(errors=(ISSUE,)),
    ):
        assert _BODY.validate_json(checked.model_dump_json()) == checked


def test_errors_alone_make_a_document_wrong() -> None:
    assert BlocksChecked(warnings=(ISSUE,), document={"v": 1}).ok
    assert not BlocksChecked(errors=(ISSUE,)).ok

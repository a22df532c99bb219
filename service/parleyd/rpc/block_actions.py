"""Calls of host actions on the wire (spec blocks 22, turns 12.4)."""

from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from parley.v1 import turns_pb2 as pb
from parleyd.contract import limits
from parleyd.contract.blocks.strict_json import NotRead, read_json
from parleyd.contract.errors import InvalidRequest
from parleyd.contract.field_errors import Code, FieldError
from parleyd.contract.text import storable
from parleyd.rpc import fields
from parleyd.rpc.blocks import document_to_proto
from parleyd.turns.block_actions import ActionCall, ActionOutcome
from parleyd.turns.host_actions import Replace

_REQUIRED: Final = {
    "message_id": "messageId",
    "block_id": "blockId",
    "element_id": "elementId",
    "action": "action",
}
_REPLACES: Final[Mapping[Replace | None, pb.RunBlockActionResponse.Replace.ValueType]] = {
    None: pb.RunBlockActionResponse.REPLACE_UNSPECIFIED,
    "block": pb.RunBlockActionResponse.REPLACE_BLOCK,
    "message": pb.RunBlockActionResponse.REPLACE_MESSAGE,
}


def action_call_from_proto(owner: str, request: pb.RunBlockActionRequest) -> ActionCall:
    """Returns whose action is to run, and with what; what is missing is told before all else.

    Raises:
        ConversationRequired: No conversation is named.
        InvalidRequest: Another field is missing, is no id, or holds no object.
    """
    if request.conversation_id:
        _require_all(request)
    return ActionCall(
        owner=owner,
        conversation_id=fields.required_conversation_id(request.conversation_id),
        message_id=fields.message_id(request.message_id),
        block_id=_id(request.block_id, "blockId"),
        element_id=_id(request.element_id, "elementId"),
        action=storable(request.action),
        payload=_payload(request.payload_json),
    )


def action_outcome_to_proto(outcome: ActionOutcome) -> pb.RunBlockActionResponse:
    """Returns what an action came to."""
    return pb.RunBlockActionResponse(
        text=outcome.text or "",
        blocks=None if outcome.document is None else document_to_proto(outcome.document),
        replace=_REPLACES[outcome.replace],
    )


def _require_all(request: pb.RunBlockActionRequest) -> None:
    missing = [
        FieldError(
            path=path,
            code=Code.MISSING_REQUIRED,
            message=f"{path} is missing.",
            fix="Say which button is pressed, and the action that its callback names.",
        )
        for field, path in _REQUIRED.items()
        if not getattr(request, field)
    ]
    if missing:
        first = missing[0]
        raise InvalidRequest(f"{first.message} {first.fix}", missing)


def _id(text: str, path: str) -> str:
    if len(text) > limits.ACTION_ID_CHARACTERS:
        raise fields.malformed(
            InvalidRequest,
            path,
            Code.TOO_LONG,
            f"{path} has {len(text)} characters, more than {limits.ACTION_ID_CHARACTERS}.",
            "Send the id that the document has.",
        )
    return storable(text)


def _payload(text: str) -> dict[str, JsonValue]:
    """Returns the payload that is sent as JSON; an empty one for none, and for null."""
    if not text:
        return {}
    size = len(text.encode())
    if size > limits.ACTION_PAYLOAD_BYTES:
        raise fields.malformed(
            InvalidRequest,
            "payloadJson",
            Code.TOO_LONG,
            f"payloadJson has {size} bytes, more than {limits.ACTION_PAYLOAD_BYTES}.",
            "Send less.",
        )
    if text.strip() == "null":
        return {}
    payload = read_json(text)
    if isinstance(payload, NotRead):
        raise fields.malformed(
            InvalidRequest,
            "payloadJson",
            Code.INVALID_TYPE,
            "payloadJson is no JSON object.",
            "Send the callback's payload as JSON, or leave it out.",
        )
    return payload

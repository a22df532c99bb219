"""Calls of host actions that are refused, by which check (spec blocks 22)."""

from typing import Any, Final

import pytest
from grpc import StatusCode
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1.conversations_pb2 import DeleteConversationRequest
from parleyd.models.scripted import in_turn
from tests import loan_actions
from tests.end_to_end.person import Person
from tests.end_to_end.pressed import ACTIONS, LOAN, begun, logged, pressing, refusal
from tests.server import Server, StartServer

NO_CONVERSATION: Final = "7e57ab1e-0000-4000-8000-000000000000"

ROWS: Final[dict[str, tuple[dict[str, Any], StatusCode, str, list[str]]]] = {
    "no_conversation": (
        {"conversation_id": "", "message_id": "x", "block_id": ""},
        StatusCode.INVALID_ARGUMENT,
        "CONVERSATION_REQUIRED",
        ["conversationId"],
    ),
    "nothing_else": (
        {"conversation_id": "?", "message_id": "", "block_id": "", "element_id": "", "action": ""},
        StatusCode.INVALID_ARGUMENT,
        "INVALID_REQUEST",
        ["messageId", "blockId", "elementId", "action"],
    ),
    "no_element": (
        {"conversation_id": "?", "element_id": ""},
        StatusCode.INVALID_ARGUMENT,
        "INVALID_REQUEST",
        ["elementId"],
    ),
    "malformed_conversation": (
        {"conversation_id": "?", "action": "nope"},
        StatusCode.INVALID_ARGUMENT,
        "INVALID_REQUEST",
        ["conversationId"],
    ),
    "malformed_message": (
        {"conversation_id": NO_CONVERSATION, "message_id": "0x1"},
        StatusCode.INVALID_ARGUMENT,
        "INVALID_REQUEST",
        ["messageId"],
    ),
    "long_block": (
        {"conversation_id": NO_CONVERSATION, "block_id": "b" * 201},
        StatusCode.INVALID_ARGUMENT,
        "INVALID_REQUEST",
        ["blockId"],
    ),
    "payload_that_is_no_json": (
        {"payload_json": "{'loan_id': 1}"},
        StatusCode.INVALID_ARGUMENT,
        "INVALID_REQUEST",
        ["payloadJson"],
    ),
    "payload_that_is_no_object": (
        {"payload_json": "[1]"},
        StatusCode.INVALID_ARGUMENT,
        "INVALID_REQUEST",
        ["payloadJson"],
    ),
    "payload_that_is_nested_too_deep": (
        {"payload_json": '{"a":' * 3000 + "1" + "}" * 3000},
        StatusCode.INVALID_ARGUMENT,
        "INVALID_REQUEST",
        ["payloadJson"],
    ),
    "payload_that_is_too_large": (
        {"payload_json": '{"a": "' + "a" * 1024 * 1024 + '"}'},
        StatusCode.INVALID_ARGUMENT,
        "INVALID_REQUEST",
        ["payloadJson"],
    ),
    "unknown_conversation": (
        {"conversation_id": NO_CONVERSATION, "action": "nope", "payload_json": "{}"},
        StatusCode.NOT_FOUND,
        "CONVERSATION_NOT_FOUND",
        [],
    ),
    "unknown_action": (
        {"action": "nope", "payload_json": "{}"},
        StatusCode.NOT_FOUND,
        "ACTION_NOT_FOUND",
        [],
    ),
    "action_of_a_python_name": (
        {"action": "__class__", "payload_json": "{}"},
        StatusCode.NOT_FOUND,
        "ACTION_NOT_FOUND",
        [],
    ),
    "action_without_a_handler": (
        {"action": "openCamera", "payload_json": "{}"},
        StatusCode.NOT_FOUND,
        "ACTION_NOT_FOUND",
        [],
    ),
    "no_payload": (
        {"payload_json": ""},
        StatusCode.INVALID_ARGUMENT,
        "INVALID_REQUEST",
        ["payload.loan_id"],
    ),
    "null_for_a_payload": (
        {"payload_json": " null "},
        StatusCode.INVALID_ARGUMENT,
        "INVALID_REQUEST",
        ["payload.loan_id"],
    ),
    "payload_with_many_faults": (
        {
            "payload_json": '{"loan_id": 3, "parts": [{"cents": 5}, {"cents": 0, "kind": "x"},'
            ' {}], "more": 1}'
        },
        StatusCode.INVALID_ARGUMENT,
        "INVALID_REQUEST",
        [
            "payload.loan_id",
            "payload.more",
            "payload.parts[1].cents",
            "payload.parts[1].kind",
            "payload.parts[2].cents",
        ],
    ),
}


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    loan_actions.forget()


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return await start_server(in_turn(), blocks=True, host_actions=ACTIONS)


@pytest.fixture
async def noor(server: Server) -> Person:
    return await server.person()


@pytest.mark.parametrize("row", ROWS)
async def test_what_is_refused_is_told_by_the_first_check_that_fails(
    noor: Person, server: Server, engine: AsyncEngine, row: str
) -> None:
    fields, code, reason, paths = ROWS[row]
    own = await begun(noor)

    error = await refusal(noor, pressing(own, "repay", LOAN, **fields))

    assert (error.code, error.reason) == (code, reason)
    assert [fault.path for fault in error.fields] == paths
    assert all(fault.message and fault.fix for fault in error.fields)
    assert loan_actions.calls == []
    assert await logged(server, engine) == []


async def test_faults_of_a_payload_have_codes(noor: Person) -> None:
    own = await begun(noor)
    faulty = pressing(
        own, "repay", {"loan_id": 3, "parts": [{"cents": 0, "kind": "x"}, {}], "more": 1}
    )

    error = await refusal(noor, faulty)

    assert [fault.code for fault in error.fields] == [
        "INVALID_TYPE",
        "UNKNOWN_KEY",
        "OUT_OF_RANGE",
        "INVALID_ENUM",
        "MISSING_REQUIRED",
    ]
    assert error.message.startswith("Invalid payload.")


@pytest.mark.parametrize("action", ["repay", "nope"])
async def test_only_the_owner_runs_actions_in_a_conversation(
    noor: Person, server: Server, action: str
) -> None:
    own = await begun(noor)
    eve = await server.person("eve")

    error = await refusal(eve, pressing(own, action))

    assert (error.code, error.reason) == (StatusCode.PERMISSION_DENIED, "NOT_OWNER")
    assert loan_actions.calls == []


async def test_nothing_runs_in_a_deleted_conversation(noor: Person) -> None:
    own = await begun(noor)
    await noor.client.conversations.DeleteConversation(
        DeleteConversationRequest(conversation_id=own)
    )

    error = await refusal(noor, pressing(own, "repay", LOAN))

    assert (error.code, error.reason) == (StatusCode.NOT_FOUND, "CONVERSATION_NOT_FOUND")
    assert loan_actions.calls == []


async def test_where_replies_are_no_documents_there_are_no_actions(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn())
    noor = await server.person()

    error = await refusal(noor, pressing("", "repay"))

    assert (error.code, error.reason) == (StatusCode.UNIMPLEMENTED, "BLOCKS_DISABLED")
    assert error.metadata["http_status"] == "404"

import json
from http import HTTPStatus
from typing import Any

import httpx2
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from grpc import StatusCode

from parleyd.contract import errors
from parleyd.contract.errors import ParleyError
from parleyd.contract.field_errors import Code, FieldError
from parleyd.contract.reasons import Reason
from parleyd.rpc.errors import CODES, status_of
from parleyd.rpc.web.problems import HTTP_STATUSES, TITLES, problem_of
from tests.rpc.test_errors import EACH
from tests.rpc.web.http import body, reason
from tests.rpc.wire import Wire

TURN = "/v1/conversations/7e57ab1e-0000-4000-8000-000000000000/turns/a"

STATUSES = {
    "UNAUTHENTICATED": 401,
    "PROMPT_REQUIRED": 400,
    "ONE_INPUT_ONLY": 400,
    "TOOL_CALL_ID_REQUIRED": 400,
    "BUTTON_ID_REQUIRED": 400,
    "TURN_ID_REQUIRED": 400,
    "CONVERSATION_REQUIRED": 400,
    "UNKNOWN_SURFACE": 400,
    "INVALID_ANSWER": 400,
    "INVALID_ASK": 400,
    "UNKNOWN_BUTTON": 400,
    "INVALID_ATTACHMENT": 400,
    "INVALID_REQUEST": 400,
    "INVALID_RATING": 400,
    "FILE_TYPE_NOT_ALLOWED": 400,
    "MIME_MISMATCH": 400,
    "TURN_NOT_RETRYABLE": 400,
    "NOT_OWNER": 403,
    "UPLOADS_DISABLED": 403,
    "OPTION_FORBIDDEN": 403,
    "CONVERSATION_NOT_FOUND": 404,
    "TURN_NOT_FOUND": 404,
    "MESSAGE_NOT_FOUND": 404,
    "DATASET_NOT_FOUND": 404,
    "ACTION_NOT_FOUND": 404,
    "FILE_NOT_FOUND": 404,
    "ASK_NOT_PENDING": 409,
    "ASK_EXPIRED": 409,
    "ASK_ALREADY_PENDING": 409,
    "ASK_NOT_FOUND": 404,
    "TOKEN_INVALID": 404,
    "TOKEN_USED": 409,
    "DESTRUCTIVE_BUTTON": 400,
    "TOOL_UNAVAILABLE": 400,
    "REQUEST_ID_REUSED": 409,
    "FILE_TOO_LARGE": 413,
    "RATE_LIMITED": 429,
    "ACTION_TIMEOUT": 504,
    "ATTACHMENT_UPLOAD_FAILED": 502,
    "UNAVAILABLE": 503,
    "MODEL_NOT_CONFIGURED": 503,
    "FILES_DISABLED": 404,
    "BLOCKS_DISABLED": 404,
    "EVENTS_EXPIRED": 400,
    "SERVICE_ONLY": 403,
    "TOKEN_FORBIDDEN": 403,
    "SCOPE_REQUIRED": 403,
    "BLOCK_GENERATION_FAILED": 502,
    "BLOCKS_INVALID": 422,
}
"""The last column of spec turns 8.1, and spec blocks 20 and 22, by reason."""


def test_the_table_knows_every_code_and_every_reason_of_the_server() -> None:
    assert {*HTTP_STATUSES} == {*StatusCode} - {StatusCode.OK}
    assert {kind.reason.value for kind in CODES} == {*STATUSES, "ASKS_DISABLED"}
    assert {*TITLES} <= {reason.value for reason in Reason}


@pytest.mark.parametrize("error", EACH, ids=lambda error: type(error).__name__)
async def test_every_error_of_the_server_has_the_http_status_of_the_spec(
    wire: Wire, http: httpx2.AsyncClient, error: ParleyError
) -> None:
    wire.servicer.raises(error)
    refused = await http.get(TURN)
    expected = STATUSES.get(error.reason)
    if expected is None:
        expected = 404 if isinstance(error, errors.AsksOff) else 400
    told = body(refused)
    number, _ = CODES[type(error)].value
    assert refused.status_code == expected
    assert reason(refused) == error.reason
    assert (told["code"], told["status"]) == (number, CODES[type(error)].name)
    assert told["message"] == error.message
    assert told["details"][0].get("metadata", {}) == dict(error.metadata)
    assert told["details"][0]["@type"] == "type.googleapis.com/google.rpc.ErrorInfo"
    assert told["title"]
    assert ("www-authenticate" in refused.headers) == (expected == 401)


def test_faults_of_fields_stand_in_the_body_with_their_fixes() -> None:
    fault = FieldError(path="content", code=Code.TOO_LONG, message="Too long.", fix="Shorten it.")
    told = problem_of(status_of(errors.InvalidAnswer("No.", [fault]))).body
    assert told["fields"] == [
        {"path": "content", "code": "TOO_LONG", "message": "Too long.", "fix": "Shorten it."}
    ]
    assert told["title"] == "Invalid askResponse"


def test_faults_without_room_for_their_fixes_are_still_there() -> None:
    faults = [
        FieldError(path=f"f{n}", code=Code.TOO_LONG, message="x" * 80, fix="y" * 80)
        for n in range(30)
    ]
    told: Any = problem_of(status_of(errors.InvalidAnswer("No.", faults))).body
    assert len(told["fields"]) >= 20
    assert told["fields"][0] == {"path": "f0", "code": "TOO_LONG", "message": "x" * 80, "fix": ""}


def _status(code: StatusCode, *, http_status: str, domain: str = "parley") -> Status:
    number, _ = code.value
    status = Status(code=number, message="No.")
    info = ErrorInfo(reason="SOMETHING", domain=domain, metadata={"http_status": http_status})
    status.details.add().Pack(info)
    return status


@pytest.mark.parametrize("value", ["404", "413", "422", "502"])
def test_four_statuses_may_take_the_place_of_the_code_s(value: str) -> None:
    assert problem_of(_status(StatusCode.UNAVAILABLE, http_status=value)).status == int(value)


@pytest.mark.parametrize("value", ["200", "401", "500", "999", "", "x", "0404"])
def test_no_other_status_does(value: str) -> None:
    assert problem_of(_status(StatusCode.UNAVAILABLE, http_status=value)).status == 503


def test_nobody_else_may_say_so() -> None:
    status = _status(StatusCode.UNAVAILABLE, http_status="404", domain="elsewhere.example")
    assert problem_of(status).status == 503


def test_an_error_of_grpc_itself_tells_nothing_of_where_servers_are() -> None:
    for code in (StatusCode.UNAVAILABLE, StatusCode.INTERNAL, StatusCode.UNKNOWN):
        number, _ = code.value
        told = problem_of(Status(code=number, message="unix:/tmp/x.sock refused")).body
        assert "sock" not in json.dumps(told)
        assert told["message"]
        assert told["details"] == []


def test_a_code_and_a_detail_that_are_not_known_are_told_as_far_as_they_are() -> None:
    status = Status(code=99, message="New.")
    status.details.add().CopyFrom(AnyMessage(type_url="type.googleapis.com/new.Thing", value=b"x"))
    problem = problem_of(status)
    assert (problem.status, problem.body["status"]) == (500, "UNKNOWN")
    assert problem.body["details"] == []


def test_asks_that_are_off_are_titled_as_the_older_clients_know_it() -> None:
    answer = problem_of(status_of(errors.AnswerWhileAsksOff("Off.")))
    listed = problem_of(status_of(errors.AsksOff("Off.")))
    assert (answer.status, answer.body["title"]) == (400, "prompt is required")
    assert (listed.status, listed.body["title"]) == (404, HTTPStatus.NOT_FOUND.phrase)

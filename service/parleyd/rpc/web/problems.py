"""Errors over HTTP: the status of each gRPC code, and one body for all (spec turns 8.1, 8.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError
from google.rpc.code_pb2 import Code
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status
from grpc import StatusCode, aio
from pydantic import JsonValue
from starlette.responses import Response

from parley.v1.asks_pb2 import AskFieldErrors
from parleyd.contract import limits
from parleyd.contract.json import compact
from parleyd.contract.reasons import Reason
from parleyd.rpc.errors import DOMAIN, INTERNAL
from parleyd.rpc.web.json_replies import json_response

HTTP_STATUSES: Final[Mapping[StatusCode, int]] = {
    StatusCode.CANCELLED: 503,
    StatusCode.UNKNOWN: 500,
    StatusCode.INVALID_ARGUMENT: 400,
    StatusCode.DEADLINE_EXCEEDED: 504,
    StatusCode.NOT_FOUND: 404,
    StatusCode.ALREADY_EXISTS: 409,
    StatusCode.PERMISSION_DENIED: 403,
    StatusCode.RESOURCE_EXHAUSTED: 429,
    StatusCode.FAILED_PRECONDITION: 400,
    StatusCode.ABORTED: 409,
    StatusCode.OUT_OF_RANGE: 400,
    StatusCode.UNIMPLEMENTED: 501,
    StatusCode.INTERNAL: 500,
    StatusCode.UNAVAILABLE: 503,
    StatusCode.DATA_LOSS: 500,
    StatusCode.UNAUTHENTICATED: 401,
}
"""The HTTP status of each code. A call that is cancelled while its client waits was so by a server
that stops."""

OVERRIDES: Final = {"404", "413", "422", "502"}
"""What `http_status` may say in place of that. Nothing else changes a status.

The third is that of a document that the model got wrong twice (spec blocks 20).
"""

TITLES: Final[Mapping[str, str]] = {
    Reason.UNAUTHENTICATED: "Unauthorized",
    Reason.PROMPT_REQUIRED: "prompt is required",
    Reason.ONE_INPUT_ONLY: "either prompt or askResponse",
    Reason.CONVERSATION_REQUIRED: "historyId is required",
    Reason.UNKNOWN_SURFACE: "not a known surface",
    Reason.INVALID_ANSWER: "Invalid askResponse",
    Reason.UNKNOWN_BUTTON: "Unknown buttonId",
    Reason.INVALID_REQUEST: "Validation failed",
    Reason.NOT_OWNER: "Not authorized",
    Reason.UPLOADS_DISABLED: "File uploads are disabled",
    Reason.ASK_NOT_PENDING: "no longer pending",
    Reason.ACTION_TIMEOUT: "Action timed out",
}
"""What clients of the older kind look for; other errors are titled by their HTTP status."""

_GRPCS_OWN: Final[Mapping[int, str]] = {
    Code.CANCELLED: "The server stops; send the request again.",
    Code.DEADLINE_EXCEEDED: "The deadline of the call has passed.",
    Code.UNAVAILABLE: "The server can't be reached; send the request again.",
    Code.UNKNOWN: INTERNAL,
    Code.INTERNAL: INTERNAL,
    Code.DATA_LOSS: INTERNAL,
}
"""What is said in place of gRPC's own words, which tell of sockets and addresses."""

_NAMES: Final = {code.value[0]: code for code in StatusCode}
_STATUS: Final = "grpc-status-details-bin"
_PHRASES: Final = {413: "Request Entity Too Large", 422: "Unprocessable Entity"}
"""Statuses that a newer Python calls otherwise."""

NOTHING_HERE: Final = "There is nothing at this path."
TOO_LARGE: Final = (
    f"A request may have at most {limits.RECEIVE_BYTES} bytes. Upload files beforehand, with "
    "POST /v1/files:upload, and name them by their file_id."
)


@dataclass(frozen=True)
class Problem:
    """An error as it is sent: an HTTP status, and a body that is JSON."""

    status: int
    body: Mapping[str, JsonValue]
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def reason(self) -> str:
        """Returns the name of the fault, or of its code where the server gave none."""
        for detail in _objects(self.body["details"]):
            if isinstance(reason := detail.get("reason"), str):
                return reason
        return str(self.body["status"])

    @property
    def message(self) -> str:
        """Returns the sentence for the calling developer."""
        return str(self.body["message"])

    def response(self) -> Response:
        """Returns the answer that tells it."""
        return json_response(compact(self.body), self.status, self.headers)


class HttpProblem(Exception):
    """A fault that HTTP alone knows, with its status."""

    def __init__(
        self,
        status: HTTPStatus,
        code: StatusCode,
        message: str,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(message)
        number, _ = code.value
        told = problem_of(Status(code=number, message=message))
        body = {**told.body, "title": phrase_of(status)}
        self.problem = Problem(status, body, {**told.headers, **headers})


def nothing_here() -> HttpProblem:
    """Returns the fault of a request to a path that there is not."""
    return HttpProblem(HTTPStatus.NOT_FOUND, StatusCode.NOT_FOUND, NOTHING_HERE)


def too_large() -> HttpProblem:
    """Returns the fault of a request over the size that the server takes."""
    return HttpProblem(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, StatusCode.RESOURCE_EXHAUSTED, TOO_LARGE
    )


def phrase_of(http_status: int) -> str:
    """Returns what an HTTP status is called, whichever Python is asked."""
    return _PHRASES.get(http_status) or HTTPStatus(http_status).phrase


def status_of_call(error: aio.AioRpcError) -> Status:
    """Returns how a call ended, with its details where the server sent some."""
    for key, value in error.trailing_metadata() or ():
        if key == _STATUS and isinstance(value, bytes):
            try:
                return Status.FromString(value)
            except DecodeError:
                break
    number, _ = error.code().value
    return Status(code=number, message=error.details() or "")


def problem_of(status: Status) -> Problem:
    """Returns an error of the gRPC server as HTTP tells it."""
    code = _NAMES.get(status.code, StatusCode.UNKNOWN)
    info, broken, fixable = ErrorInfo(), BadRequest(), AskFieldErrors()
    for detail in status.details:
        for known in (info, broken, fixable):
            detail.Unpack(known)
    reason = info.reason if info.domain == DOMAIN else ""
    http_status = HTTP_STATUSES[code]
    if reason and (instead := info.metadata.get("http_status")) in OVERRIDES:
        http_status = int(instead or http_status)
    message = status.message if status.details else _GRPCS_OWN.get(status.code, status.message)
    return Problem(
        status=http_status,
        body={
            "code": code.value[0],
            "status": code.name,
            "message": message,
            "details": _details(status),
            "title": TITLES.get(reason) or _title(code, reason, http_status),
            "fields": [*_fields(broken, fixable)],
        },
        headers={"www-authenticate": "Bearer"} if http_status == HTTPStatus.UNAUTHORIZED else {},
    )


def _title(code: StatusCode, reason: str, http_status: int) -> str:
    if reason == Reason.ASKS_DISABLED and code is StatusCode.INVALID_ARGUMENT:
        return TITLES[Reason.PROMPT_REQUIRED]
    return phrase_of(http_status)


def _details(status: Status) -> list[JsonValue]:
    """Returns the details whose types are known here, each with its `@type`."""
    told: list[JsonValue] = []
    for detail in status.details:
        try:
            told.append(MessageToDict(detail))
        except TypeError:
            continue
    return told


def _fields(broken: BadRequest, fixable: AskFieldErrors) -> Sequence[JsonValue]:
    """Returns the faults of single fields; the fixes are gone where they had to be left out."""
    if fixable.errors:
        return [
            {"path": each.path, "code": each.code, "message": each.message, "fix": each.fix}
            for each in fixable.errors
        ]
    return [
        {
            "path": each.field,
            "code": str(getattr(each, "reason")),  # noqa: B009 - newer than the stub
            "message": each.description,
            "fix": "",
        }
        for each in broken.field_violations
    ]


def _objects(value: JsonValue) -> list[dict[str, JsonValue]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []

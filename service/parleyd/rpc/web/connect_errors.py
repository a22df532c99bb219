"""Errors of the gRPC server as those of Connect: the same code, message and details."""

from typing import Final

from connectrpc.code import Code
from connectrpc.errors import ConnectError, ErrorDetail
from google.rpc.status_pb2 import Status
from grpc import StatusCode
from protobuf.wkt import Any

from parleyd.rpc.web.problems import problem_of

# A client that waits has not cancelled its call: the server stops, and another may answer.
_SPELLINGS: Final = {"CANCELLED": "UNAVAILABLE"}
_CODES: Final = {
    code.value[0]: Code[_SPELLINGS.get(code.name, code.name)]
    for code in StatusCode
    if code is not StatusCode.OK
}


def connect_error(status: Status) -> ConnectError:
    """Returns a status as Connect's error. What only gRPC has said is told in other words."""
    details = [
        ErrorDetail(Any(type_url=each.type_url, value=each.value)) for each in status.details
    ]
    code = _CODES.get(status.code, Code.UNKNOWN)
    return ConnectError(code, problem_of(status).message, details)

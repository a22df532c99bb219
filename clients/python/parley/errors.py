"""Why a call failed, read from its status."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

import grpc
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status

from parley.v1.asks_pb2 import AskFieldErrors

if TYPE_CHECKING:
    from collections.abc import Iterable


class FieldFault(NamedTuple):
    """A fault of one field of a request. `path` is in camelCase, as in `content.selected[0]`."""

    path: str
    code: str
    message: str
    fix: str
    """Says how to mend it; empty where the server had to leave it out."""


@dataclass(eq=False)
class ParleyError(Exception):
    """Why a call failed, read from its status.

    `reason` is the name of an `ErrorReason` without its prefix; empty when the fault is not the
    server's word, as when it can't be reached. `metadata` holds the facts that `ErrorReason` lists
    for it, `fields` the faults of single fields.
    """

    code: grpc.StatusCode
    message: str
    reason: str
    metadata: dict[str, str]
    fields: tuple[FieldFault, ...]

    def __str__(self) -> str:
        return f"{self.reason or self.code.name}: {self.message}"


def error_of(error: grpc.RpcError) -> ParleyError:
    """Returns what the server says of a failed call, which is the cause of what is returned."""
    info, broken, fixable = ErrorInfo(), BadRequest(), AskFieldErrors()
    for detail in _status(error).details:
        for known in (info, broken, fixable):
            detail.Unpack(known)
    fields = [FieldFault(each.path, each.code, each.message, each.fix) for each in fixable.errors]
    if not fields:
        fields = [_without_fix(each) for each in broken.field_violations]
    reason = info.reason if info.domain == "parley" else ""
    message = error.details() or ""
    read = ParleyError(error.code(), message, reason, dict(info.metadata), tuple(fields))
    read.__cause__ = error
    return read


def is_unavailable(error: ParleyError) -> bool:
    """Says whether a call met a server that stops or can't be reached.

    Other reasons of that status stay: it would be the same elsewhere.
    """
    return error.code is grpc.StatusCode.UNAVAILABLE and error.reason in ("", "UNAVAILABLE")


def _without_fix(violation: BadRequest.FieldViolation) -> FieldFault:
    code = str(getattr(violation, "reason"))  # noqa: B009 - newer than the message's stub
    return FieldFault(violation.field, code, violation.description, "")


def _status(error: grpc.RpcError) -> Status:
    # The stubs of grpc have another type for it than what comes.
    trailers = cast("Iterable[tuple[str, str | bytes]]", error.trailing_metadata() or ())
    for key, value in trailers:
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            try:
                return Status.FromString(value)
            except DecodeError:
                break
    return Status()

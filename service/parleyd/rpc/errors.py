"""Errors on the wire: one table, and one interceptor that sends them (spec turns 8)."""

import traceback
from bisect import bisect_left
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

import structlog
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status
from grpc import StatusCode, aio
from grpc_status import rpc_status

from parley.v1 import asks_pb2
from parleyd.contract import errors, limits
from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.errors import BlocksInvalid, Malformed, ParleyError
from parleyd.contract.field_errors import FieldError
from parleyd.contract.reasons import Reason
from parleyd.contract.text import cut, without_surrogates
from parleyd.rpc.calls import Call, Context

DOMAIN: Final = "parley"
"""The domain of every reason."""

CODES: Final[Mapping[type[ParleyError], StatusCode]] = {
    errors.Unauthenticated: StatusCode.UNAUTHENTICATED,
    errors.PromptRequired: StatusCode.INVALID_ARGUMENT,
    errors.OneInputOnly: StatusCode.INVALID_ARGUMENT,
    errors.ToolCallIdRequired: StatusCode.INVALID_ARGUMENT,
    errors.ButtonIdRequired: StatusCode.INVALID_ARGUMENT,
    errors.TurnIdRequired: StatusCode.INVALID_ARGUMENT,
    errors.ConversationRequired: StatusCode.INVALID_ARGUMENT,
    errors.UnknownSurface: StatusCode.INVALID_ARGUMENT,
    errors.InvalidAnswer: StatusCode.INVALID_ARGUMENT,
    errors.InvalidAsk: StatusCode.INVALID_ARGUMENT,
    errors.UnknownButton: StatusCode.INVALID_ARGUMENT,
    errors.InvalidRequest: StatusCode.INVALID_ARGUMENT,
    errors.InvalidRating: StatusCode.INVALID_ARGUMENT,
    errors.InvalidAttachment: StatusCode.INVALID_ARGUMENT,
    errors.FileTypeNotAllowed: StatusCode.INVALID_ARGUMENT,
    errors.FileMismatch: StatusCode.INVALID_ARGUMENT,
    errors.AnswerWhileAsksOff: StatusCode.INVALID_ARGUMENT,
    errors.AsksOff: StatusCode.UNIMPLEMENTED,
    errors.FilesOff: StatusCode.UNIMPLEMENTED,
    errors.BlocksOff: StatusCode.UNIMPLEMENTED,
    errors.DatasetNotFound: StatusCode.NOT_FOUND,
    errors.ActionNotFound: StatusCode.NOT_FOUND,
    errors.ActionTimeout: StatusCode.DEADLINE_EXCEEDED,
    errors.UploadsOff: StatusCode.PERMISSION_DENIED,
    errors.NotOwner: StatusCode.PERMISSION_DENIED,
    errors.ServiceOnly: StatusCode.PERMISSION_DENIED,
    errors.TokenForbidden: StatusCode.PERMISSION_DENIED,
    errors.ScopeMissing: StatusCode.PERMISSION_DENIED,
    errors.OptionForbidden: StatusCode.PERMISSION_DENIED,
    errors.ConversationNotFound: StatusCode.NOT_FOUND,
    errors.TurnNotFound: StatusCode.NOT_FOUND,
    errors.MessageNotFound: StatusCode.NOT_FOUND,
    errors.FileNotFound: StatusCode.NOT_FOUND,
    errors.TurnNotRetryable: StatusCode.FAILED_PRECONDITION,
    errors.AskNotPending: StatusCode.ABORTED,
    errors.AskExpired: StatusCode.ABORTED,
    errors.AskAlreadyPending: StatusCode.ABORTED,
    errors.AskNotFound: StatusCode.NOT_FOUND,
    errors.DestructiveButton: StatusCode.INVALID_ARGUMENT,
    errors.TokenInvalid: StatusCode.NOT_FOUND,
    errors.TokenUsed: StatusCode.ABORTED,
    errors.ToolUnavailable: StatusCode.FAILED_PRECONDITION,
    errors.FileTooLarge: StatusCode.RESOURCE_EXHAUSTED,
    errors.RequestIdReused: StatusCode.ALREADY_EXISTS,
    errors.RateLimited: StatusCode.RESOURCE_EXHAUSTED,
    errors.EventsExpired: StatusCode.OUT_OF_RANGE,
    errors.ModelNotConfigured: StatusCode.UNAVAILABLE,
    errors.AttachmentNotStored: StatusCode.UNAVAILABLE,
    errors.BlockGenerationFailed: StatusCode.UNAVAILABLE,
    errors.BlocksInvalid: StatusCode.FAILED_PRECONDITION,
    errors.Unavailable: StatusCode.UNAVAILABLE,
}
"""The status of each fact. By class, since ASKS_DISABLED has two (spec turns 8.1)."""

INTERNAL: Final = "Something went wrong on our side."
"""What a client is told of the unforeseen: nothing."""

_MESSAGE_UNITS = 500

_log = structlog.stdlib.get_logger()


@asynccontextmanager
async def answer_errors(call: Call) -> AsyncGenerator[None, None]:
    """Ends a failed call with its status and details.

    The unforeseen is logged and told as INTERNAL, without a word of what it was. A call that was
    cancelled, or has its status already, is let pass.
    """
    try:
        yield
    except aio.AbortError:
        raise
    except ParleyError as error:
        structlog.contextvars.bind_contextvars(reason=error.reason.value)
        await _end(call.context, status_of(error))
    except Exception as error:  # noqa: BLE001 - whatever it is, the client is told and it is logged
        structlog.contextvars.bind_contextvars(reason=Reason.INTERNAL.value)
        _log.error("call_broke", method=call.method, trace=trace_of(error))
        await _end(call.context, internal_status())


def status_of(error: ParleyError) -> Status:
    """Returns an error as `google.rpc.Status`, its details cut to what trailers carry (8.2).

    The fixes go first, then violations from the end; `truncated` in the metadata says so.
    """
    fields = _faults_of(error)
    whole = _status(error, fields, fixes=fields)
    if _fits(whole):
        return whole
    truncated = {"truncated": "true"}
    kept = bisect_left(
        range(1, len(fields) + 1),
        True,  # noqa: FBT003 - the first count that is too large
        key=lambda count: not _fits(_status(error, fields[:count], more=truncated)),
    )
    return _status(error, fields[:kept], more=truncated)


def internal_status() -> Status:
    """Returns what a client is told of the unforeseen, which is for the log alone."""
    info = ErrorInfo(reason=Reason.INTERNAL.value, domain=DOMAIN)
    return _packed(StatusCode.INTERNAL, INTERNAL, [info])


def field_error_to_proto(error: FieldError | BlockIssue) -> asks_pb2.AskFieldError:
    """Returns a fault with its fix, for the detail `AskFieldErrors`."""
    return asks_pb2.AskFieldError(
        path=without_surrogates(error.path),
        code=error.code.value,
        message=without_surrogates(error.message),
        fix=without_surrogates(error.fix),
    )


def _faults_of(error: ParleyError) -> Sequence[FieldError | BlockIssue]:
    match error:
        case Malformed():
            return error.fields
        case BlocksInvalid():
            return error.issues
        case _:
            return ()


def _violation_to_proto(error: FieldError | BlockIssue) -> BadRequest.FieldViolation:
    return BadRequest.FieldViolation(
        field=without_surrogates(error.path),
        reason=error.code.value,  # pyright: ignore[reportCallIssue] - newer than its stub
        description=without_surrogates(error.message),
    )


def _status(
    error: ParleyError,
    violations: Sequence[FieldError | BlockIssue],
    *,
    fixes: Sequence[FieldError | BlockIssue] = (),
    more: Mapping[str, str] = MappingProxyType({}),
) -> Status:
    info = ErrorInfo(reason=error.reason.value, domain=DOMAIN, metadata={**error.metadata, **more})
    details: list[Message] = [info]
    if violations:
        details.append(BadRequest(field_violations=map(_violation_to_proto, violations)))
    if fixes:
        details.append(asks_pb2.AskFieldErrors(errors=map(field_error_to_proto, fixes)))
    return _packed(CODES[type(error)], cut(error.message, _MESSAGE_UNITS), details)


def _packed(code: StatusCode, message: str, details: Iterable[Message]) -> Status:
    number, _ = code.value
    status = Status(code=number, message=message)
    for detail in details:
        status.details.add().Pack(detail)
    return status


def _fits(status: Status) -> bool:
    """Tells whether the trailers carry `status`. Its message is in them once more, quoted."""
    return status.ByteSize() + len(quote(status.message)) <= limits.ERROR_DETAIL_BYTES


async def _end(context: Context, status: Status) -> None:
    ending = rpc_status.to_status(status)  # pyright: ignore[reportUnknownMemberType] - untyped
    await context.abort(ending.code, ending.details, ending.trailing_metadata)


def trace_of(error: BaseException) -> str:
    """Returns where an error came from, without its texts: they may quote what a person wrote."""
    trace = [*traceback.format_tb(error.__traceback__), type(error).__qualname__]
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "".join(trace) + (f"\n\nafter\n{trace_of(cause)}" if cause else "")

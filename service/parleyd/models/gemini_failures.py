"""What Gemini's failures mean to a turn (spec turns 3.4.5, 5.5)."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeAlias, assert_never, cast

import httpx2
from google.genai import errors
from google.genai.types import BlockedReason, FinishReason
from google.protobuf.duration_pb2 import Duration
from pydantic import ValidationError

from parleyd.contract.json import JsonObject, object_at, objects_at, string_at
from parleyd.turns.model import ModelFailed, ModelFailureKind

ProviderError: TypeAlias = (
    errors.APIError | errors.UnknownApiResponseError | httpx2.HTTPError | ValidationError
)
PROVIDER_ERRORS = (
    errors.APIError,
    errors.UnknownApiResponseError,
    httpx2.HTTPError,
    ValidationError,
)
"""Everything that a call raises where the fault is the provider's, or lies on the way to it."""

_ENDINGS = frozenset({FinishReason.STOP, FinishReason.MAX_TOKENS, FinishReason.CONTINUATION})
_REFUSALS = frozenset(
    {
        FinishReason.SAFETY,
        FinishReason.RECITATION,
        FinishReason.LANGUAGE,
        FinishReason.BLOCKLIST,
        FinishReason.PROHIBITED_CONTENT,
        FinishReason.SPII,
        FinishReason.IMAGE_SAFETY,
        FinishReason.IMAGE_PROHIBITED_CONTENT,
        FinishReason.IMAGE_RECITATION,
        FinishReason.ESCALATION,
        FinishReason.PUP_LIMITED_DISABLED,
        FinishReason.MODEL_ARMOR,
    }
)
_SLIPS = frozenset(
    {
        FinishReason.MALFORMED_FUNCTION_CALL,
        FinishReason.UNEXPECTED_TOOL_CALL,
        FinishReason.TOO_MANY_TOOL_CALLS,
        FinishReason.MALFORMED_RESPONSE,
    }
)
"""The model wrote what can't be used. It may do better when it is asked again, as a server may."""

_TOO_MANY_REQUESTS = 429
_UNAVAILABLE = 503
_RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"
_REQUEST_TIMEOUT = 408
_SERVER_ERRORS = range(500, 600)


def failure_of_error(error: ProviderError, api_key: str) -> ModelFailed:
    """Returns what the SDK raised as a failure, with the provider's words but never the key."""
    wait_seconds = None
    match error:
        case errors.APIError(code=code, status=status, message=message):
            kind, text = _kind_of_status(code), f"{code} {status}: {message}"
            wait_seconds = _wait_asked_for(error)
        case httpx2.TimeoutException():
            kind, text = "timeout", _named(error)
        case httpx2.TransportError():
            kind, text = "server", _named(error)
        case errors.UnknownApiResponseError() | httpx2.HTTPError() | ValidationError():
            kind, text = "other", _named(error)
        case _:
            assert_never(error)
    return ModelFailed(kind, text.replace(api_key, "[key]"), wait_seconds=wait_seconds)


def failure_of_finish(reason: FinishReason) -> ModelFailed | None:
    """Returns the failure behind a finish, or nothing where the answer is whole.

    A reason that this SDK doesn't know is a failure: the answer may lack anything.
    """
    if reason in _ENDINGS:
        return None
    kind: ModelFailureKind = "other"
    if reason in _REFUSALS:
        kind = "refused"
    elif reason in _SLIPS:
        kind = "server"
    return ModelFailed(kind, f"finished with {reason.value}")


def failure_of_block(reason: BlockedReason) -> ModelFailed:
    """Returns the failure of a prompt that the provider refuses to answer."""
    return ModelFailed("refused", f"prompt blocked with {reason.value}")


def _kind_of_status(code: int) -> ModelFailureKind:
    if code == _TOO_MANY_REQUESTS:
        return "rate_limit"
    if code == _REQUEST_TIMEOUT:
        return "timeout"
    return "server" if code in _SERVER_ERRORS else "other"


def _wait_asked_for(error: errors.APIError) -> float | None:
    """Returns how long a busy provider wants to be left alone, where it says so.

    Google's own word comes before the header's, which may be that of a proxy.
    """
    if error.code not in {_TOO_MANY_REQUESTS, _UNAVAILABLE}:
        return None
    # The SDK says of neither attribute what it is: any JSON, and the response of some library.
    told = cast("object", error.details)  # pyright: ignore[reportUnknownMemberType]
    response = cast("object", error.response)  # pyright: ignore[reportUnknownMemberType]
    if isinstance(told, dict):
        body = cast("JsonObject", told)
        for detail in objects_at(object_at(body, "error") or body, "details"):
            if string_at(detail, "@type") == _RETRY_INFO:
                return _seconds_of_duration(string_at(detail, "retryDelay") or "")
    if isinstance(response, httpx2.Response):
        return _seconds_of_header(response.headers.get("retry-after", ""))
    return None


def _seconds_of_duration(text: str) -> float | None:
    duration = Duration()
    try:
        duration.FromJsonString(text)
    except ValueError:
        return None
    return max(0.0, duration.ToTimedelta().total_seconds())


def _seconds_of_header(text: str) -> float | None:
    """Returns the seconds of a `Retry-After`, which names them or a time in GMT."""
    if text.isdecimal():
        return float(text)
    try:
        time = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (time.astimezone(UTC) - datetime.now(UTC)).total_seconds())


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"

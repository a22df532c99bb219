"""What Gemini's failures mean to a turn (spec turns 3.4.5, 5.5)."""

from typing import TypeAlias, assert_never

import httpx2
from google.genai import errors
from google.genai.types import BlockedReason, FinishReason
from pydantic import ValidationError

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
_REQUEST_TIMEOUT = 408
_SERVER_ERRORS = range(500, 600)


def failure_of_error(error: ProviderError, api_key: str) -> ModelFailed:
    """Returns what the SDK raised as a failure, with the provider's words but never the key."""
    match error:
        case errors.APIError(code=code, status=status, message=message):
            kind, text = _kind_of_status(code), f"{code} {status}: {message}"
        case httpx2.TimeoutException():
            kind, text = "timeout", _named(error)
        case httpx2.TransportError():
            kind, text = "server", _named(error)
        case errors.UnknownApiResponseError() | httpx2.HTTPError() | ValidationError():
            kind, text = "other", _named(error)
        case _:
            assert_never(error)
    return ModelFailed(kind, text.replace(api_key, "[key]"))


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


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"

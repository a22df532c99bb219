"""One log line a call (design D14)."""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final, cast

import structlog
from grpc import StatusCode, aio

from parleyd.rpc.calls import Call, Context
from parleyd.turns.ports import Ids

REQUEST_ID_KEY: Final = "x-request-id"
"""The metadata key under which a gateway or a client names its request."""

_REQUEST_ID = re.compile(r"[!-~]{1,128}")
_EARLY_SECONDS = 1.0
"""A client whose deadline passes may end the call before the server's own clock has run out."""

_log = structlog.stdlib.get_logger()


def log_calls(ids: Ids) -> Callable[[Call], AbstractAsyncContextManager[None]]:
    """Returns what logs each call when it ends: method, status, milliseconds, and the ids known.

    The request id, the client's if it is plain text of at most 128 characters and a fresh one
    otherwise, is on every line that the call causes, those of its turn included. Health checks and
    reflection speak at debug level. No line holds a message, a token or a key.
    """

    @asynccontextmanager
    async def log_call(call: Call) -> AsyncGenerator[None, None]:
        structlog.contextvars.bind_contextvars(request_id=_request_id(call, ids))
        start = time.perf_counter()
        status = StatusCode.UNKNOWN
        try:
            yield
            status = StatusCode.OK
        except aio.AbortError:
            status = call.context.code()
            raise
        except asyncio.CancelledError:
            status = _why_cancelled(call.context)
            raise
        finally:
            say = _log.debug if call.is_about_the_server else _log.info
            milliseconds = round((time.perf_counter() - start) * 1000, 1)
            say("call", method=call.method, status=status.name, milliseconds=milliseconds)

    return log_call


def _request_id(call: Call, ids: Ids) -> str:
    match call.values(REQUEST_ID_KEY):
        case [given] if _REQUEST_ID.fullmatch(given):
            return given
        case _:
            return str(ids.uuid())


def _why_cancelled(context: Context) -> StatusCode:
    left = cast("float | None", context.time_remaining())  # none without a deadline
    if left is None or left > _EARLY_SECONDS:
        return StatusCode.CANCELLED
    return StatusCode.DEADLINE_EXCEEDED

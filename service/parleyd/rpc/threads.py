"""Work on a request that may take long: the event loop goes on meanwhile."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from google.protobuf.message import Message

_Request = TypeVar("_Request", bound=Message)
_Result = TypeVar("_Result")

LOOP_BYTES: Final = 64 * 1024
"""Work on a message of at most this size is over sooner than a thread begins."""


async def work_on(request: _Request, work: Callable[[_Request], _Result]) -> _Result:
    """Returns what `work` makes of a request, done in a thread if the request is large.

    Who leaves meanwhile gets nothing; the work is done to its end. Its errors pass through.
    """
    return await beside_if_large(request.ByteSize(), partial(work, request))


async def beside_if_large(size: int, work: Callable[[], _Result]) -> _Result:
    """Returns what `work` on this many bytes returns, done in a thread as `work_on` does it."""
    if size <= LOOP_BYTES:
        return work()
    return await asyncio.to_thread(work)

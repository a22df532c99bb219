"""Work on a request that may take long: the event loop goes on meanwhile."""

import asyncio
from collections.abc import Callable
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
    if request.ByteSize() <= LOOP_BYTES:
        return work(request)
    return await asyncio.to_thread(work, request)

"""Which calls may be sent again, and when."""

import random
from functools import lru_cache
from time import monotonic
from typing import Final

import grpc
from google.protobuf.descriptor_pb2 import MethodOptions
from google.protobuf.descriptor_pool import Default

from parley.errors import error_of, is_unavailable

TRIES: Final = 5
"""A call is sent so often at most."""


def pause_seconds(tries: int) -> float:
    """Returns how long to wait after so many tries: the longer the more, and never as others."""
    return min(0.1 * 2**tries, 5) * random.uniform(0.5, 1)  # noqa: S311 - no secret


class Tries:
    """The tries of one unary call.

    Only a read may be sent again, or a request with an id: whatever became of the first try, they
    do the same once more. And only when the server stops or can't be reached: ABORTED, say, means
    that the question is another by now.
    """

    def __init__(self, method: str | bytes, request: object, timeout: float | None) -> None:
        self._ends = None if timeout is None else monotonic() + timeout
        self._made = 0
        self.repeatable = bool(getattr(request, "request_id", "")) or _reads(method)

    @property
    def timeout(self) -> float | None:
        """The seconds that are left of those that the caller gives to all tries together."""
        return None if self._ends is None else max(self._ends - monotonic(), 0)

    def pause(self, failed: grpc.RpcError) -> float | None:
        """Returns how long to wait before the next try; None when there is no next."""
        self._made += 1
        seconds = pause_seconds(self._made - 1)
        if (
            not self.repeatable
            or self._made == TRIES
            or not is_unavailable(error_of(failed))
            or (self.timeout is not None and self.timeout <= seconds)
        ):
            return None
        return seconds


@lru_cache
def _reads(method: str | bytes) -> bool:
    path = method.decode() if isinstance(method, bytes) else method
    try:
        known = Default().FindMethodByName(path.removeprefix("/").replace("/", "."))
    except KeyError:  # a service of others, on the same channel
        return False
    return known.GetOptions().idempotency_level == MethodOptions.NO_SIDE_EFFECTS

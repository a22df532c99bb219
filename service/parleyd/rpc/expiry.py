"""Streams that end when the token of their caller does (spec turns 13.1)."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from math import inf
from typing import TypeVar

from parleyd.contract.errors import Unauthenticated

Sent = TypeVar("Sent")


async def until_expiry(
    sent: AsyncGenerator[Sent, None], expires: float, now: Callable[[], float] = time.time
) -> AsyncGenerator[Sent, None]:
    """Yields what a stream sends until a token has expired, which is at `expires` in Unix time.

    Raises:
        Unauthenticated: It has.
    """
    async with aclosing(sent):
        while True:
            limit = asyncio.timeout(None if expires == inf else max(expires - now(), 0))
            try:
                async with limit:
                    each = await anext(sent)
            except StopAsyncIteration:
                return
            except TimeoutError as error:
                if not limit.expired():
                    raise
                raise Unauthenticated(
                    "The bearer token has expired: get a new one, and call again."
                ) from error
            yield each

"""Work that a process does again and again as long as it lives."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from parleyd.contract.errors import ParleyError

log = structlog.stdlib.get_logger()


async def rounds(
    name: str,
    seconds: float,
    work: Callable[[], Awaitable[None]],
    woken: asyncio.Event | None = None,
) -> None:
    """Does `work` for ever, every `seconds` and whenever `woken` is set, at once the first time.

    A round that fails is logged and followed by the next: the process would be of no use without.
    """
    woken = woken or asyncio.Event()
    while True:
        woken.clear()
        try:
            await work()
        except ParleyError as error:
            log.warning("round_failed", work=name, reason=error.reason)
        except Exception:
            log.exception("round_failed", work=name)
        try:
            async with asyncio.timeout(seconds):
                await woken.wait()
        except TimeoutError:
            pass

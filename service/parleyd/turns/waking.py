"""Waiting to be woken, but not for ever."""

import asyncio


async def woken_within(woken: asyncio.Event, seconds: float) -> bool:
    """Waits until an event is set, for so many seconds at most; tells whether it was."""
    try:
        async with asyncio.timeout(max(seconds, 0)):
            await woken.wait()
    except TimeoutError:
        return False
    return True

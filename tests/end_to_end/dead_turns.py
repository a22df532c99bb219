"""Time that passes for turns whose process is dead, without anybody waiting for it."""

from datetime import timedelta
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

_LAPSE: Final = text(
    "UPDATE turns SET lease_until = now() - interval '1 second', "
    "create_time = create_time - CAST(:older AS interval) WHERE state <> 'closed'"
)
_TELL: Final = text("SELECT pg_notify('turn_leases', '')")


async def lapse(engine: AsyncEngine, older: timedelta = timedelta()) -> None:
    """Lets the leases of all turns that run be over, tells every process, and ages the turns."""
    async with engine.begin() as connection:
        await connection.execute(_LAPSE, {"older": older})
        await connection.execute(_TELL)

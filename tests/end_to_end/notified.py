"""Notices as they lie in the tables, and what makes them due without waiting."""

import asyncio
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.person import Played
from tests.receiver import Receiver
from tests.server import Server, StartServer
from tests.standard_asks import ask_plan

DEADLINE = 20


@dataclass(frozen=True)
class Row:
    """A notice. `pause` is in how many seconds it is due."""

    id: str
    kind: str
    state: str
    attempts: int
    last_error: str | None
    pause: float
    claimed: bool


async def rows(engine: AsyncEngine) -> list[Row]:
    """Returns all notices, in the order they were made."""
    async with engine.connect() as connection:
        found = await connection.execute(
            text(
                "SELECT id::text, kind, state, attempts, last_error,"
                " extract(epoch FROM next_time - now())::float8, claimed_until > now()"
                " FROM notices ORDER BY create_time, kind"
            )
        )
        return [Row(*row[:-1], claimed=bool(row[-1])) for row in found]


async def become(engine: AsyncEngine, **fields: Any) -> Row:
    """Returns the first notice that has these fields, as soon as one does.

    Raises:
        AssertionError: None has when the deadline is over.
    """
    seen: list[Row] = []
    try:
        async with asyncio.timeout(DEADLINE):
            while True:
                seen = await rows(engine)
                for row in seen:
                    if all(getattr(row, name) == value for name, value in fields.items()):
                        return row
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(f"there are {seen}, none with {fields}") from None


async def change(engine: AsyncEngine, values: str) -> None:
    """Changes all notices, as an UPDATE spells it."""
    async with engine.begin() as connection:
        await connection.execute(text(f"UPDATE notices SET {values}"))


async def let_be_due(engine: AsyncEngine) -> None:
    """Lets the pause of each notice be over."""
    await change(engine, "next_time = now()")


async def let_claims_run_out(engine: AsyncEngine) -> None:
    """Lets the time of each claim be over."""
    async with engine.begin() as connection:
        await connection.execute(
            text("UPDATE notices SET claimed_until = now() WHERE claimed_until IS NOT NULL")
        )


async def asking(start_server: StartServer, receiver: Receiver) -> tuple[Server, Played]:
    """Returns a server that tells the receiver of asks, and a turn that paused on PLAN."""
    server = await start_server(
        in_turn([ask_plan()], [Text("Done.")], [Text("Bye.")]), **receiver.settings
    )
    noor = await server.person()
    return server, await noor.prompt("Set up my workspace")

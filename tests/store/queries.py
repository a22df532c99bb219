"""What an engine sends to its database."""

import asyncio

import asyncpg
from sqlalchemy import event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.pool import ConnectionPoolEntry


def queries_of(engine: AsyncEngine) -> list[str]:
    """Returns a list that grows with every query that stands alone, and with BEGIN and COMMIT.

    What is run within a transaction is not in it.
    """
    sent: list[str] = []
    heard: set[int] = set()

    def listen(_: DBAPIConnection, entry: ConnectionPoolEntry, __: object) -> None:
        driver = entry.driver_connection
        assert isinstance(driver, asyncpg.Connection)
        if driver.get_server_pid() not in heard:
            heard.add(driver.get_server_pid())
            driver.add_query_logger(lambda record: sent.append(record.query))

    event.listen(engine.sync_engine, "checkout", listen)
    return sent


async def all_told() -> None:
    """Lets the driver tell of the queries that have ended: it does so a moment later."""
    await asyncio.sleep(0)

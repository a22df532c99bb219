"""How long a person with very many pending asks waits for the first page of them.

The floor, measured in the same run, is the same page of the same fifty asks while there are no
others; beside it `SELECT 1` through asyncpg. Inserted by SQL then: the other asks, each with its
conversation, turn, messages, step and events, all of one owner, older than the fifty; and into the
conversations of the fifty, which the page shows, histories of 2 MB each, of messages of 50 KB that
do not compress. The other conversations have the two messages of a question.

    python -m bench.pending_asks [--asks N] [--times N]
"""

import argparse
from dataclasses import dataclass

import uvloop
from rich.console import Console
from rich.table import Table

from bench.floors import selects
from bench.measure import Measured, measure
from bench.parked import park_copies
from bench.postgres import Connection, connected, migrated_postgres
from bench.servers import OWNER, fleet
from bench.waiting import ask
from parley import Client
from parley.v1 import turns_pb2 as pb

PAGE = 50
HISTORY_MESSAGES, MESSAGE_BYTES = 40, 50 * 1024
_HISTORIES = """
WITH texts AS MATERIALIZED (
  SELECT n, (
    SELECT string_agg(md5(n || ':' || part), '') FROM generate_series(1, $2::int / 32) AS part
  ) AS text
  FROM generate_series(1, $3::int) AS n
), shown AS (
  SELECT conversations.id, conversations.last_seq, asks.created_by_turn AS turn_id
  FROM asks JOIN conversations ON conversations.id = asks.conversation_id
  WHERE asks.owner = $1 AND asks.status = 'pending'
), grown AS (
  UPDATE conversations SET last_seq = last_seq + $3::int
  WHERE id IN (SELECT id FROM shown)
)
INSERT INTO messages (conversation_id, seq, turn_id, turn_no, position, type, text)
SELECT shown.id, shown.last_seq + texts.n, shown.turn_id, 1, 1000 + texts.n, 'user', texts.text
FROM shown CROSS JOIN texts
"""


@dataclass(frozen=True)
class Listed:
    """Reads of a page, and the milliseconds of the server's processor that each took."""

    measured: Measured
    cpu_ms: float


async def main(asks: int, times: int) -> None:
    """Measures before and after the asks are inserted and prints one table."""
    async with (
        migrated_postgres() as url,
        fleet() as servers,
        servers.server(url) as server,
        servers.clients(server) as clients,
        servers.clients(server, owner="somebody else") as others,
        connected(url) as connection,
    ):
        client = clients[0]

        async def listed() -> Listed:
            cpu = server.cpu_seconds
            measured = await measured_page(client, times)
            return Listed(measured, (server.cpu_seconds - cpu) / times * 1000)

        original = await ask(others[0])
        await park_copies(connection, original, range(1, PAGE + 1), OWNER)
        few = await listed()
        await connection.execute(_HISTORIES, OWNER, MESSAGE_BYTES, HISTORY_MESSAGES)
        await park_copies(connection, original, range(PAGE + 1, asks + 1), OWNER)
        many = await listed()
        floor = await selects(url, times)
        inserted = await _inserted(connection)
    table = Table("first page of 50", "p50 ms", "p95 ms", "p99 ms", "p95 of the floor", "CPU ms")
    for name, run in ((f"{PAGE} pending", few), (f"{asks} pending, 2 MB histories", many)):
        ratio = run.measured.percentile(95) / few.measured.percentile(95)
        _add(table, name, run.measured, f"{ratio:.2f}", f"{run.cpu_ms:.1f}")
    _add(table, "SELECT 1", floor, "", "")
    console = Console(width=120)
    console.print(table)
    console.print(f"{times} reads each, one at a time. The messages are {inserted} MB.")


async def measured_page(client: Client, times: int) -> Measured:
    """Measures the first page, one read after the other."""

    async def once() -> None:
        page = await client.turns.ListPendingAsks(pb.ListPendingAsksRequest())
        if len(page.pending_asks) != PAGE:
            raise AssertionError(f"no page: {len(page.pending_asks)} asks")

    await measure(once, times=times // 2 + 1, concurrency=1)
    return await measure(once, times=times, concurrency=1)


async def _inserted(connection: Connection) -> int:
    size: int = await connection.fetchval("SELECT pg_total_relation_size('messages')")
    return size // 1_000_000


def _add(table: Table, name: str, run: Measured, *more: str) -> None:
    table.add_row(name, *(f"{run.percentile(percent):.2f}" for percent in (50, 95, 99)), *more)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The first page of very many pending asks.")
    parser.add_argument("--asks", type=int, default=10_000, help="pending asks of one owner")
    parser.add_argument("--times", type=int, default=400, help="how often the page is read")
    uvloop.run(main(**vars(parser.parse_args())))

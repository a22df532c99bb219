"""Whether the time of a refusal tells what is wrong with an action token.

Redeems tokens that press nothing, for different reasons, and takes the time of each refusal:
tokens that nobody was given, tokens whose time is over, tokens of asks that are resolved, and good
tokens for a button that is not theirs. They come in turn, each in an order of chance, so that
whatever else happens on the machine meets all of them alike. All get the same error, or this fails.
The floor is a call of a bare grpc.aio server, in turn with them.

Nothing is asserted of the times, which a loaded machine spoils: the table tells how far the median
of each kind is from that of the random ones, beside how far two halves of the random ones
themselves are from each other, which is noise.

    python -m bench.action_tokens [--tokens N]
"""

import argparse
import hashlib
import random
import secrets
import time
from collections.abc import Awaitable, Callable

import grpc
import uvloop
from rich.console import Console
from rich.table import Table

from bench.echo import ECHO
from bench.floors import REQUEST
from bench.measure import percentile
from bench.postgres import Connection, connected, migrated_postgres
from bench.scripts import BUTTON
from bench.servers import fleet, server_process
from bench.waiting import Waiting, ask, stored_events
from parley import Client, error_of
from parley.v1 import turns_pb2 as pb
from parley.v1.turns_pb2_grpc import TurnServiceStub

RANDOM, EXPIRED, RESOLVED, WRONG, FLOOR = "random", "expired", "resolved", "wrong button", "echo"
OTHER_BUTTON = "option:starter"
WARMING = 50
_COPIES = """
INSERT INTO action_tokens (token_hash, ask_id, owner, button_ids, expire_time)
SELECT copied.hash, ask_id, owner, button_ids, expire_time
FROM action_tokens, unnest($2::bytea[]) AS copied (hash)
WHERE token_hash = $1
"""
_EXPIRE = "UPDATE action_tokens SET expire_time = now() WHERE token_hash = $1"

Redeem = Callable[[str, str], Awaitable[str]]


async def main(tokens: int) -> None:
    """Redeems so many tokens of each kind and prints one table."""
    async with (
        migrated_postgres() as url,
        fleet() as servers,
        servers.server(url, redemptions_per_minute=10_000_000) as server,
        servers.clients(server) as clients,
        server_process("bench.echo") as bare,
        connected(url) as connection,
        grpc.aio.insecure_channel(server.address) as channel,
        grpc.aio.insecure_channel(bare.address) as floor,
    ):
        kinds = await _tokens(clients[0], connection, tokens)
        redeem = _redeem(channel)
        took: dict[str, list[float]] = {kind: [] for kind in (*kinds, FLOOR)}
        told: set[str] = set()
        for number in range(tokens):
            for kind in random.sample([*took], len(took)):
                start = time.perf_counter()
                if kind == FLOOR:
                    await floor.unary_unary(ECHO)(REQUEST)
                else:
                    told.add(await redeem(kinds[kind][number], _button(kind)))
                if number >= WARMING:
                    took[kind].append(time.perf_counter() - start)
    if len(told) != 1:
        raise AssertionError(f"the errors differ: {told}")
    _print(took)


async def _tokens(client: Client, connection: Connection, count: int) -> dict[str, list[str]]:
    """Returns so many tokens of each kind: copies of a few, each with a secret of its own."""
    kinds = {RANDOM: [secrets.token_urlsafe(32) for _ in range(count)]}
    for kind in (EXPIRED, RESOLVED, WRONG):
        waiting = await ask(client)
        first = _hash(await _create(client, waiting))
        if kind == EXPIRED:
            await connection.execute(_EXPIRE, first)
        if kind == RESOLVED:
            _ = [event async for event in stored_events(client, waiting.answer)]
        kinds[kind] = [secrets.token_urlsafe(32) for _ in range(count)]
        await connection.execute(_COPIES, first, [*map(_hash, kinds[kind])])
    await connection.execute("ANALYZE action_tokens, asks, conversations")
    return kinds


async def _create(client: Client, waiting: Waiting) -> str:
    request = pb.CreateActionTokenRequest(
        conversation_id=waiting.conversation_id,
        tool_call_id=waiting.tool_call_id,
        button_ids=[BUTTON],
    )
    return (await client.turns.CreateActionToken(request)).token


def _redeem(channel: grpc.aio.Channel) -> Redeem:
    turns = TurnServiceStub(channel)

    async def redeem(token: str, button_id: str) -> str:
        """Returns what is told of a token that presses nothing."""
        request = pb.RedeemActionTokenRequest(token=token, button_id=button_id)
        try:
            await turns.RedeemActionToken(request)
        except grpc.aio.AioRpcError as error:
            return f"{error.code()} {error_of(error).reason} {error.details()}"
        raise AssertionError("a token pressed something")

    return redeem


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _button(kind: str) -> str:
    return OTHER_BUTTON if kind == WRONG else BUTTON


def _print(took: dict[str, list[float]]) -> None:
    random_ones = percentile(took[RANDOM], 50)
    floor = percentile(took[FLOOR], 50)
    table = Table("token", "p50 ms", "p95 ms", "p99 ms", "p50 of the floor", "p50 of random ones")
    halves = {f"{RANDOM}, 1st half": took[RANDOM][::2], f"{RANDOM}, 2nd half": took[RANDOM][1::2]}
    for kind, times in (took | halves).items():
        p50 = percentile(times, 50)
        table.add_row(
            kind,
            *(f"{percentile(times, percent) * 1000:.2f}" for percent in (50, 95, 99)),
            f"{p50 / floor:.2f}",
            "" if kind == FLOOR else f"{p50 / random_ones:.3f}",
        )
    console = Console(width=120)
    console.print(table)
    console.print(f"{len(took[RANDOM])} of each, one at a time, in an order of chance.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The time of refusals of action tokens.")
    parser.add_argument("--tokens", type=int, default=1050, help="tokens of each kind")
    uvloop.run(main(parser.parse_args().tokens))

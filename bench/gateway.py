"""What each protocol costs through the gateway, beside gRPC straight to the service.

A unary call is `GetTurn`, a stream `WatchTurn` of a turn that has ended, with 1,000 stored events:
one caller, one connection, one call after the other, so the times are those of the way and not of
a queue. The rounds of all protocols take turns, so that whatever else the machine does meets all of
them. Clients send requests made beforehand and don't read what comes: gRPC's is grpc.aio, the
others are a bare connection. All of it shares the machine's cores.

    python -m bench.gateway [--rounds N]
"""

import argparse
import socket
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from uuid import UUID

import uvloop
from google.protobuf import json_format
from google.protobuf.message import Message
from rich.console import Console
from rich.table import Table

import parley
from bench.http_client import HttpConnection, get, http_connection, post
from bench.measure import percentile
from bench.postgres import connected, migrated_postgres
from bench.servers import fleet
from bench.waiting import ask, stored_events
from parley import Client
from parley.v1 import turns_pb2 as pb
from parleyd.app.gateway.envoy import envoy_binary, running_gateway
from parleyd.app.gateway.plan import Address, GatewayPlan

if TYPE_CHECKING:
    import grpc

CALLS: Final = 100
"""Unary calls of one protocol in one round."""
EVENTS: Final = 1000
STREAMS: Final = 3
"""Streams of one protocol in one round."""
PERCENTS: Final = (50, 95, 99)
DIRECT: Final = "gRPC, no gateway"
SERVICE: Final = "/parley.v1.TurnService"
_MOVE_LAST: Final = "UPDATE turn_events SET sequence = $2 WHERE turn_id = $1 AND sequence = 4"
_COUNT: Final = "UPDATE turns SET last_event = $2 WHERE id = $1"
_REPEAT_TEXT: Final = """
INSERT INTO turn_events (turn_id, sequence, payload)
SELECT turn_id, number, payload FROM turn_events, generate_series(4, $2 - 1) AS number
WHERE turn_id = $1 AND sequence = 3
"""


@dataclass
class Protocol:
    """A way to the service, and what was measured of it."""

    call: Callable[[], Awaitable[object]]
    watch: Callable[[], Awaitable[object]]
    calls: list[list[float]] = field(default_factory=list[list[float]])
    streams: list[float] = field(default_factory=list[float])

    async def measure(self) -> None:
        """Measures one round."""
        took: list[float] = []
        for _ in range(CALLS):
            start = time.perf_counter()
            await self.call()
            took.append(time.perf_counter() - start)
        self.calls.append(took)
        for _ in range(STREAMS):
            start = time.perf_counter()
            await self.watch()
            self.streams.append(time.perf_counter() - start)

    def latency(self, percent: float) -> float:
        """Returns the median over the rounds, in milliseconds."""
        return statistics.median(percentile(each, percent) for each in self.calls) * 1000

    @property
    def events_per_second(self) -> float:
        """Returns the median over the streams."""
        return EVENTS / statistics.median(self.streams)


async def main(rounds: int) -> None:
    """Measures all protocols in turns and prints one table."""
    async with migrated_postgres() as url, fleet() as servers:
        web_port = _free_port()
        async with servers.server(url, web=True, web_port=web_port) as server:
            grpc, web = Address.read(server.address), Address("127.0.0.1", web_port)
            plan = GatewayPlan(Address("127.0.0.1", 0), (grpc,), (web,))
            async with (
                running_gateway(plan, envoy_binary(None)) as gateway,
                parley.connect(server.address, servers.token()) as client,
                parley.connect(str(gateway.address), servers.token()) as through,
                http_connection(gateway.address) as http,
            ):
                turn = await _long_turn(client, url)
                token = f"Bearer {servers.token()}"
                protocols = {
                    DIRECT: _grpc(client, turn),
                    "gRPC": _grpc(through, turn),
                    "gRPC-Web": _grpc_web(http, turn, token),
                    "Connect, JSON": _connect(http, turn, token),
                    "JSON, server-sent events": _json(http, turn, token),
                }
                for protocol in protocols.values():
                    await protocol.measure()
                    protocol.calls.clear()
                    protocol.streams.clear()
                for _ in range(rounds):
                    for protocol in protocols.values():
                        await protocol.measure()
    Console(width=120).print(_table(protocols))


def _table(protocols: Mapping[str, Protocol]) -> Table:
    table = Table("protocol")
    for column in (*(f"p{percent} ms" for percent in PERCENTS), *(f"+p{p}" for p in PERCENTS)):
        table.add_column(column)
    for column in ("p50 of direct", "events/s", "of direct"):
        table.add_column(column)
    direct = protocols[DIRECT]
    for name, protocol in protocols.items():
        table.add_row(
            name,
            *(f"{protocol.latency(percent):.2f}" for percent in PERCENTS),
            *(f"{protocol.latency(each) - direct.latency(each):.2f}" for each in PERCENTS),
            f"{protocol.latency(50) / direct.latency(50):.2f}",
            f"{protocol.events_per_second:.0f}",
            f"{protocol.events_per_second / direct.events_per_second:.2f}",
        )
    return table


@dataclass(frozen=True)
class Turn:
    """A turn that has ended."""

    conversation_id: str
    turn_id: str

    @property
    def get(self) -> pb.GetTurnRequest:
        """Returns the request that reads it."""
        return pb.GetTurnRequest(conversation_id=self.conversation_id, turn_id=self.turn_id)

    @property
    def watch(self) -> pb.WatchTurnRequest:
        """Returns the request that reads its events."""
        return pb.WatchTurnRequest(conversation_id=self.conversation_id, turn_id=self.turn_id)

    @property
    def path(self) -> str:
        """Returns where it is over HTTP."""
        return f"/v1/conversations/{self.conversation_id}/turns/{self.turn_id}"


async def _long_turn(client: Client, url: str) -> Turn:
    waiting = await ask(client)
    first, *_, last = [event async for event in stored_events(client, waiting.answer)]
    assert last.sequence == 4, "started, ask_resolved, text, done"
    async with connected(url) as connection:
        for statement in (_MOVE_LAST, _REPEAT_TEXT, _COUNT):
            await connection.execute(statement, UUID(first.turn_id), EVENTS)
    return Turn(waiting.conversation_id, first.turn_id)


def _grpc(client: Client, turn: Turn) -> Protocol:
    get_turn: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]
    watch_turn: grpc.aio.UnaryStreamMultiCallable[bytes, bytes]
    get_turn = client.channel.unary_unary(f"{SERVICE}/GetTurn", bytes, bytes)
    watch_turn = client.channel.unary_stream(f"{SERVICE}/WatchTurn", bytes, bytes)
    get_request, watch_request = (each.SerializeToString() for each in (turn.get, turn.watch))

    async def watch() -> None:
        messages = [each async for each in watch_turn(watch_request)]
        assert len(messages) == EVENTS

    return Protocol(lambda: get_turn(get_request), watch)


def _grpc_web(http: HttpConnection, turn: Turn, token: str) -> Protocol:
    def request(method: str, message: Message) -> bytes:
        content_type = "application/grpc-web+proto"
        body = _framed(message.SerializeToString())
        path = f"{SERVICE}/{method}"
        return post(path, body, content_type=content_type, x_grpc_web="1", authorization=token)

    return _over_http(http, request("GetTurn", turn.get), request("WatchTurn", turn.watch))


def _connect(http: HttpConnection, turn: Turn, token: str) -> Protocol:
    headers = {"connect_protocol_version": "1", "authorization": token}
    body, framed = (json_format.MessageToJson(each).encode() for each in (turn.get, turn.watch))
    return _over_http(
        http,
        post(f"{SERVICE}/GetTurn", body, content_type="application/json", **headers),
        post(
            f"{SERVICE}/WatchTurn",
            _framed(framed),
            content_type="application/connect+json",
            **headers,
        ),
    )


def _json(http: HttpConnection, turn: Turn, token: str) -> Protocol:
    return _over_http(
        http,
        get(turn.path, authorization=token),
        get(f"{turn.path}:watch", authorization=token, accept="text/event-stream"),
    )


def _framed(message: bytes) -> bytes:
    return bytes(1) + len(message).to_bytes(4, "big") + message


def _over_http(http: HttpConnection, unary: bytes, stream: bytes) -> Protocol:
    return Protocol(lambda: http.call(unary), lambda: http.call(stream))


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="What each protocol costs through the gateway.")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of each protocol")
    uvloop.run(main(parser.parse_args().rounds))

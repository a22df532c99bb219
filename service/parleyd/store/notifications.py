"""Notifications: what PostgreSQL tells every process when a transaction commits (spec turns 16.1).

They are wake-ups alone. One that is lost delays its reader until it looks by itself.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final, TypeAlias
from uuid import UUID

import asyncpg
import structlog

from parleyd.store.engine import CONNECT_SECONDS, SESSION

PROBE_SECONDS: Final = 10
"""How often the server is asked whether it is still there, and how long it may take to say so.

A connection that is open on our side alone would be silent for ever.
"""
WAIT_SECONDS: Final = (0.2, 0.5, 1.0, 2.0, 3.0)
"""How long to wait before another try to connect; the last one for all that follow."""

_log = structlog.stdlib.get_logger()
_LOST: Final = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError)
_Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


class Listener:
    """Hears of new events, asks, and leases that were given up, on a connection of its own.

    `on_turn` gets the turn that has new events; `on_ask` the hash of an owner's name, an ask of
    that owner that came into its slot or left it, and its revision; `on_lease` is called when a
    turn is due. While there is no connection nothing is heard, so `on_reconnect` is called after
    each that is made, the first one too, before anything is told of it: read again what might have
    changed. All of them are called on the event loop and must not block. The connection must be a
    session of its own: a pooler that hands sessions around between transactions hears nothing.
    """

    def __init__(
        self,
        url: str,
        on_turn: Callable[[UUID], None],
        on_ask: Callable[[str, UUID, int], None],
        on_lease: Callable[[], None],
        on_reconnect: Callable[[], None],
    ) -> None:
        self._url = url
        self._on_turn = on_turn
        self._on_ask = on_ask
        self._on_lease = on_lease
        self._on_reconnect = on_reconnect
        self._tells = False

    async def run(self) -> None:
        """Listens until it is cancelled. Connects again, ever more slowly, when it has to."""
        failures = 0
        while True:
            try:
                async with self._listening() as connection:
                    failures = 0
                    self._on_reconnect()
                    self._tells = True
                    await _until_lost(connection)
            except _LOST as error:
                if not failures:
                    _log.warning("listener_lost", error=type(error).__name__)
            await asyncio.sleep(WAIT_SECONDS[min(failures, len(WAIT_SECONDS) - 1)])
            failures += 1

    @asynccontextmanager
    async def _listening(self) -> AsyncGenerator[_Connection]:
        connection = await asyncpg.connect(
            self._url,
            timeout=CONNECT_SECONDS,
            command_timeout=PROBE_SECONDS,
            server_settings={"application_name": SESSION["application_name"]},
        )
        try:
            await connection.add_listener("turn_events", self._hear_of_events)
            await connection.add_listener("asks", self._hear_of_ask)
            await connection.add_listener("turn_leases", self._hear_of_lease)
            yield connection
        finally:
            self._tells = False
            connection.terminate()

    def _hear_of_events(self, connection: object, pid: int, channel: str, payload: object) -> None:
        del connection, pid, channel
        turn_id, _, _ = str(payload).partition(":")
        try:
            turn = UUID(turn_id)
        except ValueError:  # not one of ours
            return
        if self._tells:
            self._on_turn(turn)

    def _hear_of_ask(self, connection: object, pid: int, channel: str, payload: object) -> None:
        del connection, pid, channel
        owner_hash, _, rest = str(payload).partition(":")
        ask_id, _, revision = rest.partition(":")
        try:
            told = UUID(ask_id), int(revision)
        except ValueError:  # not one of ours
            return
        if self._tells:
            self._on_ask(owner_hash, *told)

    def _hear_of_lease(self, connection: object, pid: int, channel: str, payload: object) -> None:
        del connection, pid, channel, payload
        if self._tells:
            self._on_lease()


async def _until_lost(connection: _Connection) -> None:
    """Returns when the connection is closed, and raises when the server does not answer."""
    lost = asyncio.Event()
    connection.add_termination_listener(lambda _: lost.set())
    while not lost.is_set():
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await lost.wait()
        except TimeoutError:
            await connection.execute("SELECT 1")
    raise ConnectionResetError

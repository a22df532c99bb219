"""What processes hear of each other's commits."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import UUID, uuid4

import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine
from structlog.testing import capture_logs

from parleyd.contract.reasons import Reason
from parleyd.contract.turns import TurnError
from parleyd.store import notifications
from parleyd.store.leases import PostgresLeaseStore
from parleyd.store.notifications import Listener
from parleyd.turns.pending_feeds import owner_hash
from tests.store.chat import OWNER, Chat, ask, step
from tests.store.tool_calls import RESULT, called, die, place, start, starts, step_of

ERROR = TurnError(reason=Reason.MODEL_ERROR, message="The model could not answer.")
LISTENERS = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%' OR query = 'SELECT 1'"


@dataclass
class Heard:
    """What a listener told, in order."""

    turns: list[UUID] = field(default_factory=list[UUID])
    asks: list[tuple[str, UUID, int]] = field(default_factory=list[tuple[str, UUID, int]])
    leases: int = 0
    connections: int = 0

    def on_turn(self, turn_id: UUID) -> None:
        self.turns.append(turn_id)

    def on_ask(self, owner_hash: str, ask_id: UUID, revision: int) -> None:
        self.asks.append((owner_hash, ask_id, revision))

    def on_lease(self) -> None:
        self.leases += 1

    def on_reconnect(self) -> None:
        self.connections += 1


async def until(condition: Callable[[], bool], seconds: float = 5) -> None:
    """Waits for a condition."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0)


@asynccontextmanager
async def listening(url: str) -> AsyncGenerator[Heard]:
    """Yields what a listener hears from when it is connected on."""
    heard = Heard()
    listener = Listener(url, heard.on_turn, heard.on_ask, heard.on_lease, heard.on_reconnect)
    task = asyncio.create_task(listener.run())
    try:
        await until(lambda: heard.connections == 1)
        yield heard
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.fixture
def chat(engine: AsyncEngine) -> Chat:
    return Chat(engine)


async def _notify(chat: Chat, channel: str, payload: str) -> None:
    async with chat.engine.begin() as connection:
        await connection.execute(
            text("SELECT pg_notify(:channel, :payload)"), {"channel": channel, "payload": payload}
        )


async def _marker(chat: Chat, heard: Heard) -> list[UUID]:
    """Returns what was heard up to now: notifications come in the order of their commits."""
    mark = uuid4()
    await _notify(chat, "turn_events", f"{mark}:1")
    await until(lambda: mark in heard.turns)
    return heard.turns[: heard.turns.index(mark)]


async def test_every_commit_with_events_is_heard_of_once(chat: Chat, database_url: str) -> None:
    turn = await chat.prompt()
    calls = starts("lookup")
    async with listening(database_url) as heard:
        await chat.turns.journal_step(turn, step_of(calls), called(calls), calls)
        assert await _marker(chat, heard) == [turn.lease.turn_id]
        heard.turns.clear()

        await chat.turns.store_result(turn, place(calls[0]), RESULT, failed=False)
        assert await _marker(chat, heard) == [turn.lease.turn_id]
        heard.turns.clear()

        await die(chat.engine, turn)
        taken = await PostgresLeaseStore(chat.engine, chat.engine).take_turn("process-2", ())
        assert taken
        assert await _marker(chat, heard) == [turn.lease.turn_id]
        heard.turns.clear()

        await chat.turns.fail_turn(taken.turn, ERROR, (), "")
        assert await _marker(chat, heard) == [turn.lease.turn_id]


async def test_a_pause_an_end_and_a_close_are_heard_of(chat: Chat, database_url: str) -> None:
    paused, closed = await chat.prompt(), await chat.prompt()
    async with listening(database_url) as heard:
        await chat.pause(paused, ask())
        assert await _marker(chat, heard) == [paused.lease.turn_id]
        heard.turns.clear()

        await chat.reply(closed, title_due=True)
        await chat.turns.close_turn(closed, "Trip")
        assert await _marker(chat, heard) == [closed.lease.turn_id] * 2


async def test_commits_without_events_are_not_heard_of(chat: Chat, database_url: str) -> None:
    turn = await chat.prompt()
    async with listening(database_url) as heard:
        await chat.prompt()
        await chat.turns.journal_step(turn, step(), (), ())
        await chat.turns.start_tool(turn, start(step_no=2), again=False)
        await chat.turns.start_tool(turn, start(step_no=2), again=True)
        await chat.turns.keep_partial_text(turn, "I am")
        await PostgresLeaseStore(chat.engine, chat.engine).renew_leases([turn.lease])

        assert await _marker(chat, heard) == []
        assert heard.leases == 0


async def test_the_last_number_is_told_with_the_turn(chat: Chat, database_url: str) -> None:
    turn = await chat.prompt()
    payloads: list[object] = []

    def hear(connection: object, pid: int, channel: str, payload: object) -> None:
        del connection, pid, channel
        payloads.append(payload)

    connection = await asyncpg.connect(database_url)
    await connection.add_listener("turn_events", hear)
    calls = starts("lookup", "lookup")

    await chat.turns.journal_step(turn, step_of(calls), called(calls), calls)

    await until(lambda: bool(payloads))
    assert payloads == [f"{turn.lease.turn_id}:3"]
    await connection.close()


async def test_a_lease_that_is_given_back_is_heard_of(chat: Chat, database_url: str) -> None:
    turn, other = await chat.prompt(), await chat.prompt()
    leases = PostgresLeaseStore(chat.engine, chat.engine)
    async with listening(database_url) as heard:
        await leases.release_turn(turn)
        await until(lambda: heard.leases == 1)

        await die(chat.engine, other)
        assert await leases.take_turn("process-2", ())
        await leases.release_turn(turn)
        assert set(await _marker(chat, heard)) <= {turn.lease.turn_id, other.lease.turn_id}
        assert heard.leases == 1


async def test_what_is_no_turn_and_no_ask_is_not_passed_on(chat: Chat, database_url: str) -> None:
    async with listening(database_url) as heard:
        short = ("", ":", "4", "turn:1", "a:b:c", f"a:{uuid4()}", f"a:{uuid4()}:b")
        for payload in (*short, "\u00e9" * 100):
            await _notify(chat, "turn_events", payload)
            await _notify(chat, "asks", payload)

        assert await _marker(chat, heard) == []
        assert heard.asks == []
        assert heard.connections == 1


async def test_an_ask_is_heard_of_when_it_comes_and_when_it_goes(
    chat: Chat, database_url: str
) -> None:
    hashed = owner_hash(OWNER)
    async with listening(database_url) as heard:
        turn = await chat.prompt()
        conversation = turn.lease.conversation_id
        await chat.pause(turn, ask("call_plan"), ask("call_other"))
        asked = await chat.ask_named(conversation, "call_plan")
        await _marker(chat, heard)
        # The other one lost the slot: it has never waited.
        assert heard.asks == [(hashed, asked.id, 1)]

        await chat.answer(conversation, "call_plan")
        await _marker(chat, heard)
        assert heard.asks[1:] == [(hashed, asked.id, 2)]

        waiting = await chat.waiting()
        other = await chat.ask_named(waiting, "call_plan")
        await chat.prompt("Something else", waiting)
        await _marker(chat, heard)
        assert heard.asks[2:] == [(hashed, other.id, 1), (hashed, other.id, 2)]

        deleted = await chat.waiting()
        third = await chat.ask_named(deleted, "call_plan")
        await chat.conversations.delete_conversation(OWNER, deleted)
        await _marker(chat, heard)
        assert heard.asks[4:] == [(hashed, third.id, 1), (hashed, third.id, 2)]


async def test_a_listener_survives_the_end_of_its_connection(chat: Chat, database_url: str) -> None:
    turn = await chat.prompt()
    async with listening(database_url) as heard:
        for connections in (2, 3):
            ended = await chat.query(f"SELECT pg_terminate_backend(pid) FROM ({LISTENERS}) own")
            assert ended == [(True,)]
            await until(lambda expected=connections: heard.connections == expected)

        await chat.pause(turn)
        assert await _marker(chat, heard) == [turn.lease.turn_id]


async def test_nothing_is_told_before_what_went_before_can_be_read(
    chat: Chat, database_url: str
) -> None:
    """What is told of changes in the order of their commits, but for those that were lost."""
    stop = asyncio.Event()

    async def notify() -> None:
        async with chat.engine.connect() as connection:
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            while not stop.is_set():
                payload = f"hash:{uuid4()}:1"
                await connection.execute(
                    text("SELECT pg_notify('asks', :payload)"), {"payload": payload}
                )

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(notify())
        for _ in range(10):
            early: list[int] = []
            heard = Heard()

            def on_reconnect(heard: Heard = heard, early: list[int] = early) -> None:
                early.append(len(heard.asks))

            told = (heard.on_turn, heard.on_ask, heard.on_lease, on_reconnect)
            listening = tasks.create_task(Listener(database_url, *told).run())
            await until(lambda heard=heard: len(heard.asks) > 0)
            listening.cancel()
            assert early == [0]
        stop.set()


async def test_a_cancelled_listener_leaves_no_connection(chat: Chat, database_url: str) -> None:
    async with listening(database_url):
        assert len(await chat.query(LISTENERS)) == 1

    async with asyncio.timeout(5):
        while await chat.query(LISTENERS):
            pass


# ---------------------------------------------------------------- a network that goes quiet


@dataclass
class Line:
    """A line to the server. While it is `cut`, nothing arrives and nobody is told."""

    url: str
    cut: bool = False
    connections: int = 0


@asynccontextmanager
async def line_to(url: str) -> AsyncGenerator[Line]:
    """Yields a line to the server of `url`."""
    folder = Path(tempfile.mkdtemp(prefix="parley-"))
    parts = urlsplit(url)
    where = parse_qs(parts.query)
    real = Path(where["host"][0]) / f".s.PGSQL.{where['port'][0]}"
    own = urlencode({"host": str(folder), "port": where["port"][0]})
    line = Line(parts._replace(query=own).geturl())

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if not line.cut:
                writer.write(data)
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line.connections += 1
        there, out = await asyncio.open_unix_connection(real)
        await asyncio.gather(copy(reader, out), copy(there, writer))

    server = await asyncio.start_unix_server(serve, folder / real.name)
    try:
        yield line
    finally:
        server.close()
        shutil.rmtree(folder)


async def test_a_listener_notices_that_nobody_answers_any_more(
    chat: Chat, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "PROBE_SECONDS", 0.1)
    turn = await chat.prompt()
    async with line_to(database_url) as line, listening(line.url) as heard:
        line.cut = True
        await until(lambda: line.connections > 1)
        line.cut = False
        await until(lambda: heard.connections > 1, seconds=15)

        await chat.pause(turn)
        assert await _marker(chat, heard) == [turn.lease.turn_id]


async def test_a_quiet_listener_keeps_its_connection(
    chat: Chat, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "PROBE_SECONDS", 0.05)
    probes = "SELECT query_start FROM pg_stat_activity WHERE query = 'SELECT 1'"
    async with listening(database_url) as heard:
        seen: set[object] = set()
        async with asyncio.timeout(5):
            while len(seen) < 3:
                seen.update(await chat.query(probes))

        assert heard.connections == 1


async def test_a_listener_waits_for_a_database_that_is_not_there_yet(database_url: str) -> None:
    folder = Path(tempfile.mkdtemp(prefix="parley-"))
    parts = urlsplit(database_url)
    where = parse_qs(parts.query)
    socket = f".s.PGSQL.{where['port'][0]}"
    elsewhere = urlencode({"host": str(folder), "port": where["port"][0]})
    heard = Heard()
    listener = Listener(
        parts._replace(query=elsewhere).geturl(),
        heard.on_turn,
        heard.on_ask,
        heard.on_lease,
        heard.on_reconnect,
    )
    with capture_logs() as logs:
        task = asyncio.create_task(listener.run())
        await until(lambda: bool(logs))

    assert heard.connections == 0
    assert logs == [
        {"event": "listener_lost", "error": "FileNotFoundError", "log_level": "warning"}
    ]
    (folder / socket).symlink_to(Path(where["host"][0]) / socket)

    await until(lambda: heard.connections == 1)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    shutil.rmtree(folder)

"""Notices where several processes send them, and where one stops."""

import asyncio
import threading

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.models.scripted import in_turn
from parleyd.turns import notifier
from tests.end_to_end.notified import (
    asking,
    become,
    let_claims_run_out,
    rows,
)
from tests.receiver import Receiver, Reply
from tests.server import Processes, StartServer

pytestmark = pytest.mark.usefixtures("often_polled")


async def test_two_processes_tell_of_each_ask_once(
    processes: Processes, receiver: Receiver, engine: AsyncEngine
) -> None:
    servers = [await processes.start("ASK", **receiver.settings) for _ in range(2)]
    people = [await server.person() for server in servers]
    asked: set[str] = set()
    for _ in range(4):
        played = await asyncio.gather(
            *(people[number % 2].prompt("Set up my workspace") for number in range(6))
        )
        asked |= {each.conversation_id for each in played}
    posts = await receiver.posts(len(asked))
    async with asyncio.timeout(20):
        while {row.state for row in await rows(engine)} != {"sent", "waiting"}:
            await asyncio.sleep(0.02)
    assert len(receiver.received) == len(asked)
    assert {post.payload["conversationId"] for post in posts} == asked


async def test_another_process_tells_what_a_killed_one_was_about_to(
    processes: Processes, receiver: Receiver, engine: AsyncEngine
) -> None:
    receiver.reply(Reply(held=threading.Event()))
    first = await processes.start("ASK", **receiver.settings)
    noor = await first.person()
    await noor.prompt("Set up my workspace")
    (lost,) = await receiver.posts(1)
    first.kill()
    await first.wait()
    await processes.start("ASK", **receiver.settings)
    row = await become(engine, attempts=1, claimed=True)
    assert len(receiver.received) == 1, "the claim counts until it has run out"
    await let_claims_run_out(engine)
    _, post = await receiver.posts(2)
    assert post.id == lost.id == row.id
    await become(engine, state="sent", attempts=2)


async def test_a_stop_waits_a_moment_for_what_is_being_sent(
    start_server: StartServer, receiver: Receiver, engine: AsyncEngine
) -> None:
    held = threading.Event()
    receiver.reply(Reply(held=held))
    server, _ = await asking(start_server, receiver)
    await receiver.posts(1)
    stopping = asyncio.ensure_future(server.stop())
    await asyncio.wait([stopping], timeout=0.3)
    held.set()
    await stopping
    assert {row.state for row in await rows(engine)} == {"sent", "waiting"}


async def test_a_stop_gives_back_what_takes_too_long(
    start_server: StartServer,
    receiver: Receiver,
    engine: AsyncEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(notifier, "STOP_SECONDS", 0.2)
    receiver.reply(Reply(held=threading.Event()))
    server, _ = await asking(start_server, receiver)
    await receiver.posts(1)
    await server.stop()
    (row,) = await rows(engine)
    assert (row.state, row.attempts, row.claimed) == ("due", 0, False)
    await start_server(in_turn(), **receiver.settings)
    await become(engine, state="sent", attempts=1)

"""Notices that the receiver does not take: tried again, or given up."""

import asyncio
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise
from typing import Final

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine
from structlog.testing import capture_logs

from parleyd.app.notifier import webhook
from parleyd.models.scripted import in_turn
from parleyd.turns.notice_tries import FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, TRIES
from tests.end_to_end.notified import (
    asking,
    become,
    change,
    let_be_due,
)
from tests.receiver import Receiver, Reply, receiving
from tests.server import StartServer
from tests.standard_asks import ask_plan, ask_region

pytestmark = pytest.mark.usefixtures("often_polled")

A_DATE: Final = "the date in half an hour"


class Away(Receiver):
    """A receiver at an address where nobody listens."""

    def __init__(self, url: str) -> None:
        super().__init__(0)
        self.url = url


async def test_what_is_not_taken_is_tried_again_after_ever_longer_pauses(
    start_server: StartServer, receiver: Receiver, engine: AsyncEngine
) -> None:
    statuses = [500, 503, 429, 408, 302, 500]
    receiver.reply(*(Reply(status, {"location": receiver.url}) for status in statuses))
    await asking(start_server, receiver)
    pauses: list[float] = []
    for attempts, status in enumerate(statuses, 1):
        row = await become(engine, attempts=attempts, claimed=False, last_error=f"HTTP {status}")
        assert row.state == "due"
        pauses.append(row.pause)
        await let_be_due(engine)
    await become(engine, state="sent", attempts=len(statuses) + 1)
    assert all(first < second for first, second in pairwise(pauses)), pauses
    assert pauses[0] > FIRST_PAUSE_SECONDS - 2
    posts = receiver.received
    assert len(posts) == len(statuses) + 1
    assert len({post.id for post in posts}) == 1
    tokens = {post.payload["actionToken"]["token"] for post in posts}
    assert len(tokens) == len(posts), "none is kept, so each try makes its own"


async def test_a_notice_is_not_tried_before_its_pause_is_over(
    start_server: StartServer, receiver: Receiver, engine: AsyncEngine
) -> None:
    receiver.reply(500)
    server = await start_server(in_turn([ask_plan()], [ask_region()]), **receiver.settings)
    noor = await server.person()
    first = await noor.prompt("Set up my workspace")
    await become(engine, attempts=1, claimed=False, last_error="HTTP 500")
    await change(engine, "next_time = now() + interval '1 hour'")
    second = await noor.prompt("Set up the other one")
    await become(engine, kind="asked", state="sent")
    assert [post.payload["conversationId"] for post in receiver.received] == [
        first.conversation_id,
        second.conversation_id,
    ]
    assert (await become(engine, kind="asked", state="due")).attempts == 1


@pytest.mark.parametrize(
    ("retry_after", "least", "most"),
    [
        ("120", 110, 121),
        ("3", 4, 11),
        (str(10 * LONGEST_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS - 10, LONGEST_PAUSE_SECONDS),
        ("soon", 4, 11),
        (A_DATE, 1700, 1801),
    ],
    ids=["seconds", "too few", "too many", "no number", "a date"],
)
async def test_a_receiver_may_ask_for_a_longer_pause(
    start_server: StartServer,
    receiver: Receiver,
    engine: AsyncEngine,
    retry_after: str,
    least: float,
    most: float,
) -> None:
    if retry_after == A_DATE:
        then = datetime.now(UTC) + timedelta(minutes=30)
        retry_after = format_datetime(then, usegmt=True)
    receiver.reply(Reply(503, {"retry-after": retry_after}))
    await asking(start_server, receiver)
    row = await become(engine, attempts=1, claimed=False, last_error="HTTP 503")
    assert least < row.pause <= most


@pytest.mark.parametrize("status", [400, 404, 410])
async def test_what_the_receiver_refuses_for_good_is_not_tried_again(
    start_server: StartServer, receiver: Receiver, engine: AsyncEngine, status: int
) -> None:
    receiver.reply(status)
    with capture_logs() as logged:
        await asking(start_server, receiver)
        row = await become(engine, state="dead")
        assert (row.attempts, row.last_error) == (1, f"HTTP {status}")
        while not (warned := [each for each in logged if each["event"] == "notice_dead"]):
            await asyncio.sleep(0.01)
    assert [(each["log_level"], each["notice_id"], each["attempts"]) for each in warned] == [
        ("warning", row.id, 1)
    ]
    assert len(receiver.received) == 1


async def test_a_receiver_that_is_not_there_or_says_nothing_is_tried_again(
    start_server: StartServer,
    receiver: Receiver,
    engine: AsyncEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(webhook, "SEND_SECONDS", 0.2)
    with receiving() as other:
        gone = other.url
    server, _ = await asking(start_server, Away(gone))
    await become(engine, attempts=1, claimed=False, last_error="ConnectError")
    await server.stop()
    receiver.reply(Reply(held=threading.Event()))
    await start_server(in_turn(), **receiver.settings)
    await let_be_due(engine)
    await become(engine, attempts=2, claimed=False, last_error="Timeout")
    await let_be_due(engine)
    await become(engine, state="sent", attempts=3)


async def test_after_its_last_try_a_notice_is_dead(
    start_server: StartServer, receiver: Receiver, engine: AsyncEngine
) -> None:
    receiver.reply(500, 500, 500)
    await asking(start_server, receiver)
    await become(engine, attempts=1, claimed=False, last_error="HTTP 500")
    await change(engine, f"attempts = {TRIES - 2}, next_time = now()")
    await become(engine, attempts=TRIES - 1, claimed=False, state="due")
    await let_be_due(engine)
    dead = await become(engine, state="dead")
    assert (dead.attempts, dead.last_error) == (TRIES, "HTTP 500")
    await let_be_due(engine)
    assert len(receiver.received) == 3

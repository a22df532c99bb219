"""Those who watch what waits on a person: what is read for them, and when (spec turns 16.6)."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager

import pytest

from parleyd.contract.errors import Unavailable
from parleyd.turns import pending_watch
from parleyd.turns.pending_feeds import CHANGES_KEPT, Added, Removed, Snapshot, owner_hash
from parleyd.turns.pending_watch import PendingWatch, Sent
from tests.turns.waiting import in_time, until
from tests.turns.waiting_asks import Rows

NOOR = owner_hash("noor")
NEVER = 3_600.0


@asynccontextmanager
async def running(rows: Rows, look_seconds: float = NEVER) -> AsyncGenerator[PendingWatch]:
    """Yields a watch whose reader runs."""
    watch = PendingWatch(rows, look_seconds=look_seconds)
    reading = asyncio.create_task(watch.run())
    try:
        yield watch
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def next_of(watched: AsyncGenerator[Sent, None]) -> Sent:
    return await in_time(anext(watched))


async def test_all_who_come_at_once_are_read_for_in_one_look() -> None:
    rows = Rows()
    asked = rows.ask("owner 3")
    async with running(rows) as watch:
        watched = [watch.watch(f"owner {number % 5}") for number in range(40)]
        firsts = await in_time(asyncio.gather(*map(anext, watched)))
        assert [sorted(owners) for owners in rows.looks] == [[f"owner {n}" for n in range(5)]]
        assert firsts.count(Snapshot((asked,))) == 8
        for each in watched:
            await each.aclose()


async def test_all_news_is_read_at_once_and_told_in_its_order() -> None:
    rows = Rows()
    async with running(rows) as watch, aclosing(watch.watch("noor")) as watched:
        await next_of(watched)
        first, second = rows.ask(), rows.ask()
        for pending in (second, first, second):
            watch.hear(NOOR, pending.ask.id, 1)
        assert [await next_of(watched), await next_of(watched)] == [Added(second), Added(first)]
        assert rows.readings == [{first.ask.id, second.ask.id}]


async def test_what_goes_is_told_of_in_its_place_among_others_however_late_it_is_read() -> None:
    rows = Rows()
    async with running(rows) as watch, aclosing(watch.watch("noor")) as watched:
        await next_of(watched)
        one, two, three = rows.ask(), rows.ask(), rows.ask()
        gone = [rows.resolve(two), rows.resolve(one)]
        for told in (one, two):
            watch.hear(NOOR, told.ask.id, 1)
        for told in (two, one):
            watch.hear(NOOR, told.ask.id, 2)
        watch.hear(NOOR, three.ask.id, 1)
        sent = [await next_of(watched) for _ in range(5)]
        assert [type(each) for each in sent] == [Added, Added, Removed, Removed, Added]
        assert sent[2:] == [*(Removed(each.ask) for each in gone), Added(three)]


async def test_news_that_a_look_takes_the_place_of_is_told_once() -> None:
    rows = Rows()
    goes = rows.ask()
    async with running(rows) as watch, aclosing(watch.watch("noor")) as watched:
        await next_of(watched)
        short = rows.ask()
        comes = rows.ask()
        gone = [rows.resolve(goes), rows.resolve(short)]
        for told in (short, comes):
            watch.hear(NOOR, told.ask.id, 1)
        watch.look_again()
        sent = [await next_of(watched) for _ in range(4)]
        watch.hear(NOOR, goes.ask.id, 2)
        watch.hear(NOOR, short.ask.id, 2)
        last = rows.ask()
        watch.hear(NOOR, last.ask.id, 1)
        sent.append(await next_of(watched))
        assert sent == [
            Added(gone[1]),
            Added(comes),
            *(Removed(each.ask) for each in gone),
            Added(last),
        ]


async def test_news_of_people_who_do_not_watch_is_not_read() -> None:
    rows = Rows()
    async with running(rows) as watch, aclosing(watch.watch("noor")) as watched:
        await next_of(watched)
        watch.hear(owner_hash("ada"), rows.ask("ada").ask.id, 1)
        mine = rows.ask()
        watch.hear(NOOR, mine.ask.id, 1)
        assert await next_of(watched) == Added(mine)
        assert rows.readings == [{mine.ask.id}]


async def test_what_nobody_was_told_of_is_found_by_the_next_look() -> None:
    rows = Rows()
    goes = rows.ask()
    async with running(rows, look_seconds=0.02) as watch, aclosing(watch.watch("noor")) as watched:
        await next_of(watched)
        gone, comes = rows.resolve(goes), rows.ask()
        assert [await next_of(watched), await next_of(watched)] == [Removed(gone.ask), Added(comes)]


async def test_who_comes_back_while_others_are_read_for_is_read_for_again() -> None:
    rows = Rows()
    rows.open.clear()
    async with running(rows) as watch:
        left = watch.watch("noor")
        leaving = asyncio.ensure_future(anext(left))
        await until(lambda: len(rows.looks) == 1)
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)
        async with aclosing(watch.watch("noor")) as watched:
            back = asyncio.ensure_future(anext(watched))
            await asyncio.sleep(0)
            rows.open.set()
            assert await in_time(back) == Snapshot(())
            assert rows.looks == [["noor"], ["noor"]]


async def test_news_that_was_lost_during_a_look_is_looked_for_after_it() -> None:
    rows = Rows()
    rows.open.clear()
    async with running(rows) as watch, aclosing(watch.watch("noor")) as watched:
        first = asyncio.ensure_future(anext(watched))
        await until(lambda: len(rows.looks) == 1)
        asked = rows.ask()
        watch.look_again()
        rows.open.set()
        sent = await in_time(first)
        while sent not in (Added(asked), Snapshot((asked,))):
            sent = await next_of(watched)


async def test_without_a_database_watchers_stay_and_miss_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pending_watch, "WAIT_SECONDS", (0.001,))
    rows = Rows()
    async with running(rows) as watch, aclosing(watch.watch("noor")) as watched:
        await next_of(watched)
        rows.fails = True
        asked = rows.ask()
        watch.hear(NOOR, asked.ask.id, 1)
        coming = asyncio.ensure_future(anext(watched))
        await until(lambda: len(rows.readings) == 3)
        later = rows.ask()
        watch.hear(NOOR, later.ask.id, 1)
        rows.fails = False
        assert [await in_time(coming), await next_of(watched)] == [Added(asked), Added(later)]


async def test_a_look_that_failed_is_taken_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending_watch, "WAIT_SECONDS", (0.001,))
    rows = Rows()
    rows.fails = True
    asked = rows.ask()
    async with running(rows) as watch, aclosing(watch.watch("noor")) as watched:
        coming = asyncio.ensure_future(anext(watched))
        await until(lambda: len(rows.looks) == 3)
        rows.fails = False
        assert await in_time(coming) == Snapshot((asked,))


async def test_who_falls_too_far_behind_is_sent_all_that_waits() -> None:
    rows = Rows()
    async with (
        running(rows) as watch,
        aclosing(watch.watch("noor")) as slow,
        aclosing(watch.watch("noor")) as quick,
    ):
        assert [await next_of(slow), await next_of(quick)] == [Snapshot(()), Snapshot(())]
        asked = [rows.ask() for _ in range(CHANGES_KEPT + 1)]
        for each in asked[:-1]:
            watch.hear(NOOR, each.ask.id, 1)
        assert [await next_of(quick) for _ in asked[:-1]] == list(map(Added, asked[:-1]))
        watch.hear(NOOR, asked[-1].ask.id, 1)
        assert await next_of(quick) == Added(asked[-1])
        assert await next_of(slow) == Snapshot(tuple(reversed(asked)))


async def test_a_stop_ends_every_watch_and_lets_nobody_in() -> None:
    rows = Rows()
    async with running(rows) as watch:
        watched = watch.watch("noor")
        await next_of(watched)
        more = asyncio.ensure_future(anext(watched))
        await asyncio.sleep(0)
        watch.close(Unavailable("It stops."))
        for waits in (more, anext(watch.watch("noor"))):
            with pytest.raises(Unavailable, match="It stops"):
                await in_time(waits)

"""Those who follow turns: what wakes them, and which events they are sent."""

import asyncio
import gc
from uuid import UUID

import pytest

from parleyd.contract import limits
from parleyd.contract.errors import EventsExpired
from parleyd.contract.events import Resumed, Text
from parleyd.turns.live import LiveTurn
from tests.turns.followed import (
    CALLED,
    CONVERSATION,
    DONE,
    GONE,
    OTHER,
    RESULT,
    STARTED,
    TURN,
    Follower,
    Scene,
    told,
)
from tests.turns.waiting import until


async def waiting(scene: Scene, turn_id: UUID = TURN, after: int = 0) -> Follower:
    """Returns a follower of a turn that has no events after that place, once it waits.

    It was told at once that there is nothing yet, which is taken off.
    """
    follower = Follower(scene.follow(after, turn_id))
    await follower.has("quiet")
    follower.sent.clear()
    await asyncio.sleep(0)
    return follower


# ---------------------------------------------------------------- a turn that runs here


async def test_a_turn_that_runs_here_is_followed_to_its_end_without_reading() -> None:
    scene = Scene()
    follower = Follower(scene.follow())
    scene.commit(STARTED)
    await follower.has("1 started")
    scene.commit(Text(text="Hi."))
    scene.end()
    assert await follower.end() == ["1 started", "2 text", "3 done"]
    assert scene.reader.reads == 0


async def test_who_comes_later_gets_what_it_has_not_seen() -> None:
    scene = Scene()
    scene.commit(STARTED, CALLED)
    follower = Follower(scene.follow(after=1))
    await follower.has("2 tool_call")
    scene.end()
    assert await follower.end() == ["2 tool_call", "3 done"]


async def test_who_needs_what_another_process_stored_reads_it() -> None:
    scene = Scene(after=2)
    scene.store(STARTED, CALLED)
    scene.live.append(scene.store(Resumed(attempt=2)))
    follower = Follower(scene.follow())
    await follower.has("1 started", "2 tool_call", "3 resumed")
    scene.end()
    assert await follower.end() == ["1 started", "2 tool_call", "3 resumed", "4 done"]


async def test_who_follows_when_a_turn_ends_gets_all_of_it() -> None:
    scene = Scene()
    follower = Follower(scene.follow())
    scene.commit(STARTED)
    scene.end()
    assert await follower.end() == ["1 started", "2 done"]


@pytest.mark.parametrize("after", [2, 9])
async def test_a_place_at_or_beyond_the_end_is_told_once_the_turn_ends(after: int) -> None:
    scene = Scene()
    scene.commit(STARTED)
    follower = Follower(scene.follow(after))
    await asyncio.sleep(0)
    scene.end()
    assert await follower.end() == ["quiet"]
    assert isinstance(follower.error, EventsExpired) is (after == 9)


async def test_a_turn_that_this_process_gives_up_ends_its_streams_after_what_it_had() -> None:
    scene = Scene()
    follower = Follower(scene.follow())
    await asyncio.sleep(0)
    scene.commit(STARTED)
    scene.live.give_up(GONE)
    scene.followers.remove(scene.live)
    assert await follower.end() == ["quiet", "1 started"]
    assert follower.error is GONE


async def test_a_turn_that_moves_is_followed_elsewhere_without_gap_or_repeat() -> None:
    scene = Scene()
    scene.commit(STARTED)
    scene.live.begin_step()
    scene.live.say("Let")
    follower = Follower(scene.follow())
    await follower.has("1 started", "+Let")
    scene.store(Resumed(attempt=2))
    scene.live.move()
    scene.followers.remove(scene.live)
    await follower.has("1 started", "+Let", "2 resumed")
    scene.store(DONE)
    scene.followers.hear(TURN)
    assert await follower.end() == ["1 started", "+Let", "2 resumed", "3 done"]


async def test_a_process_that_takes_its_own_turn_over_serves_those_who_followed_it() -> None:
    scene = Scene()
    scene.commit(STARTED)
    follower = Follower(scene.follow())
    await follower.has("1 started")
    again = LiveTurn(TURN, CONVERSATION, 1, scene.followers.wake)
    again.append(scene.store(Resumed(attempt=2)))
    scene.followers.add(again)
    scene.live.move()
    scene.followers.remove(scene.live)
    assert scene.followers.live(TURN) is again
    again.begin_step()
    again.say("Hi")
    await follower.has("1 started", "2 resumed", "+Hi")
    again.append(scene.store(DONE))
    again.end(RESULT)
    assert (await follower.end())[-1] == "3 done"


# ---------------------------------------------------------------- a turn that runs elsewhere


async def test_w5_who_follows_a_turn_elsewhere_reads_only_when_woken() -> None:
    scene = Scene()
    scene.store(STARTED, turn_id=OTHER)
    follower = Follower(scene.follow(turn_id=OTHER))
    await follower.has("1 started")
    reads = scene.reader.reads
    scene.store(CALLED, turn_id=OTHER)
    scene.followers.hear(TURN)
    for _ in range(5):
        await asyncio.sleep(0)
    assert scene.reader.reads == reads
    scene.followers.hear(OTHER)
    await follower.has("1 started", "2 tool_call")
    scene.store(DONE, turn_id=OTHER)
    scene.followers.hear(OTHER)
    assert await follower.end() == ["1 started", "2 tool_call", "3 done"]
    assert scene.reader.reads == reads + 2


async def test_a_notification_of_a_turn_that_runs_here_says_nothing_new() -> None:
    scene = Scene()
    scene.commit(STARTED)
    follower = Follower(scene.follow())
    await follower.has("1 started")
    scene.store(CALLED)
    scene.followers.hear(TURN)
    for _ in range(5):
        await asyncio.sleep(0)
    assert follower.told == ["1 started"]
    await follower.leave()


async def test_polling_brings_what_a_lost_notification_told_and_wakes_for_news_alone() -> None:
    scene = Scene()
    here = Follower(scene.follow())
    scene.store(STARTED, turn_id=OTHER)
    follower = Follower(scene.follow(turn_id=OTHER))
    await follower.has("1 started")
    await scene.followers.poll()
    for _ in range(5):
        await asyncio.sleep(0)
    reads = scene.reader.reads
    await scene.followers.poll()
    for _ in range(5):
        await asyncio.sleep(0)
    assert scene.reader.reads == reads
    scene.store(DONE, turn_id=OTHER)
    await scene.followers.poll()
    assert await follower.end() == ["1 started", "2 done"]
    assert scene.reader.polled == [{OTHER}] * 3, "turns that run here are not asked for"
    await here.leave()


async def test_nobody_is_polled_for_where_nobody_follows() -> None:
    scene = Scene()
    await scene.followers.poll()
    assert scene.reader.polled == []


async def test_waking_all_wakes_all() -> None:
    scene = Scene()
    followers = [await waiting(scene, turn_id) for turn_id in (OTHER, UUID(int=9))]
    for turn_id in (OTHER, UUID(int=9)):
        scene.store(DONE, turn_id=turn_id)
    scene.followers.wake_all()
    assert [await follower.end() for follower in followers] == [["1 done"]] * 2


async def test_what_is_stored_between_reading_and_waiting_is_not_missed() -> None:
    scene = Scene()
    stream = scene.follow(turn_id=OTHER)
    follower = Follower(stream)
    await until(lambda: scene.reader.reads == 1)  # it has read, and waits for the answer
    scene.store(DONE, turn_id=OTHER)
    scene.followers.hear(OTHER)
    assert await follower.end() == ["quiet", "1 done"]


async def test_w11_a_closed_turn_is_replayed_and_ends() -> None:
    scene = Scene()
    scene.store(STARTED, DONE, turn_id=OTHER)
    assert await Follower(scene.follow(turn_id=OTHER)).end() == ["1 started", "2 done"]
    assert await Follower(scene.follow(1, OTHER)).end() == ["2 done"]
    last = Follower(scene.follow(2, OTHER))
    assert await last.end() == []
    assert last.error is None


async def test_events_that_come_in_several_reads_are_all_sent() -> None:
    scene = Scene()
    scene.reader.at_once = 2
    scene.store(STARTED, CALLED, CALLED, CALLED, DONE, turn_id=OTHER)
    sent = await Follower(scene.follow(turn_id=OTHER)).end()
    assert sent == ["1 started", "2 tool_call", "3 tool_call", "4 tool_call", "5 done"]


async def test_a_closed_turn_without_events_ends_at_once() -> None:
    scene = Scene()
    scene.reader.closed.add(OTHER)
    follower = Follower(scene.follow(turn_id=OTHER))
    assert await follower.end() == []
    assert follower.error is None


@pytest.mark.parametrize(("after", "gone"), [(3, False), (0, True), (1, True)])
async def test_w11_events_that_are_gone_or_never_were_are_told_of(
    after: int,
    gone: bool,  # noqa: FBT001 - a column of the table
) -> None:
    scene = Scene()
    scene.store(STARTED, DONE, turn_id=OTHER)
    if gone:
        scene.reader.gone.add(OTHER)
    follower = Follower(scene.follow(after, OTHER))
    assert await follower.end() == []
    assert isinstance(follower.error, EventsExpired)


# ---------------------------------------------------------------- quiet, closing, counting


async def test_a_quiet_stream_says_so_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "QUIET_SECONDS", 0.05)
    scene = Scene()
    scene.commit(STARTED)
    follower = Follower(scene.follow())
    await until(lambda: len(follower.sent) == 4)
    scene.live.begin_step()
    scene.live.say("Hi")
    await until(lambda: "+Hi" in follower.told)
    scene.end()
    sent = await follower.end()
    assert sent[:4] == ["1 started", "quiet", "quiet", "quiet"]
    assert [one for one in sent if one != "quiet"] == ["1 started", "+Hi", "2 done"]


async def test_bc_090_a_stream_with_nothing_to_send_yet_says_so_at_once() -> None:
    scene = Scene()
    scene.commit(STARTED)
    follower = Follower(scene.follow(after=1))
    await follower.has("quiet")
    scene.end()
    assert await follower.end() == ["quiet", "2 done"]


async def test_closing_ends_streams_of_turns_elsewhere_after_what_they_had() -> None:
    scene = Scene()
    follower = await waiting(scene, OTHER)
    scene.store(STARTED, turn_id=OTHER)
    scene.followers.close(GONE)
    assert await follower.end() == ["1 started"]
    assert follower.error is GONE


async def test_closing_leaves_a_turn_that_runs_here_until_it_has_stopped() -> None:
    scene = Scene()
    scene.commit(STARTED)
    follower = Follower(scene.follow())
    await follower.has("1 started")
    scene.followers.close(GONE)
    for _ in range(5):
        await asyncio.sleep(0)
    scene.commit(Text(text="Hi."))
    await follower.has("1 started", "2 text")
    scene.end()
    assert await follower.end() == ["1 started", "2 text", "3 done"]
    assert follower.error is None


async def test_who_comes_after_closing_is_told_at_once() -> None:
    scene = Scene()
    scene.followers.close(GONE)
    follower = Follower(scene.follow(turn_id=OTHER))
    assert await follower.end() == []
    assert follower.error is GONE


async def test_open_streams_are_counted_by_their_owner() -> None:
    scene = Scene()
    scene.commit(STARTED)
    streams = [scene.followers.watch(owner, TURN, 0) for owner in ("ada", "ada", "ben")]
    assert scene.followers.open_streams("ada") == 0
    for stream in streams:
        await anext(stream)
    assert scene.followers.open_streams("ada") == 2
    assert scene.followers.open_streams("ben") == 1
    await streams[0].aclose()
    assert scene.followers.open_streams("ada") == 1
    scene.end()
    assert told([sent async for sent in streams[1]]) == ["2 done"]
    await streams[2].aclose()
    assert scene.followers.open_streams("ada") == scene.followers.open_streams("ben") == 0


async def test_a_stream_that_is_dropped_after_one_item_is_not_counted_any_more() -> None:
    scene = Scene()
    scene.commit(STARTED)

    async def drop_one() -> None:
        stream = scene.followers.watch("ada", TURN, 0)
        await anext(stream)
        assert scene.followers.open_streams("ada") == 1

    await drop_one()
    gc.collect()
    await until(lambda: scene.followers.open_streams("ada") == 0)


async def test_a_stream_that_fails_or_is_cancelled_is_not_counted_any_more() -> None:
    scene = Scene()
    failing = Follower(scene.followers.watch("ada", OTHER, 0))
    cut = Follower(scene.followers.watch("ada", TURN, 0))
    await until(lambda: scene.followers.open_streams("ada") == 2)
    await cut.leave()
    assert scene.followers.open_streams("ada") == 1
    scene.followers.close(GONE)
    await failing.end()
    assert scene.followers.open_streams("ada") == 0


async def test_who_has_left_is_polled_for_no_more() -> None:
    scene = Scene()
    stream = scene.followers.watch("ada", OTHER, 0)
    scene.store(STARTED, turn_id=OTHER)
    await anext(stream)
    await scene.followers.poll()
    await stream.aclose()
    await scene.followers.poll()
    assert scene.reader.polled == [{OTHER}]

"""Those who follow turns: what wakes them, what they are sent, and what they never are."""

import asyncio
import gc
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import pairwise
from uuid import UUID

import pytest

from parleyd.contract import limits
from parleyd.contract.errors import EventsExpired, ParleyError, Unavailable
from parleyd.contract.events import Done, EventBody, Resumed, Started, Text, ToolCalled, TurnEvent
from parleyd.contract.previews import PreviewDiscarded, TextPreview
from parleyd.contract.turns import TurnResult
from parleyd.turns.followers import Followers, Sent
from parleyd.turns.live import LiveTurn, StepText
from tests.turns.ports_in_memory import MemoryReader
from tests.turns.waiting import in_time, now, until

TURN, OTHER, CONVERSATION = UUID(int=2), UUID(int=3), UUID(int=1)
STARTED = Started(conversation_id=CONVERSATION, conversation_created=True)
CALLED = ToolCalled(tool_call_id="call_1", tool_name="lookup", args={})
DONE = Done(
    conversation_id=CONVERSATION,
    title=None,
    pending_tool_call_id=None,
    state="completed",
    retryable=False,
)
RESULT = TurnResult(conversation_id=CONVERSATION, turn_id=TURN, state="completed")
GONE = Unavailable("This server is stopping.")


class Scene:
    """A turn that runs here, stored as it goes on, and those who follow it."""

    def __init__(self, after: int = 0) -> None:
        self.reader = MemoryReader()
        self.followers = Followers(self.reader)
        self.live = LiveTurn(TURN, CONVERSATION, after, self.followers.wake)
        self.followers.add(self.live)

    def store(self, *bodies: EventBody, turn_id: UUID = TURN) -> list[TurnEvent]:
        """Commits events, of which nobody here is told yet."""
        events = self.reader.events[turn_id]
        first = len(events) + 1
        new = [
            TurnEvent(turn_id=turn_id, sequence=first + index, body=body)
            for index, body in enumerate(bodies)
        ]
        events += new
        if any(isinstance(body, Done) for body in bodies):
            self.reader.closed.add(turn_id)
        return new

    def commit(self, *bodies: EventBody) -> None:
        """Commits events of the turn that runs here."""
        self.live.append(self.store(*bodies))

    def end(self) -> None:
        """Ends the turn that runs here, as its runner does."""
        self.commit(DONE)
        self.live.end(RESULT)
        self.followers.remove(self.live)

    def follow(self, after: int = 0, turn_id: UUID = TURN) -> AsyncGenerator[Sent, None]:
        return self.followers.follow("ada", turn_id, after)


def told(sent: list[Sent]) -> list[str]:
    """Returns what was sent, in short."""
    return [_short(one) for one in sent]


def _short(sent: Sent) -> str:
    match sent:
        case TurnEvent():
            return f"{sent.sequence} {sent.body.kind}"
        case TextPreview():
            return f"+{sent.delta}"
        case PreviewDiscarded():
            return "discarded"
        case None:
            return "quiet"


class Follower:
    """Takes what a stream sends, in a task of its own."""

    def __init__(self, stream: AsyncGenerator[Sent, None]) -> None:
        self.sent: list[Sent] = []
        self.error: ParleyError | None = None
        self.task = asyncio.get_running_loop().create_task(self._run(stream))

    @property
    def told(self) -> list[str]:
        return told(self.sent)

    async def has(self, *sent: str) -> None:
        """Waits until just this was sent."""
        await until(lambda: len(self.sent) >= len(sent))
        assert self.told == list(sent)

    async def _run(self, stream: AsyncGenerator[Sent, None]) -> None:
        async with aclosing(stream):
            try:
                async for sent in stream:
                    self.sent.append(sent)
            except ParleyError as error:
                self.error = error

    async def end(self) -> list[str]:
        """Returns all that was sent, once the stream has ended."""
        await in_time(self.task)
        return self.told

    async def leave(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


async def waiting(scene: Scene, turn_id: UUID = TURN, after: int = 0) -> Follower:
    """Returns a follower of a turn that has no events after that place, once it waits."""
    reads = scene.reader.reads
    follower = Follower(scene.follow(after, turn_id))
    await until(lambda: scene.reader.reads > reads)
    await asyncio.sleep(0)
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
    assert await follower.end() == []
    assert isinstance(follower.error, EventsExpired) is (after == 9)


async def test_a_turn_that_this_process_gives_up_ends_its_streams_after_what_it_had() -> None:
    scene = Scene()
    follower = Follower(scene.follow())
    await asyncio.sleep(0)
    scene.commit(STARTED)
    scene.live.give_up(GONE)
    scene.followers.remove(scene.live)
    assert await follower.end() == ["1 started"]
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


# ---------------------------------------------------------------- previews


async def test_w2_previews_join_to_the_text_of_the_step() -> None:
    scene = Scene()
    scene.commit(STARTED)
    follower = Follower(scene.follow())
    scene.live.begin_step()
    for count, piece in enumerate(("Set", "ting", " ", "u", "p"), start=2):
        scene.live.say(piece)
        await until(lambda count=count: len(follower.sent) == count)
    scene.commit(Text(text="Setting up"))
    scene.end()
    assert await follower.end() == [
        *("1 started", "+Set", "+ting", "+ ", "+u", "+p"),
        *("2 text", "3 done"),
    ]


async def test_w3_a_dropped_preview_is_withdrawn_before_the_next_event() -> None:
    scene = Scene()
    scene.commit(STARTED)
    follower = Follower(scene.follow())
    scene.live.begin_step()
    scene.live.say("Let me look")
    await follower.has("1 started", "+Let me look")
    scene.live.drop()
    scene.commit(CALLED)
    scene.live.begin_step()
    scene.live.say("Hi")
    await until(lambda: len(follower.sent) == 5)
    scene.end()
    assert await follower.end() == [
        *("1 started", "+Let me look", "discarded", "2 tool_call", "+Hi", "3 done"),
    ]


async def test_w3_a_step_without_events_of_its_own_withdraws_its_preview_too() -> None:
    scene = Scene()
    scene.commit(STARTED)
    follower = Follower(scene.follow())
    scene.live.begin_step()
    scene.live.say("Which")
    await follower.has("1 started", "+Which")
    scene.live.drop()
    scene.live.begin_step()
    scene.live.say("Hi")
    scene.end()
    sent = await follower.end()
    assert sent in (
        ["1 started", "+Which", "discarded", "+Hi", "2 done"],
        ["1 started", "+Which", "discarded", "2 done"],
    )


async def test_w3_who_was_sent_no_preview_is_told_of_no_withdrawal() -> None:
    scene = Scene()
    scene.commit(STARTED)
    follower = Follower(scene.follow())
    await follower.has("1 started")
    scene.live.begin_step()
    scene.live.drop()
    scene.commit(CALLED)
    scene.live.begin_step().pieces.append("said before anybody came")
    scene.live.drop()
    scene.end()
    assert await follower.end() == ["1 started", "2 tool_call", "3 done"]


async def test_w4_who_comes_in_the_middle_of_a_step_gets_its_text_so_far_and_then_the_rest() -> (
    None
):
    scene = Scene()
    scene.commit(STARTED)
    scene.live.begin_step()
    for piece in ("Set", "ting"):
        scene.live.say(piece)
    follower = Follower(scene.follow())
    await follower.has("1 started", "+Setting")
    scene.live.say(" up")
    await follower.has("1 started", "+Setting", "+ up")
    scene.end()
    await follower.end()


async def test_who_has_not_all_events_before_a_step_gets_no_preview_of_it() -> None:
    scene = Scene(after=2)
    scene.store(STARTED, CALLED)
    scene.live.begin_step()
    scene.live.say("Hi")
    async with aclosing(scene.follow()) as stream:
        assert told([await anext(stream), await anext(stream)]) == ["1 started", "2 tool_call"]
        assert told([await in_time(anext(stream))]) == ["+Hi"]


async def test_a_slow_reader_of_an_event_gets_no_preview_of_a_step_that_is_over() -> None:
    scene = Scene()
    scene.commit(STARTED)
    scene.live.begin_step()
    scene.live.say("Let me")
    async with aclosing(scene.follow()) as stream:
        assert told([await anext(stream)]) == ["1 started"]
        scene.live.drop()
        scene.commit(CALLED)
        scene.live.begin_step()
        scene.live.say("Hi")
        assert told([await anext(stream), await anext(stream)]) == ["2 tool_call", "+Hi"]


async def test_w9_a_slow_follower_gets_fewer_and_larger_previews_and_holds_nobody_up() -> None:
    scene = Scene()
    scene.commit(STARTED)
    scene.live.begin_step()
    quick = Follower(scene.follow())
    async with aclosing(scene.follow()) as slow:
        first = [await anext(slow)]
        scene.live.say("0 ")
        first.append(await anext(slow))
        for number in range(1, 6):
            count = len(quick.sent)
            scene.live.say(f"{number} ")
            await until(lambda count=count: len(quick.sent) > count)
        scene.commit(Text(text="0 1 2 3 4 5"))
        assert quick.told[0] == "1 started"
        assert len(quick.told) > 5
        scene.live.begin_step()
        scene.live.say("next")
        rest = [await anext(slow), await anext(slow)]
        assert told(first + rest) == ["1 started", "+0 ", "2 text", "+next"]
    await quick.leave()


async def test_w9_what_a_slow_follower_has_missed_comes_in_one_piece() -> None:
    scene = Scene()
    scene.commit(STARTED)
    scene.live.begin_step()
    async with aclosing(scene.follow()) as slow:
        await anext(slow)
        scene.live.say("0")
        assert told([await anext(slow)]) == ["+0"]
        ready = now() + limits.PREVIEW_SECONDS
        for number in range(1, 10):
            scene.live.say(str(number))
        await until(lambda: now() > ready)
        assert told([await in_time(anext(slow))]) == ["+123456789"]


async def test_previews_come_at_most_every_50_ms() -> None:
    scene = Scene()
    scene.commit(STARTED)
    scene.live.begin_step()
    times: list[float] = []
    async with aclosing(scene.follow()) as stream:
        await anext(stream)
        for _ in range(4):
            scene.live.say(".")
            assert isinstance(await in_time(anext(stream)), TextPreview)
            times.append(now())
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert all(gap > 0.98 * limits.PREVIEW_SECONDS for gap in gaps)


@dataclass
class Run:
    """A run of many steps with a pace by chance, and what it came to."""

    scene: Scene
    chance: random.Random
    steps: list[StepText] = field(default_factory=list[StepText])

    async def play(self, count: int) -> None:
        live, chance = self.scene.live, self.chance
        for number in range(count):
            self.steps.append(live.begin_step())
            live.say(f"<{number}>" * chance.randint(0, 1))
            for _ in range(chance.randint(0, 12)):
                await self.pause()
                live.say(f"{chance.choice('abcdef')}{number} ")
            match chance.choice(("tool", "tool", "bad ask", "text")):
                case "tool":
                    live.drop()
                    await self.commit(CALLED)
                    if chance.random() < 0.5:
                        await self.commit(CALLED, CALLED)
                case "bad ask":
                    live.drop()
                case _:
                    await self.commit(Text(text="so far"))
            await self.pause()
        await self.commit(DONE)
        live.end(RESULT)
        self.scene.followers.remove(live)

    async def commit(self, *bodies: EventBody) -> None:
        """Commits events, and hears of it a little later, as from a database."""
        events = self.scene.store(*bodies)
        await self.pause()
        self.scene.live.append(events)

    async def pause(self) -> None:
        pace = self.chance.random()
        await asyncio.sleep(0 if pace < 0.6 else pace * 0.003)


def check_stream(sent: list[Sent], after: int, steps: list[StepText]) -> None:
    """Checks what one follower was sent: events without gap, previews only of their own step."""
    place, shown = after, ""
    for one in sent:
        of = [step for step in steps if step.after == place and step.text.startswith(shown)]
        match one:
            case TurnEvent():
                assert one.sequence == place + 1
                kept = [step for step in of if not step.dropped]
                assert not shown or kept, "the text of a step that called a tool is withdrawn first"
                place, shown = one.sequence, ""
            case TextPreview():
                assert one.delta
                shown += one.delta
                begun = [step for step in of if step.text.startswith(shown)]
                assert begun, f"{shown!r} is the beginning of no step after event {place}"
            case PreviewDiscarded():
                assert shown, "only what was sent is withdrawn"
                assert any(step.dropped for step in of)
                shown = ""
            case None:
                pass
    last = sent[-1]
    assert isinstance(last, TurnEvent)
    assert isinstance(last.body, Done)


@pytest.mark.parametrize("seed", range(4))
async def test_w4_whoever_attaches_whenever_is_sent_what_fits(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "PREVIEW_SECONDS", 0.002)
    chance = random.Random(seed)
    scene = Scene(after=2)
    scene.store(STARTED, CALLED)
    run = Run(scene, chance)
    playing = asyncio.get_running_loop().create_task(run.play(30))

    async def attach() -> tuple[list[Sent], int]:
        lazy = chance.random() * 0.01
        for _ in range(chance.randint(0, 150)):
            await asyncio.sleep(0 if chance.random() < 0.5 else 0.001)
        after = chance.randint(0, max(len(scene.reader.events[TURN]) - 1, 0))
        sent: list[Sent] = []
        async with aclosing(scene.follow(after)) as stream:
            async for one in stream:
                sent.append(one)
                if chance.random() < 0.5:
                    await asyncio.sleep(lazy)
        return sent, after

    streams = await in_time(asyncio.gather(*(attach() for _ in range(50))))
    await in_time(playing)
    for sent, after in streams:
        check_stream(sent, after, run.steps)
    kinds = [type(one) for sent, _ in streams for one in sent]
    assert kinds.count(TextPreview) > 50
    assert kinds.count(PreviewDiscarded) > 10


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


async def test_a_notification_of_a_turn_that_runs_here_wakes_nobody() -> None:
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
    assert await follower.end() == ["1 done"]


async def test_w11_a_closed_turn_is_replayed_and_ends() -> None:
    scene = Scene()
    scene.store(STARTED, DONE, turn_id=OTHER)
    assert await Follower(scene.follow(turn_id=OTHER)).end() == ["1 started", "2 done"]
    assert await Follower(scene.follow(1, OTHER)).end() == ["2 done"]
    last = Follower(scene.follow(2, OTHER))
    assert await last.end() == []
    assert last.error is None


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
    scene.commit(Text(text="Hi."))
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

"""Previews: what is sent of a step while it streams, and what never is (spec turns 6.5)."""

import asyncio
import random
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from parleyd.contract import limits
from parleyd.contract.events import Done, EventBody, Text, TurnEvent
from parleyd.contract.previews import BlocksPreview, PreviewDiscarded, TextPreview
from parleyd.turns.followers import Sent
from parleyd.turns.live import StepText
from tests.turns.followed import (
    CALLED,
    DONE,
    RESULT,
    STARTED,
    TURN,
    Follower,
    Scene,
    told,
)
from tests.turns.waiting import in_time, now, until


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
            case BlocksPreview():
                raise AssertionError("the replies here are no documents")
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

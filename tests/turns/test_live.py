"""A turn that runs here, as those who follow it see it."""

import asyncio
from itertools import pairwise
from uuid import UUID

import pytest

from parleyd.contract import limits
from parleyd.contract.errors import ParleyError, Unavailable
from parleyd.contract.events import EventBody, Resumed, Text, TurnEvent
from parleyd.contract.turns import TurnResult
from parleyd.turns.live import LiveTurn
from tests.turns.waiting import in_time, now, until

TURN, CONVERSATION = UUID(int=2), UUID(int=1)
RESULT = TurnResult(conversation_id=CONVERSATION, turn_id=TURN, state="completed", text="Hi.")


class Told:
    """Notes when those who follow were told of a change."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def __call__(self, turn_id: UUID) -> None:
        assert turn_id == TURN
        self.times.append(now())


def event(sequence: int, body: EventBody | None = None) -> TurnEvent:
    return TurnEvent(turn_id=TURN, sequence=sequence, body=body or Text(text="Hi."))


def live_turn(after: int = 0) -> tuple[LiveTurn, Told]:
    told = Told()
    return LiveTurn(TURN, CONVERSATION, after, told), told


async def test_events_are_known_from_where_this_process_began() -> None:
    live, told = live_turn(after=4)
    live.append([event(5, Resumed(attempt=2)), event(6)])
    assert live.last_event == 6
    assert [live.reaches(place) for place in (3, 4, 5, 6)] == [False, True, True, True]
    assert [one.sequence for one in live.since(4)] == [5, 6]
    assert [one.sequence for one in live.since(5)] == [6]
    assert list(live.since(6)) == []
    assert len(told.times) == 1


async def test_no_events_are_no_change() -> None:
    live, told = live_turn()
    live.append([])
    assert told.times == []


async def test_a_step_belongs_after_the_last_event_and_its_text_ends_with_its_first_call() -> None:
    live, _ = live_turn()
    assert live.step_text == ""
    live.append([event(1)])
    step = live.begin_step()
    live.say("Let ")
    live.say("me")
    assert (step.after, step.text, live.step_text) == (1, "Let me", "Let me")
    live.drop()
    assert step.dropped
    assert live.step_text == ""
    assert live.begin_step() is not step
    live.say("Done")
    assert live.step_text == "Done"


async def test_a_step_is_dropped_once() -> None:
    live, told = live_turn()
    live.drop()
    live.begin_step()
    live.drop()
    live.drop()
    assert len(told.times) == 1


async def test_text_without_a_step_and_empty_text_are_nothing() -> None:
    live, told = live_turn()
    live.say("Hello")
    live.begin_step()
    live.say("")
    assert live.step_text == ""
    assert told.times == []


async def test_those_who_follow_are_told_of_text_at_most_every_50_ms_and_of_all_of_it() -> None:
    live, told = live_turn()
    live.begin_step()
    said = 0
    while len(told.times) < 4:
        live.say(".")
        said += 1
        await asyncio.sleep(0)
    last_word = now()
    live.say("!")
    await until(lambda: told.times[-1] >= last_word)
    gaps = [later - earlier for earlier, later in pairwise(told.times)]
    assert said > 10
    assert all(gap > 0.98 * limits.PREVIEW_SECONDS for gap in gaps)


async def test_who_waits_gets_the_result() -> None:
    live, told = live_turn()
    live.end(RESULT)
    assert await in_time(live.wait()) == RESULT
    assert len(told.times) == 1


async def test_who_waits_is_told_that_this_process_cannot_go_on() -> None:
    live, told = live_turn()
    live.give_up(Unavailable("The database is away."))
    with pytest.raises(ParleyError, match="away"):
        await in_time(live.wait())
    assert len(told.times) == 1


async def test_a_turn_that_has_moved_is_read_from_storage_alone() -> None:
    live, told = live_turn()
    live.append([event(1)])
    live.begin_step()
    live.move()
    assert await in_time(live.wait()) is None
    assert live.step is None
    assert not live.reaches(1)
    assert len(told.times) == 2


async def test_where_an_event_was_stored_unseen_all_are_read_from_storage() -> None:
    """As when a write was given up that had gone through, and the next one is told."""
    live, _ = live_turn(2)
    live.append((event(3),))
    assert live.reaches(2)
    live.append((event(5),))
    assert not live.reaches(2)
    assert not live.reaches(5)

"""Where a turn can be stopped, by what, and what counts when several things stop it at once."""

import asyncio
import random
from collections.abc import Coroutine
from typing import Any

import pytest
import uvloop

from parleyd.turns.ports import Fenced
from parleyd.turns.stops import HandedOver, Stops, TimeOver
from tests.turns.waiting import in_time, now, until

LONG = 600.0
SHORT = 0.03
A_MOMENT = 0.5
"""Well over what stopping takes, and far from `LONG`."""


class Stretch:
    """A stretch of work that goes on until it is stopped, with what stopped it."""

    def __init__(self, stops: Stops, seconds: float | None = None, grace: float = 0) -> None:
        self.begun = asyncio.Event()
        self.cleaned_up = asyncio.Event()
        self.cleaned_up.set()
        self.cleaning_up = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._run(stops, seconds, grace))

    async def end(self) -> type[Exception]:
        """Returns what ended it."""
        return await in_time(self._task)

    def cancel(self) -> None:
        """Cancels it from outside."""
        self._task.cancel()

    @property
    def goes_on(self) -> bool:
        return not self._task.done()

    async def _run(self, stops: Stops, seconds: float | None, grace: float) -> type[Exception]:
        try:
            async with stops.within(seconds, grace=grace):
                self.begun.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    self.cleaning_up.set()
                    await self.cleaned_up.wait()
        except Exception as error:  # noqa: BLE001 - whatever it is, the test looks at it
            return type(error)
        finally:
            self.begun.set()
        raise AssertionError("nothing stopped it")


async def begun(stops: Stops, seconds: float | None = None, grace: float = 0) -> Stretch:
    stretch = Stretch(stops, seconds, grace)
    await in_time(stretch.begun.wait())
    return stretch


# ---------------------------------------------------------------- one cause


async def test_its_own_time_ends_it() -> None:
    assert await (await begun(Stops(LONG), SHORT)).end() is TimeoutError


@pytest.mark.parametrize("seconds", [None, LONG], ids=["no time of its own", "more of its own"])
async def test_the_wall_time_ends_it(seconds: float | None) -> None:
    assert await (await begun(Stops(SHORT), seconds)).end() is TimeOver


async def test_the_shorter_of_its_own_time_and_the_wall_time_counts() -> None:
    assert await (await begun(Stops(LONG), SHORT)).end() is TimeoutError
    assert await (await begun(Stops(SHORT), LONG)).end() is TimeOver


async def test_a_hand_over_ends_it_at_once() -> None:
    stops = Stops(LONG)
    stretch = await begun(stops, LONG)
    began = now()
    stops.hand_over()
    assert await stretch.end() is HandedOver
    assert now() - began < A_MOMENT


async def test_a_hand_over_leaves_it_its_grace() -> None:
    stops = Stops(LONG)
    stretch = await begun(stops, LONG, grace=0.1)
    began = now()
    stops.hand_over()
    assert await stretch.end() is HandedOver
    assert 0.1 <= now() - began < 0.1 + A_MOMENT


async def test_a_second_hand_over_does_not_prolong_the_grace() -> None:
    stops = Stops(LONG)
    stretch = await begun(stops, grace=0.5)
    began = now()
    stops.hand_over()
    await until(lambda: now() - began > 0.4)
    stops.hand_over()
    assert await stretch.end() is HandedOver
    assert now() - began < 0.9


async def test_a_fence_ends_it_at_once_whatever_its_grace() -> None:
    stops = Stops(LONG)
    stretch = await begun(stops, LONG, grace=LONG)
    stops.fence()
    assert await stretch.end() is Fenced


async def test_renewing_gives_it_its_own_time_anew_and_not_the_wall_time() -> None:
    stops = Stops(0.6)
    began = now()

    async def renewed() -> None:
        async with stops.within(0.4) as stop:
            while True:
                await asyncio.sleep(0.01)
                stops.renew(stop)

    with pytest.raises(TimeOver):
        await in_time(renewed())
    assert 0.59 < now() - began < 0.6 + A_MOMENT


async def test_renewing_does_not_undo_a_hand_over() -> None:
    stops = Stops(LONG)

    async def renewed() -> None:
        async with stops.within(LONG) as stop:
            stops.hand_over()
            stops.renew(stop)
            await asyncio.Event().wait()

    with pytest.raises(HandedOver):
        await in_time(renewed())


# ---------------------------------------------------------------- several causes


async def test_a_fence_outweighs_a_hand_over_before_and_after_it() -> None:
    first, second = Stops(LONG), Stops(LONG)
    stretches = [await begun(first, grace=LONG), await begun(second, grace=LONG)]
    first.hand_over()
    first.fence()
    second.fence()
    second.hand_over()
    assert [await stretch.end() for stretch in stretches] == [Fenced, Fenced]


async def test_a_fence_outweighs_all_else_even_when_it_comes_while_something_else_ends_it() -> None:
    stops = Stops(LONG)
    stretch = await begun(stops, SHORT)
    stretch.cleaned_up.clear()
    await in_time(stretch.cleaning_up.wait())
    stops.fence()
    stretch.cleaned_up.set()
    assert await stretch.end() is Fenced


async def test_its_own_time_still_ends_it_in_its_grace() -> None:
    stops = Stops(LONG)
    stretch = await begun(stops, SHORT, grace=LONG)
    stops.hand_over()
    assert await stretch.end() is TimeoutError


async def test_the_wall_time_still_ends_it_in_its_grace() -> None:
    stops = Stops(SHORT)
    stretch = await begun(stops, grace=LONG)
    stops.hand_over()
    assert await stretch.end() is TimeOver


CHECKS = {
    "nothing": (False, False, False, None),
    "time over": (False, False, True, TimeOver),
    "handed over": (False, True, False, HandedOver),
    "handed over, time over": (False, True, True, HandedOver),
    "fenced": (True, False, False, Fenced),
    "fenced, time over": (True, False, True, Fenced),
    "fenced, handed over": (True, True, False, Fenced),
    "all": (True, True, True, Fenced),
}


@pytest.mark.parametrize(("fenced", "handed", "over", "told"), CHECKS.values(), ids=CHECKS)
async def test_the_gravest_cause_is_told(
    fenced: bool,  # noqa: FBT001 - a column of the table
    handed: bool,  # noqa: FBT001
    over: bool,  # noqa: FBT001
    told: type[Exception] | None,
) -> None:
    stops = Stops(0 if over else LONG)
    if fenced:
        stops.fence()
    if handed:
        stops.hand_over()
    if told is None:
        stops.check()
        return
    with pytest.raises(told):
        stops.check()
    with pytest.raises(told):
        async with stops.within():
            raise AssertionError("it must not begin")


async def test_what_has_a_grace_may_begin_after_the_hand_over_but_not_after_its_grace() -> None:
    stops = Stops(LONG)
    stops.hand_over()
    began = now()
    assert await (await begun(stops, grace=0.1)).end() is HandedOver
    assert now() - began < 0.1 + A_MOMENT
    with pytest.raises(HandedOver):
        async with stops.within(grace=0.05):
            raise AssertionError("it must not begin")


# ---------------------------------------------------------------- what is not interrupted


async def test_nothing_is_interrupted_outside_a_stretch() -> None:
    stops = Stops(SHORT)
    entered, go_on = asyncio.Event(), asyncio.Event()

    async def transaction() -> str:
        async with stops.within(SHORT):
            pass
        entered.set()
        await go_on.wait()
        return "committed"

    task = asyncio.get_running_loop().create_task(transaction())
    await in_time(entered.wait())
    stops.hand_over()
    stops.fence()
    ended = now() + 2 * SHORT
    await until(lambda: now() > ended)
    assert not task.done()
    go_on.set()
    assert await in_time(task) == "committed"


async def test_a_stretch_that_is_on_its_way_out_can_be_stopped_again() -> None:
    stops = Stops(LONG)
    slow, other = await begun(stops, SHORT), await begun(stops, LONG)
    slow.cleaned_up.clear()
    await in_time(slow.cleaning_up.wait())
    stops.hand_over()
    assert await other.end() is HandedOver
    assert slow.goes_on
    slow.cleaned_up.set()
    assert await slow.end() is TimeoutError


async def test_a_stretch_that_ignores_its_end_can_be_renewed() -> None:
    stops = Stops(LONG)
    async with stops.within(SHORT) as stop:
        with pytest.raises(asyncio.CancelledError):
            await asyncio.Event().wait()
        stops.renew(stop)


# ---------------------------------------------------------------- nesting, and errors of the body


async def test_an_inner_stretch_ends_by_itself() -> None:
    stops = Stops(LONG)
    async with stops.within(LONG):
        with pytest.raises(TimeoutError):
            async with stops.within(SHORT):
                await asyncio.Event().wait()
        await asyncio.sleep(0)


@pytest.mark.parametrize("outer", [LONG, SHORT], ids=["own times differ", "own times are one"])
async def test_an_outer_stretch_ends_what_is_in_it(outer: float) -> None:
    stops = Stops(SHORT if outer == LONG else LONG)
    told = TimeOver if outer == LONG else TimeoutError

    async def nested() -> None:
        async with stops.within(outer), stops.within(outer):
            await asyncio.Event().wait()

    with pytest.raises(told):
        await nested()
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    await asyncio.sleep(0)


async def test_a_fence_ends_nested_stretches() -> None:
    stops = Stops(LONG)
    inside = asyncio.Event()

    async def nested() -> None:
        async with stops.within(LONG), stops.within(LONG, grace=LONG):
            inside.set()
            await asyncio.Event().wait()

    task = asyncio.get_running_loop().create_task(nested())
    await in_time(inside.wait())
    stops.fence()
    with pytest.raises(Fenced):
        await in_time(task)


@pytest.mark.parametrize("error", [TimeoutError("the body's own"), ValueError("other")], ids=repr)
async def test_what_the_body_raises_passes_unchanged(error: Exception) -> None:
    with pytest.raises(type(error)) as raised:
        async with Stops(LONG).within(LONG):
            raise error
    assert raised.value is error


async def test_a_cancellation_from_outside_stays_one_even_where_the_time_is_over_too() -> None:
    stretch = await begun(Stops(LONG), SHORT)
    stretch.cleaned_up.clear()
    await in_time(stretch.cleaning_up.wait())
    stretch.cancel()
    stretch.cleaned_up.set()
    with pytest.raises(asyncio.CancelledError):
        await stretch.end()


# ---------------------------------------------------------------- timers


def on_uvloop(work: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work)


def test_the_end_of_the_wall_time_is_known_though_timers_may_fire_early() -> None:
    chance = random.Random(7)

    async def ends() -> None:
        for _ in range(25):
            stretch = Stretch(Stops(chance.uniform(0.005, 0.01)), LONG, LONG)
            assert await stretch.end() is TimeOver

    on_uvloop(ends())

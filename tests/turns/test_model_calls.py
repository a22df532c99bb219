"""One call of the model: when it is repeated, when it is not, and what stops it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from itertools import pairwise

import pytest

from parleyd.contract import limits
from parleyd.models.script import Call, Fail, Hold, Raise, ScriptedStep, Text, Thought, Usage
from parleyd.models.script import Unforeseen as AdapterBroke
from parleyd.models.scripted import ScriptedModel, in_turn
from parleyd.turns.model import ModelCall, ModelFailed, ModelFailureKind, Part, StreamPart, TextPart
from parleyd.turns.model_calls import ModelCaller, Spoken
from parleyd.turns.ports import Fenced
from parleyd.turns.stops import HandedOver, Stops, TimeOver
from tests.turns.waiting import in_time, now, until

LONG = 600.0
HI = (Text("Hi"),)
CALL = ModelCall(system=None, messages=(), tools=(), tool_choice=None, temperature=1.0)


class Scene:
    """A model that plays steps in turn, and what its caller hears."""

    def __init__(
        self, *steps: ScriptedStep, seconds: float = LONG, idle_seconds: float = LONG
    ) -> None:
        pick = in_turn(*steps)
        self.times: list[float] = []

        def timed(call: ModelCall) -> ScriptedStep:
            self.times.append(now())
            return pick(call)

        self.model: ScriptedModel = ScriptedModel(timed)
        self.stops = Stops(seconds)
        self.heard: list[Part] = []
        self.caller = ModelCaller(self.model, self.stops, idle_seconds, self.heard.append)

    async def call(self) -> Spoken:
        try:
            return await in_time(self.caller.call(CALL))
        finally:
            assert self.model.streaming == 0, "the stream is closed, however it ends"

    def begin(self) -> asyncio.Task[Spoken]:
        return asyncio.get_running_loop().create_task(self.call())

    @property
    def waits(self) -> list[float]:
        """Returns what passed between one call and the next."""
        return [later - earlier for earlier, later in pairwise(self.times)]


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes repeats come soon."""
    monkeypatch.setattr(limits, "MODEL_REPEAT_WAITS", ((0.01, 0.02), (0.03, 0.04)))


# ---------------------------------------------------------------- what it says


async def test_a_call_returns_all_parts_in_order_and_tells_of_each() -> None:
    step = (Thought("hm"), Text("Let "), Text("", b"signature"), Text("me"), Call("lookup"))
    scene = Scene(step)
    spoken = await scene.call()
    assert [part.raw for part in spoken.parts] == list(step)
    assert scene.heard == spoken.parts
    assert spoken.text == "Let me"
    assert [call.name for call in spoken.calls] == ["lookup"]


async def test_tokens_are_those_of_the_last_word_of_each_call_failed_ones_included(
    soon: None,
) -> None:
    del soon
    scene = Scene((Usage(5), Fail("server")), (Usage(7), Text("Hi"), Usage(9)), HI)
    assert scene.caller.tokens is None
    assert (await scene.call()).tokens == 9
    assert scene.caller.tokens == 14
    assert (await scene.call()).tokens is None
    assert scene.caller.tokens == 14


# ---------------------------------------------------------------- F20: repeats


async def test_f20_a_call_that_fails_before_any_part_is_repeated_twice_within_the_limits() -> None:
    scene = Scene((Fail("rate_limit"),), (Fail("server"),), HI)
    assert (await scene.call()).text == "Hi"
    first, second = scene.waits
    assert 0.5 <= first < 1.0 + 0.5
    assert 1.0 <= second < 2.0 + 0.5
    assert [type(part) for part in scene.heard] == [TextPart]


THREE: list[tuple[ModelFailureKind, ModelFailureKind, ModelFailureKind]] = [
    ("rate_limit", "rate_limit", "rate_limit"),
    ("timeout", "timeout", "timeout"),
    ("timeout", "rate_limit", "server"),
]


@pytest.mark.parametrize("kinds", THREE, ids=str)
async def test_f20_the_third_failure_is_told(
    kinds: tuple[ModelFailureKind, ...], soon: None
) -> None:
    del soon
    scene = Scene(*((Fail(kind, f"failure {number}"),) for number, kind in enumerate(kinds)), HI)
    with pytest.raises(ModelFailed, match="failure 2") as failed:
        await scene.call()
    assert failed.value.kind == kinds[-1]
    assert scene.model.calls == [CALL] * 3


async def test_f20_each_step_has_its_own_repeats(soon: None) -> None:
    del soon
    fails = [(Fail("server"),)] * 2
    scene = Scene(*fails, HI, *fails, HI)
    assert [(await scene.call()).text, (await scene.call()).text] == ["Hi", "Hi"]
    assert len(scene.model.calls) == 6


async def test_f20_a_call_that_says_nothing_for_long_is_a_time_out_and_repeated(
    soon: None,
) -> None:
    del soon
    scene = Scene((Hold("a"),), (Usage(3), Hold("b")), HI, idle_seconds=0.05)
    assert (await scene.call()).text == "Hi"
    assert all(wait >= 0.05 for wait in scene.waits)
    assert len(scene.model.calls) == 3


async def test_f20_three_idle_calls_fail_as_a_time_out(soon: None) -> None:
    del soon
    scene = Scene((Hold("a"),), (Hold("a"),), (Hold("a"),), HI, idle_seconds=0.02)
    with pytest.raises(ModelFailed, match=r"nothing for 0\.02 s") as failed:
        await scene.call()
    assert failed.value.kind == "timeout"
    assert len(scene.model.calls) == 3


async def test_every_part_renews_the_idle_time() -> None:
    names = [f"hold {number}" for number in range(6)]
    step = [part for name in names for part in (Hold(name), Thought(name))]
    scene = Scene(step, idle_seconds=0.5)
    call = scene.begin()
    began = now()
    for number, name in enumerate(names):
        await until(lambda number=number: now() - began > 0.12 * (number + 1))
        scene.model.holds.release(name)
    assert len((await call).parts) == 6
    assert now() - began > 0.5


class Breaking(ScriptedModel):
    """A model whose adapter raises what the loop raises too, in its first calls."""

    def __init__(self, *errors: BaseException, said: ScriptedStep = ()) -> None:
        super().__init__(in_turn(*[(*said, Text("Hi"))] * 9))
        self.errors = list(errors)

    async def stream(self, call: ModelCall) -> AsyncGenerator[StreamPart, None]:
        async with aclosing(super().stream(call)) as parts:
            async for part in parts:
                if self.errors and isinstance(part, TextPart) and part.text == "Hi":
                    raise self.errors.pop(0)
                yield part


async def test_f20_a_time_out_of_the_adapter_is_one_and_says_so_itself(soon: None) -> None:
    del soon
    scene = Scene()
    scene.model = Breaking(TimeoutError("connect: 5 s"), TimeoutError())
    scene.caller = ModelCaller(scene.model, scene.stops, LONG, scene.heard.append)
    assert (await scene.call()).text == "Hi"
    assert len(scene.model.calls) == 3


async def test_f20_a_time_out_of_the_adapter_is_told_in_its_own_words(soon: None) -> None:
    del soon
    scene = Scene()
    scene.model = Breaking(*[TimeoutError("connect: 5 s")] * 3)
    scene.caller = ModelCaller(scene.model, scene.stops, LONG, scene.heard.append)
    with pytest.raises(ModelFailed, match="connect: 5 s") as failed:
        await scene.call()
    assert failed.value.kind == "timeout"


@pytest.mark.parametrize("said", [(), (Text("Let"),)], ids=["silent", "in the middle"])
async def test_a_task_of_the_adapter_that_was_cancelled_is_a_failure(said: ScriptedStep) -> None:
    scene = Scene()
    scene.model = Breaking(asyncio.CancelledError(), said=said)
    scene.caller = ModelCaller(scene.model, scene.stops, LONG, scene.heard.append)
    with pytest.raises(ModelFailed) as failed:
        await scene.call()
    assert failed.value.kind == "other"
    assert len(scene.model.calls) == 1


async def test_an_adapter_that_answers_its_own_stop_with_a_time_out_is_stopped(soon: None) -> None:
    """As one does that turns every cancellation into a time-out of its own."""
    del soon
    scene = Scene()

    class Turning(ScriptedModel):
        async def stream(self, call: ModelCall) -> AsyncGenerator[StreamPart, None]:
            try:
                async with aclosing(super().stream(call)) as parts:
                    async for part in parts:
                        yield part
            except asyncio.CancelledError:
                raise TimeoutError from None

    scene.model = Turning(in_turn((Hold("a"),), HI))
    scene.caller = ModelCaller(scene.model, scene.stops, LONG, scene.heard.append)
    call = scene.begin()
    await in_time(scene.model.holds.reached("a"))
    assert await stopped(scene, call, "hand over") is HandedOver


async def test_what_an_adapter_had_said_when_it_was_stopped_is_no_answer() -> None:
    class Quiet(ScriptedModel):
        async def stream(self, call: ModelCall) -> AsyncGenerator[StreamPart, None]:
            async with aclosing(super().stream(call)) as parts:
                with suppress(asyncio.CancelledError):
                    async for part in parts:
                        yield part

    scene = Scene()
    scene.model = Quiet(in_turn((Text("The half"), Hold("a")), HI))
    scene.caller = ModelCaller(scene.model, scene.stops, LONG, scene.heard.append)
    call = scene.begin()
    await in_time(scene.model.holds.reached("a"))
    assert await stopped(scene, call, "hand over") is HandedOver


# ---------------------------------------------------------------- F21: no repeats

NOT_REPEATED: dict[str, Sequence[Text | Thought | Call | Fail]] = {
    "after a text": (Text("Let"), Fail("server")),
    "after a thought": (Thought("hm"), Fail("timeout")),
    "after metadata": (Text("", b"signature"), Fail("rate_limit")),
    "after a call": (Call("lookup"), Fail("server")),
    "refused": (Fail("refused"),),
    "other": (Fail("other"),),
}


@pytest.mark.parametrize("step", NOT_REPEATED.values(), ids=NOT_REPEATED)
async def test_f21_some_failures_are_not_repeated(step: ScriptedStep) -> None:
    scene = Scene(step, HI)
    with pytest.raises(ModelFailed):
        await scene.call()
    assert len(scene.model.calls) == 1
    assert len(scene.heard) == len(step) - 1


async def test_f21_an_idle_time_after_a_part_is_not_repeated() -> None:
    scene = Scene((Text("Let"), Hold("a")), HI, idle_seconds=0.03)
    with pytest.raises(ModelFailed) as failed:
        await scene.call()
    assert failed.value.kind == "timeout"
    assert len(scene.model.calls) == 1


async def test_an_adapter_that_breaks_is_not_called_again() -> None:
    scene = Scene((Raise(),), HI)
    with pytest.raises(AdapterBroke):
        await scene.call()
    assert len(scene.model.calls) == 1


# ---------------------------------------------------------------- the provider's own wait


async def test_a_longer_wait_that_the_provider_asks_for_replaces_ours(soon: None) -> None:
    del soon
    scene = Scene((Fail("rate_limit", wait_seconds=0.3),), HI)
    await scene.call()
    assert 0.3 <= scene.waits[0] < 0.6


async def test_a_shorter_wait_that_the_provider_asks_for_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "MODEL_REPEAT_WAITS", ((0.2, 0.25),))
    scene = Scene((Fail("server", wait_seconds=0.01),), HI)
    await scene.call()
    assert scene.waits[0] >= 0.2


@pytest.mark.parametrize(("seconds", "repeated"), [(0.2, True), (2.0, False)])
async def test_a_wait_over_the_limit_fails_at_once(
    seconds: float,
    repeated: bool,  # noqa: FBT001 - a column of the table
    soon: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    del soon
    monkeypatch.setattr(limits, "MODEL_WAIT_SECONDS", 0.2)
    scene = Scene((Fail("rate_limit", wait_seconds=seconds),), HI)
    began = now()
    if repeated:
        await scene.call()
        return
    with pytest.raises(ModelFailed):
        await scene.call()
    assert now() - began < 1.0
    assert len(scene.model.calls) == 1


async def test_ten_seconds_are_waited_for_and_more_are_not() -> None:
    scene = Scene((Fail("rate_limit", wait_seconds=10.1),), (Fail("rate_limit", wait_seconds=10),))
    with pytest.raises(ModelFailed):
        await scene.call()
    call = scene.begin()
    await until(lambda: len(scene.model.calls) == 2)
    waited = now() + 0.1
    await until(lambda: now() > waited)
    assert not call.done()
    scene.stops.fence()
    with pytest.raises(Fenced):
        await call


# ---------------------------------------------------------------- stops


async def stopped(scene: Scene, call: asyncio.Task[Spoken], with_: str) -> type[Exception]:
    """Stops a call that is under way and returns what it raises."""
    if with_ == "hand over":
        scene.stops.hand_over()
    elif with_ == "fence":
        scene.stops.fence()
    began = now()
    with pytest.raises((HandedOver, Fenced, TimeOver)) as told:
        await call
    assert with_ == "wall time" or now() - began < 0.5
    return told.type


STOPS = {"hand over": HandedOver, "fence": Fenced, "wall time": TimeOver}


@pytest.mark.parametrize("with_", STOPS)
@pytest.mark.parametrize("said", [(), (Text("Let"),)], ids=["silent", "in the middle"])
async def test_a_call_is_stopped_at_once_and_its_stream_closed(
    with_: str, said: ScriptedStep
) -> None:
    seconds = 0.1 if with_ == "wall time" else LONG
    scene = Scene((*said, Hold("a")), HI, seconds=seconds, idle_seconds=LONG)
    call = scene.begin()
    await in_time(scene.model.holds.reached("a"))
    assert scene.model.streaming == 1
    assert await stopped(scene, call, with_) is STOPS[with_]
    assert len(scene.model.calls) == 1


@pytest.mark.parametrize("with_", STOPS)
async def test_a_wait_before_a_repeat_is_stopped_at_once(with_: str) -> None:
    seconds = 0.1 if with_ == "wall time" else LONG
    scene = Scene((Fail("rate_limit", wait_seconds=9),), HI, seconds=seconds)
    call = scene.begin()
    await until(lambda: len(scene.model.calls) == 1 and scene.model.streaming == 0)
    assert await stopped(scene, call, with_) is STOPS[with_]
    assert len(scene.model.calls) == 1


async def test_a_call_that_is_cancelled_closes_its_stream() -> None:
    scene = Scene((Text("Let"), Hold("a")))
    call = scene.begin()
    await in_time(scene.model.holds.reached("a"))
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert scene.model.streaming == 0


async def test_a_listener_that_breaks_closes_the_stream() -> None:
    def broken(part: Part) -> None:
        raise ValueError(part)

    scene = Scene((Text("Let"), Hold("a")))
    scene.caller = ModelCaller(scene.model, scene.stops, LONG, broken)
    with pytest.raises(ValueError, match="Let"):
        await scene.call()

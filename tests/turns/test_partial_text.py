"""What the running step has said, stored now and then."""

import asyncio
from itertools import pairwise

import pytest

from parleyd.contract import limits
from parleyd.contract.errors import Unavailable
from parleyd.turns.partial_text import PartialText
from parleyd.turns.ports import Fenced
from tests.turns.waiting import in_time, now, until

INTERVAL = 0.1


class Scene:
    """A step that says something, and the snapshots of it that were stored."""

    def __init__(self) -> None:
        self.text = ""
        self.kept: list[str] = []
        self.times: list[float] = []
        self.fault: Exception | None = None
        self.go = asyncio.Event()
        self.go.set()
        self.partial = PartialText(lambda: self.text, self._keep)

    async def _keep(self, text: str) -> None:
        self.times.append(now())
        if self.fault:
            raise self.fault
        await self.go.wait()
        self.kept.append(text)

    def say(self, text: str) -> None:
        self.text += text
        self.partial.grown()


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes snapshots come often."""
    monkeypatch.setattr(limits, "PARTIAL_TEXT_SECONDS", INTERVAL)


async def pass_by(seconds: float) -> None:
    """Waits until so much time has passed in which nothing is to happen."""
    ended = now() + seconds
    await until(lambda: now() > ended)


async def test_nothing_is_stored_of_a_quick_reply() -> None:
    scene = Scene()
    scene.say("Hi ")
    scene.say("there.")
    await in_time(scene.partial.settle())
    await pass_by(1.5 * INTERVAL)
    assert scene.times == []


async def test_a_snapshot_is_stored_at_most_once_in_the_time() -> None:
    scene = Scene()
    while len(scene.times) < 4:
        scene.say(".")
        await asyncio.sleep(0.005)
    await in_time(scene.partial.settle())
    assert all(later - earlier > 0.95 * INTERVAL for earlier, later in pairwise(scene.times))
    assert scene.kept == sorted(scene.kept, key=len)
    assert scene.text.startswith(scene.kept[-1])


async def test_a_snapshot_holds_what_was_said_until_it_is_stored() -> None:
    scene = Scene()
    scene.say("Let ")
    await pass_by(0.5 * INTERVAL)
    scene.say("me")
    await until(lambda: scene.kept == ["Let me"])
    await pass_by(1.5 * INTERVAL)
    assert scene.kept == ["Let me"]
    await scene.partial.settle()
    assert scene.kept == ["Let me"], "a reply stays until the turn's end"


async def test_w5_what_is_said_while_a_snapshot_is_stored_slowly_is_in_the_next() -> None:
    scene = Scene()
    scene.go.clear()
    scene.say("Let")
    await until(lambda: len(scene.times) == 1)
    scene.say(" me")
    await pass_by(1.5 * INTERVAL)
    assert len(scene.times) == 1
    scene.go.set()
    await until(lambda: scene.kept == ["Let", "Let me"])
    await scene.partial.settle()


async def test_a_snapshot_is_taken_back_when_the_step_turns_to_a_tool() -> None:
    scene = Scene()
    scene.say("Let me look")
    await until(lambda: scene.kept == ["Let me look"])
    scene.text = ""
    await in_time(scene.partial.settle())
    assert scene.kept == ["Let me look", ""]
    await scene.partial.settle()
    assert scene.kept == ["Let me look", ""]


async def test_nothing_is_stored_of_a_step_that_turns_to_a_tool_before_its_first_snapshot() -> None:
    scene = Scene()
    scene.say("Let me look")
    scene.text = ""
    await pass_by(1.5 * INTERVAL)
    await scene.partial.settle()
    assert scene.times == []


async def test_settling_waits_for_the_write_that_is_under_way() -> None:
    scene = Scene()
    scene.go.clear()
    scene.say("Let me look")
    await until(lambda: len(scene.times) == 1)
    scene.text = ""
    settling = asyncio.get_running_loop().create_task(scene.partial.settle())
    await pass_by(0.02)
    assert not settling.done()
    scene.go.set()
    await in_time(settling)
    assert scene.kept == ["Let me look", ""]


async def test_the_next_step_has_snapshots_of_its_own() -> None:
    scene = Scene()
    scene.say("Let me look")
    await until(lambda: len(scene.kept) == 1)
    scene.text = ""
    await scene.partial.settle()
    scene.say("Done")
    await until(lambda: len(scene.kept) == 3)
    await scene.partial.settle()
    assert scene.kept == ["Let me look", "", "Done"]


@pytest.mark.parametrize("fault", [Fenced(), Unavailable("away")], ids=repr)
async def test_a_snapshot_that_cannot_be_stored_changes_nothing(fault: Exception) -> None:
    scene = Scene()
    scene.fault = fault
    scene.say("Let")
    await until(lambda: len(scene.times) == 1)
    scene.fault = None
    scene.say(" me")
    await until(lambda: scene.kept == ["Let me"])
    await scene.partial.settle()

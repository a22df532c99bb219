"""Running what an approval lets run: once, or not at all (spec turns 9.5, 9.8)."""

from dataclasses import replace
from uuid import UUID

import pytest

from parleyd.turns.ports import Fenced
from parleyd.turns.stops import HandedOver, TimeOver
from parleyd.turns.tool_runs import DueCall
from tests.turns.ports_in_memory import PlainTool
from tests.turns.tool_scene import Scene, due

ASKED = UUID(int=31)


def approved(call: DueCall) -> DueCall:
    """Returns a call as one that may run on its approval."""
    start = call.start.model_copy(update={"approval_ask_id": ASKED})
    return replace(call, start=start, claimed=False, approval_id="apr_1")


class Changed(PlainTool):
    """A tool that takes other arguments than it did when its call was judged."""

    def faults(self, args: object) -> str | None:
        del args
        return "`list` is missing."


async def test_v2_an_approved_call_is_claimed_with_its_approval_and_its_tool_is_told_of_it() -> (
    None
):
    scene = Scene()
    call = approved(due(scene.returning(3)))
    (execution,) = await scene.run(call)
    ((start, again),) = scene.store.starts
    assert (start.approval_ask_id, again) == (ASKED, False)
    assert [context.approval_id for context in scene.contexts] == ["apr_1"]
    assert (execution.state, execution.result) == ("finished", 3)
    assert execution.approval_ask_id == ASKED


async def test_a_call_that_needs_no_approval_is_told_of_none() -> None:
    scene = Scene()
    await scene.run(due(scene.returning(3), claimed=False))
    assert scene.store.starts[0][0].approval_ask_id is None
    assert [context.approval_id for context in scene.contexts] == [None]


async def test_v15_an_approved_call_whose_tool_is_gone_fails_for_good_and_never_runs() -> None:
    scene = Scene()
    call = replace(approved(due(scene.returning(3))), tool=None)
    (execution,) = await scene.run(call)
    error = {"error": "The tool lookup is no longer here: the call did not run."}
    assert len(scene.store.starts) == 1, "it is claimed, so that no other process runs it"
    assert scene.store.results[0][1:] == (error, True)
    assert (execution.state, execution.result) == ("failed", error)
    assert scene.contexts == []


FAILED: dict[str, tuple[bool, bool, bool, str]] = {
    "approved": (True, False, False, "The call did not run."),
    "approved, interrupted": (
        True,
        False,
        True,
        "The call did not run again, so its outcome is not known.",
    ),
    "of an earlier process": (False, False, False, "The call did not run."),
}


@pytest.mark.parametrize(("with_approval", "claimed", "again", "text"), FAILED.values(), ids=FAILED)
async def test_arguments_that_do_not_fit_the_tool_any_more_are_not_run(
    with_approval: bool,  # noqa: FBT001
    claimed: bool,  # noqa: FBT001
    again: bool,  # noqa: FBT001
    text: str,
) -> None:
    scene = Scene()
    tool = Changed("lookup", scene.returning(3))
    call = replace(due(scene.returning(3), claimed=claimed, again=again), tool=tool)
    (execution,) = await scene.run(approved(call) if with_approval else call)
    assert execution.state == "failed"
    assert execution.result == {"error": f"{text} `list` is missing."}
    assert scene.contexts == []


async def test_what_was_judged_a_moment_ago_is_not_checked_again() -> None:
    scene = Scene()
    changed = Changed("lookup", scene.returning(3))
    (execution,) = await scene.run(replace(due(scene.returning(3)), tool=changed))
    assert execution.state == "finished"


@pytest.mark.parametrize("gone", [True, False])
async def test_v12_a_call_that_somebody_has_started_never_runs_on_its_approval(
    *, gone: bool
) -> None:
    scene = Scene()
    scene.store.claimable = False
    call = approved(due(scene.returning(3)))
    with pytest.raises(Fenced):
        await scene.run(replace(call, tool=None) if gone else call)
    assert scene.contexts == []
    assert scene.stored == []


@pytest.mark.parametrize("why", [Fenced, HandedOver, TimeOver])
async def test_v16_an_approved_call_is_not_claimed_once_its_turn_is_stopped(
    why: type[Exception],
) -> None:
    scene = Scene(wall_seconds=0) if why is TimeOver else Scene()
    if why is Fenced:
        scene.stops.fence()
    elif why is HandedOver:
        scene.stops.hand_over()
    with pytest.raises(why):
        await scene.run(approved(due(scene.returning(3))))
    assert scene.store.starts == []
    assert scene.contexts == []

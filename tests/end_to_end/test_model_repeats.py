"""Model calls that are repeated in their step, and those that are not (spec turns 3.4.5, 15.5)."""

import asyncio
from pathlib import Path

import pytest

from parley.v1 import turns_pb2
from parleyd.contract import limits
from parleyd.models.played import Pick
from parleyd.models.script import Call, Fail, Hold, Raise, ScriptedStep, Text, Thought
from parleyd.models.scripted import in_turn
from parleyd.turns.model import ModelCall
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import StandardTools, look_up

FAILED = turns_pb2.Turn.STATE_FAILED
HELLO = Text("Hello.")
SLACK = 1.5
"""How much longer than said a wait may take on a machine that has other things to do."""


class Times:
    """When the model was called, by the loop's clock."""

    def __init__(self) -> None:
        self._times: list[float] = []

    def noted(self, pick: Pick) -> Pick:
        """Picks as `pick` does, and notes when."""

        def pick_and_note(call: ModelCall) -> ScriptedStep:
            self._times.append(asyncio.get_running_loop().time())
            return pick(call)

        return pick_and_note

    @property
    def gaps(self) -> list[float]:
        """Returns the times between the calls."""
        return [
            later - earlier for earlier, later in zip(self._times, self._times[1:], strict=False)
        ]


async def test_f20_a_model_that_fails_twice_before_it_speaks_is_called_a_third_time(
    start_server: StartServer,
) -> None:
    times = Times()
    pick = in_turn([Fail("rate_limit")], [Fail("server")], [HELLO])
    server = await start_server(times.noted(pick), max_steps=1)
    noor = await server.person()

    played = await noor.prompt("Hello?")

    assert played.names == ["started", "text", "done"]
    assert played.text == "Hello."
    first, second, third = server.model.calls
    assert first == second == third
    for gap, (least, most) in zip(times.gaps, limits.MODEL_REPEAT_WAITS, strict=True):
        assert least <= gap <= most + SLACK


@pytest.mark.parametrize(
    ("failure", "reason"),
    [(Fail("timeout"), "MODEL_ERROR"), (Fail("rate_limit"), "MODEL_RATE_LIMITED")],
)
async def test_f20_a_third_failure_is_the_turns(
    start_server: StartServer, failure: Fail, reason: str
) -> None:
    server = await start_server(in_turn([failure], [failure], [failure]))
    noor = await server.person()
    played = await noor.prompt("Hello?")
    assert played.names == ["started", "error", "done"]
    assert played.error.reason == reason
    assert (played.done.state, played.done.retryable) == (FAILED, True)
    assert len(server.model.calls) == 3


async def test_f20_every_step_has_repeats_of_its_own(
    start_server: StartServer, tmp_path: Path
) -> None:
    down = [Fail("server")]
    tools = StandardTools(tmp_path / "runs")
    server = await start_server(
        in_turn(down, [look_up()], down, down, [HELLO]), tools=tools.hosted, max_steps=2
    )
    noor = await server.person()
    played = await noor.prompt("How many plans are there?")
    assert played.names == ["started", "tool_call", "tool_result", "text", "done"]
    assert len(server.model.calls) == 5
    assert len(tools.runs()) == 1


async def test_f20_a_model_that_says_nothing_for_too_long_is_called_again(
    start_server: StartServer,
) -> None:
    server = await start_server(
        in_turn([Hold("silent")], [Hold("silent")], [HELLO]), model_idle_seconds=0.3
    )
    noor = await server.person()
    assert (await noor.prompt("Hello?")).names == ["started", "text", "done"]
    assert len(server.model.calls) == 3
    assert server.model.streaming == 0


async def test_f20_the_wait_that_a_provider_asks_for_is_kept(start_server: StartServer) -> None:
    times = Times()
    pick = in_turn([Fail("rate_limit", wait_seconds=2)], [HELLO])
    server = await start_server(times.noted(pick))
    noor = await server.person()
    assert (await noor.prompt("Hello?")).text == "Hello."
    (gap,) = times.gaps
    assert 2 <= gap <= 2 + SLACK


async def test_f20_a_wait_that_is_too_long_fails_the_turn_at_once(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([Fail("rate_limit", wait_seconds=11)]))
    noor = await server.person()
    async with asyncio.timeout(10):
        played = await noor.prompt("Hello?")
    assert played.error.reason == "MODEL_RATE_LIMITED"
    assert len(server.model.calls) == 1


async def test_f20_no_wait_outlasts_the_turns_time(start_server: StartServer) -> None:
    server = await start_server(in_turn([Fail("server", wait_seconds=10)]), turn_seconds=1)
    noor = await server.person()
    async with asyncio.timeout(9):
        played = await noor.prompt("Hello?")
    assert played.names == ["started", "error", "done"]
    assert played.error.reason == "TURN_TIMEOUT"
    assert len(server.model.calls) == 1


DOWN = Fail("server")
NOT_REPEATED: dict[str, tuple[ScriptedStep, str]] = {
    "after text": ([Text("Hel"), DOWN], "MODEL_ERROR"),
    "a rate limit after text": ([Text("Hel"), Fail("rate_limit")], "MODEL_RATE_LIMITED"),
    "a time-out after text": ([Text("Hel"), Fail("timeout")], "MODEL_ERROR"),
    "after a thought": ([Thought("Hm."), DOWN], "MODEL_ERROR"),
    "after a tool call": ([look_up(), DOWN], "MODEL_ERROR"),
    "after an ask": ([ask_plan(), DOWN], "MODEL_ERROR"),
    "after a call of nothing": ([Call("fly", {}, "call_fly"), DOWN], "MODEL_ERROR"),
    "a refusal": ([Fail("refused")], "MODEL_REFUSED"),
    "another failure": ([Fail("other")], "MODEL_ERROR"),
    "a fault nobody knows": ([Raise()], "INTERNAL"),
}


@pytest.mark.parametrize(("step", "reason"), NOT_REPEATED.values(), ids=[*NOT_REPEATED])
async def test_f21_a_failure_that_won_t_pass_is_the_turns_at_once(
    start_server: StartServer, tmp_path: Path, step: ScriptedStep, reason: str
) -> None:
    tools = StandardTools(tmp_path / "runs")
    server = await start_server(in_turn(step), tools=tools.hosted)
    noor = await server.person()

    played = await noor.prompt("Hello?")

    assert played.names == ["started", "error", "done"]
    assert played.error.reason == reason
    assert (played.done.state, played.done.retryable) == (FAILED, True)
    assert len(server.model.calls) == 1
    assert tools.runs() == []
    assert await noor.pending() == []


async def test_f21_a_model_that_falls_silent_in_mid_reply_is_not_called_again(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([Text("Hel"), Hold("silent")]), model_idle_seconds=0.5)
    noor = await server.person()
    played = await noor.prompt("Hello?")
    assert played.names == ["started", "error", "done"]
    assert played.error.reason == "MODEL_ERROR"
    assert len(server.model.calls) == 1
    assert [row.text for row in await noor.messages(played.conversation_id)] == ["Hello?", "Hel"]


async def test_an_ask_of_the_repeated_call_is_raised_once(start_server: StartServer) -> None:
    server = await start_server(in_turn([DOWN], [ask_plan()]))
    noor = await server.person()
    played = await noor.prompt("Set up my workspace")
    assert played.names == ["started", "ask", "done"]
    assert [ask.tool_call_id for ask in await noor.pending()] == [PLAN_ID]

"""Processes that die, or stop, while a document is repaired (spec turns 3.4.4, 3.9, 15.6)."""

import asyncio
from typing import Final

import pytest

from parley.v1 import turns_pb2
from parleyd.models.script import Hold, ScriptedStep, Text
from parleyd.models.scripted import by_progress, by_prompt
from parleyd.turns.block_replies import REPAIR_INSTRUCTIONS
from parleyd.turns.model import ModelCall
from tests.end_to_end.documents import (
    BLANK,
    INVALID,
    LOANS,
    RETURNS,
    checked,
    headings,
    replaced,
)
from tests.end_to_end.person import Person, Played, accept
from tests.end_to_end.rows import types
from tests.scripts import Script
from tests.server import Processes
from tests.server_process import ServerProcess
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import look_up

HERE: Final = "tests.end_to_end.test_block_crashes"
DEADLINE: Final = 60
PLAIN, ASKING, LOOKING, BESIDE = "Reply", "Ask", "Look up and ask", "Look up and say nothing"
THINKING = "Look up and think"
PROMPTS: Final = (PLAIN, ASKING, LOOKING, BESIDE)
ENDS: Final = ["text_replaced", "blocks", "done"]
ASKED: Final = ["text_replaced", "ask", "blocks", "done"]
LOOKED_UP: Final = ["started", "tool_call", "tool_result", "text"]

_SCRIPTS: Final = by_prompt(
    {
        PLAIN: by_progress([Text(INVALID)]),
        ASKING: by_progress([Text(INVALID), ask_plan()], [Text(RETURNS)]),
        LOOKING: by_progress([Text(INVALID), look_up(), ask_plan()], [Text(RETURNS)]),
        BESIDE: by_progress([Text(INVALID), look_up()], BLANK),
        THINKING: by_progress([Text(RETURNS), look_up()], [Hold("thinking"), *BLANK]),
    }
)


def _pick(call: ModelCall) -> ScriptedStep:
    if call.system == REPAIR_INSTRUCTIONS:
        return [Hold("repairing"), Text(LOANS)]
    return _SCRIPTS(call)


HELD_REPAIR: Final = Script(_pick)


async def started(processes: Processes, seconds: float = 60) -> ServerProcess:
    return await processes.start(
        f"{HERE}:HELD_REPAIR",
        blocks=True,
        blocks_repair=True,
        turn_seconds=seconds,
        owner_turns=20,
    )


async def begun(person: Person, prompt: str) -> Played:
    """Returns the events of a turn up to the document that is repaired, or its last tool result."""
    last = "tool_result" if prompt == THINKING else "text"
    played = Played()
    request = turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text=prompt))
    async for event in person.stream(request):
        played.events.append(event)
        if event.WhichOneof("event") == last:
            return played
    raise AssertionError(f"the turn ended without {last}")


async def gone_on(person: Person, before: Played) -> Played:
    """Returns all the events of a turn, of which the first are known."""
    last = before.events[-1]
    after = await person.watch(before.conversation_id, before.turn_id, last.sequence)
    whole = await person.watch(before.conversation_id, before.turn_id)
    assert whole.events == before.events + after.events
    assert [event.sequence for event in whole.events] == [*range(1, len(whole.events) + 1)]
    return whole


@pytest.mark.parametrize("end", ["killed", "told to stop"])
async def test_c13_a_reply_that_was_sent_is_sent_once_and_its_repair_goes_on_elsewhere(
    processes: Processes, end: str
) -> None:
    here, there = await asyncio.gather(started(processes), started(processes))
    noor, elsewhere = await here.person(), await there.person()
    async with asyncio.timeout(DEADLINE):
        before = await asyncio.gather(*[begun(noor, prompt) for prompt in (*PROMPTS, THINKING)])
        await here.holds.reached("repairing", len(PROMPTS))
        await here.holds.reached("thinking")
        calls = len(processes.folder.model_calls())
        if end == "killed":
            here.kill()
        else:
            here.terminate()
        await there.holds.reached("repairing", len(PROMPTS))
        there.holds.release("repairing")
        there.holds.release("thinking")
        *turns, thinking = await asyncio.gather(*[gone_on(elsewhere, each) for each in before])

    plain, asking, looking, beside = turns
    assert plain.names == ["started", "text", "resumed", *ENDS]
    assert asking.names == ["started", "text", "resumed", *ASKED]
    assert looking.names == [*LOOKED_UP, "resumed", *ASKED]
    assert beside.names == [*LOOKED_UP, "resumed", *ENDS]
    for turn in turns:
        assert (turn.text, replaced(turn)) == (INVALID, LOANS)
        assert headings(checked(turn).document) == ["Loans"]
        rows = await elsewhere.messages(turn.conversation_id)
        assert [row.text for row in rows if row.model] == [LOANS]
    # A document beside a call is remembered by whoever goes on with the turn.
    assert thinking.names == [*LOOKED_UP[:-1], "resumed", "text", "blocks", "done"]
    assert thinking.text == RETURNS
    # No model call is made again but those that had not ended, and no tool runs again.
    again = processes.folder.model_calls()[calls:]
    assert len(again) == len(PROMPTS) + 1
    assert [call.prompt for call in again if call.system != REPAIR_INSTRUCTIONS] == [THINKING]
    assert len(processes.folder.tool_runs()) == 3
    for turn in (asking, looking):
        assert turn.ask.tool_call_id == PLAN_ID
        answered = await elsewhere.answer(turn.conversation_id, PLAN_ID, accept("team"))
        assert answered.text == RETURNS
    assert types(await elsewhere.messages(asking.conversation_id)) == [
        *("user", "assistant", "tool_call", "tool_result", "assistant")
    ]


async def test_a_reply_that_was_sent_is_kept_where_the_time_of_its_turn_is_over(
    processes: Processes,
) -> None:
    here, there = await asyncio.gather(*[started(processes, seconds=6) for _ in range(2)])
    noor, elsewhere = await here.person(), await there.person()
    async with asyncio.timeout(DEADLINE):
        before = await begun(noor, PLAIN)
        await here.holds.reached("repairing")
        here.kill()
        failed = await gone_on(elsewhere, before)

    assert failed.names == ["started", "text", "error", "done"]
    assert failed.error.reason == "TURN_TIMEOUT"
    [_, reply] = await elsewhere.messages(failed.conversation_id)
    assert (reply.text, reply.HasField("blocks")) == (INVALID, False)
    there.holds.release("repairing")
    retried = await elsewhere.retry(failed.conversation_id, failed.turn_id)
    assert retried.names == ["started", "text", *ENDS]
    assert replaced(retried) == LOANS

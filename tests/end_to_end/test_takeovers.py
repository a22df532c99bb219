"""Who takes dead turns over, how often, and when nobody does any more (15.6)."""

import asyncio
from datetime import timedelta
from typing import Final

import grpc
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1 import conversations_pb2, turns_pb2
from parleyd.models.script import Hold, Text
from parleyd.models.scripted import by_progress, by_prompt
from tests.end_to_end.dead_turns import lapse
from tests.end_to_end.person import Person, Played, refused
from tests.end_to_end.rows import types
from tests.scripts import COUNTED, HELLO, Script
from tests.server import Processes
from tests.server_process import ServerProcess
from tests.standard_tools import upsert

HERE: Final = "tests.end_to_end.test_takeovers"
MANY: Final = 20
DEADLINE: Final = 30
A_DAY: Final = timedelta(days=1)

DYING: Final = Script(
    by_prompt(
        {
            "Twice": by_progress([Hold("twice"), HELLO]),
            "Thrice": by_progress([Text("Half a "), Hold("thrice"), Text("reply.")]),
        }
    )
)
ABANDONED: Final = Script(
    by_prompt(
        {
            "Think.": by_progress([Hold("thinking"), HELLO]),
            "Upsert.": by_progress([upsert(hold="inside")], [COUNTED]),
        }
    )
)


async def test_c9_a_turn_is_given_up_when_its_third_process_dies(
    processes: Processes, engine: AsyncEngine
) -> None:
    server = await processes.start(f"{HERE}:DYING")
    began = await _begin(server, ["Twice", "Thrice"])
    noor = await server.person()
    for _ in range(2):
        await _at_holds(server, ["twice", "thrice"])
        await _kill(server, engine)
        server = await processes.start(f"{HERE}:DYING")
        noor = await server.person()
    await _at_holds(server, ["twice", "thrice"])
    twice, thrice = began
    # Two of its processes died; the third one ends it.
    server.holds.release("twice")
    ended = await noor.watch(*twice)
    assert ended.names == ["started", "resumed", "resumed", "text", "done"]
    assert _attempts(ended) == [2, 3]
    assert ended.done.state == turns_pb2.Turn.STATE_COMPLETED

    await _until_kept(noor, thrice, "Half a ")
    await _kill(server, engine)
    server = await processes.start(f"{HERE}:DYING")
    noor = await server.person()
    given_up = await noor.watch(*thrice)
    assert given_up.names == ["started", "resumed", "resumed", "error", "done"]
    assert _attempts(given_up) == [2, 3]
    assert given_up.events[-2].error.reason == "INTERRUPTED"
    assert given_up.done.state == turns_pb2.Turn.STATE_FAILED
    assert given_up.done.retryable
    said = [line for line in await noor.messages(thrice[0]) if line.text]
    assert [(line.text, line.status) for line in said[1:]] == [
        ("Half a", conversations_pb2.Message.STATUS_ERROR)
    ]
    calls = [call.prompt for call in processes.folder.model_calls()]
    assert (calls.count("Twice"), calls.count("Thrice")) == (3, 3)

    server.holds.release("thrice")
    retried = await noor.retry(*thrice)
    assert retried.names == ["started", "text", "done"]
    assert retried.events[0].started.retry_of_turn_id == thrice[1]
    assert retried.done.state == turns_pb2.Turn.STATE_COMPLETED
    assert types(await noor.messages(thrice[0])) == ["user", "assistant", "assistant"]


async def test_c11_each_of_twenty_dead_turns_is_taken_over_once(
    processes: Processes, engine: AsyncEngine
) -> None:
    settings = {"owner_turns": MANY, "owner_streams": MANY}
    dying, *others = await asyncio.gather(
        processes.start("HELD_REPLY", **settings),
        *[processes.start("REPLY", **settings) for _ in range(4)],
    )
    began = await _begin(dying, [f"Hello {number}" for number in range(MANY)])
    await dying.holds.reached("thinking", MANY)
    await _kill(dying, engine)
    people = [await other.person() for other in others]
    async with asyncio.timeout(DEADLINE):
        ended = await asyncio.gather(
            *[people[number % 4].watch(*turn) for number, turn in enumerate(began)]
        )
    for each in ended:
        assert each.names == ["started", "resumed", "text", "done"]
        assert _attempts(each) == [2]
    for turn in began:
        assert types(await people[0].messages(turn[0])) == ["user", "assistant"]
    calls = processes.folder.model_calls()
    assert [call.pid for call in calls].count(dying.pid) == MANY
    again = [call for call in calls if call.pid != dying.pid]
    assert sorted(call.prompt for call in again) == sorted(f"Hello {n}" for n in range(MANY))
    assert {call.pid for call in again} <= {other.pid for other in others}


async def test_c18_a_turn_older_than_its_wall_time_fails_and_runs_no_tool(
    processes: Processes, engine: AsyncEngine
) -> None:
    dying = await processes.start(f"{HERE}:ABANDONED")
    thinking, upserting = await _begin(dying, ["Think.", "Upsert."])
    await _at_holds(dying, ["thinking", "inside"])
    await _kill(dying, engine, A_DAY)
    calls = len(processes.folder.model_calls())
    dying.holds.release("inside")
    server = await processes.start(f"{HERE}:ABANDONED")
    noor = await server.person()
    for turn, names in (
        (thinking, ["started", "error", "done"]),
        (upserting, ["started", "tool_call", "tool_result", "error", "done"]),
    ):
        ended = await noor.watch(*turn)
        assert ended.names == names
        assert ended.events[-2].error.reason == "TURN_TIMEOUT"
        assert ended.done.state == turns_pb2.Turn.STATE_FAILED
        assert ended.done.retryable
        assert (await noor.conversation(turn[0])).retryable_turn_id == turn[1]
    assert [run.pid for run in processes.folder.tool_runs()] == [dying.pid]
    assert len(processes.folder.model_calls()) == calls
    # Its time begins anew with a retry, which may run the tool again.
    retried = await noor.retry(*upserting)
    assert retried.names == ["started", "tool_result", "text", "done"]
    assert len({run.key for run in processes.folder.tool_runs("upsert")}) == 1


async def _begin(server: ServerProcess, prompts: list[str]) -> list[tuple[str, str]]:
    """Begins a turn for each prompt; returns their conversations and turns."""
    noor = await server.person()
    begun = await asyncio.gather(*[_started(noor, prompt) for prompt in prompts])
    return [(each.conversation_id, each.turn_id) for each in begun]


async def _started(noor: Person, prompt: str) -> Played:
    """Begins a turn and leaves; it runs on."""
    request = turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text=prompt))
    async for event in noor.stream(request):
        return Played([event])
    raise AssertionError("the stream ended without an event")


async def _at_holds(server: ServerProcess, names: list[str]) -> None:
    for name in names:
        await server.holds.reached(name)


async def _kill(server: ServerProcess, engine: AsyncEngine, older: timedelta = timedelta()) -> None:
    """Kills a process and lets its leases be over."""
    noor = await server.person()
    server.kill()
    assert await server.wait() == -9
    assert (await refused(noor.pending())).code() == grpc.StatusCode.UNAVAILABLE
    await lapse(engine, older)


async def _until_kept(noor: Person, turn: tuple[str, str], partial_text: str) -> None:
    """Waits until what the model has said so far is stored."""
    async with asyncio.timeout(DEADLINE):
        while (await noor.turn(*turn)).partial_text != partial_text:
            await asyncio.sleep(0.05)


def _attempts(played: Played) -> list[int]:
    return [event.resumed.attempt for event in played.events if event.HasField("resumed")]

"""Previews in other places and other times: elsewhere, after a takeover, and not at all (15.11)."""

import asyncio
from pathlib import Path

from parley.v1 import turns_pb2
from parleyd.models.script import Fail, Hold, Text
from parleyd.models.scripted import by_progress, in_turn
from tests.end_to_end.person import Person, accept
from tests.end_to_end.previews import Screen, names, previewed
from tests.server import Processes, StartServer
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import StandardTools, look_up

DEADLINE = 60
LATE = 3
"""A stored snapshot is a second old at most; the rest is for a machine with much to do."""


async def said_so_far(person: Person, turn: turns_pb2.Turn, text: str) -> None:
    """Waits until the stored snapshot of a running turn is this text."""
    async with asyncio.timeout(LATE):
        while (await person.turn(turn.conversation_id, turn.turn_id)).partial_text != text:
            await asyncio.sleep(0.01)


async def test_w5_another_server_has_no_previews_and_a_snapshot_of_the_text(
    start_server: StartServer,
) -> None:
    here = await start_server(
        by_progress([Text("One "), Hold("one"), Text("two "), Hold("two"), Text("three.")])
    )
    elsewhere = await start_server(in_turn())
    noor, watch = await here.person(), await elsewhere.person()

    async with asyncio.timeout(DEADLINE):
        playing = asyncio.create_task(noor.prompt("Count"))
        await here.model.holds.reached("one")
        (conversation,) = await watch.conversations()
        turn = await watch.turn(conversation.conversation_id, conversation.running_turn_id)

        async def follow() -> list[turns_pb2.TurnEvent]:
            events = watch.watch_all(turn.conversation_id, turn.turn_id)
            return [event async for event in events]

        following = asyncio.create_task(follow())
        for hold, text in (("one", "One "), ("two", "One two ")):
            await here.model.holds.reached(hold)
            await said_so_far(watch, turn, text)
            here.model.holds.release(hold)
        played = await playing
        watched = await following

    assert watched == played.events
    assert [event.sequence for event in watched] == [1, 2, 3]
    closed = await watch.turn(turn.conversation_id, turn.turn_id)
    assert (closed.partial_text, closed.result.text) == ("", "One two three.")


async def test_w5_w8_after_a_takeover_previews_come_from_the_new_server(
    processes: Processes,
) -> None:
    """C1 as two clients see it: one that shows previews, one that ignores them."""
    here, elsewhere = await asyncio.gather(*[processes.start("HALF_A_REPLY") for _ in range(2)])
    noor, watch = await here.person(), await elsewhere.person()
    request = turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text="Hello?"))
    before: list[turns_pb2.TurnEvent] = []
    after: list[turns_pb2.TurnEvent] = []

    async with asyncio.timeout(DEADLINE):
        async for event in noor.stream_all(request):
            before.append(event)
            if event.HasField("text_preview"):
                break
        started = before[0]
        watching = watch.watch_all(started.started.conversation_id, started.turn_id, after=1)
        here.kill()
        async for event in watching:
            after.append(event)
            if previewed(after) == ["Hel"]:
                elsewhere.holds.release("thinking")

    assert (names(before), previewed(before)) == (["started", "text_preview"], ["Hel"])
    assert names(after) == ["resumed", "text_preview", "text", "done"]
    assert [event.sequence for event in after if event.sequence] == [2, 3, 4]
    assert after[0].resumed.attempt == 2
    assert previewed(after)[0].startswith("Hel")
    assert (await watch.turn(started.started.conversation_id, started.turn_id)).partial_text == ""
    assert as_seen([*before, *after]) == as_seen_without_previews([*before, *after])


def as_seen(events: list[turns_pb2.TurnEvent]) -> tuple[object, ...]:
    """Returns what somebody sees at the end of a stream."""
    screen = Screen()
    for event in events:
        screen.show(event)
    return screen.state


def as_seen_without_previews(events: list[turns_pb2.TurnEvent]) -> tuple[object, ...]:
    """Returns what somebody sees whose client knows of no previews."""
    return as_seen([event for event in events if event.sequence])


async def test_w8_who_ignores_previews_ends_with_the_same(
    start_server: StartServer, tmp_path: Path
) -> None:
    """W3 and F2 as both see them."""
    server = await start_server(
        in_turn(
            [Text("Let me look"), Hold("look"), look_up()],
            [Text("Let me ask"), Hold("ask"), ask_plan()],
            [Text("Setting up the"), Hold("fail"), Fail("other")],
        ),
        tools=StandardTools(tmp_path / "runs").hosted,
    )
    noor = await server.person()

    async def play(request: turns_pb2.StreamTurnRequest) -> list[turns_pb2.TurnEvent]:
        events: list[turns_pb2.TurnEvent] = []
        async for event in noor.stream_all(request):
            events.append(event)
            if event.HasField("text_preview"):
                for hold in ("look", "ask", "fail"):
                    if previewed(events)[-1] == SAID[hold]:
                        server.model.holds.release(hold)
        return events

    async with asyncio.timeout(DEADLINE):
        asked = await play(
            turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text="Set me up"))
        )
        conversation_id = asked[0].started.conversation_id
        answer = turns_pb2.AnswerInput(tool_call_id=PLAN_ID, answer=accept("team"))
        failed = await play(
            turns_pb2.StreamTurnRequest(conversation_id=conversation_id, answer=answer)
        )

    assert names(asked) == [
        *("started", "text_preview", "preview_discarded", "tool_call", "tool_result"),
        *("text_preview", "preview_discarded", "ask", "done"),
    ]
    assert names(failed) == ["started", "ask_resolved", "text_preview", "error", "done"]
    assert previewed(asked) == [SAID["look"], SAID["ask"]]
    assert previewed(failed) == [SAID["fail"]]
    for events in (asked, failed):
        assert as_seen(events) == as_seen_without_previews(events)
    assert (await noor.messages(conversation_id))[-1].text == SAID["fail"]


SAID = {"look": "Let me look", "ask": "Let me ask", "fail": "Setting up the"}

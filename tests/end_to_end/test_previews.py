"""Text that is seen while it is written (spec turns 6.5, 15.11)."""

import asyncio
import random
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from grpc.aio import Metadata, insecure_channel
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

import parley
from parley.v1 import turns_pb2
from parleyd.models.script import Call, Hold, ScriptedStep, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.person import Person
from tests.end_to_end.previews import Previews, names, previewed
from tests.server import Server, StartServer
from tests.server_process import LIFETIME
from tests.standard_tools import StandardTools, look_up

DEADLINE = 30
PROMPT = turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text="How many plans?"))


def reply_in(*pieces: str) -> ScriptedStep:
    """Returns a step that waits after each piece of its text, at a hold of the piece's place."""
    step: list[Text | Hold] = []
    for place, piece in enumerate(pieces):
        step += [Text(piece), Hold(str(place))]
    return step


async def test_w2_a_reply_is_seen_while_it_is_written(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn(reply_in("Set", "t", "ing", " ", "up")))
    noor = await server.person()
    events: list[turns_pb2.TurnEvent] = []

    async with asyncio.timeout(DEADLINE):
        async for event in noor.stream_all(PROMPT):
            events.append(event)
            if event.HasField("text_preview"):
                server.model.holds.release(str(len(events) - 2))

    assert [event.WhichOneof("event") for event in events] == [
        "started",
        *["text_preview"] * 5,
        "text",
        "done",
    ]
    assert [event.sequence for event in events] == [1, 0, 0, 0, 0, 0, 2, 3]
    assert [event.text_preview.delta for event in events[1:6]] == ["Set", "t", "ing", " ", "up"]
    assert {event.turn_id for event in events} == {events[0].turn_id}
    assert events[6].text.text == "Setting up"
    async with engine.connect() as connection:
        kept = await connection.scalars(text("SELECT sequence FROM turn_events ORDER BY sequence"))
        assert kept.all() == [1, 2, 3]
    conversation_id = events[0].started.conversation_id
    again = [event async for event in noor.watch_all(conversation_id, events[0].turn_id)]
    assert again == [event for event in events if event.sequence]


BAD_ASK = Call("ask_choice", {"prompt": ""}, "call_bad")


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        pytest.param(
            [Text("Let me "), Text("look"), Hold("seen"), look_up()],
            ["text_preview", "preview_discarded", "tool_call", "tool_result"],
            id="a tool",
        ),
        pytest.param(
            [Text("Let me "), Text("look"), Hold("seen"), BAD_ASK],
            ["text_preview", "preview_discarded"],
            id="an invalid ask",
        ),
        pytest.param(
            [Hold("seen"), look_up()], ["tool_call", "tool_result"], id="a tool without text"
        ),
        pytest.param([Hold("seen"), BAD_ASK], [], id="an invalid ask without text"),
    ],
)
async def test_w3_text_before_a_call_is_withdrawn(
    start_server: StartServer, tmp_path: Path, step: ScriptedStep, shown: list[str]
) -> None:
    server = await start_server(
        in_turn(step, [Text("There "), Hold("reply"), Text("are 3.")]),
        tools=StandardTools(tmp_path / "runs").hosted,
    )
    noor = await server.person()
    holds, events = server.model.holds, list[turns_pb2.TurnEvent]()

    async with asyncio.timeout(DEADLINE):
        if "text_preview" not in shown:
            holds.release("seen")
        async for event in noor.stream_all(PROMPT):
            events.append(event)
            if "".join(previewed(events)) == "Let me look":
                holds.release("seen")
            if event.text_preview.delta == "There ":
                holds.release("reply")

    assert names(events) == ["started", *shown, "text_preview", "text", "done"]
    assert events[-2].text.text == "There are 3."
    first, *rest = previewed(events)
    if rest:
        assert first == "Let me look"
        first = rest[0]
    assert first.startswith("There ")
    assert "There are 3.".startswith(first)


async def test_w4_who_attaches_in_the_middle_of_a_step_gets_its_text_so_far_and_then_the_rest(
    start_server: StartServer, tmp_path: Path
) -> None:
    reply = [Text("Once "), Text("upon "), Hold("one"), Text("a "), Text("time"), Hold("two")]
    server = await start_server(
        in_turn([Text("Let me look"), look_up()], reply),
        tools=StandardTools(tmp_path / "runs").hosted,
    )
    noor, watch = await server.person(), await server.person()
    holds, events = server.model.holds, list[turns_pb2.TurnEvent]()
    playing = asyncio.create_task(noor.prompt("How many plans?"))

    async with asyncio.timeout(DEADLINE):
        await holds.reached("one")
        turn = await _running(noor)
        async for event in watch.watch_all(turn.conversation_id, turn.turn_id):
            events.append(event)
            if "".join(previewed(events)) == "Once upon ":
                holds.release("one")
            if "".join(previewed(events)) == "Once upon a time":
                holds.release("two")
        await playing

    assert [event.WhichOneof("event") for event in events[:4]] == [
        "started",
        "tool_call",
        "tool_result",
        "text_preview",
    ]
    assert events[3].text_preview.delta == "Once upon "
    assert names(events[4:]) == ["text_preview", "text", "done"]
    assert events[-2].text.text == "Once upon a time"


FOLLOWERS = 50
PIECES = 12


async def test_w4_whoever_attaches_whenever_sees_the_beginning_of_the_running_step(
    start_server: StartServer, tmp_path: Path
) -> None:
    steps = [[f"{step}.{piece} " for piece in range(PIECES)] for step in range(3)]
    script: list[list[Text | Hold | Call]] = [
        [part for piece in step for part in (Text(piece), Hold(piece))] for step in steps
    ]
    script[0].append(look_up("call_one"))
    script[1].append(look_up("call_two"))
    server = await start_server(
        in_turn(*script),
        tools=StandardTools(tmp_path / "runs").hosted,
        owner_streams=FOLLOWERS,
    )
    noor = await server.person()
    texts = {place: "".join(step) for place, step in zip((1, 3, 5), steps, strict=True)}
    moments = random.Random(4)
    followers: list[asyncio.Task[Previews]] = []

    async with asyncio.timeout(60):
        playing = asyncio.create_task(noor.prompt("How many plans?"))
        await server.model.holds.reached(steps[0][0])
        turn = await _running(noor)

        async def follow() -> Previews:
            previews = Previews(texts)
            device = await server.person()
            async for event in device.watch_all(turn.conversation_id, turn.turn_id):
                previews.take(event)
            return previews

        pieces = [piece for step in steps for piece in step]
        attaching = sorted(moments.randrange(len(pieces)) for _ in range(FOLLOWERS))
        for place, piece in enumerate(pieces):
            await server.model.holds.reached(piece)
            followers += [asyncio.create_task(follow()) for _ in range(attaching.count(place))]
            await asyncio.sleep(moments.uniform(0, 0.06))  # some are sent a piece, some are not
            server.model.holds.release(piece)
        played = await playing
        seen = await asyncio.gather(*followers)

    assert played.names[-2:] == ["text", "done"]
    assert len(seen) == FOLLOWERS
    assert {previews.place for previews in seen} == {7}
    assert sum(previews.count for previews in seen) > FOLLOWERS


PIECE = "x" * 20_000
LONG = 60
SMALL_BUFFERS = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 65_535)]
"""A connection with them takes in little that nobody has read."""


async def watched_slowly(
    server: Server, started: turns_pb2.TurnEvent
) -> AsyncGenerator[turns_pb2.TurnEvent]:
    """Yields the events of a turn; what is not taken stays with the server."""
    metadata = Metadata(("authorization", f"Bearer {server.key.issue('noor', LIFETIME)}"))
    request = turns_pb2.WatchTurnRequest(
        conversation_id=started.started.conversation_id, turn_id=started.turn_id
    )
    async with parley.Client(insecure_channel(server.address, options=SMALL_BUFFERS)) as client:
        async for response in client.turns.WatchTurn(request, metadata=metadata):
            yield response.event


async def test_w9_who_hardly_reads_holds_nobody_up_and_gets_fewer_larger_previews(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn(reply_in(*[PIECE] * LONG)))
    reader = await server.person()
    quick, slow = list[turns_pb2.TurnEvent](), list[turns_pb2.TurnEvent]()

    async with asyncio.timeout(DEADLINE):
        stream = reader.stream_all(PROMPT)
        quick.append(await anext(stream))
        sleeping = watched_slowly(server, quick[0])
        slow.append(await anext(sleeping))
        seen = 0
        async for event in stream:
            quick.append(event)
            seen += len(event.text_preview.delta)
            server.model.holds.release(str(seen // len(PIECE) - 1))
        # The turn has ended, and was seen to its end by who reads, before the other one went on.
        assert quick[-1].HasField("done")
        slow += [event async for event in sleeping]

    pieces = [event.text_preview.delta for event in quick if event.HasField("text_preview")]
    larger = [event.text_preview.delta for event in slow if event.HasField("text_preview")]
    assert len(pieces) == LONG
    assert len(larger) < len(pieces) / 2
    assert [event for event in slow if event.sequence] == [
        event for event in quick if event.sequence
    ]


async def _running(person: Person) -> turns_pb2.Turn:
    """Returns the person's only turn, which runs."""
    (conversation,) = await person.conversations()
    return await person.turn(conversation.conversation_id, conversation.running_turn_id)

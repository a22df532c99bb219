"""Documents that break rules are mended by one more call (spec blocks 18.2.4, turns 3.4.4)."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from parley.v1 import turns_pb2
from parleyd.models.script import Call, Fail, Hold, Raise, ScriptedStep, Text, as_message
from parleyd.models.scripted import by_progress, in_turn
from parleyd.turns.block_replies import REPAIR_INSTRUCTIONS
from tests.end_to_end.documents import (
    FAULT,
    INVALID,
    LOANS,
    NOTE,
    button,
    checked,
    document,
    faults,
    heading,
    headings,
    repairing,
    replaced,
    run,
)
from tests.end_to_end.person import Person
from tests.server import Server, StartServer
from tests.standard_tools import StandardTools, look_up

DEADLINE = 30
REPAIRED = ["started", "text", "text_replaced", "blocks", "done"]
NOT_REPAIRED = ["started", "text", "blocks", "done"]


async def repairing_server(
    start_server: StartServer, said: str, *repairs: ScriptedStep, **settings: Any
) -> tuple[Server, Person]:
    server = await start_server(
        repairing(by_progress([Text(said)]), *repairs),
        blocks=True,
        blocks_repair=True,
        **settings,
    )
    return server, await server.person()


async def test_an_invalid_document_is_sent_then_mended_and_replaced(
    start_server: StartServer, tmp_path: Path
) -> None:
    tools = StandardTools(tmp_path / "runs").hosted
    server, noor = await repairing_server(
        start_server, INVALID, [Text(f" {LOANS}\n")], tools=tools, system_prompt="Be brief."
    )

    played = await noor.prompt("Show my loans")

    assert played.names == REPAIRED
    assert (played.text, replaced(played)) == (INVALID, LOANS)
    found = checked(played)
    assert (found.ok, headings(found.document)) == (True, ["Loans"])
    [_, reply] = await noor.messages(played.conversation_id)
    assert (reply.text, reply.blocks) == (LOANS, found.document)
    told, repair = server.model.calls
    assert told.tools
    assert (repair.tools, repair.tool_choice) == ((), None)
    assert repair.system == REPAIR_INSTRUCTIONS
    [prompt] = map(as_message, repair.messages)
    [asked] = prompt.parts
    assert isinstance(asked, Text)
    assert asked.text.startswith(f"{INVALID}\n\n- blocks[0].text MISSING_REQUIRED ")
    assert len(asked.text.splitlines()) == 3


async def test_a_valid_document_is_not_repaired(start_server: StartServer) -> None:
    server, noor = await repairing_server(start_server, LOANS)
    played = await noor.prompt("Show my loans")
    assert (played.names, played.text, checked(played).ok) == (NOT_REPAIRED, LOANS, True)
    assert len(server.model.calls) == 1


async def test_a_reply_that_is_no_document_is_repaired_too(start_server: StartServer) -> None:
    server, noor = await repairing_server(start_server, "You have one loan.", [Text(LOANS)])
    played = await noor.prompt("Show my loans")
    assert played.names == REPAIRED
    assert (played.text, replaced(played)) == ("You have one loan.", LOANS)
    assert checked(played).ok
    assert "NOT_A_DOCUMENT" in str(as_message(server.model.calls[1].messages[0]).parts)


async def test_ids_are_filled_in_before_a_repair_and_after_it(
    start_server: StartServer,
) -> None:
    actions = button(kind="reply", text="More")
    said = document({"type": "heading"}, actions)
    mended = document(heading("Loans"), actions)
    server, noor = await repairing_server(start_server, said, [Text(mended)])

    played = await noor.prompt("Show my loans")

    assert played.names == REPAIRED
    ids = [json.loads(text)["blocks"][1].get("id") for text in (played.text, replaced(played))]
    assert ids == ["actions", "actions"]
    found = checked(played)
    assert (found.ok, found.document.blocks[1].id) == (True, "actions")
    assert played.text in str(as_message(server.model.calls[1].messages[0]).parts[0])


async def test_what_is_still_invalid_is_not_repaired_again(start_server: StartServer) -> None:
    worse = document({"type": "heading", "text": 5})
    server, noor = await repairing_server(start_server, INVALID, [Text(worse)])

    played = await noor.prompt("Show my loans")

    assert played.names == REPAIRED
    assert replaced(played) == worse
    assert faults(checked(played)) == [("blocks[0].text", "INVALID_TYPE")]
    assert len(server.model.calls) == 2
    [_, reply] = await noor.messages(played.conversation_id)
    assert reply.text.startswith(f"{worse}{NOTE}- blocks[0].text INVALID_TYPE ")


@pytest.mark.parametrize(
    "repair",
    [
        pytest.param([Text(" \n")], id="empty"),
        pytest.param([Fail("server")], id="failed"),
        pytest.param([Text(LOANS[:20]), Fail("refused")], id="failed halfway"),
        pytest.param([Raise()], id="broken adapter"),
        pytest.param([Call("lookup", {}, "call_lookup")], id="a call"),
        pytest.param([Text(INVALID)], id="the same"),
        pytest.param([Text(LOANS[:20]), Hold("never")], id="silent"),
    ],
)
async def test_a_repair_that_comes_to_nothing_changes_nothing(
    start_server: StartServer, repair: ScriptedStep
) -> None:
    server, noor = await repairing_server(
        start_server, INVALID, *[repair] * 3, model_idle_seconds=2
    )

    played = await noor.prompt("Show my loans")

    assert played.names == NOT_REPAIRED
    assert played.text == INVALID
    assert faults(checked(played)) == [FAULT]
    assert played.done.state == turns_pb2.Turn.STATE_COMPLETED
    [_, reply] = await noor.messages(played.conversation_id)
    assert reply.text.startswith(f"{INVALID}{NOTE}")
    assert len(server.model.calls) == (4 if repair == [Fail("server")] else 2)


async def test_the_time_of_a_turn_that_ends_in_a_repair_does_not_cost_the_reply(
    start_server: StartServer,
) -> None:
    _, noor = await repairing_server(start_server, INVALID, [Hold("never")], turn_seconds=2)
    async with asyncio.timeout(DEADLINE):
        played = await noor.prompt("Show my loans")
    assert played.names == NOT_REPAIRED
    assert played.done.state == turns_pb2.Turn.STATE_COMPLETED


async def test_the_document_is_there_before_its_repair_and_nobody_is_shown_that(
    start_server: StartServer,
) -> None:
    fixed = "v: 1\nblocks:\n  - {type: heading, text: Loans}\n  - type: divider\n"
    server, noor = await repairing_server(
        start_server, INVALID, [Text(fixed), Hold("repair"), Text("  - type: divider")]
    )
    request = turns_pb2.StreamTurnRequest(prompt=turns_pb2.PromptInput(text="Show my loans"))
    events: list[turns_pb2.TurnEvent] = []

    async with asyncio.timeout(DEADLINE):
        async for event in noor.stream_all(request):
            events.append(event)
            if event.HasField("text"):
                await server.model.holds.reached("repair")
                turn = await noor.turn(events[0].started.conversation_id, event.turn_id)
                assert turn.state == turns_pb2.Turn.STATE_RUNNING
                server.model.holds.release("repair")

    assert [event.WhichOneof("event") for event in events] == REPAIRED
    assert [event.sequence for event in events] == [1, 2, 3, 4, 5]


async def test_a_document_beside_a_call_is_repaired_as_any_other(
    start_server: StartServer, tmp_path: Path
) -> None:
    server = await start_server(
        repairing(in_turn([Text(INVALID), look_up()], [Text(" ")]), [Text(LOANS)]),
        tools=StandardTools(tmp_path / "runs").hosted,
        blocks=True,
        blocks_repair=True,
    )
    noor = await server.person()
    played = await noor.prompt("Show my loans")
    assert played.names == ["started", "tool_call", "tool_result", *REPAIRED[1:]]
    assert (played.text, replaced(played)) == (INVALID, LOANS)


@pytest.mark.parametrize("repair", [LOANS, INVALID])
async def test_a_turn_without_a_stream_returns_the_text_as_it_is_in_the_end(
    start_server: StartServer, repair: str
) -> None:
    _, noor = await repairing_server(start_server, INVALID, [Text(repair)])
    result = await run(noor, "Show my loans")
    assert result.state == turns_pb2.Turn.STATE_COMPLETED
    assert result.text == repair
    stored = await noor.turn(result.conversation_id, result.turn_id)
    assert stored.result.text == repair


async def test_a_repaired_reply_is_what_the_next_turn_and_the_title_are_made_of(
    start_server: StartServer,
) -> None:
    server, noor = await repairing_server(start_server, INVALID, [Text(LOANS)])
    played = await noor.prompt("Show my loans")
    await noor.prompt("Once more", played.conversation_id)
    [title] = server.model.text_calls
    assert title.prompt == f"The person: Show my loans\n\nThe reply: {LOANS}"
    assert as_message(server.model.calls[2].messages[1]).parts == (Text(LOANS),)

"""Which text of a turn is its reply where replies are documents (spec blocks 18.1, turns 3.4.3)."""

import json
from pathlib import Path

from parleyd.models.script import Call, ScriptedStep, Text, as_message
from parleyd.models.scripted import in_turn
from tests.end_to_end.documents import (
    BLANK,
    FAULT,
    INVALID,
    LOANS,
    NOTE,
    RETURNS,
    button,
    checked,
    document,
    faults,
    heading,
    headings,
)
from tests.end_to_end.person import Played
from tests.end_to_end.rows import types
from tests.server import Server, StartServer
from tests.standard_tools import StandardTools, look_up

LOOKED_UP = ["tool_call", "tool_result"]


async def played_with_tools(
    start_server: StartServer, tmp_path: Path, *steps: ScriptedStep, max_steps: int = 10
) -> tuple[Server, Played]:
    server = await start_server(
        in_turn(*steps),
        tools=StandardTools(tmp_path / "runs").hosted,
        blocks=True,
        max_steps=max_steps,
    )
    noor = await server.person()
    played = await noor.prompt("Show my loans")
    replies = [row for row in await noor.messages(played.conversation_id) if row.model]
    said = [event.text.text for event in played.events if event.HasField("text")]
    assert [row.text.partition(NOTE)[0] for row in replies] == said
    return server, played


async def test_a_document_is_filled_in_and_comes_as_blocks(start_server: StartServer) -> None:
    said = document(heading("Loans"), button(kind="reply", text="More"))
    server = await start_server(in_turn([Text(f"\n{said} ")]), blocks=True)
    noor = await server.person()

    played = await noor.prompt("Show my loans")

    assert played.names == ["started", "text", "blocks", "done"]
    found = checked(played)
    assert (found.ok, [*found.errors], [*found.warnings]) == (True, [], [])
    assert [block.WhichOneof("block") for block in found.document.blocks] == ["heading", "actions"]
    assert found.document.blocks[1].id == "actions"
    filled = json.loads(said)
    filled["blocks"][1]["id"] = "actions"
    assert (json.loads(played.text), "\n" in played.text) == (filled, False)
    [_, reply] = await noor.messages(played.conversation_id)
    assert (reply.text, reply.blocks) == (played.text, found.document)


async def test_a_document_that_needs_nothing_stays_as_the_model_wrote_it(
    start_server: StartServer,
) -> None:
    said = "```yaml\nv: 1\nblocks:\n  - {type: heading, text: Loans} # of this week\n```"
    server = await start_server(in_turn([Text(said)]), blocks=True)
    noor = await server.person()

    played = await noor.prompt("Show my loans")

    assert (played.text, checked(played).ok) == (said, True)
    [_, reply] = await noor.messages(played.conversation_id)
    assert reply.text == said
    assert headings(reply.blocks) == ["Loans"]


async def test_an_invalid_document_is_sent_as_it_is_and_the_next_turn_reads_what_is_wrong(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([Text(INVALID)], [Text(LOANS)]), blocks=True)
    noor = await server.person()

    played = await noor.prompt("Show my loans")

    assert played.names == ["started", "text", "blocks", "done"]
    assert played.text == INVALID
    found = checked(played)
    assert faults(found) == [FAULT]
    [_, reply] = await noor.messages(played.conversation_id)
    noted = f"{INVALID}{NOTE}- blocks[0].text MISSING_REQUIRED {found.errors[0].message}"
    assert (reply.text, reply.HasField("blocks")) == (noted, False)
    await noor.prompt("Once more", played.conversation_id)
    history = as_message(server.model.calls[1].messages[1])
    assert history.parts == (Text(noted),)


async def test_a_reply_that_is_no_document_is_sent_as_it_is_and_nothing_is_cut_off(
    start_server: StartServer,
) -> None:
    said = 'Here you are.\n{"action": "show", "of": "loans"}'
    server = await start_server(in_turn([Text(said)]), blocks=True)
    noor = await server.person()

    played = await noor.prompt("Show my loans")

    assert played.names == ["started", "text", "blocks", "done"]
    assert played.text == said
    assert faults(checked(played)) == [("", "NOT_A_DOCUMENT")]
    [_, reply] = await noor.messages(played.conversation_id)
    assert reply.text.startswith(f"{said}{NOTE}-  NOT_A_DOCUMENT ")
    assert not reply.HasField("blocks")


async def test_text_beside_a_call_is_dropped_for_that_of_the_last_step(
    start_server: StartServer, tmp_path: Path
) -> None:
    _, played = await played_with_tools(
        start_server, tmp_path, [Text(RETURNS), look_up()], [Text(LOANS)]
    )
    assert played.names == ["started", *LOOKED_UP, "text", "blocks", "done"]
    assert played.text == LOANS


async def test_text_of_the_last_step_that_is_no_document_wins_over_an_earlier_document(
    start_server: StartServer, tmp_path: Path
) -> None:
    _, played = await played_with_tools(
        start_server, tmp_path, [Text(RETURNS), look_up()], [Text("There are none.")]
    )
    assert played.text == "There are none."
    assert faults(checked(played)) == [("", "NOT_A_DOCUMENT")]


async def test_a_document_beside_a_call_is_the_reply_where_no_text_comes_later(
    start_server: StartServer, tmp_path: Path
) -> None:
    _, played = await played_with_tools(
        start_server, tmp_path, [Text(f"{LOANS}\n"), look_up()], BLANK
    )
    assert played.names == ["started", *LOOKED_UP, "text", "blocks", "done"]
    assert played.text == LOANS
    assert headings(checked(played).document) == ["Loans"]


async def test_a_later_document_beside_a_call_takes_the_place_of_an_earlier_one(
    start_server: StartServer, tmp_path: Path
) -> None:
    _, played = await played_with_tools(
        start_server,
        tmp_path,
        [Text(LOANS), look_up("one")],
        [Text(RETURNS), look_up("two")],
        [Text("One moment"), look_up("three")],
        BLANK,
    )
    assert played.names == ["started", *LOOKED_UP * 3, "text", "blocks", "done"]
    assert played.text == RETURNS


async def test_a_document_beside_a_call_need_not_be_valid(
    start_server: StartServer, tmp_path: Path
) -> None:
    _, played = await played_with_tools(start_server, tmp_path, [Text(INVALID), look_up()], BLANK)
    assert played.text == INVALID
    assert faults(checked(played)) == [FAULT]


async def test_text_beside_a_call_that_is_no_document_is_never_the_reply(
    start_server: StartServer, tmp_path: Path
) -> None:
    _, played = await played_with_tools(
        start_server, tmp_path, [Text("Let me look."), look_up()], BLANK
    )
    assert played.names == ["started", *LOOKED_UP, "done"]


async def test_a_document_in_the_last_step_that_a_turn_may_make_is_its_reply(
    start_server: StartServer, tmp_path: Path
) -> None:
    _, played = await played_with_tools(
        start_server, tmp_path, [Text(LOANS), look_up()], max_steps=1
    )
    assert played.names == ["started", *LOOKED_UP, "text", "blocks", "done"]
    assert played.text == LOANS


async def test_a_document_beside_an_ask_that_the_model_got_wrong_is_the_reply(
    start_server: StartServer, tmp_path: Path
) -> None:
    bad = Call("ask_choice", {"prompt": "Which?"}, "call_bad")
    _, played = await played_with_tools(start_server, tmp_path, [Text(LOANS), bad], BLANK)
    assert played.names == ["started", "text", "blocks", "done"]
    assert played.text == LOANS


async def test_with_documents_off_a_document_is_a_text_like_any_other(
    start_server: StartServer, tmp_path: Path
) -> None:
    server = await start_server(
        in_turn([Text(LOANS), look_up()], BLANK, [Text(INVALID)], [Text('Done. {"action": 1}')]),
        tools=StandardTools(tmp_path / "runs").hosted,
    )
    noor = await server.person()

    beside = await noor.prompt("Show my loans")
    alone = await noor.prompt("Show my loans", beside.conversation_id)
    cut = await noor.prompt("Show my loans", beside.conversation_id)

    assert beside.names == ["started", *LOOKED_UP, "done"]
    assert alone.names == cut.names == ["started", "text", "done"]
    assert (alone.text, cut.text) == (INVALID, "Done.")
    rows = await noor.messages(beside.conversation_id)
    assert types(rows) == ["user", *LOOKED_UP, "user", "assistant", "user", "assistant"]
    assert [row.text for row in rows if row.model] == [INVALID, "Done."]
    assert not any(row.HasField("blocks") for row in rows)

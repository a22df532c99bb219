"""Turns that ask and show a document (spec blocks 18.1.3, turns 3.4.3, 6.2)."""

from pathlib import Path
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1 import turns_pb2
from parleyd.models.script import Call, ScriptedStep, Text, as_message
from parleyd.models.scripted import by_progress
from tests.end_to_end.documents import (
    BLANK,
    FAULT,
    INVALID,
    LOANS,
    NOTE,
    RETURNS,
    checked,
    faults,
    headings,
    repairing,
    replaced,
    run,
)
from tests.end_to_end.person import Person, accept, cancel
from tests.end_to_end.rows import steps_kept, types
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, ask_plan, ask_region
from tests.standard_tools import DELETE, StandardTools, delete, look_up

LOOKED_UP = ["tool_call", "tool_result"]
PAUSED = ["text", "ask", "blocks", "done"]


async def asking_server(
    start_server: StartServer,
    tmp_path: Path,
    *steps: ScriptedStep,
    repairs: tuple[ScriptedStep, ...] = (),
    **settings: Any,
) -> tuple[Server, Person, StandardTools]:
    tools = StandardTools(tmp_path / "runs")
    server = await start_server(
        repairing(by_progress(*steps), *repairs),
        tools=tools.all_hosted,
        blocks=True,
        blocks_repair=bool(repairs),
        **settings,
    )
    return server, await server.person(), tools


async def test_a_document_beside_an_ask_is_the_reply_of_the_turn_that_asks(
    start_server: StartServer, tmp_path: Path
) -> None:
    server, noor, _ = await asking_server(
        start_server, tmp_path, [Text(LOANS), ask_plan()], [Text(RETURNS)]
    )

    asked = await noor.prompt("Show my loans")

    assert asked.names == ["started", *PAUSED]
    assert asked.text == LOANS
    assert headings(checked(asked).document) == ["Loans"]
    assert asked.done.pending_tool_call_id == asked.ask.tool_call_id == PLAN_ID
    rows = await noor.messages(asked.conversation_id)
    assert types(rows) == ["user", "assistant", "tool_call"]
    assert (rows[1].text, rows[1].blocks) == (LOANS, checked(asked).document)
    answered = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    assert answered.names == ["started", "ask_resolved", "text", "blocks", "done"]
    assert answered.text == RETURNS
    assert len(server.model.calls) == 2


async def test_the_document_of_a_turn_that_asked_is_not_the_reply_to_the_answer(
    start_server: StartServer, tmp_path: Path
) -> None:
    _, noor, _ = await asking_server(start_server, tmp_path, [Text(LOANS), ask_plan()], BLANK)
    asked = await noor.prompt("Show my loans")
    answered = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    assert answered.names == ["started", "ask_resolved", "done"]
    rows = await noor.messages(asked.conversation_id)
    assert types(rows) == ["user", "assistant", "tool_call", "tool_result"]


async def test_text_beside_an_ask_that_is_no_document_is_dropped(
    start_server: StartServer, tmp_path: Path
) -> None:
    _, noor, _ = await asking_server(start_server, tmp_path, [Text("Let me ask."), ask_plan()])
    asked = await noor.prompt("Show my loans")
    assert asked.names == ["started", "ask", "done"]
    assert types(await noor.messages(asked.conversation_id)) == ["user", "tool_call"]


async def test_a_document_beside_an_approval_is_the_reply_of_the_turn_that_asks(
    start_server: StartServer, tmp_path: Path
) -> None:
    _, noor, tools = await asking_server(
        start_server, tmp_path, [Text(LOANS), delete()], [Text(RETURNS)]
    )

    asked = await noor.prompt("Clean up")

    assert asked.names == ["started", "tool_call", *PAUSED]
    assert (asked.text, asked.ask.tool_name) == (LOANS, DELETE)
    assert checked(asked).ok
    rows = await noor.messages(asked.conversation_id)
    assert types(rows) == ["user", "tool_call", "assistant", "tool_call"]
    approved = await noor.answer(
        asked.conversation_id, asked.ask.tool_call_id, accept(confirmed=True)
    )
    assert approved.names == ["started", "ask_resolved", "tool_result", "text", "blocks", "done"]
    assert approved.text == RETURNS
    assert len(tools.runs(DELETE)) == 1


async def test_a_document_of_an_earlier_step_is_the_reply_where_a_later_one_asks(
    start_server: StartServer, tmp_path: Path
) -> None:
    _, noor, tools = await asking_server(
        start_server,
        tmp_path,
        [Text(RETURNS), look_up("one")],
        [Text(LOANS), look_up("two"), ask_plan()],
        [Text("Which region?"), ask_region()],
    )

    asked = await noor.prompt("Show my loans")

    assert asked.names == ["started", *LOOKED_UP * 2, *PAUSED]
    assert asked.text == LOANS
    assert len(tools.runs()) == 2
    again = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    assert again.names == ["started", "ask_resolved", "ask", "done"]


async def test_a_document_beside_an_ask_is_repaired_before_the_ask_is_told(
    start_server: StartServer, tmp_path: Path, engine: AsyncEngine
) -> None:
    server, noor, _ = await asking_server(
        start_server,
        tmp_path,
        [Text(INVALID), ask_plan()],
        [Text(RETURNS)],
        repairs=([Text(LOANS)],),
    )

    asked = await noor.prompt("Show my loans")

    assert asked.names == ["started", "text", "text_replaced", "ask", "blocks", "done"]
    assert (asked.text, replaced(asked)) == (INVALID, LOANS)
    assert checked(asked).ok
    assert [row.text for row in await noor.messages(asked.conversation_id) if row.model] == [LOANS]
    answered = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    assert answered.text == RETURNS
    # The chain goes on with what the model itself had said.
    [_, said, _] = map(as_message, server.model.calls[-1].messages)
    assert said.parts[0] == Text(INVALID)
    assert await steps_kept(engine) == 0


async def test_an_invalid_document_beside_an_ask_has_its_note_in_the_row_alone(
    start_server: StartServer, tmp_path: Path
) -> None:
    _, noor, _ = await asking_server(start_server, tmp_path, [Text(INVALID), ask_plan()])
    asked = await noor.prompt("Show my loans")
    assert asked.names == ["started", *PAUSED]
    assert asked.text == INVALID
    assert faults(checked(asked)) == [FAULT]
    [_, reply, _] = await noor.messages(asked.conversation_id)
    assert reply.text.startswith(f"{INVALID}{NOTE}- ")


async def test_a_turn_without_a_stream_returns_the_document_and_what_was_asked(
    start_server: StartServer, tmp_path: Path
) -> None:
    _, noor, _ = await asking_server(
        start_server, tmp_path, [Text(INVALID), ask_plan()], repairs=([Text(LOANS)],)
    )
    result = await run(noor, "Show my loans")
    assert result.state == turns_pb2.Turn.STATE_PAUSED
    assert (result.text, result.pending_ask.tool_call_id) == (LOANS, PLAN_ID)


async def test_a_document_beside_two_asks_is_the_reply_and_the_first_of_them_waits(
    start_server: StartServer, tmp_path: Path
) -> None:
    _, noor, _ = await asking_server(
        start_server,
        tmp_path,
        [Text(LOANS), ask_plan(), ask_region()],
        [Text(RETURNS)],
        repairs=([],),
    )
    asked = await noor.prompt("Show my loans")
    assert asked.names == ["started", *PAUSED]
    rows = await noor.messages(asked.conversation_id)
    assert types(rows) == ["user", "assistant", "tool_call", "tool_call", "tool_result"]
    cancelled = await noor.answer(asked.conversation_id, PLAN_ID, cancel())
    assert cancelled.text == RETURNS


async def test_a_document_beside_an_ask_and_a_call_that_is_wrong_is_the_reply(
    start_server: StartServer, tmp_path: Path
) -> None:
    bad = Call("nothing", {}, "call_nothing")
    _, noor, _ = await asking_server(start_server, tmp_path, [Text(LOANS), bad, ask_plan()])
    asked = await noor.prompt("Show my loans")
    assert asked.names == ["started", *LOOKED_UP, *PAUSED]
    assert asked.text == LOANS

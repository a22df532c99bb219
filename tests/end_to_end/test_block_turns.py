"""What a turn tells its model and its log where replies are documents (blocks 18.3, turns 12.1)."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1 import turns_pb2
from parleyd.contract.asks.kinds import ASK_KINDS
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.prompt import prompt_section
from parleyd.contract.prompts import COMPACT_LINE, asks_section
from parleyd.contract.surfaces import Surface
from parleyd.models.script import Fail, Text, as_message
from parleyd.models.scripted import by_progress, in_turn
from tests.end_to_end.documents import (
    INVALID,
    LOANS,
    RETURNS,
    checked,
    document,
    heading,
    repairing,
)
from tests.end_to_end.person import COMPACT, FULL, cancel
from tests.end_to_end.rows import types
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import StandardTools, look_up

SECTION = prompt_section(BlockOptions(host_actions=()))
SURFACES = {"full": FULL, "compact": COMPACT}


async def logged(server: Server, engine: AsyncEngine) -> list[tuple[Any, ...]]:
    """Stops the server, which then has written its log: response, error, metadata of its turns."""
    await server.stop()
    async with engine.connect() as connection:
        rows = await connection.execute(
            text(
                "SELECT response, error, metadata FROM ai_requests"
                " WHERE request_type = 'general' ORDER BY id"
            )
        )
        return [tuple(row) for row in rows]


def facts(
    *errors: str, repaired: bool = False, warnings: tuple[str, ...] = ()
) -> dict[str, dict[str, object]]:
    return {
        "uiBlocks": {
            "ok": not errors,
            "repaired": repaired,
            "errorCodes": [*errors],
            "warningCodes": [*warnings],
        }
    }


# ------------------------------------------------------------ the system prompt


@pytest.mark.parametrize("surface", ["full", "compact"])
async def test_the_model_is_told_of_documents_after_asks_and_before_the_small_screen(
    start_server: StartServer, surface: Surface
) -> None:
    server = await start_server(
        in_turn([Text(LOANS)]),
        blocks=True,
        system_prompt="You work at a library.",
        allow_client_system_instruction=True,
    )
    noor = await server.person()
    await noor.play(
        turns_pb2.StreamTurnRequest(
            prompt=turns_pb2.PromptInput(text="Show my loans"),
            system_instruction="Be brief.",
            surface=SURFACES[surface],
        )
    )
    asks = asks_section(ASK_KINDS, surface)
    ends = [COMPACT_LINE] if surface == "compact" else []
    sections = ["You work at a library.", "Be brief.", asks, SECTION, *ends]
    assert server.model.calls[0].system == "\n\n".join(sections)


async def test_the_model_is_told_what_the_deployment_allows(start_server: StartServer) -> None:
    server = await start_server(
        in_turn([Text(LOANS)]),
        asks=(),
        blocks=True,
        blocks_html=True,
        blocks_image_hosts=("cdn.example",),
    )
    noor = await server.person()
    await noor.prompt("Show my loans")
    allowed = BlockOptions(html=True, image_hosts=("cdn.example",), host_actions=())
    assert server.model.calls[0].system == prompt_section(allowed) != SECTION


async def test_with_documents_off_the_model_is_not_told_of_them(start_server: StartServer) -> None:
    server = await start_server(in_turn([Text(LOANS)], [Text(LOANS)]))
    noor = await server.person()
    full = await noor.prompt("Show my loans")
    await noor.prompt("Show my loans", surface=COMPACT)
    assert [call.system for call in server.model.calls] == [
        asks_section(ASK_KINDS, "full"),
        f"{asks_section(ASK_KINDS, 'compact')}\n\n{COMPACT_LINE}",
    ]
    assert full.names == ["started", "text", "done"]


# ------------------------------------------------------------ the title


async def test_a_title_is_made_of_the_reply_without_the_note(start_server: StartServer) -> None:
    server = await start_server(in_turn([Text(INVALID)]), blocks=True)
    noor = await server.person()
    played = await noor.prompt("Show my loans")
    assert played.done.title == "Workspace setup"
    [call] = server.model.text_calls
    assert call.prompt == f"The person: Show my loans\n\nThe reply: {INVALID}"


async def test_a_turn_that_asks_beside_a_document_gets_its_title_later(
    start_server: StartServer,
) -> None:
    server = await start_server(
        by_progress([Text(LOANS), ask_plan()], [Text(RETURNS)]), blocks=True
    )
    noor = await server.person()
    asked = await noor.prompt("Show my loans")
    assert (asked.done.title, server.model.text_calls) == ("", [])
    answered = await noor.answer(asked.conversation_id, PLAN_ID, cancel())
    assert answered.done.title == "Workspace setup"


# ------------------------------------------------------------ the log


async def test_the_log_holds_the_stored_text_and_what_the_check_came_to(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    doubtful = document({"type": "chart", "kind": "line", "points": [{"label": "May", "value": 1}]})
    server = await start_server(
        in_turn([Text(LOANS)], [Text(INVALID)], [Text("No.")], [Text(doubtful)]), blocks=True
    )
    noor = await server.person()
    own = (await noor.prompt("One")).conversation_id
    for prompt in ("Two", "Three", "Four"):
        await noor.prompt(prompt, own)
    stored = [row.text for row in await noor.messages(own) if row.model]
    assert "Block validation errors" in stored[1]
    found = await logged(server, engine)
    assert [response for response, _, _ in found] == stored
    assert [metadata for _, _, metadata in found] == [
        facts(),
        facts("MISSING_REQUIRED"),
        facts("NOT_A_DOCUMENT"),
        facts(warnings=("LINE_SINGLE_POINT",)),
    ]


@pytest.mark.parametrize(
    ("repair", "expected"),
    [
        (LOANS, facts(repaired=True)),
        (INVALID, facts("MISSING_REQUIRED", repaired=True)),
        (" ", facts("MISSING_REQUIRED")),
    ],
)
async def test_the_log_tells_of_a_repair(
    start_server: StartServer, engine: AsyncEngine, repair: str, expected: dict[str, Any]
) -> None:
    server = await start_server(
        repairing(in_turn([Text(INVALID)]), [Text(repair)]), blocks=True, blocks_repair=True
    )
    noor = await server.person()
    played = await noor.prompt("Show my loans")
    stored = (await noor.messages(played.conversation_id))[-1].text
    assert await logged(server, engine) == [(stored, None, expected)]


async def test_the_log_tells_of_an_ask_beside_a_document(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn([Text(LOANS), ask_plan()]), blocks=True)
    noor = await server.person()
    await noor.prompt("Show my loans")
    ask = {"kind": "choice", "phase": "asked", "tool_call_id": PLAN_ID}
    assert await logged(server, engine) == [(LOANS, None, {"ask": ask, **facts()})]


async def test_the_log_tells_nothing_of_documents_where_there_was_none(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn([ask_plan()]), blocks=True)
    noor = await server.person()
    asked = await noor.prompt("Show my loans")
    assert asked.names == ["started", "ask", "done"]
    [(response, _, metadata)] = await logged(server, engine)
    assert (response, [*metadata]) == ("", ["ask"])


# ------------------------------------------------------------ turns that fail


async def test_a_turn_that_fails_has_no_check_and_its_retry_has_one(
    start_server: StartServer, tmp_path: Path, engine: AsyncEngine
) -> None:
    server = await start_server(
        in_turn(
            [Text(RETURNS), look_up()],
            [Text(LOANS), Fail("other", "No.")],
            [Text(LOANS)],
            [Text(RETURNS)],
        ),
        tools=StandardTools(tmp_path / "runs").hosted,
        blocks=True,
    )
    noor = await server.person()

    failed = await noor.prompt("Show my loans")

    own = failed.conversation_id
    assert failed.names == ["started", "tool_call", "tool_result", "error", "done"]
    rows = await noor.messages(own)
    assert types(rows) == ["user", "tool_call", "tool_result", "assistant"]
    # What a failed turn had said is shown as it is, be it a document or not.
    assert (rows[-1].text, rows[-1].HasField("blocks")) == (LOANS, False)
    retried = await noor.retry(own, failed.turn_id)
    assert retried.names == ["started", "text", "blocks", "done"]
    assert checked(retried).ok
    await noor.prompt("Once more", own)
    said = [as_message(each) for each in server.model.calls[-1].messages]
    assert said[-2].parts == (Text(LOANS),)
    first, second, _ = await logged(server, engine)
    assert first == (None, "No.", None)
    assert second == (LOANS, None, {"retryOf": failed.turn_id, **facts()})


# ------------------------------------------------------------ rows


async def test_rows_have_documents_only_where_replies_are_valid_documents(
    start_server: StartServer,
) -> None:
    said = document(heading("Loans"), {"type": "html", "html": "<p>1</p><script>x()</script>"})
    before = await start_server(in_turn([Text(said)], [Text("Hello.")]))
    own = (await (await before.person()).prompt(LOANS)).conversation_id
    await (await before.person()).prompt(LOANS, own)

    plain = await start_server(in_turn(), blocks=True)
    html = await start_server(in_turn(), blocks=True, blocks_html=True)
    unread = await (await before.person()).messages(own)
    strict = await (await plain.person()).messages(own)
    cleaned = await (await html.person()).messages(own)

    assert types(unread) == ["user", "assistant", "user", "assistant"]
    for rows in (unread, strict):
        assert not any(row.HasField("blocks") for row in rows)
    assert [row.HasField("blocks") for row in cleaned] == [False, True, False, False]
    assert cleaned[1].blocks.blocks[1].html.html == "<p>1</p>"
    assert [row.text for row in cleaned] == [row.text for row in unread]

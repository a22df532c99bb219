"""What the request log holds of each turn (spec turns 12.1, 15.10)."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1 import asks_pb2
from parley.v1.conversations_pb2 import CreateConversationRequest
from parleyd.contract.json import compact
from parleyd.models.script import Fail, Hold, ScriptedStep, Text, Usage
from parleyd.models.scripted import in_turn
from tests.end_to_end.person import Person, accept, cancel
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, REGION_ID, ask_plan, ask_region
from tests.standard_tools import ARCHIVE, DELETE, StandardTools, archive, delete

DEADLINE = 30
SAID = "Set up my workspace"
TEAM = compact({"action": "accept", "content": {"selected": ["team"]}})
EU = compact({"action": "accept", "content": {"selected": ["eu"]}})
YES = compact({"action": "accept", "content": {"confirmed": True}})
NO = compact({"action": "accept", "content": {"confirmed": False}})
CANCEL = compact({"action": "cancel", "reason": "not today"})
PROVIDERS_WORDS = "The provider says no."


def asked(call_id: str = PLAN_ID) -> dict[str, str]:
    return {"kind": "choice", "phase": "asked", "tool_call_id": call_id}


def resolved(action: str, call_id: str = PLAN_ID) -> dict[str, str]:
    return {"action": action, "kind": "choice", "phase": "answered", "tool_call_id": call_id}


@dataclass(frozen=True)
class Line:
    """What is compared of a line of the log."""

    turn_id: str
    prompt: str
    response: str | None
    error: str | None = None
    tokens: int | None = None
    metadata: dict[str, Any] | None = None


async def lines(server: Server, engine: AsyncEngine, owner: str = "noor") -> list[Line]:
    """Stops the server, which then has written its log, and returns the lines of its turns."""
    await server.stop()
    async with engine.connect() as connection:
        rows = await connection.execute(
            text(
                "SELECT turn_id, prompt, response, error, tokens_used, metadata,"
                " owner, ai_model, response_time_ms, request_type, conversation_id"
                " FROM ai_requests ORDER BY id"
            )
        )
        found = rows.all()
        turns = await connection.execute(
            text("SELECT id, conversation_id FROM turns ORDER BY create_time")
        )
    general = [row for row in found if row.request_type == "general"]
    assert {(row.turn_id, row.conversation_id) for row in general} == {*map(tuple, turns)}
    assert len(general) == turns.rowcount
    assert {(row.owner, row.ai_model) for row in found} == {(owner, "scripted-1")}
    assert all(0 <= row.response_time_ms < 60_000 for row in found)
    titles = [row for row in found if row.request_type == "title"]
    assert [(row.prompt, row.response, row.metadata) for row in titles] == [
        (call_prompt, "Workspace setup", None) for call_prompt in [SAID] * len(titles)
    ]
    assert len(titles) == len(server.model.text_calls)
    return [Line(str(row.turn_id), *row[1:6]) for row in general]


async def paused(
    start_server: StartServer, *steps: ScriptedStep
) -> tuple[Server, Person, str, str]:
    """Returns a server, a person, a conversation that waits on PLAN, and the turn that asked."""
    server = await start_server(in_turn([Usage(7), ask_plan()], *steps))
    noor = await server.person()
    played = await noor.prompt(SAID)
    return server, noor, played.conversation_id, played.turn_id


async def test_h5_p1_an_ask_is_logged_with_an_empty_response(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server, _, _, turn_id = await paused(start_server)
    assert await lines(server, engine) == [
        Line(turn_id, SAID, "", tokens=7, metadata={"ask": asked()})
    ]


async def test_h5_a1_an_answer_is_logged_as_it_is_stored(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server, noor, own, _ = await paused(start_server, [Text("Done."), Usage(3)])
    played = await noor.answer(own, PLAN_ID, accept("team"))
    _, line = await lines(server, engine)
    assert line == Line(
        played.turn_id, TEAM, "Done.", tokens=3, metadata={"ask": resolved("accept")}
    )


async def test_h5_a4_the_next_ask_of_a_chain_is_logged_beside_the_answered_one(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server, noor, own, _ = await paused(start_server, [ask_region()], [Text("Done.")])
    first = await noor.answer(own, PLAN_ID, accept("team"))
    second = await noor.answer(own, REGION_ID, accept("eu"))
    assert (await lines(server, engine))[1:] == [
        Line(
            first.turn_id,
            TEAM,
            "",
            metadata={"ask": resolved("accept"), "nextAsk": asked(REGION_ID)},
        ),
        Line(second.turn_id, EU, "Done.", metadata={"ask": resolved("accept", REGION_ID)}),
    ]


async def test_h5_o8_a_message_is_logged_with_the_ask_that_it_cancelled(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server, noor, own, _ = await paused(start_server, [Text("Never mind, then.")])
    played = await noor.prompt(SAID, own)
    _, line = await lines(server, engine)
    assert line == Line(
        played.turn_id, SAID, "Never mind, then.", metadata={"ask": resolved("cancel")}
    )


async def test_h5_a_cancel_is_logged_with_its_reason(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server, noor, own, _ = await paused(start_server, [Text("Well.")])
    played = await noor.answer(own, PLAN_ID, cancel("closed the card"))
    _, line = await lines(server, engine)
    envelope = compact({"action": "cancel", "reason": "closed the card"})
    assert line == Line(played.turn_id, envelope, "Well.", metadata={"ask": resolved("cancel")})


async def test_h5_f1_f10_a_failure_and_its_retry_are_two_lines(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server, noor, own, _ = await paused(
        start_server, [Fail("other", PROVIDERS_WORDS)], [Text("Done.")]
    )
    failed = await noor.answer(own, PLAN_ID, accept("team"))
    retried = await noor.retry(own, failed.turn_id)
    assert (await lines(server, engine))[1:] == [
        Line(
            failed.turn_id,
            TEAM,
            None,
            error=PROVIDERS_WORDS,
            metadata={"ask": resolved("accept")},
        ),
        Line(retried.turn_id, TEAM, "Done.", metadata={"retryOf": failed.turn_id}),
    ]


async def test_h5_a_failed_prompt_and_the_retry_of_its_retry_tell_what_was_said(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(
        in_turn([Fail("other", PROVIDERS_WORDS)], [Fail("refused")], [Text("Done.")])
    )
    noor = await server.person()
    failed = await noor.prompt(SAID)
    again = await noor.retry(failed.conversation_id, failed.turn_id)
    retried = await noor.retry(failed.conversation_id, again.turn_id)
    found = await lines(server, engine)
    assert [(line.turn_id, line.prompt, line.response) for line in found] == [
        (failed.turn_id, SAID, None),
        (again.turn_id, SAID, None),
        (retried.turn_id, SAID, "Done."),
    ]
    assert [line.metadata for line in found] == [
        None,
        {"retryOf": failed.turn_id},
        {"retryOf": again.turn_id},
    ]


async def test_h5_a_turn_whose_ask_lost_the_slot_logs_no_ask(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn([Hold("first"), ask_plan()], [ask_region()]))
    noor = await server.person()
    own = (
        await noor.client.conversations.CreateConversation(CreateConversationRequest())
    ).conversation
    first = asyncio.create_task(noor.prompt(SAID, own.conversation_id))
    async with asyncio.timeout(DEADLINE):
        await server.model.holds.reached("first")
        second = await noor.prompt(SAID, own.conversation_id)
        server.model.holds.release("first")
        lost = await first
    assert second.names == ["started", "ask", "done"]
    assert lost.names == ["started", "done"]
    found = {line.turn_id: line.metadata for line in await lines(server, engine)}
    assert found == {second.turn_id: {"ask": asked(REGION_ID)}, lost.turn_id: None}


async def test_h5_a_button_is_logged_as_the_answer_that_it_is(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server, noor, own, _ = await paused(start_server, [Text("Done.")])
    await noor.press(own, PLAN_ID, "option:team")
    _, line = await lines(server, engine)
    assert (line.prompt, line.metadata) == (TEAM, {"ask": resolved("accept")})


def guarded(approval_id: str, tool: str = DELETE) -> dict[str, str]:
    return {
        "kind": "confirm",
        "tool_call_id": approval_id,
        "origin": "approval",
        "tool_name": tool,
    }


ANSWERS = {
    "V2, an approval": (accept(confirmed=True), "accept", YES),
    "V3, a denial": (accept(confirmed=False), "accept", NO),
    "V3, a cancel": (cancel("not today"), "cancel", CANCEL),
}


@pytest.mark.parametrize(("answer", "action", "envelope"), ANSWERS.values(), ids=[*ANSWERS])
async def test_h5_v1_v3_an_approval_is_logged_with_its_tool_and_without_arguments(
    start_server: StartServer,
    engine: AsyncEngine,
    tools: StandardTools,
    answer: asks_pb2.AskAnswer,
    action: str,
    envelope: str,
) -> None:
    call = delete(list="a secret of noor's")
    server = await start_server(in_turn([call], [Text("Done.")]), tools=tools.all_hosted)
    noor = await server.person()
    asked_for = await noor.prompt(SAID)
    approval_id = asked_for.ask.tool_call_id
    answered = await noor.answer(asked_for.conversation_id, approval_id, answer)
    assert await lines(server, engine) == [
        Line(
            asked_for.turn_id,
            SAID,
            "",
            metadata={"ask": guarded(approval_id) | {"phase": "asked"}},
        ),
        Line(
            answered.turn_id,
            envelope,
            "Done.",
            metadata={"ask": guarded(approval_id) | {"phase": "answered", "action": action}},
        ),
    ]


async def test_h5_v11_the_turn_between_two_approvals_is_logged_with_both(
    start_server: StartServer, engine: AsyncEngine, tools: StandardTools
) -> None:
    server = await start_server(
        in_turn([delete()], [archive()], [Text("Done.")]), tools=tools.all_hosted
    )
    noor = await server.person()
    first = await noor.prompt(SAID)
    own, confirmed = first.conversation_id, accept(confirmed=True)
    middle = await noor.answer(own, first.ask.tool_call_id, confirmed)
    await noor.answer(own, middle.ask.tool_call_id, confirmed)
    _, line, _ = await lines(server, engine)
    assert line == Line(
        middle.turn_id,
        YES,
        "",
        metadata={
            "ask": guarded(first.ask.tool_call_id) | {"phase": "answered", "action": "accept"},
            "nextAsk": guarded(middle.ask.tool_call_id, ARCHIVE) | {"phase": "asked"},
        },
    )


async def test_h5_v9_a_message_is_logged_with_the_approval_that_it_cancelled(
    start_server: StartServer, engine: AsyncEngine, tools: StandardTools
) -> None:
    server = await start_server(in_turn([delete()], [Text("Well.")]), tools=tools.all_hosted)
    noor = await server.person()
    first = await noor.prompt(SAID)
    said = await noor.prompt(SAID, first.conversation_id)
    _, line = await lines(server, engine)
    assert line == Line(
        said.turn_id,
        SAID,
        "Well.",
        metadata={
            "ask": guarded(first.ask.tool_call_id) | {"phase": "answered", "action": "cancel"}
        },
    )

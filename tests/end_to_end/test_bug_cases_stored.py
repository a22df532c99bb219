"""Faults of other systems in what they store, tried on ours."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1 import conversations_pb2, turns_pb2
from parleyd.models.script import Call, ScriptedMessage, Text
from parleyd.models.scripted import by_progress
from parleyd.models.signatures import signed
from parleyd.turns.model import ToolOutcome
from tests.end_to_end.answers import picks
from tests.end_to_end.kinds_asked import ASK_ID
from tests.end_to_end.person import Person, accept
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import StandardTools, look_up

HALF = "\ud83d"
CREATE = conversations_pb2.CreateConversationRequest()
IDS_AND_TIMES = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+(\+00:00|Z)"
)


async def test_bc_095_a_stream_and_a_unary_call_store_the_same(
    start_server: StartServer, engine: AsyncEngine, tmp_path: Path
) -> None:
    tools = StandardTools(tmp_path / "runs")
    script = by_progress([look_up(), ask_plan()], [look_up("call_again")], [Text("All set.")])
    server = await start_server(script, tools=tools.hosted)
    noor = await server.person()
    stored: list[list[str]] = []
    shown: list[list[tuple[str, Any]]] = []
    for unary in (False, True):
        created = await noor.client.conversations.CreateConversation(CREATE)
        named = created.conversation.conversation_id
        runs_before = len(tools.runs())
        asked = await outcome_of(
            noor, named, unary=unary, prompt=turns_pb2.PromptInput(text="Set up my workspace")
        )
        paused = await everything_of(engine, named)
        answered = await outcome_of(
            noor,
            named,
            unary=unary,
            answer=turns_pb2.AnswerInput(tool_call_id=PLAN_ID, answer=accept("team")),
        )
        stored.append([*paused, *await everything_of(engine, named)])
        shown.append([asked, answered])
        assert len(tools.runs()) - runs_before == 2

    streamed, called = stored
    assert streamed == called
    assert shown[0] == shown[1] == [("paused", PLAN_ID), ("completed", "All set.")]
    assert server.model.calls[0].messages == server.model.calls[3].messages
    assert server.model.calls[2].messages == server.model.calls[5].messages


ODD: dict[str, JsonValue] = {"nul": "a\x00b", "words": "a\\u0000b", "half": f"a{HALF}b", "é": "ü"}
ODD_KEPT: dict[str, JsonValue] = {"nul": "a�b", "words": "a\\u0000b", "half": "a�b", "é": "ü"}


@pytest.mark.parametrize("restart", [False, True], ids=["one server", "a restart"])
async def test_bc_113_nul_and_half_characters_never_cost_a_pause(
    start_server: StartServer, tmp_path: Path, *, restart: bool
) -> None:
    tools = StandardTools(tmp_path / "runs")
    asking: dict[str, JsonValue] = {
        "prompt": f"Which\x00 one, \\u0000 or {HALF}?",
        "select": "many",
        "maxSelected": 1,
        "allowOther": True,
        "options": [{"id": "a", "label": "A\x00"}, {"id": "b", "label": "\\u0000"}],
    }
    lookup, ask = Call("lookup", ODD, "call_lookup"), Call("ask_choice", asking, ASK_ID)
    reply = Text(f"\x00Real, \\u0000 told{HALF}.")
    script = by_progress([lookup, ask], [reply])
    server = await start_server(script, tools=tools.hosted)
    noor = await server.person()

    asked = await noor.prompt("a\x00b and \\u0000")
    assert asked.names == ["started", "tool_call", "tool_result", "ask", "done"]
    if restart:
        await server.stop()
        server = await start_server(script, tools=tools.hosted)
        noor = await server.person()
    answered = await noor.answer(asked.conversation_id, ASK_ID, picks(other="c\x00, \\u0000"))

    assert asked.ask.input.prompt == "Which� one, \\u0000 or �?"
    assert json.loads(asked.events[1].tool_call.args_json) == ODD_KEPT
    assert answered.text == "�Real, \\u0000 told�."
    prompt, model, results = server.model.calls[-1].messages
    assert prompt == ScriptedMessage("user", (Text("a�b and \\u0000"),))
    assert model == ScriptedMessage("model", (signed(lookup), ask))
    assert isinstance(results, ScriptedMessage)
    outcome = results.parts[1]
    assert isinstance(outcome, ToolOutcome)
    assert outcome.value == {
        "action": "accept",
        "content": {"other": "c�, \\u0000", "selected": []},
    }
    messages = await noor.messages(asked.conversation_id)
    assert messages[0].text == "a�b and \\u0000"
    assert json.loads(messages[1].args_json) == ODD_KEPT
    assert messages[-1].text == answered.text


async def outcome_of(
    noor: Person, conversation_id: str, *, unary: bool, **turn_input: Any
) -> tuple[str, str]:
    """Runs a turn either way; returns how it ended, and its ask or its text."""
    if unary:
        request = turns_pb2.TurnRequest(conversation_id=conversation_id, **turn_input)
        result = await noor.run(request)
        state, ask, reply = result.state, result.pending_ask.tool_call_id, result.text
    else:
        played = await noor.play(
            turns_pb2.StreamTurnRequest(conversation_id=conversation_id, **turn_input)
        )
        state, ask = played.done.state, played.done.pending_tool_call_id
        reply = played.text if "text" in played.names else ""
    name = turns_pb2.Turn.State.Name(state).removeprefix("STATE_").lower()
    return name, ask or reply


async def everything_of(engine: AsyncEngine, conversation_id: str) -> list[str]:
    """Returns the rows of a conversation without what no two of them have in common."""
    of_turn = "turn_id IN (SELECT id FROM turns WHERE conversation_id = :id)"
    of_conversation = "conversation_id = :id"
    where = {
        "turns": (of_conversation, "turn_no"),
        "messages": (of_conversation, "seq"),
        "asks": (of_conversation, "tool_call_id"),
        "turn_steps": (of_turn, "step_no"),
        "tool_executions": (of_turn, "(step_no, call_index)"),
        "turn_events": (of_turn, "sequence"),
    }
    own = (
        "'{id, conversation_id, chain_id, turn_id, ask_id, answered_ask_id, created_by_turn,"
        " resolved_by_turn, lease_holder, lease_until, create_time, close_time, start_time,"
        " end_time, resolve_time, payload}'::text[]"
    )
    rows: list[str] = []
    async with engine.connect() as connection:
        for table, (condition, order) in where.items():
            found = await connection.scalars(
                text(
                    f"SELECT (to_jsonb(one) - {own})::text FROM {table} AS one"
                    f" WHERE {condition} ORDER BY {order}"
                ),
                {"id": conversation_id},
            )
            rows += [f"{table}: {IDS_AND_TIMES.sub('…', row)}" for row in found]
    return rows

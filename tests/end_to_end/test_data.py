"""Texts that would be commands elsewhere are data here (spec turns 15.10)."""

import json

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.models.script import Call, ScriptedMessage, Text
from parleyd.models.scripted import in_turn
from parleyd.models.signatures import signed
from parleyd.turns.model import ToolOutcome
from tests.end_to_end.person import accept, cancel
from tests.server import StartServer
from tests.standard_tools import StandardTools

TEXTS = {
    "a variable": "$prompts",
    "a root": "$$ROOT",
    "a command": "'; DROP TABLE messages; --",
    "a null": "a\x00b",
    "half an emoji": "a\ud83db",
    "places": "%s {0} :name $1 \\u0000 ${x}",
    "markup": "<script>&amp;</script>",
}


def stored(said: str) -> str:
    return said.replace("\x00", "\ufffd").replace("\ud83d", "\ufffd")


@pytest.mark.parametrize("said", TEXTS.values(), ids=[*TEXTS])
async def test_h7_prompts_labels_ids_and_reasons_come_back_as_they_are(
    start_server: StartServer, engine: AsyncEngine, said: str
) -> None:
    sent = stored(said) if "\ud83d" in said else said  # protobuf has no halves of characters
    ask = Call(
        "ask_choice",
        {
            "prompt": said,
            "select": "one",
            "options": [{"id": "one", "label": said}, {"id": "two", "label": "Two"}],
        },
        said,
    )
    server = await start_server(
        in_turn([ask], [ask], [Text(said)], [Text("Bye.")]), title=[Text(said)]
    )
    noor = await server.person()

    asked = await noor.prompt(sent)
    own, call_id = asked.conversation_id, asked.ask.tool_call_id
    pending = (await noor.conversation(own)).pending_ask
    again = await noor.answer(own, call_id, accept("one"))
    replied = await noor.answer(own, again.ask.tool_call_id, cancel(sent))
    rows = await noor.messages(own)
    later = await noor.prompt("Bye", own)

    assert call_id == stored(said)
    assert asked.ask.input == pending.input
    assert pending.input.prompt == stored(said)
    assert pending.input.choice.options[0].label == stored(said)
    assert again.ask.tool_call_id != call_id
    assert replied.text == replied.done.title == later.done.title == stored(said)
    assert [row.text for row in rows if row.text and not row.tool_name] == [stored(said)] * 2
    envelope = json.loads(rows[-2].result_json)
    assert envelope == {"action": "cancel", "reason": stored(said)}
    steps = server.model.calls[2].messages[1:]
    assert steps[0] == steps[2] == ScriptedMessage("model", (signed(ask),))
    assert steps[3] == ScriptedMessage("tool", (ToolOutcome(said, "ask_choice", value=envelope),))
    assert server.model.calls[2].messages[0] == ScriptedMessage("user", (Text(stored(said)),))
    await server.stop()
    async with engine.connect() as connection:
        logged = await connection.execute(
            text("SELECT prompt, response FROM ai_requests WHERE request_type = 'general'")
        )
        assert (stored(said), "") in [tuple(row) for row in logged]


@pytest.mark.parametrize("said", TEXTS.values(), ids=[*TEXTS])
async def test_h7_arguments_names_and_failures_of_tools_are_data(
    start_server: StartServer, tmp_path_factory: pytest.TempPathFactory, said: str
) -> None:
    runs = tmp_path_factory.mktemp("tools") / "runs"
    calls = [
        Call("lookup", {"fail": said, said: said}, said),
        Call(said, {said: [said]}, "call_no_tool"),
    ]
    server = await start_server(in_turn(calls, [Text("Well.")]), tools=StandardTools(runs).hosted)
    noor = await server.person()

    played = await noor.prompt("Hello")

    assert played.names[1:3] == ["tool_call", "tool_call"]
    lookup, unknown = (event.tool_call for event in played.events[1:3])
    assert lookup.tool_call_id == stored(said)
    assert json.loads(lookup.args_json) == {"fail": stored(said), stored(said): stored(said)}
    assert (unknown.tool_name, json.loads(unknown.args_json)) == (
        stored(said),
        {stored(said): [stored(said)]},
    )
    results = {
        event.tool_result.tool_call_id: json.loads(event.tool_result.result_json)
        for event in played.events
        if event.HasField("tool_result")
    }
    assert results[stored(said)] == {"error": stored(said)}
    rows = await noor.messages(played.conversation_id)
    assert {row.tool_name for row in rows if row.tool_name} == {"lookup", stored(said)}
    results_read = server.model.calls[1].messages[-1]
    assert isinstance(results_read, ScriptedMessage)
    assert results_read.parts[0] == ToolOutcome(said, "lookup", error=stored(said))

"""Faults of other systems with Gemini's calls, tried with its own SDK over HTTP."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from parley.v1 import turns_pb2
from parleyd.models.gemini_messages import BYPASS_SIGNATURE
from parleyd.models.scripted import in_turn
from tests.end_to_end.answers import form
from tests.end_to_end.gemini_service import asks, gemini_service, says
from tests.end_to_end.person import COMPACT, accept
from tests.models.fake_gemini import FakeGemini, frame
from tests.models.gemini_calls import SIGNATURE, function_call, plain
from tests.server import StartServer
from tests.standard_asks import PLAN, PLAN_ID, REGION, ask_plan
from tests.standard_tools import PLANS, StandardTools, look_up

CONFIRM: dict[str, JsonValue] = {"prompt": "Shall I set it up?", "allowDecline": True}
FORM: dict[str, JsonValue] = {
    "prompt": "Who are you?",
    "fields": [{"id": "name", "type": "text", "label": "Name", "required": True}],
}


@pytest.fixture
async def fake() -> AsyncIterator[FakeGemini]:
    fake = FakeGemini()
    async with fake.serving():
        yield fake


def responses(content: dict[str, Any]) -> list[tuple[str, str, JsonValue]]:
    """Returns what a content says of each call: its id, its name, and its result."""
    assert content["role"] == "user"
    answered = [part["functionResponse"] for part in content["parts"]]
    return [(each["id"], each["name"], each["response"]) for each in answered]


async def test_bc_024_a_signature_comes_back_byte_for_byte_after_a_restart(
    fake: FakeGemini, database_url: str, tmp_path: Path
) -> None:
    call = function_call("ask_confirm", CONFIRM, SIGNATURE, id="call_confirm")
    thought = {"text": "Let me think.", "thought": True}
    fake.answer(frame(thought), frame(call), frame({"text": ""}, finish="STOP"))
    fake.answer(says("It is set up."))
    fake.answer(says("Workspace setup"))

    async with gemini_service(fake, database_url, tmp_path) as noor:
        asked = await noor.prompt("Set up my workspace")
    async with gemini_service(fake, database_url, tmp_path) as noor:
        answered = await noor.answer(asked.conversation_id, "call_confirm", accept(confirmed=True))

    assert asked.names == ["started", "ask", "done"]
    assert answered.text == "It is set up."
    prompt, model, results = fake.received[1].contents
    assert prompt == fake.received[0].contents[0]
    sent = [plain(part) for part in model["parts"] if "functionCall" in part]
    assert sent == [plain(call)]
    assert sent[0]["thoughtSignature"] == SIGNATURE
    assert len(set(SIGNATURE)) == 256
    assert thought in model["parts"]
    assert responses(results) == [
        (
            "call_confirm",
            "ask_confirm",
            {"output": {"action": "accept", "content": {"confirmed": True}}},
        )
    ]


async def test_bc_026_a_call_of_another_vendor_has_the_placeholder_on_its_first_call_alone(
    start_server: StartServer, fake: FakeGemini, database_url: str, tmp_path: Path
) -> None:
    tools = StandardTools(tmp_path / "runs").hosted
    before = await start_server(
        in_turn([look_up(), look_up("call_again")], [ask_plan(), look_up("call_third")]),
        tools=tools,
    )
    asked = await (await before.person()).prompt("Set up my workspace")
    await before.stop()
    fake.answer(says("It is set up."))
    fake.answer(says("Workspace setup"))

    async with gemini_service(fake, database_url, tmp_path, tools=tools) as noor:
        answered = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))

    assert answered.text == "It is set up."
    _, first, first_results, second, second_results = fake.received[0].contents
    for content in (first, second):
        signatures = [part.get("thoughtSignature") for part in content["parts"]]
        assert signatures[1:] == [None]
        assert base64.urlsafe_b64decode(signatures[0]) == BYPASS_SIGNATURE
    assert BYPASS_SIGNATURE == b"skip_thought_signature_validator"
    assert [part["functionCall"]["id"] for part in (*first["parts"], *second["parts"])] == [
        each[0] for each in (*responses(first_results), *responses(second_results))
    ]


async def test_bc_028_parallel_calls_get_their_responses_in_one_content_in_call_order(
    fake: FakeGemini, database_url: str, tmp_path: Path
) -> None:
    fake.answer(
        asks(
            function_call("ask_choice", PLAN, SIGNATURE, id="call_1"),
            function_call("ask_confirm", CONFIRM, id="call_2"),
            function_call("lookup", {}, id="call_3"),
        )
    )
    fake.answer(says("It is set up."))
    fake.answer(says("Workspace setup"))
    tools = StandardTools(tmp_path / "runs")

    async with gemini_service(fake, database_url, tmp_path, tools=tools.hosted) as noor:
        asked = await noor.prompt("Set up my workspace")
        answered = await noor.answer(asked.conversation_id, "call_1", accept("team"))

    assert asked.names == ["started", "tool_call", "tool_result", "ask", "done"]
    assert answered.text == "It is set up."
    assert [content["role"] for content in fake.received[1].contents] == ["user", "model", "user"]
    assert responses(fake.received[1].contents[-1]) == [
        (
            "call_1",
            "ask_choice",
            {"output": {"action": "accept", "content": {"selected": ["team"]}}},
        ),
        (
            "call_2",
            "ask_confirm",
            {"output": {"action": "cancel", "reason": "one_ask_at_a_time"}},
        ),
        ("call_3", "lookup", {"output": PLANS}),
    ]


@pytest.mark.parametrize("unary", [False, True], ids=["stream", "unary"])
async def test_bc_037_the_sdk_never_runs_a_tool_itself(
    fake: FakeGemini, database_url: str, tmp_path: Path, *, unary: bool
) -> None:
    fake.answer(
        frame(function_call("lookup", {}, SIGNATURE, id="call_1")),
        frame(function_call("ask_choice", REGION, id="call_2"), finish="STOP"),
    )
    fake.answer(asks(function_call("upsert", {}, SIGNATURE, id="call_3")))
    fake.answer(says("It is set up."))
    fake.answer(says("Workspace setup"))
    tools = StandardTools(tmp_path / "runs")

    async with gemini_service(fake, database_url, tmp_path, tools=tools.hosted) as noor:
        asked = await noor.prompt("Set up my workspace")
        assert [run.tool for run in tools.runs()] == ["lookup"]
        if unary:
            response = await noor.client.turns.Turn(
                turns_pb2.TurnRequest(
                    conversation_id=asked.conversation_id,
                    answer=turns_pb2.AnswerInput(tool_call_id="call_2", answer=accept("eu")),
                )
            )
            text = response.result.text
        else:
            text = (await noor.answer(asked.conversation_id, "call_2", accept("eu"))).text

    assert text == "It is set up."
    assert [run.tool for run in tools.runs()] == ["lookup", "upsert"]
    assert len(fake.received) == 4
    declared = [
        declaration["name"]
        for tool in fake.received[0].body["tools"]
        for declaration in tool["functionDeclarations"]
    ]
    assert declared[:2] == ["lookup", "upsert"]
    assert "automaticFunctionCalling" not in json.dumps(fake.received[0].body)


async def test_bc_039_a_call_of_a_tool_that_is_not_offered_any_more_ends_in_a_named_error(
    fake: FakeGemini, database_url: str, tmp_path: Path
) -> None:
    fake.answer(asks(function_call("ask_form", FORM, SIGNATURE, id="call_form")))
    fake.answer(says("Welcome, Noor."))
    fake.answer(says("Workspace setup"))
    for _ in range(3):
        fake.answer(frame(finish="UNEXPECTED_TOOL_CALL"))

    async with gemini_service(fake, database_url, tmp_path) as noor:
        asked = await noor.prompt("Set up my workspace")
        await noor.answer(asked.conversation_id, "call_form", form({"name": "Noor"}))
        async with asyncio.timeout(20):
            later = await noor.prompt("And now?", asked.conversation_id, COMPACT)
        assert len(fake.received) == 6
        fake.answer(says("It is set up."))
        again = await noor.prompt("And now?", asked.conversation_id)

    offered = fake.received[3].body["tools"]
    assert [each["name"] for tool in offered for each in tool["functionDeclarations"]] == [
        "ask_choice",
        "ask_confirm",
    ]
    assert "ask_form" in json.dumps(fake.received[3].contents)
    assert later.names == ["started", "error", "done"]
    assert later.events[1].error.reason == "MODEL_ERROR"
    assert later.done.state == turns_pb2.Turn.STATE_FAILED
    assert again.text == "It is set up."
